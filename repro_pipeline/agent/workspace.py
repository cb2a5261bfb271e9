"""The folder that a coder works in: read, list, write, and edits that must match exactly once.

Every change is a unified diff. Paths are relative to the folder and stay in it.
"""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro_pipeline.errors import UserError
from repro_pipeline.ports import ArtifactStore

LARGEST = 400_000
"""Characters of one file that a coder may write: more is data, not code."""
FILES = 300
"""Files that a workspace may hold."""
SHOWN = 20_000
"""Characters of a file that are shown at once."""
_HIDDEN = {".git", "__pycache__", ".pytest_cache", ".venv"}


class EditError(UserError):
    """An edit that cannot be made, with what its author can do about it."""

    code = "bad_edit"


@dataclass(frozen=True)
class Change:
    """A file that was changed, and how."""

    path: str
    patch: str


class Workspace:
    """A folder of code, and how a coder changes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def restore(self, tree: str, store: ArtifactStore) -> None:
        """Make the folder what a stored tree holds."""
        shutil.rmtree(self.folder, ignore_errors=True)
        store.get_tree(tree, self.folder)

    def files(self) -> tuple[str, ...]:
        """The paths of all files, sorted."""
        return tuple(sorted(self._walk()))

    def read(self, path: str, first: int = 1, last: int | None = None) -> str:
        """Lines `first` to `last` of a file, from 1, without the rest of a long one."""
        lines = self._text(path).splitlines(keepends=True)
        chosen = "".join(lines[max(0, first - 1) : last])
        if len(chosen) > SHOWN:
            shown = chosen[:SHOWN]
            number = max(0, first - 1) + shown.count("\n") + 1
            return f"{shown}\n[… cut at line {number} of {len(lines)}; read on from there …]"
        return chosen

    def write(self, path: str, content: str) -> Change:
        """Write a whole file. Raises EditError."""
        target = self._inside(path)
        if len(content) > LARGEST:
            raise EditError(
                f"has {len(content)} characters, and a file may have {LARGEST}.",
                where=path,
                hint="Code that makes the data is wanted, not the data.",
            )
        if target.is_dir():
            raise EditError("is a folder.", where=path)
        if not target.exists() and len(self.files()) >= FILES:
            raise EditError(f"would be one file more than the {FILES} that may be.", where=path)
        before = self._text(path) if target.is_file() else ""
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8", errors="replace")
        except OSError as error:
            raise EditError(f"cannot be written: {error.strerror}.", where=path) from None
        return Change(path, _diff(path, before, content))

    def replace(self, path: str, search: str, replacement: str) -> Change:
        """Replace a text that stands exactly once in a file. Raises EditError saying what does stand."""
        before = self._text(path)
        if not search:
            raise EditError("the text to search is empty.", where=path, hint="Write the file anew.")
        count = before.count(search)
        if count > 1:
            lines = [str(before.count("\n", 0, at) + 1) for at in _places(before, search)]
            raise EditError(
                f"the text to replace stands {count} times, on lines {', '.join(lines[:8])}.",
                where=path,
                hint="Give more lines around the one that is meant.",
            )
        if count == 0:
            raise EditError(
                "the text to replace does not stand there.", where=path, hint=_near(before, search)
            )
        return self.write(path, before.replace(search, replacement))

    def delete(self, path: str) -> Change:
        """Take a file away. Raises EditError."""
        before = self._text(path)
        self._inside(path).unlink()
        return Change(path, _diff(path, before, ""))

    def _text(self, path: str) -> str:
        target = self._inside(path)
        if not target.is_file():
            known = ", ".join(self.files()[:40]) or "none"
            raise EditError("there is no such file.", where=path, hint=f"There are: {known}.")
        return target.read_text(encoding="utf-8", errors="replace")

    def _inside(self, path: str) -> Path:
        pure = PurePosixPath(path)
        bad = pure.is_absolute() or ".." in pure.parts or not pure.parts or "\0" in path
        if bad or _HIDDEN & set(pure.parts) or len(path) > 200:
            raise EditError("is no path inside the workspace.", where=path[:200])
        target = self.folder / pure
        for part in (target, *target.parents):
            if part == self.folder:
                break
            if part.is_symlink():
                raise EditError("is a link, or lies behind one.", where=path)
        return target

    def _walk(self) -> Iterator[str]:
        for path in self.folder.rglob("*"):
            inside = path.relative_to(self.folder)
            if path.is_file() and not path.is_symlink() and not _HIDDEN & set(inside.parts):
                yield inside.as_posix()


def _diff(path: str, before: str, after: str) -> str:
    return "".join(
        line if line.endswith("\n") else f"{line}\n"
        for line in difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            f"a/{path}",
            f"b/{path}",
        )
    )


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _near(text: str, search: str) -> str:
    """What of a text comes nearest to the first line of what was searched."""
    lines = text.splitlines()
    wanted = next((line for line in search.splitlines() if line.strip()), "").strip()
    stripped = [line.strip() for line in lines]
    if wanted in stripped:
        number = stripped.index(wanted)
        return (
            f"Its first line stands on line {number + 1}, as {lines[number]!r}; what follows or the "
            "white space differs. Read the file and copy the text."
        )
    near = difflib.get_close_matches(wanted, stripped, n=1, cutoff=0.6)
    if near:
        number = stripped.index(near[0])
        return (
            f"Line {number + 1} comes nearest: {lines[number]!r}. Read the file and copy the text."
        )
    return "Read the file and copy the text, or write the file anew."
