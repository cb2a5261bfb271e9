"""Open a paper's folder: which sources it has, what its task says, and what its content hashes to."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from repro_pipeline.bundle.task import Task
from repro_pipeline.choices import choices
from repro_pipeline.errors import BundleError
from repro_pipeline.frozen import Frozen, Sha256, digest
from repro_pipeline.paper.read import find_sources
from repro_pipeline.yamlfile import load_model

TASK_NAME = "task.yaml"
PAPER_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
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
    if not PAPER_ID.fullmatch(name):
        slug = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._") or "paper"
        raise BundleError(
            f"'{name}' cannot be a paper id: it may hold a-z, 0-9, '.', '_' and '-', "
            "and begins with a letter or digit.",
            hint=f"Rename the folder, for example to '{slug[:100]}', or give an id with --id.",
        )
    return name


def open_bundle(folder: Path, *, paper: str | None = None) -> Bundle:
    """Read a paper's folder; the paper's id is the folder's name, unless another is given.

    Raises BundleError when the folder is missing, holds no source of the paper, or names a path
    that it lacks; FileFormatError when `task.yaml` does not follow its schema.
    """
    if not folder.is_dir():
        raise BundleError("no such bundle.", where=str(folder), hint=_which_exist(folder))
    paper = paper_id_of(folder.name if paper is None else paper)
    sources = _sources(folder)
    task_file = folder / TASK_NAME
    task = load_model(task_file, Task) if task_file.exists() else Task()
    code = task.code.path if task.code else "code"
    has_code = (folder / code).is_dir() and lies_inside(folder / code, folder)
    if task.code and not has_code:
        raise BundleError(
            f"`code: {{path: {code}}}` is no folder of the bundle.", where=str(task_file)
        )
    files = _digests(folder)
    return Bundle(
        paper=paper,
        sources=tuple(path.relative_to(folder).as_posix() for path in sources),
        task=task,
        files=files,
        references=tuple(name for name in files if name.startswith("references/")),
        has_code=has_code,
    )


def lies_inside(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder when its links are followed."""
    if "\0" in str(path):
        return False
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _sources(folder: Path) -> tuple[Path, ...]:
    """The paper's sources, the most exact format first. Raises BundleError where there is none."""
    found = find_sources(folder)
    if not found:
        raise BundleError(
            "holds no paper.",
            where=str(folder),
            hint="Put the paper there as paper.tex (or a folder paper/ of LaTeX files, or "
            "paper.tar.gz), paper.xml, paper.tei.xml, paper.md or paper.pdf.",
        )
    return found


def _digests(folder: Path) -> dict[str, str]:
    """Digest per file, in order of path. A link to a folder counts by the folder that it names."""
    digests: dict[str, str] = {}
    try:
        for root, folders, files in os.walk(folder, onerror=_raise):
            folders[:] = sorted(set(folders) - _NOT_CONTENT)
            links = [name for name in folders if Path(root, name).is_symlink()]
            for name in sorted({*files, *links} - _NOT_CONTENT):
                path = Path(root, name)
                digests[_name_of(path, folder)] = _digest_of(path, folder)
    except OSError as error:
        raise BundleError(f"cannot be read: {error.strerror}.", where=str(error.filename)) from None
    return dict(sorted(digests.items()))


def _raise(error: OSError) -> None:
    raise error


def _name_of(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    try:
        name.encode()
    except UnicodeEncodeError:
        raise BundleError(
            "has a name that is not UTF-8.", where=repr(str(path)), hint="Rename it."
        ) from None
    return name


def _digest_of(path: Path, folder: Path) -> str:
    if path.is_symlink() and not lies_inside(path, folder):
        raise BundleError(
            "is a link that leaves the bundle.", where=str(path), hint="Put a copy in its place."
        )
    if path.is_dir():
        named = Path(os.path.realpath(path)).relative_to(os.path.realpath(folder))
        return digest({"link to": named.as_posix()})
    if not path.is_file():
        raise BundleError("is no regular file.", where=str(path), hint="Remove it.")
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _which_exist(missing: Path) -> str:
    papers = missing.parent
    folders = papers.iterdir() if papers.is_dir() else ()
    names = sorted(path.name for path in folders if path.is_dir() and PAPER_ID.fullmatch(path.name))
    if not names:
        return "Add one with `repro add PATH`."
    return choices(missing.name, names, lead="These exist")


def code_prefix(task: Task) -> str:
    """What the names of the code's files begin with, relative to the bundle."""
    path = task.code.path if task.code else "code"
    return "" if path == "." else f"{path}/"


def paper_files(bundle: Bundle) -> dict[str, str]:
    """The files that the paper may be made of, with their digests: `\\input` reaches any of them."""
    code = code_prefix(bundle.task) or None
    others = ("references/", "data/", *([code] if code else []))
    return {
        name: sha256
        for name, sha256 in bundle.files.items()
        if name in bundle.sources or not (name == TASK_NAME or name.startswith(others))
    }
