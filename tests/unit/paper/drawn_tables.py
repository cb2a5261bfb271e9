"""Tables drawn in text, for tests."""

from __future__ import annotations

import re

from repro_pipeline.paper.tables import RawCell


def rows_of(drawing: str) -> list[list[RawCell]]:
    """Rows of cells parted by `|`; `[2x3]text` spans two rows and three columns."""
    rows = []
    for line in drawing.strip("\n").splitlines():
        cells = []
        for text in (part.strip() for part in line.split("|")):
            span = re.fullmatch(r"\[(\d+)x(\d+)\](.*)", text)
            cells.append(RawCell(span[3], int(span[1]), int(span[2])) if span else RawCell(text))
        if line.strip():
            rows.append(cells)
    return rows
