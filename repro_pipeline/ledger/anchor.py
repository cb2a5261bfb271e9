"""Heads of chains kept outside the ledger, in a plain file: what a rewritten chain is held against."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from repro_pipeline.errors import FileFormatError
from repro_pipeline.ledger.events import Head


def add_anchors(path: Path, heads: Iterable[Head]) -> tuple[Head, ...]:
    """Append the heads that the file does not hold yet, one JSON line each; return those.

    Raises FileFormatError where the file is no file of heads.
    """
    known = set(read_anchors(path)) if path.exists() else set()
    new = tuple(head for head in heads if head not in known)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(head.model_dump_json() + "\n" for head in new)
        file.flush()
        os.fsync(file.fileno())
    return new


def read_anchors(path: Path) -> tuple[Head, ...]:
    """The heads in the file, in its order. Raises FileFormatError with the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"the anchors cannot be read: {error}", where=str(path)) from error
    return tuple(_head(line, f"{path}:{number}") for number, line in enumerate(lines, start=1))


def _head(line: str, where: str) -> Head:
    try:
        return Head.model_validate_json(line)
    except ValidationError as error:
        raise FileFormatError(
            "the line is no head of a chain",
            where=where,
            hint='A head reads {"chain": "…", "seq": 7, "hash": "…"}.',
        ) from error
