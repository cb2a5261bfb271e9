"""Keep what a paper's folder holds, so that it can be read again when the folder is gone."""

from __future__ import annotations

from pathlib import Path

from repro_pipeline.bundle.folder import TASK_NAME, Bundle, paper_files
from repro_pipeline.ports import ArtifactStore


def keep_bundle(bundle: Bundle, folder: Path, store: ArtifactStore) -> None:
    """Keep the sources, the task and the references in the store; the code is kept when frozen."""
    data = {item.path for item in bundle.task.data}
    for name in {*paper_files(bundle), *bundle.references, TASK_NAME} - data:
        if name in bundle.files and (folder / name).is_file():
            store.put_file(folder / name)
