"""A file that appears whole or not at all, whoever reads it meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to, which takes its place where the block ends well.

    Makes the folder where there is none. Where the block raises, what stood at `path` stays, and
    nothing is left beside it. Nothing is forced to disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
