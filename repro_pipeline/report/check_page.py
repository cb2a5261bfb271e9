"""A page for a person's eye: each table of a paper, as it was read, beside its place in the paper.

One file, no network. Its one script moves the focus, marks the place of a cell, and puts together
the command that corrects it; it sends nothing, and the page's policy allows no other script.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import repro_pipeline
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.ledger.events import CellPosition
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.document import spans
from repro_pipeline.paper.model import Cell, Paper, Table
from repro_pipeline.paper.originals import Original, Picture, originals
from repro_pipeline.paper.tables import is_doubtful
from repro_pipeline.reading.corrections import address_of, as_read, named
from repro_pipeline.report.pages import inline_script, templates


@dataclass(frozen=True)
class CheckCell:
    """A cell as the page shows it."""

    id: str
    cell: Cell
    role: str
    """In the grid: `columnheader`, `rowheader` or `gridcell`."""
    rows: int
    columns: int
    doubtful: bool
    line: int | None
    """Of the lines beside it: the one that it stands in."""
    name: str
    """Its address, in words."""
    command: str
    """What corrects it, but for value and reason."""


@dataclass(frozen=True)
class Mark:
    """The place of a cell in a picture, in points from the picture's upper left corner."""

    id: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class CheckTable:
    """A table, its cells row by row, and how it stands in the paper."""

    table: Table
    rows: tuple[tuple[CheckCell, ...], ...]
    original: Original
    pictures: tuple[tuple[Picture, tuple[Mark, ...]], ...]
    doubtful: int
    corrected: int


def check_page(paper: Paper, bundle: Bundle, folder: Path) -> str:
    """The page of a paper whose sources lie in a folder. Raises PaperError as reading does."""
    read = as_read(paper)
    found = originals(paper, folder, bundle.sources)
    tables = [
        _table(read, table, original, bundle.paper)
        for table, original in zip(paper.tables, found, strict=True)
    ]
    return (
        templates()
        .get_template("check.html")
        .render(
            paper=paper,
            id=bundle.paper,
            tables=tables,
            **inline_script("check.js"),
            version=repro_pipeline.__version__,
        )
    )


def command_of(paper: str, address: CellAddress | CellPosition) -> str:
    """What corrects a cell, for a shell, but for value and reason."""
    if isinstance(address, CellPosition):
        place = f"{address.table},{address.row + 1},{address.column + 1}"
        arguments = [f"--at={place}"]
    else:
        arguments = [f"--table={address.table}"]
        arguments += [f"--row={text}" for text in address.row]
        arguments += [f"--column={text}" for text in address.column]
    return shlex.join(["repro", "paper", "correct", paper, *arguments])


def _table(read: Paper, table: Table, original: Original, paper: str) -> CheckTable:
    rows: list[list[CheckCell]] = [[] for _ in table.grid]
    for row, column, height, width in spans(table):
        address = address_of(read, (table.index, row, column))
        rows[row].append(
            CheckCell(
                id=f"t{table.index}r{row}c{column}",
                cell=table.grid[row][column],
                role=_role(table, row, column),
                rows=height,
                columns=width,
                doubtful=is_doubtful(table, row, column),
                line=_line(table.grid[row][column], row, original),
                name=named(address),
                command=command_of(paper, address),
            )
        )
    cells = [cell for line in rows for cell in line]
    return CheckTable(
        table=table,
        rows=tuple(map(tuple, rows)),
        original=original,
        pictures=tuple((picture, _marks(picture, cells)) for picture in original.pictures),
        doubtful=sum(cell.doubtful for cell in cells),
        corrected=sum(cell.cell.corrected is not None for cell in cells),
    )


def _line(cell: Cell, row: int, original: Original) -> int | None:
    if original.by_row:
        return row + 1
    return cell.provenance.line if cell.provenance else None


def _role(table: Table, row: int, column: int) -> str:
    if row < table.header_rows:
        return "columnheader"
    return "rowheader" if column < table.header_columns else "gridcell"


def _marks(picture: Picture, cells: list[CheckCell]) -> tuple[Mark, ...]:
    left, top = picture.box[:2]
    places = [(cell.id, cell.cell.provenance) for cell in cells]
    return tuple(
        Mark(
            id=id_,
            x=round(place.box[0] - left - 1.5, 1),
            y=round(place.box[1] - top - 1.5, 1),
            width=round(place.box[2] - place.box[0] + 3, 1),
            height=round(place.box[3] - place.box[1] + 3, 1),
        )
        for id_, place in places
        if place is not None and place.page == picture.page and place.box
    )
