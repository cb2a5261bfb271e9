"""What an import took from where: `import.json` of a bundle, and the same in the ledger."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints

from repro_pipeline.errors import UserError
from repro_pipeline.frozen import Frozen, Sha256

IMPORT_NAME = "import.json"
GRADING = "grading"
"""Folder of a project, beside its papers: rubrics and what only a judge may read.

It is no part of any bundle, so that nothing that is made of a bundle can hold it: no prompt, no run,
no export.
"""

_NOT_CONTENT = {".git", ".venv", ".ipynb_checkpoints", ".DS_Store"}

Layout = Literal["paperbench", "rescience", "fetched", "bundle"]
CommitId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]


class ImportFault(UserError):
    """A foreign folder, repository or file cannot be taken as it is."""

    code = "bad_import"


class Taken(Frozen):
    """One file, by its place in the bundle (or below `grading/`), and where it came from."""

    file: str
    source: str
    """Its path in what was imported, or its address; empty for a file that the import wrote itself."""
    sha256: Sha256
    bytes: int


class GitOrigin(Frozen):
    """The commit that code was taken from."""

    url: str
    commit: CommitId
    tree: CommitId
    """Git's own digest of the files: any clone can tell whether it holds the same."""
    asked: str
    """What was asked for: a commit, or the branch or tag that it was resolved from."""
    files: int
    bytes: int
    licence: str | None = None
    """The licence's file, where there is one."""
    left_out: tuple[str, ...] = ()
    """What of the commit is not there, in sentences: submodules, large files kept elsewhere."""


class Original(Frozen):
    """The work that a reproduction article is about."""

    citation: str | None = None
    url: str | None = None
    doi: str | None = None


class ImportRecord(Frozen):
    """What was imported. It holds no time: the same import gives the same bundle."""

    layout: Layout
    asked: str
    """What `repro add` was given."""
    title: str | None = None
    authors: tuple[str, ...] = ()
    original: Original | None = None
    code_named: tuple[str, ...] = ()
    """Addresses of code that the folder names; none was fetched by this."""
    files: tuple[Taken, ...] = ()
    grading: tuple[Taken, ...] = ()
    """What is kept from agents, below the project's `grading/`."""
    left_out: tuple[str, ...] = ()
    """Files that were not taken."""
    code: GitOrigin | None = None
    notes: tuple[str, ...] = ()
    """What must be known, in sentences."""


def take(source: Path, name: str, target: Path, place: str) -> Taken:
    """Copy the file `name` of `source` to `place` in `target`. Raises ImportFault for a link."""
    path = source / name
    if path.is_symlink() or not path.is_file():
        raise ImportFault("is no regular file.", where=str(path), hint="Put a copy in its place.")
    goal = target / place
    goal.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, goal)
    return _taken(goal, place, name)


def refuse_pointer(path: Path) -> None:
    """Raise ImportFault for what large-file storage left in a file's place."""
    with path.open("rb") as stream:
        pointer = stream.read(64).startswith(b"version https://git-lfs.github.com/spec/")
    if pointer:
        raise ImportFault(
            "is a pointer to large-file storage, and not the file.",
            where=str(path),
            hint="Fetch the file itself with `git lfs pull`.",
        )


def written(target: Path, place: str, text: str) -> Taken:
    """Write a file of the import's own."""
    goal = target / place
    goal.parent.mkdir(parents=True, exist_ok=True)
    goal.write_text(text, encoding="utf-8")
    return _taken(goal, place, "")


def _taken(path: Path, place: str, source: str) -> Taken:
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return Taken(file=place, source=source, sha256=sha256, bytes=path.stat().st_size)


def files_below(folder: Path) -> list[str]:
    """All files below a folder by their paths; links are named, not followed.

    What Git and editors keep for themselves is left out. Raises ImportFault for a name that is no UTF-8.
    """
    found = []
    for path in folder.rglob("*"):
        inner = path.relative_to(folder)
        if _NOT_CONTENT.isdisjoint(inner.parts) and (path.is_symlink() or path.is_file()):
            found.append(_utf8(inner.as_posix(), folder))
    return sorted(found)


def _utf8(name: str, folder: Path) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ImportFault(
            f"holds a name that is not UTF-8: {name!r}.", where=str(folder), hint="Rename it."
        ) from None
    return name


def write_record(record: ImportRecord, bundle: Path) -> None:
    """Leave the record in the bundle."""
    (bundle / IMPORT_NAME).write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
