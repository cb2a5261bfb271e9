"""Cells that a person read otherwise than the reader did: their word stands, through every re-read.

A correction belongs to a version of the paper's source. Where the source changed, or its address
names no cell any more, it is not applied, and the document says so in a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from repro_pipeline.bundle.folder import Bundle, paper_files
from repro_pipeline.errors import AddressError
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import CellCorrected, CellPosition, Event
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.fetch import RECORD_NAME
from repro_pipeline.paper.latex import printed
from repro_pipeline.paper.model import Cell, Correction, Paper, SourceFormat, Table
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
        now = cell_at(paper, place).text
        if now not in {one.content.before, one.content.after}:
            stands = isinstance(one.content.address, CellAddress)
            warnings.append(
                f"{where} was made when '{one.content.before}' was read; now '{now}' is. "
                + ("The correction stands: " if stands else "It is not applied: ")
                + "look at the cell."
            )
            if not stands:
                continue  # a place without a name may be another cell by now
        changes[place] = one
    tables = tuple(_changed(table, changes) for table in paper.tables)
    every = tuple(dict.fromkeys((*paper.warnings, *warnings)))
    return paper.model_copy(update={"tables": tables, "warnings": every})


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


def address_of(paper: Paper, place: Place) -> CellAddress | CellPosition:
    """An address that leads to a cell and to no other: by its headers where they name it alone."""
    index, row, column = place
    table = next(table for table in paper.tables if table.index == index)
    rows, columns = row_path(table, row), column_path(table, row, column)
    by_place = (f"row {row + 1}",), (f"column {column + 1}",)
    for at in ((rows, columns), (rows, by_place[1]), (by_place[0], columns)):
        if table.number and all(at) and all(text.strip() for path in at for text in path):
            address = CellAddress(table=table.number, row=at[0], column=at[1])
            try:
                if place_of(paper, address) == place:
                    return address
            except AddressError:
                continue
    return CellPosition(table=index, row=row, column=column)


def as_read(paper: Paper) -> Paper:
    """The document without its corrections."""
    tables = []
    for table in paper.tables:
        texts = {
            (r, c): cell.corrected.before
            for r, row in enumerate(table.grid)
            for c, cell in enumerate(row)
            if cell.corrected
        }
        read = with_texts(table, texts)
        grid = tuple(
            tuple(cell.model_copy(update={"corrected": None}) for cell in row) for row in read.grid
        )
        tables.append(read.model_copy(update={"grid": grid}))
    return paper.model_copy(update={"tables": tuple(tables)})


def correction(
    paper: Paper,
    place: Place,
    after: str,
    *,
    reason: str,
    source: str,
    standing: Iterable[Corrected],
) -> CellCorrected:
    """The event that makes a cell read otherwise; `paper` is as it was read, without corrections.

    A correction that stands for the cell is replaced; with the text that was read, it is withdrawn.
    Of a paper in LaTeX, `after` may be copied from the source: what it prints is what is kept.
    Raises AddressError where nothing would change or no reason is given.
    """
    if not reason.strip():
        raise AddressError("a correction needs a reason.", hint="Say how you know, as `page 5`.")
    address, before = address_of(paper, place), cell_at(paper, place).text
    known = _of_place(paper, place, address, standing)
    current = known.content.after if known and known.content.source == source else before
    if paper.source.format is SourceFormat.LATEX and after != before and re.search(r"[\\$]", after):
        after = printed(after)
    after = " ".join(after.split())
    if after == current:
        raise AddressError(f"reads '{after}' already.", where=named(address))
    return CellCorrected(
        source=source,
        address=address,
        before=before,
        after=after,
        reason=" ".join(reason.split()),
        replaces=known.event if known else None,
    )


def _of_place(
    paper: Paper, place: Place, address: CellAddress | CellPosition, standing: Iterable[Corrected]
) -> Corrected | None:
    """The last correction of a cell, of this version of the source or of an earlier one."""
    found = None
    for one in standing:
        try:
            same = one.content.address == address or place_of(paper, one.content.address) == place
        except AddressError:
            same = False
        found = one if same else found
    return found


def named(address: CellAddress | CellPosition) -> str:
    """An address in words."""
    if isinstance(address, CellAddress):
        return str(address)
    return f"table number {address.table}, row {address.row + 1}, column {address.column + 1}"


def _changed(table: Table, changes: dict[Place, Corrected]) -> Table:
    """The table with its corrected texts, each in every place of a spanning cell."""
    by_place: dict[tuple[int, int], Corrected] = {}
    for (index, row, column), one in changes.items():
        if index == table.index and table.grid[row][column].text != one.content.after:
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
