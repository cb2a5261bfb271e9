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
    """The rows of `<tgroup>`s: `morerows` and `namest`–`nameend` are spans.

    An entry stands in the column that it names; columns that a row leaves out are empty.
    """
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
            below: dict[int, int] = {}
            for row in found:
                rows.append(_row(row, columns, below, file))
                below = {column: left - 1 for column, left in below.items() if left > 1}
    return HtmlTable(rows, head or None)


def _row(row: Element, columns: list[str], below: dict[int, int], file: str) -> list[RawCell]:
    """The cells of a row; `below` counts, by column, the rows that a cell reaches into, this first.

    Columns that are left out, as the entries' names of theirs tell, are filled with empty cells.
    """
    place = Provenance(file=file, line=row.sourceline)
    cells: list[RawCell] = []
    taken = set(below)
    entries = [entry for entry in row if local_name(entry) == "entry"]
    at = 0
    for entry in entries:
        found = inline(entry)
        start, end = entry.get("namest") or entry.get("colname"), entry.get("nameend")
        named = columns.index(start) if start in columns else at
        while at < named or at in taken:
            if at not in taken:
                cells.append(RawCell("", provenance=place))
            at += 1
        wide = columns.index(end) - columns.index(start) if {start, end} <= set(columns) else 0
        more = entry.get("morerows") or "0"
        height = 1 + (int(more) if more.isdigit() and len(more) < 6 else 0)
        cells.append(
            RawCell(
                found.text,
                rows=height,
                columns=1 + max(wide, 0),
                bold=found.bold,
                underline=found.underline,
                provenance=place,
            )
        )
        below.update(dict.fromkeys(range(at, at + 1 + max(wide, 0)), height))
        at += 1 + max(wide, 0)
    if all(entry.get("namest") or entry.get("colname") for entry in entries):
        rest = set(range(at, len(columns))) - taken
        cells += [RawCell("", provenance=place) for _ in rest]
    return cells
