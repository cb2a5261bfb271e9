"""Which Python code needs, from what it says and how it is written; read, and never run.

In order: what its metadata demands (`requires-python`), which versions its classifiers name, and what
its syntax and its imports of the standard library admit. Where packages are resolved as of a date, a
Python that was half a year old then is wanted as well: wheels for a new one come late.
"""

from __future__ import annotations

import ast
import collections.abc
import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from repro_pipeline.environment.imports import imports_of, is_local, python_files
from repro_pipeline.environment.metadata import read_metadata
from repro_pipeline.errors import BuildError
from repro_pipeline.pysource import parsed

RELEASED = {
    6: date(2016, 12, 23),
    7: date(2018, 6, 27),
    8: date(2019, 10, 14),
    9: date(2020, 10, 5),
    10: date(2021, 10, 4),
    11: date(2022, 10, 24),
    12: date(2023, 10, 2),
    13: date(2024, 10, 7),
    14: date(2025, 10, 7),
}
"""When Python 3.<key> came out (PEPs 494, 537, 569, 596, 619, 664, 693, 719, 745)."""

_RIPE = timedelta(days=180)
_REMOVED = {
    # module of the standard library: the first Python 3.<n> without it (PEPs 594, 632)
    **dict.fromkeys(("asynchat", "asyncore", "distutils", "imp", "smtpd"), 12),
    **dict.fromkeys(("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "mailcap"), 13),
    **dict.fromkeys(("msilib", "nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd"), 13),
    **dict.fromkeys(("sunau", "telnetlib", "uu", "xdrlib", "lib2to3"), 13),
}
_CONTAINERS = {f"collections.{name}" for name in collections.abc.__all__ if name != "Buffer"}
"""Left `collections` with 3.10, and are in `collections.abc` alone."""
_CLASSIFIER = re.compile(r"Programming Language :: Python :: 3\.(\d+)\b")
_OLD = re.compile(r"^\s*(?:print\s+[\"'\w(%]|except\s+[\w.]+\s*,\s*\w+\s*:|exec\s+[\"'])", re.M)


class Evidence(NamedTuple):
    """A wanted Python and why."""

    wanted: str
    """A specifier, such as >=3.6,<3.10."""
    why: str
    said: bool
    """Whether the code says so itself; otherwise it was concluded."""


class _File(NamedTuple):
    """A file of Python 3."""

    path: Path
    name: str
    text: str
    tree: ast.Module


def python_of(code: Path) -> Evidence | None:
    """What the code gives away; None where any Python will do.

    Raises BuildError for code of Python 2.
    """
    told = read_metadata(code)
    if told.requires_python:
        return Evidence(told.requires_python, f"{told.file} demands {told.requires_python}", True)
    named = sorted({int(minor) for minor in _CLASSIFIER.findall("\n".join(told.classifiers))})
    if named:
        wanted = f">=3.{named[0]},<3.{named[-1] + 1}"
        return Evidence(wanted, f"the classifiers of {told.file} name {wanted}", True)
    least, most = (6, ""), (99, "")
    files = _parsed(code)
    for minor, why in _lower_bounds(files):
        least = max(least, (minor, why))
    for minor, why in _upper_bounds(files, code):
        most = min(most, (minor, why))
    if most[0] <= least[0]:  # what a file is written in says more than what it may never import
        most = (99, "")
    parts = [f">=3.{least[0]}"] * bool(least[1]) + [f"<3.{most[0]}"] * bool(most[1])
    why = "; ".join(one for one in (least[1], most[1]) if one)
    return Evidence(",".join(parts), why, False) if parts else None


def python_as_of(day: date) -> Evidence:
    """The Pythons that wheels of a day are for."""
    ripe = [minor for minor, released in RELEASED.items() if released + _RIPE <= day]
    newest = max(ripe, default=min(RELEASED))
    then = (
        "was the newest with wheels" if ripe else "was yet to come, the oldest that is known here"
    )
    why = f"packages are resolved as of {day}, when 3.{newest} {then}"
    return Evidence(f"<3.{newest + 1}", why, False)


def _lower_bounds(files: Sequence[_File]) -> Iterator[tuple[int, str]]:
    """The Python that a file's syntax needs, for each that needs one later than 3.6."""
    for file in files:
        for minor in RELEASED:
            try:
                ast.parse(file.text, feature_version=(3, minor))
            except (SyntaxError, RecursionError, MemoryError):
                continue
            if minor > min(RELEASED):
                yield minor, f"the syntax of {file.name} needs 3.{minor}"
            break


def _upper_bounds(files: Sequence[_File], code: Path) -> Iterator[tuple[int, str]]:
    """The first Python without something of the standard library, for each file that needs it."""
    for file in files:
        hedged = _hedged(file.tree)
        for one in imports_of(file.tree, file.name):
            if one.optional or one.line in hedged or is_local(one.module, file.path, code):
                continue
            if one.module in _REMOVED:
                gone = _REMOVED[one.module]
                yield gone, f"{file.name}:{one.line} imports {one.module}, which left with 3.{gone}"
            if _CONTAINERS.intersection(one.names):
                yield 10, f"{file.name}:{one.line} imports of collections what left it with 3.10"
        for node in ast.walk(file.tree):
            used = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if used and f"{node.value.id}.{node.attr}" in _CONTAINERS and node.lineno not in hedged:
                yield 10, f"{file.name}:{node.lineno} takes of collections what left it with 3.10"


def _hedged(tree: ast.Module) -> set[int]:
    """The lines of statements that ask for the version of Python, or go on where something is missing."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            asked = {getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(node.test)}
            hedge = asked & {"version_info", "PY2", "PY3"}
        else:
            hedge = isinstance(node, ast.Try) and node.handlers
        if hedge:
            lines.update(range(node.lineno, node.end_lineno + 1))
    return lines


def _parsed(code: Path) -> list[_File]:
    """The files that are Python 3. Raises BuildError where most are of Python 2, naming the first."""
    files, old = [], []
    for path in sorted(python_files(code)):
        name = path.relative_to(code).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            files.append(_File(path, name, text, parsed(text)))
        except SyntaxError:
            if found := _OLD.search(text):
                old.append(f"{name}:{text.count(chr(10), 0, found.end()) + 1}")
    if len(old) > len(files):
        raise BuildError(
            "the code is written for Python 2, which no environment here has.",
            where=old[0],
            hint="Convert it (`2to3`), or run it in an image (docker runner).",
        )
    return files
