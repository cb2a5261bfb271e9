"""What packages code needs: from its lock, its requirements, its metadata, else from its imports."""

from __future__ import annotations

import re
from pathlib import Path

from repro_pipeline.environment.conda import read_environment_yml
from repro_pipeline.environment.imports import read_imports
from repro_pipeline.environment.metadata import read_pyproject, read_setup_cfg, read_setup_py
from repro_pipeline.environment.model import Requirements
from repro_pipeline.environment.requirement_lines import read_entries, read_text
from repro_pipeline.errors import BuildError

_UNREAD = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "Pipfile", "conda-lock.yml")


def find_requirements(code: Path, named: str | None = None) -> Requirements:
    """The requirements of a code folder, from the strongest source that it has.

    In order: a lock with hashes (`requirements.lock`, `requirements.txt`), `requirements.txt`,
    `pyproject.toml`, `environment.yml`, `setup.cfg` and `setup.py` (read, not run), and the imports
    of the code. `named` is a file in the folder that is taken instead. Code that imports the
    standard library alone needs nothing. Raises BuildError naming file and line for what cannot be
    understood or would be fetched from outside the package index.
    """
    if not code.is_dir():
        raise BuildError("no such folder of code.", where=str(code))
    if named:
        path = code / named
        if not path.resolve().is_relative_to(code.resolve()):
            raise BuildError("the requirements lie outside the code.", where=named)
        if not path.is_file():
            raise BuildError("no such file of requirements.", where=named)
        found = _read(path, code)
        if found is None:
            raise BuildError("the file names no dependencies.", where=named)
    else:
        found = _first(code) or read_imports(code)
    return found.model_copy(
        update={
            "python": found.python or _python_version(code),
            "notes": (*found.notes, *_unread(code)),
        }
    )


_CANDIDATES = (
    "requirements.lock",
    "requirements.txt",
    "pyproject.toml",
    "environment.yml",
    "environment.yaml",
    "setup.cfg",
    "setup.py",
)


def _first(code: Path) -> Requirements | None:
    for name in _CANDIDATES:
        if (code / name).is_file():
            found = _read(code / name, code)
            if found is not None:
                return found
    return None


def _read(path: Path, code: Path) -> Requirements | None:
    """The requirements of one file; None where it is silent about dependencies."""
    file = path.resolve().relative_to(code.resolve()).as_posix()
    match path.name:
        case "setup.py":
            return read_setup_py(path, file)
        case "setup.cfg":
            return read_setup_cfg(path, file)
        case name if name.endswith(".toml"):
            return read_pyproject(path, file)
        case name if name.endswith((".yml", ".yaml")):
            return read_environment_yml(path, file)
    return _read_requirements(path, file, code)


def _read_requirements(path: Path, file: str, code: Path) -> Requirements:
    entries = read_entries(path, code)
    hashed = [entry for entry in entries if entry.hashes]
    if path.name.endswith(".lock") or (entries and len(hashed) == len(entries)):
        whole = all(entry.file == file for entry in entries)
        text = read_text(path, file)
        lines = text.splitlines() if whole else [entry.text for entry in entries]
        return Requirements(
            kind="given_lock", file=file, python=_python_of_lock(text), lines=tuple(lines)
        )
    notes = []
    if hashed:
        notes.append(
            f"{file}: {len(hashed)} of {len(entries)} entries carry hashes, so it is no lock: "
            "versions and hashes were resolved anew."
        )
    lines = tuple(str(entry.requirement) for entry in entries)
    return Requirements(kind="requirements", file=file, lines=lines, notes=tuple(notes))


def _python_of_lock(text: str) -> str | None:
    """The Python that a lock was compiled for, from the comments that pip-compile and uv leave."""
    found = re.search(
        r"^#.*(?:compile with Python |--python-version[= ])(\d+(?:\.\d+)+)", text, re.M
    )
    return found[1] if found else None


def _python_version(code: Path) -> str | None:
    """The first line of `.python-version`, where it is a version."""
    path = code / ".python-version"
    if not path.is_file():
        return None
    words = path.read_text(encoding="utf-8", errors="replace").split()
    return words[0] if words and words[0][:1].isdigit() else None


def _unread(code: Path) -> list[str]:
    return [f"{name} was not read." for name in _UNREAD if (code / name).is_file()]
