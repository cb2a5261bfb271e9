"""The paper's table again, each claim's reproduced value beside the reported one."""

from __future__ import annotations

from dataclasses import dataclass

from repro_pipeline.paper.model import Correction, Table
from repro_pipeline.report.model import ClaimTable
from repro_pipeline.report.rows import ClaimRow


@dataclass(frozen=True)
class GridCell:
    """One cell as HTML has it: a heading or a value, over so many rows and columns."""

    text: str
    scope: str
    """'col', 'colgroup', 'row' or 'rowgroup' for a heading; empty for a value."""
    rows: int
    columns: int
    bold: bool
    claims: tuple[ClaimRow, ...]
    corrected: Correction | None = None
    """Set where a person put `text` in the place of what was read."""


def rebuilt(table: ClaimTable, rows: tuple[ClaimRow, ...]) -> tuple[tuple[GridCell, ...], ...]:
    """The table's rows; a spanning cell stands once, in its first place."""
    places: dict[tuple[int, int], list[ClaimRow]] = {}
    for row in rows:
        if row.claim.id in table.places:
            places.setdefault(table.places[row.claim.id], []).append(row)
    height, width = table.table.shape
    covered: set[tuple[int, int]] = set()
    lines = []
    for r in range(height):
        line = []
        for c in range(width):
            if (r, c) in covered:
                continue
            down, right = _extent(table.table, r, c, set(places))
            covered |= {(r + i, c + j) for i in range(down) for j in range(right)}
            line.append(_cell(table.table, r, c, (down, right), tuple(places.get((r, c), ()))))
        lines.append(tuple(line))
    return tuple(lines)


def _extent(table: Table, r: int, c: int, claimed: set[tuple[int, int]]) -> tuple[int, int]:
    """Rows and columns that the cell covers: the spanned places of the same text beside it.

    A place that holds a claim is never swallowed.
    """
    height, width = table.shape
    text = table.grid[r][c].text

    def continues(i: int, j: int) -> bool:
        cell = table.grid[i][j]
        return cell.spanned and cell.text == text and (i, j) not in claimed

    right = 1
    while c + right < width and continues(r, c + right):
        right += 1
    down = 1
    while r + down < height and all(continues(r + down, c + j) for j in range(right)):
        down += 1
    return down, right


def _cell(
    table: Table, r: int, c: int, extent: tuple[int, int], claims: tuple[ClaimRow, ...]
) -> GridCell:
    cell = table.grid[r][c]
    down, right = extent
    scope = ""
    if cell.text and not claims:
        if r < table.header_rows:
            scope = "colgroup" if right > 1 else "col"
        elif c < table.header_columns:
            scope = "rowgroup" if down > 1 else "row"
    return GridCell(cell.text, scope, down, right, cell.bold, claims, cell.corrected)
