"""Whether two sources are the same paper, number by number."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher

from repro_pipeline.paper.model import Cell, Paper, Table
from repro_pipeline.paper.tables import column_path, normalise, row_path

LEAST_SHARED = 0.5
"""Below this share of a table's numbers found, the other source is taken not to hold the table."""

LEAST_ALIKE = 0.75
"""Titles less alike than this are two titles."""


def disagreements(first: Paper, second: Paper) -> tuple[str, ...]:
    """Sentences on where a second source contradicts the first: a title, a number of a table.

    A number of the first source's tables counts as contradicted when it is nowhere in the second,
    in tables or text, and the second holds that table: it has numbers in a table so named, or most
    of the table's numbers. A table that it lacks (a picture, an appendix left out) contradicts
    nothing. The more exact source comes first.
    """
    found = _title_clash(first, second)
    for table, missing in _compared(first, second):
        found += [
            _sentence(table, row, column, cell, second) for row, column, cell in missing or ()
        ]
    return tuple(found)


def uncompared(first: Paper, second: Paper) -> tuple[str, ...]:
    """Sentences on the first source's tables of numbers that the second is taken not to hold."""
    return tuple(
        f"{table}: most of its numbers are nowhere in {second.source.file}, so it was not compared."
        for table, missing in _compared(first, second)
        if missing is None
    )


Place = tuple[int, int, Cell]


def _compared(first: Paper, second: Paper) -> Iterable[tuple[Table, list[Place] | None]]:
    """Each table with its numbers that the second source lacks; None where it lacks the table."""
    known = _numbers_of(second)
    named = {table.number for table in second.tables if table.number and any(_numeric_cells(table))}
    for table in first.tables:
        cells = list(_numeric_cells(table))
        missing = [place for place in cells if not _is_known(place[2].text, known)]
        held = table.number in named or len(missing) <= len(cells) * (1 - LEAST_SHARED)
        yield table, missing if held else None


def _is_known(text: str, known: set[str]) -> bool:
    """Whether every number of a cell is printed somewhere; a raised mark may be set tight to it."""
    mark = re.search(r"(?<!10)\^\{?(\d)\}?", text)
    if not mark:
        return _printed(text) <= known
    numbers = _printed(text[: mark.start()])
    return all(number in known or number + mark[1] in known for number in numbers)


def _title_clash(first: Paper, second: Paper) -> list[str]:
    one, other = _letters(first.title), _letters(second.title)
    if not one or not other or one in other or other in one:
        return []
    if SequenceMatcher(None, one, other, autojunk=False).ratio() >= LEAST_ALIKE:
        return []
    return [
        f"the title is '{first.title}' in {first.source.file} "
        f"and '{second.title}' in {second.source.file}."
    ]


def _letters(title: str) -> str:
    """A title's letters and digits, without accents."""
    plain = unicodedata.normalize("NFKD", title).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def _numeric_cells(table: Table) -> Iterable[Place]:
    for row in range(table.header_rows, len(table.grid)):
        for column, cell in enumerate(table.grid[row]):
            if cell.numbers and not cell.spanned:
                yield row, column, cell


_DIGITS = re.compile(r"\d+(?:[.,]\d+)*|\.\d+")


def _printed(text: str) -> set[str]:
    """The printed numbers in a text: digits alone, since signs and powers are written differently.

    Thousands are not grouped, and a zero before the point makes no difference.
    """
    text = re.sub(r"(?<=\d)[\u2009\u202f\u00a0](?=\d{3}\b)", "", text)
    found: set[str] = set()
    for number in _DIGITS.findall(text):
        if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
            found.add(number.replace(",", ""))
        else:
            found.update(part.rstrip(".") for part in number.split(","))
    return {re.sub(r"^0+(?=\d?\.|\d)", "", number) for number in found}


def _numbers_of(paper: Paper) -> set[str]:
    """Every number that a source prints anywhere."""
    texts = [paper.title, paper.abstract, *(section.text for section in paper.sections)]
    texts += [section.title for section in paper.sections]
    texts += [caption.text for caption in paper.figures]
    texts += [reference.text for reference in paper.references]
    for table in paper.tables:
        texts.append(table.caption)
        texts += [cell.text for row in table.grid for cell in row]
    known: set[str] = set()
    for text in texts:
        known |= _printed(text)
        known |= _printed(re.sub(r"(?<=\d)\s*\.\s*(?=\d)", ".", text))  # set as `93 .2`
    return known


def _sentence(table: Table, row: int, column: int, cell: Cell, second: Paper) -> str:
    rows = _path(row_path(table, row)) or f"row {row + 1}"
    columns = _path(column_path(table, row, column)) or f"column {column + 1}"
    return (
        f"{table}, row {rows}, column {columns} is {cell.text}, "
        f"which is nowhere in {second.source.file}."
    )


def _path(path: Iterable[str]) -> str:
    """A header path for a message; headers that show nothing are left out."""
    return " > ".join(f"'{text}'" for text in path if normalise(text))
