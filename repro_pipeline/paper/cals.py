"""Tables in the CALS (OASIS) model, which some publishers put into JATS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repro_pipeline.paper.html_tables import HtmlTable
from repro_pipeline.paper.markup import inline, local_name
from repro_pipeline.paper.model import Provenance
from repro_pipeline.paper.tables import RawCell

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_PARTS = ("thead", "tbody", "tfoot")


def cals_rows(table: Element, file: str) -> HtmlTable:
    """The rows of `<tgroup>`s: `morerows` and `namest`–`nameend` are spans."""
    rows: list[list[RawCell]] = []
    head = 0
    for group in (part for part in table if local_name(part) == "tgroup"):
        columns = [c.get("colname", "") for c in group if local_name(c) == "colspec"]
        parts = sorted(
            (part for part in group if local_name(part) in _PARTS),
            key=lambda part: _PARTS.index(local_name(part)),
        )
        for part in parts:
            found = [row for row in part if local_name(row) == "row"]
            if local_name(part) == "thead" and not rows:
                head = len(found)
            rows += [_row(row, columns, file) for row in found]
    return HtmlTable(rows, head or None)


def _row(row: Element, columns: list[str], file: str) -> list[RawCell]:
    place = Provenance(file=file, line=row.sourceline)
    cells: list[RawCell] = []
    for entry in row:
        if local_name(entry) != "entry":
            continue
        found = inline(entry)
        start, end = entry.get("namest"), entry.get("nameend")
        wide = columns.index(end) - columns.index(start) if {start, end} <= set(columns) else 0
        more = entry.get("morerows") or "0"
        cells.append(
            RawCell(
                found.text,
                rows=1 + (int(more) if more.isdigit() and len(more) < 6 else 0),
                columns=1 + max(wide, 0),
                bold=found.bold,
                underline=found.underline,
                provenance=place,
            )
        )
    return cells
