"""The writable folders of a run: hand them to its user, measure them, and take them back unharmed.

Nothing here follows a link. Imports the standard library only: it is part of the supervisor.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

DEEPEST = 64
"""Levels of folders; what a run nests deeper is removed, since common tools fail on it."""

_LONGEST = 2000  # characters of a path that is removed: well within what the kernel takes
_ENTRY = 1024  # bytes that an entry costs its file system, at least


def hand_over(tree: Path, user: int | None) -> None:
    """Give a private folder to the run's user (None: it stays ours)."""
    if user is not None:
        for path, _ in walk(tree):
            os.chown(path, user, user, follow_symlinks=False)


def second_names(tree: Path) -> Iterator[Path]:
    """The files that have another name, maybe outside: to write or chown one changes the other."""
    for path, info in walk(tree):
        if stat.S_ISREG(info.st_mode) and info.st_nlink > 1:
            yield path


def take_back(tree: Path) -> None:
    """Make a folder ours again: our ownership, no set-user bits, all readable, nothing too deep.

    For use when no process of the run is left: nothing changes while it is looked at.
    """
    user, group = os.geteuid(), os.getegid()
    deep = []
    for path, info in _seen(tree):
        if info is None:
            deep.append(next(one for one in (path, *path.parents) if len(str(one)) < _LONGEST))
            continue
        if user == 0:
            os.chown(path, user, group, follow_symlinks=False)
        if stat.S_ISDIR(info.st_mode):
            path.chmod(stat.S_IMODE(info.st_mode) & 0o777 | 0o700)
        elif stat.S_ISREG(info.st_mode):
            path.chmod(stat.S_IMODE(info.st_mode) & 0o777 | 0o600)
    for path in deep:
        remove(path)


def remove(tree: Path) -> None:
    """Remove a folder, however deep it is nested."""
    command = ["/bin/rm", "-rf", "--one-file-system", "--", str(tree)]
    os.waitpid(os.posix_spawn(command[0], command, {}), 0)


class Unmeasured(Exception):
    """A part of a folder cannot be looked at: it is unreadable, or nested too deep."""


def size(tree: Path, most: float = float("inf")) -> int:
    """Bytes that a folder takes on its disk, its entries included; counted no further than `most`.

    Raises Unmeasured.
    """
    total = 0
    for path, info in _seen(tree):
        if info is None:
            raise Unmeasured(path)
        total += info.st_blocks * 512 + _ENTRY
        if total > most:
            break
    return total


def walk(tree: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """A folder and all in it down to `DEEPEST` levels, each before its contents."""
    return ((path, info) for path, info in _seen(tree) if info is not None)


def _seen(tree: Path) -> Iterator[tuple[Path, os.stat_result | None]]:
    """As `walk`; and with None what cannot be looked at, or lies too deep."""
    open_ones = [(tree, 0)]
    yield tree, os.lstat(tree)
    while open_ones:
        folder, depth = open_ones.pop()
        if depth == DEEPEST:
            yield folder, None
            continue
        try:
            entries = list(os.scandir(folder))
        except (FileNotFoundError, NotADirectoryError):  # gone
            continue
        except OSError:
            yield folder, None
            continue
        for entry in entries:
            path = Path(entry.path)
            try:
                info = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError:
                yield path, None
                continue
            yield path, info
            if stat.S_ISDIR(info.st_mode):
                open_ones.append((path, depth + 1))
