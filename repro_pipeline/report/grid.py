"""The paper's table again, each claim's reproduced value beside the reported one."""

from __future__ import annotations

from dataclasses import dataclass

from repro_pipeline.paper.document import spans
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
    """The table's rows; a spanning cell stands once, in its first place, and never over a claim's."""
    places: dict[tuple[int, int], list[ClaimRow]] = {}
    for row in rows:
        if row.claim.id in table.places:
            places.setdefault(table.places[row.claim.id], []).append(row)
    lines: list[list[GridCell]] = [[] for _ in table.table.grid]
    for r, c, down, right in spans(table.table, apart=places):
        lines[r].append(_cell(table.table, r, c, (down, right), tuple(places.get((r, c), ()))))
    return tuple(map(tuple, lines))


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
