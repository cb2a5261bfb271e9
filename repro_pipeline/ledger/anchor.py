"""Heads of chains kept outside the ledger, in a plain file: what a rewritten chain is held against.

`repro ledger anchor` prints them, one JSON line each; keeping them elsewhere is the user's.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from repro_pipeline.errors import FileFormatError
from repro_pipeline.ledger.events import Head


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
