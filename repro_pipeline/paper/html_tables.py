"""Tables in the XHTML model, as HTML and JATS share it: elements to rows of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repro_pipeline.paper.model import Provenance
from repro_pipeline.paper.tables import RawCell

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_BOLD = {"b", "strong", "bold"}
_UNDERLINED = {"u", "ins", "underline"}
_BREAKS = {"br", "break", "p", "div", "li", "title"}
_SKIPPED = {"tex-math", "script", "style", "annotation", "annotation-xml", "fn", "object-id"}

DEEPEST = 100


@dataclass(frozen=True)
class HtmlTable:
    """Rows for `make_table`, and the header rows that the source marks (None: it marks none)."""

    rows: list[list[RawCell]]
    header_rows: int | None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inline:
    """Text of an element, and whether its first letter or digit is bold or underlined."""

    text: str
    bold: bool = False
    underline: bool = False


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
    table: Element, file: str, line: int = 1, clean: Callable[[str], str] = lambda text: text
) -> HtmlTable:
    """The rows of a `<table>` element; `clean` is applied to the text of each cell.

    `line` is the line of the file at which the element's source begins.
    """
    rows: list[list[RawCell]] = []
    marked: list[bool] = []
    doubts: list[str] = []
    for row, in_head in _rows(table):
        cells = [cell for cell in row if local_name(cell) in {"td", "th"}]
        place = Provenance(file=file, line=line + (row.sourceline or 1) - 1)
        rows.append([_cell(cell, place, clean, doubts) for cell in cells])
        heads = [local_name(cell) == "th" for cell in cells]
        marked.append(in_head or (bool(heads) and all(heads)))
    while rows and not rows[-1]:
        rows.pop()
        marked.pop()
    leading = next((place for place, head in enumerate(marked) if not head), len(marked))
    return HtmlTable(rows, leading or None, tuple(dict.fromkeys(doubts)))


def inline(element: Element) -> Inline:
    """An element's text on one line: raised and lowered parts are written `^{…}` and `_{…}`."""
    pieces = list(_pieces(element, False, False, 0))
    text = " ".join("".join(text for text, _, _ in pieces).split())
    first = next(
        (piece for piece in pieces if any(character.isalnum() for character in piece[0])),
        ("", False, False),
    )
    return Inline(text, first[1], first[2])


def local_name(element: Element) -> str:
    """An element's name without its namespace; empty for comments."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _rows(table: Element) -> Iterator[tuple[Element, bool]]:
    """Rows in the order head, body, foot, without those of tables inside of cells."""
    sections = {"thead": 0, "tbody": 1, "tfoot": 2}
    groups = [child for child in table if local_name(child) in sections]
    for group in sorted(groups, key=lambda group: sections[local_name(group)]):
        for row in group:
            if local_name(row) == "tr":
                yield row, local_name(group) == "thead"
    if not groups:
        for row in table:
            if local_name(row) == "tr":
                yield row, False


def _cell(
    cell: Element, place: Provenance, clean: Callable[[str], str], doubts: list[str]
) -> RawCell:
    if any(local_name(inner) == "table" for inner in cell.iterdescendants()):
        doubts.append("A cell holds a table of its own.")
    found = inline(cell)
    return RawCell(
        text=clean(found.text),
        rows=_span(cell, "rowspan"),
        columns=_span(cell, "colspan"),
        bold=found.bold,
        underline=found.underline,
        provenance=place,
    )


def _span(cell: Element, name: str) -> int:
    text = (cell.get(name) or "1").strip()
    if text == "0":
        return 10_000  # HTML: to the end of the table
    return max(1, int(text)) if text.isdigit() and len(text) < 6 else 1


def _pieces(
    element: Element, bold: bool, underline: bool, depth: int
) -> Iterator[tuple[str, bool, bool]]:
    name = local_name(element)
    if depth > DEEPEST or not name or name in _SKIPPED:
        return
    bold = bold or name in _BOLD
    underline = underline or name in _UNDERLINED
    if name in {"sup", "sub"}:
        inside = _joined(_children(element, bold, underline, depth))
        yield _script("^" if name == "sup" else "_", inside), bold, underline
        return
    if name in {"msup", "msub"} and len(element) == 2:
        base, script = element
        yield from _pieces(base, bold, underline, depth + 1)
        inside = _joined(_pieces(script, bold, underline, depth + 1))
        yield _script("^" if name == "msup" else "_", inside), bold, underline
        return
    yield from _children(element, bold, underline, depth)
    if name in _BREAKS:
        yield " ", bold, underline


def _children(
    element: Element, bold: bool, underline: bool, depth: int
) -> Iterator[tuple[str, bool, bool]]:
    if element.text:
        yield element.text, bold, underline
    for child in element:
        yield from _pieces(child, bold, underline, depth + 1)
        if child.tail:
            yield child.tail, bold, underline


def _joined(pieces: Iterator[tuple[str, bool, bool]]) -> str:
    return "".join(text for text, _, _ in pieces).strip()


def _script(sign: str, inside: str) -> str:
    """A raised or lowered text; footnote marks need no sign."""
    if not inside or (sign == "^" and set(inside) <= set("*∗†‡§¶‖#, ")):
        return inside
    return f"{sign}{inside}" if len(inside) == 1 else f"{sign}{{{inside}}}"
