"""The `task.yaml` that an import begins: which numbers matter is for its reader to say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from repro_pipeline.bundle.folder import TASK_NAME
from repro_pipeline.bundle.task import Task
from repro_pipeline.imports.record import ImportFault, Taken, take, written
from repro_pipeline.paper.literature import excluded_by_task
from repro_pipeline.yamlfile import load_model

OURS = ("code/", "data/", "references/")
"""Folders of a bundle, taken as they are where a foreign folder was given them."""


def begin_task(
    source: Path, bundle: Path, *, title: str | None, exclude: Sequence[str] = ()
) -> Taken:
    """The task: the one that its user put into the folder, else one with title and exclusions.

    Raises ImportFault where the user's does not exclude what the folder does.
    """
    own = source / TASK_NAME
    if not own.is_file():
        return written(bundle, TASK_NAME, task_text(title=title, exclude=exclude))
    named = load_model(own, Task).exclude
    missing = [one for one in exclude if excluded_by_task(one, named) is None]
    if missing:
        raise ImportFault(
            f"does not exclude what the folder's blacklist names: {', '.join(missing)}.",
            where=str(own),
            hint=f"Write it under `exclude: [{', '.join(missing)}]`.",
        )
    return take(source, TASK_NAME, bundle, TASK_NAME)


def task_text(
    *, title: str | None, exclude: Sequence[str] = (), command: Sequence[str] = ()
) -> str:
    """A `task.yaml` with what an import knows; which numbers matter is for its reader to say."""
    value: dict[str, Any] = {"schema": 1}
    if title:
        value["title"] = title
    if command:
        value["code"] = {"command": list(command)}
    if exclude:
        value["exclude"] = list(exclude)
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)
