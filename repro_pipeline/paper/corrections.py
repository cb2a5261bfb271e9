"""Cells that a person read otherwise than the reader did: their word stands, through every re-read.

A correction belongs to a version of the paper's source. Where the source changed, or its address
names no cell any more, it is not applied, and the document says so in a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repro_pipeline.bundle.folder import Bundle, paper_files
from repro_pipeline.errors import AddressError
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import CellCorrected, CellPosition, Event
from repro_pipeline.paper.address import CellAddress, TableIndex
from repro_pipeline.paper.fetch import RECORD_NAME
from repro_pipeline.paper.model import Cell, Correction, Paper, Table
from repro_pipeline.paper.resolve import find_cell
from repro_pipeline.paper.tables import column_path, row_path, with_texts

Place = tuple[int, int, int]
"""A table's order in the paper, from 1; a row and a column of its grid, from 0."""


@dataclass(frozen=True)
class Corrected:
    """A correction that stands, and who made it."""

    content: CellCorrected
    actor: str
    event: str
    """The event's hash."""


def standing(events: Iterable[Event]) -> tuple[Corrected, ...]:
    """The corrections that no later one replaces, in the order of the ledger."""
    found: dict[str, Corrected] = {}
    for event in events:
        content = event.content
        if isinstance(content, CellCorrected):
            if content.replaces:
                found.pop(content.replaces, None)
            found[event.hash] = Corrected(content, event.actor, event.hash)
    return tuple(found.values())


def source_digest(bundle: Bundle) -> str:
    """Of the files that the most exact source is made of, whatever stands beside it."""
    first, *others = bundle.sources
    if first in bundle.files and not first.endswith((".tex", ".ltx")):
        return bundle.files[first]
    beside = {*others, RECORD_NAME}
    return digest({name: at for name, at in paper_files(bundle).items() if name not in beside})


def with_corrections(paper: Paper, corrections: Iterable[Corrected], source: str) -> Paper:
    """The document with the corrections of this source applied, and a warning for each other one.

    `paper` is as it was read; every address is resolved in it before any cell changes.
    """
    changes: dict[Place, Corrected] = {}
    warnings: list[str] = []
    for one in corrections:
        where = f"The correction of {named(one.content.address)} to '{one.content.after}'"
        if one.content.source != source:
            warnings.append(
                f"{where} was made for another version of the source and is not applied: look at "
                "the cell, and correct it again if it is wrong."
            )
            continue
        try:
            place = place_of(paper, one.content.address)
        except AddressError as error:
            warnings.append(f"{where} is not applied, since the cell is not found: {error}")
            continue
        before = cell_at(paper, place).text
        if before not in {one.content.before, one.content.after}:
            warnings.append(
                f"{where} was made when '{one.content.before}' was read; now '{before}' is. "
                "The correction stands: look at the cell."
            )
        changes[place] = one
    tables = tuple(_changed(table, changes) for table in paper.tables)
    return paper.model_copy(update={"tables": tables, "warnings": (*paper.warnings, *warnings)})


def place_of(paper: Paper, address: CellAddress | CellPosition) -> Place:
    """Where an address leads. Raises AddressError."""
    if isinstance(address, CellAddress):
        table, row, column = find_cell(paper, address)
        return table.index, row, column
    place = (address.table, address.row, address.column)
    try:
        cell_at(paper, place)
    except (IndexError, StopIteration):
        raise AddressError("there is no such place.", where=named(address)) from None
    return place


def cell_at(paper: Paper, place: Place) -> Cell:
    """The cell in a place. Raises StopIteration or IndexError where there is none."""
    index, row, column = place
    table = next(table for table in paper.tables if table.index == index)
    return table.grid[row][column]


def address_of(paper: Paper, table: Table, row: int, column: int) -> CellAddress | CellPosition:
    """An address that leads to a cell and to no other: by its headers where they name it alone."""
    place = (table.index, row, column)
    rows, columns = row_path(table, row), column_path(table, row, column)
    names = [table.number] if table.number else []
    for name in (*names, TableIndex(index=table.index)):
        for at in (
            (rows, columns),
            (rows, (f"column {column + 1}",)),
            ((f"row {row + 1}",), columns),
        ):
            if all(at) and all(map(str.strip, (*at[0], *at[1]))):
                address = CellAddress(table=name, row=at[0], column=at[1])
                try:
                    if place_of(paper, address) == place:
                        return address
                except AddressError:
                    continue
    return CellPosition(table=table.index, row=row, column=column)


def named(address: CellAddress | CellPosition) -> str:
    """An address in words."""
    if isinstance(address, CellAddress):
        return str(address)
    return f"table number {address.table}, row {address.row + 1}, column {address.column + 1}"


def _changed(table: Table, changes: dict[Place, Corrected]) -> Table:
    """The table with its corrected texts, each in every place of a spanning cell."""
    by_place: dict[tuple[int, int], Corrected] = {}
    for (index, row, column), one in changes.items():
        if index == table.index:
            by_place.update(dict.fromkeys(_span(table, row, column), one))
    if not by_place:
        return table
    new = with_texts(table, {place: one.content.after for place, one in by_place.items()})
    grid = [list(row) for row in new.grid]
    for (row, column), one in by_place.items():
        noted = Correction(
            before=table.grid[row][column].text, actor=one.actor, reason=one.content.reason
        )
        grid[row][column] = grid[row][column].model_copy(update={"corrected": noted})
    return new.model_copy(update={"grid": tuple(map(tuple, grid))})


def _span(table: Table, row: int, column: int) -> list[tuple[int, int]]:
    """The places that one spanning cell covers: those beside it of the same text and origin."""
    cell = table.grid[row][column]
    found, waiting = {(row, column)}, [(row, column)]
    while waiting:
        y, x = waiting.pop()
        for place in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if place in found or not (
                0 <= place[0] < table.shape[0] and 0 <= place[1] < table.shape[1]
            ):
                continue
            other = table.grid[place[0]][place[1]]
            spans = other.spanned or table.grid[y][x].spanned
            if spans and (other.text, other.provenance) == (cell.text, cell.provenance):
                found.add(place)
                waiting.append(place)
    return sorted(found)
