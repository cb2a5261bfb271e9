"""Tables in the XHTML model, as HTML and JATS share it: elements to rows of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from repro_pipeline.paper.markup import inline, local_name
from repro_pipeline.paper.model import Provenance
from repro_pipeline.paper.tables import RawCell

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

WIDEST = 1000
"""Columns that a cell can span, as in HTML."""

_PICTURES = {"graphic", "inline-graphic", "img"}


@dataclass(frozen=True)
class HtmlTable:
    """Rows for `make_table`, and the header rows that the source marks (None: it marks none)."""

    rows: list[list[RawCell]]
    header_rows: int | None
    doubts: tuple[str, ...] = ()


def html_tables(source: str) -> list[Element]:
    """The outermost `<table>`s of a piece of HTML, however broken it is."""
    from lxml import etree, html

    try:
        parser = html.HTMLParser(no_network=True, huge_tree=False, recover=True)
        root = html.document_fromstring(f"<html><body>{source}</body></html>", parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return []
    return [
        table
        for table in root.iter("table")
        if not any(parent.tag == "table" for parent in table.iterancestors())
    ]


def read_rows(
    table: Element, file: str, line: int = 1, clean: Callable[[str], RawCell] = RawCell
) -> HtmlTable:
    """The rows of a `<table>` element; `clean` makes text and emphasis of each cell's text.

    `line` is the line of the file at which the element's source begins.
    """
    rows: list[list[RawCell]] = []
    marked: list[bool] = []
    doubts: list[str] = []
    for row, in_head, left in _rows(table):
        cells = [cell for cell in row if local_name(cell) in {"td", "th"}]
        place = Provenance(file=file, line=line + (row.sourceline or 1) - 1)
        found = [_cell(cell, place, clean, doubts) for cell in cells]
        rows.append([replace(cell, rows=min(cell.rows, left)) for cell in found])
        heads = [local_name(cell) == "th" for cell in cells]
        marked.append(in_head or (bool(heads) and all(heads)))
    while rows and not rows[-1]:
        rows.pop()
        marked.pop()
    leading = next((place for place, head in enumerate(marked) if not head), 0)
    return HtmlTable(rows, leading or None, tuple(dict.fromkeys(doubts)))


def _rows(table: Element) -> Iterator[tuple[Element, bool, int]]:
    """Rows in the order head, body, foot, without those of tables inside of cells.

    With each, whether it stands in the head, and how many rows its part has from it on: no cell
    spans beyond them.
    """
    places = {"thead": 0, "tbody": 1, "tr": 1, "tfoot": 2}
    groups = [child for child in table if local_name(child) in places]
    for group in sorted(groups, key=lambda group: places[local_name(group)]):
        if local_name(group) == "tr":
            yield group, False, len(groups)
            continue
        rows = [row for row in group if local_name(row) == "tr"]
        for at, row in enumerate(rows):
            yield row, local_name(group) == "thead", len(rows) - at


def _cell(
    cell: Element, place: Provenance, clean: Callable[[str], RawCell], doubts: list[str]
) -> RawCell:
    if any(local_name(inner) == "table" for inner in cell.iterdescendants()):
        doubts.append("A cell holds a table of its own.")
    if any(local_name(inner) in _PICTURES for inner in cell.iterdescendants()):
        doubts.append("A cell holds a picture, which is not read.")
    found = inline(cell)
    own = clean(found.text)
    return RawCell(
        text=own.text,
        rows=_span(cell, "rowspan"),
        columns=min(_span(cell, "colspan"), WIDEST),
        bold=found.bold or own.bold,
        underline=found.underline or own.underline,
        provenance=place,
    )


def _span(cell: Element, name: str) -> int:
    text = (cell.get(name) or "1").strip()
    if text == "0":
        return 10_000  # HTML: to the end of the table
    return max(1, int(text)) if text.isdigit() and len(text) < 6 else 1
