"""Open a paper's folder: which sources it has, what its task says, and what its content hashes to."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from repro_pipeline.bundle.task import Task
from repro_pipeline.errors import BundleError
from repro_pipeline.frozen import Frozen, Sha256, digest
from repro_pipeline.ports import ArtifactStore
from repro_pipeline.yamlfile import load_model

TASK_NAME = "task.yaml"
PAPER_ID = re.compile(r"^[a-z0-9][a-z0-9._-]{0,99}$")
_NOT_CONTENT = {".git", "__pycache__", ".venv", ".ipynb_checkpoints", ".DS_Store"}


class Bundle(Frozen):
    """A paper's folder, read. Paths are relative to it."""

    paper: str
    sources: tuple[str, ...]
    """The paper's source files, the most exact format first."""
    task: Task
    files: dict[str, Sha256]
    """Digest per file; private data stand for themselves by their digest alone."""
    references: tuple[str, ...] = ()
    has_code: bool = False

    @property
    def content(self) -> str:
        """Digest of the whole folder."""
        return digest(self.files)


def paper_id_of(name: str) -> str:
    """Check a paper id. Raises BundleError saying what an id may hold."""
    if not PAPER_ID.match(name):
        slug = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._") or "paper"
        raise BundleError(
            f"'{name}' cannot be a paper id: it may hold a-z, 0-9, '.', '_' and '-', "
            "and begins with a letter or digit.",
            hint=f"Rename the folder, for example to '{slug[:100]}'.",
        )
    return name


def open_bundle(folder: Path) -> Bundle:
    """Read a paper's folder.

    Raises BundleError when the folder is missing, holds no source of the paper, or names a path
    that it lacks; FileFormatError when `task.yaml` does not follow its schema.
    """
    if not folder.is_dir():
        raise BundleError("no such bundle.", where=str(folder), hint=_which_exist(folder.parent))
    paper = paper_id_of(folder.name)
    sources = find_sources(folder)
    task_file = folder / TASK_NAME
    task = load_model(task_file, Task) if task_file.exists() else Task()
    code = task.code.path if task.code else "code"
    if task.code and not (folder / code).is_dir():
        raise BundleError(
            f"`code: {{path: {code}}}` is no folder of the bundle.", where=str(task_file)
        )
    references = folder / "references"
    return Bundle(
        paper=paper,
        sources=tuple(path.relative_to(folder).as_posix() for path in sources),
        task=task,
        files=_digests(folder),
        references=tuple(
            path.relative_to(folder).as_posix()
            for path in (sorted(references.rglob("*")) if references.is_dir() else ())
            if path.is_file()
        ),
        has_code=(folder / code).is_dir(),
    )


def find_sources(folder: Path) -> tuple[Path, ...]:
    """The paper's sources, the most exact format first. Raises BundleError where there is none."""
    names = (
        "paper.tex",
        "paper",
        "paper.tar.gz",
        "paper.xml",
        "paper.tei.xml",
        "paper.md",
        "paper.pdf",
    )
    found = tuple(folder / name for name in names if (folder / name).exists())
    if not found:
        raise BundleError(
            "holds no paper.",
            where=str(folder),
            hint="Put the paper there as paper.tex (or a folder paper/ of LaTeX files, or "
            "paper.tar.gz), paper.xml, paper.tei.xml, paper.md or paper.pdf.",
        )
    return found


def _digests(folder: Path) -> dict[str, str]:
    digests: dict[str, str] = {}
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NOT_CONTENT)
        for name in sorted(set(files) - _NOT_CONTENT):
            path = Path(root, name)
            if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
                raise BundleError("is a link that leaves the bundle.", where=str(path))
            if not path.is_file():
                raise BundleError("is no regular file.", where=str(path))
            with path.open("rb") as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            digests[path.relative_to(folder).as_posix()] = sha256
    return digests


def _which_exist(papers: Path) -> str:
    names = (
        sorted(path.name for path in papers.iterdir() if path.is_dir()) if papers.is_dir() else []
    )
    return f"These exist: {', '.join(names)}." if names else "Add one with `repro add PATH`."


def keep_bundle(bundle: Bundle, folder: Path, store: ArtifactStore) -> None:
    """Keep the sources, the task and the references in the store; the code is kept when frozen."""
    kept = (*bundle.sources, TASK_NAME)
    for name in bundle.files:
        if name in kept or name.split("/")[0] in {"paper", "references"}:
            store.put_file(folder / name)
