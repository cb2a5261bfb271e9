"""The paper as other tools read it: plain tables of cells, each with its place and its headers.

`repro schema paper` prints the schema. Rows and columns count from 0 and are those of `grid`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from repro_pipeline.frozen import Frozen
from repro_pipeline.paper.model import (
    Caption,
    Cell,
    Correction,
    Paper,
    Provenance,
    Quantity,
    Reference,
    Section,
    Source,
    Table,
)
from repro_pipeline.paper.tables import column_path, row_path


class DocumentCell(Frozen):
    """A cell, at the first place that it covers. `value` is null where it is not a number."""

    row: int
    column: int
    text: str
    value: float | None = None
    """The number as printed: 93.2 for `93.2 %`, with the unit 'percent'."""
    quantum: float | None = None
    """One unit of the last printed digit."""
    uncertainty: float | None = None
    uncertainty_kind: Literal["sd", "se", "ci", "unstated"] | None = None
    unit: str | None = None
    relation: Literal["=", "<", ">", "~"] | None = None
    mark: str | None = None
    further: tuple[Quantity, ...] = ()
    """The numbers after the first, where the cell prints several."""
    header: bool = False
    """Whether it names rows or columns, rather than standing in the body."""
    row_headers: tuple[str, ...] = ()
    """What names its row, outermost first; section rows count."""
    column_headers: tuple[str, ...] = ()
    row_span: int = 1
    column_span: int = 1
    bold: bool = False
    underline: bool = False
    provenance: Provenance | None = None
    corrected: Correction | None = None
    """Set where a person put `text` in the place of what was read."""


class DocumentTable(Frozen):
    """A table: `grid` holds every place's text, a spanning cell's in each place that it covers."""

    index: int
    number: str | None = None
    """The printed name, as 'Table 2'."""
    label: str | None = None
    caption: str = ""
    confidence: float
    """How sure the reader is, from 0 to 1; `doubts` says why it is below 1."""
    doubts: tuple[str, ...] = ()
    header_rows: int
    header_columns: int
    grid: tuple[tuple[str, ...], ...]
    cells: tuple[DocumentCell, ...]
    """Row by row."""
    provenance: Provenance | None = None


class Document(Frozen):
    """What `repro paper read --json` and `repro paper show --json` print."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    source: Source
    also: tuple[Source, ...] = ()
    """Further sources that parts come from; a table's provenance names its own."""
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    sections: tuple[Section, ...] = ()
    equations: tuple[str, ...] = ()
    tables: tuple[DocumentTable, ...] = ()
    figures: tuple[Caption, ...] = ()
    references: tuple[Reference, ...] = ()
    warnings: tuple[str, ...] = ()


def document_of(paper: Paper, tables: Sequence[Table] | None = None) -> Document:
    """The document of a paper; with some of its tables only, where they are given."""
    same = {name: getattr(paper, name) for name in Document.model_fields if name in _SAME}
    chosen = paper.tables if tables is None else tables
    return Document(**same, tables=tuple(_table(table) for table in chosen))


_SAME = set(Paper.model_fields) - {"tables"}


def _table(table: Table) -> DocumentTable:
    same = {
        name: getattr(table, name)
        for name in Table.model_fields
        if name in DocumentTable.model_fields and name != "grid"
    }
    return DocumentTable(
        **same,
        grid=tuple(tuple(cell.text for cell in row) for row in table.grid),
        cells=tuple(_cell(table, *place) for place in spans(table)),
    )


def spans(
    table: Table, apart: Collection[tuple[int, int]] = ()
) -> Iterator[tuple[int, int, int, int]]:
    """Each cell's row, column, and how many rows and columns it covers; row by row.

    A place (row, column) in `apart` is a cell of its own, whatever spans it.
    """
    covered: set[tuple[int, int]] = set()
    rows, columns = table.shape
    for row in range(rows):
        for column in range(columns):
            if (row, column) in covered:
                continue
            cell = table.grid[row][column]

            def goes_on(down: int, right: int, cell: Cell = cell) -> bool:
                inside = down < rows and right < columns and (down, right) not in covered
                place = table.grid[down][right] if inside else None
                same = place is not None and place.spanned and place.text == cell.text
                return same and (down, right) not in apart

            width = height = 1
            while goes_on(row, column + width):
                width += 1
            while all(goes_on(row + height, column + right) for right in range(width)):
                height += 1
            covered.update((row + y, column + x) for y in range(height) for x in range(width))
            yield row, column, height, width


def _cell(table: Table, row: int, column: int, height: int, width: int) -> DocumentCell:
    cell = table.grid[row][column]
    body = row >= table.header_rows and column >= table.header_columns
    first, *further = cell.numbers or (None,)
    return DocumentCell(
        row=row,
        column=column,
        text=cell.text,
        **(_number(first, but="text") if first else {}),
        further=tuple(further),
        header=not body,
        row_headers=row_path(table, row) if body else (),
        column_headers=column_path(table, row, column) if body else (),
        row_span=height,
        column_span=width,
        bold=cell.bold,
        underline=cell.underline,
        provenance=cell.provenance,
        corrected=cell.corrected,
    )


def _number(quantity: Quantity, but: str = "") -> dict:
    return {name: getattr(quantity, name) for name in Quantity.model_fields if name != but}
