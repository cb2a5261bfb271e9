"""The writable folders of a run: hand them to its user, measure them, and take them back unharmed.

Nothing here follows a link. Imports the standard library only: it is part of the supervisor.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

DEEPEST = 64
"""Levels of folders; what a run nests deeper is removed, since common tools fail on it."""

_ENTRY = 1024  # bytes that an entry costs its file system, at least


def hand_over(tree: Path, user: int | None) -> None:
    """Give a private folder to the run's user (None: it stays ours).

    Raises OSError for a file with a second name elsewhere: writing it would change that too.
    """
    for path, info in walk(tree):
        if stat.S_ISREG(info.st_mode) and info.st_nlink > 1:
            raise OSError(f"{path} is hard-linked: a run needs a private copy of it")
    if user is not None:
        for path, _ in walk(tree):
            os.chown(path, user, user, follow_symlinks=False)


def take_back(tree: Path) -> None:
    """Make a folder ours again: our ownership, no set-user bits, all readable, nothing too deep."""
    user, group = os.geteuid(), os.getegid()
    for path, info in walk(tree):
        if user == 0:
            os.chown(path, user, group, follow_symlinks=False)
        if stat.S_ISDIR(info.st_mode):
            path.chmod(stat.S_IMODE(info.st_mode) & 0o777 | 0o700)
        elif stat.S_ISREG(info.st_mode):
            path.chmod(stat.S_IMODE(info.st_mode) & 0o777 | 0o600)
    for path in _too_deep(tree):
        remove(path)


def remove(tree: Path) -> None:
    """Remove a folder, however deep it is nested."""
    subprocess.run(["/bin/rm", "-rf", "--one-file-system", "--", tree], check=False, env={})


def size(tree: Path) -> int:
    """Bytes that a folder takes on its disk, its entries included."""
    return sum(info.st_blocks * 512 + _ENTRY for _, info in walk(tree))


def walk(tree: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """A folder and all in it down to `DEEPEST` levels, each before its contents."""
    open_ones = [(tree, 0)]
    while open_ones:
        path, depth = open_ones.pop()
        try:
            info = os.lstat(path)
        except OSError:
            continue
        yield path, info
        if stat.S_ISDIR(info.st_mode) and depth < DEEPEST:
            try:
                names = os.listdir(path)  # noqa: PTH208
            except OSError:
                continue
            open_ones += [(path / name, depth + 1) for name in names]


def _too_deep(tree: Path) -> list[Path]:
    limit = len(tree.parts) + DEEPEST
    return [
        path
        for path, info in walk(tree)
        if len(path.parts) == limit and stat.S_ISDIR(info.st_mode) and os.listdir(path)  # noqa: PTH208
    ]
