"""What every table reader shares: spans to a rectangular grid, header rows and columns, names.

A reader hands rows of `RawCell` to `make_table`. The grid keeps the source's rows and columns;
what only helps to name a row (section rows, group labels printed once) is added by `row_path`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.headers import Grid, guess_headers, is_blank, is_section
from repro_pipeline.paper.model import Cell, Provenance, Quantity, Table
from repro_pipeline.paper.names import normalise
from repro_pipeline.paper.numbers import (
    UncertaintyKind,
    column_uses_decimal_comma,
    parse_numbers,
    stated_uncertainty,
)

__all__ = [
    "About",
    "RawCell",
    "build_grid",
    "column_path",
    "guess_headers",
    "is_doubtful",
    "make_table",
    "normalise",
    "row_path",
    "with_texts",
]

MOST_CELLS = 200_000
"""A larger grid is an attack or a data file, not a table of a paper."""

DOUBTED = 0.6
"""The confidence in a table whose headers or shape had to be guessed."""


@dataclass(frozen=True)
class RawCell:
    """A cell as its source writes it, with the rows and columns that it spans."""

    text: str
    rows: int = 1
    columns: int = 1
    bold: bool = False
    underline: bool = False
    provenance: Provenance | None = None


@dataclass(frozen=True)
class About:
    """How the paper names a table, and where it stands."""

    number: str | None = None
    label: str | None = None
    caption: str = ""
    provenance: Provenance | None = None


def make_table(
    index: int,
    rows: Sequence[Sequence[RawCell]],
    about: About = About(),
    *,
    header_rows: int | None = None,
    rules: Collection[int] = (),
    confidence: float = 1.0,
    doubts: Iterable[str] = (),
) -> Table:
    """A table from rows of raw cells; a spanned place is left out of the rows that it reaches into.

    `header_rows` is what the source marks (`<thead>`); `rules` are the numbers of rows above each
    rule that crosses the whole table. Any doubt, of the caller or found here, lowers the
    confidence to at most `DOUBTED`. Raises PaperError for a grid of more than `MOST_CELLS` cells.
    """
    grid, shape_doubts = build_grid(rows, caption=about.caption)
    head, columns, header_doubts = guess_headers(grid, rules=rules, header_rows=header_rows)
    every_doubt = (*doubts, *shape_doubts, *header_doubts)
    return Table(
        index=index,
        number=about.number,
        label=about.label,
        caption=about.caption,
        header_rows=head,
        header_columns=columns,
        grid=grid,
        confidence=min(confidence, DOUBTED) if every_doubt else confidence,
        doubts=every_doubt,
        provenance=about.provenance,
    )


def build_grid(
    rows: Sequence[Sequence[RawCell]], *, caption: str = ""
) -> tuple[Grid, tuple[str, ...]]:
    """Rows of spanning cells as a rectangular grid with its numbers read, and doubts about it.

    A cell goes to the next place of its row that no span from above covers, as in HTML. The
    caption tells whether brackets hold uncertainties, and of which kind.
    """
    places, doubts = _place(rows)
    height = len(rows)
    width = 1 + max((column for _, column in places), default=-1)
    short = [row + 1 for row in range(height) if any((row, c) not in places for c in range(width))]
    if short:
        doubts.append(f"{_plural(len(short), 'row')} shorter than the table: {_some(short)}.")
    empty = (RawCell(""), False)
    raw = [[places.get((row, column), empty) for column in range(width)] for row in range(height)]
    return _read_numbers(raw, caption), tuple(doubts)


def with_texts(table: Table, texts: Mapping[tuple[int, int], str]) -> Table:
    """The table with other texts in some places (row and column), and the numbers in them read.

    Headers, spans and all other cells stay as they are.
    """
    old = [[cell.text for cell in row] for row in table.grid]
    new = [[texts.get((r, c), text) for c, text in enumerate(row)] for r, row in enumerate(old)]
    read = _number_reader(new, table.caption)
    grid = tuple(
        tuple(
            cell.model_copy(update={"text": new[r][c], "numbers": read(new[r][c], c)})
            if (r, c) in texts
            else cell
            for c, cell in enumerate(row)
        )
        for r, row in enumerate(table.grid)
    )
    return table.model_copy(update={"grid": grid})


def row_path(table: Table, row: int) -> tuple[str, ...]:
    """The names of a body row, outermost first: section rows above it, then its header cells.

    A group label that is printed once, with blanks below it, names the rows below as well.
    """
    inherited: list[str] = []
    for column in range(table.header_columns):
        text = table.grid[row][column].text
        later = any(table.grid[row][c].text for c in range(column + 1, table.header_columns))
        if not text and later:
            text = _label_above(table, row, column)
        inherited.append(text)
    section = section_above(table, row)
    return _without_repeats([section, *inherited])


def column_path(table: Table, row: int, column: int) -> tuple[str, ...]:
    """The names of a column at a row: the table's headers, then those repeated inside the body."""
    inner = _inner_header_above(table, row)
    banner = _banner(table)
    headers = [text for text in table.column_headers(column) if text != banner]
    if inner is None:
        return tuple(headers)
    own = table.grid[inner][column].text
    anew = inner > table.header_rows and section_text(table, inner - 1)
    return (own,) if banner and anew else _without_repeats([*headers, own])


def section_above(table: Table, row: int) -> str:
    """The text of the nearest section row above a body row, or the empty text."""
    for above in range(row - 1, table.header_rows - 1, -1):
        if text := section_text(table, above):
            return text
    return _banner(table)


def _banner(table: Table) -> str:
    """The first of a table's section rows where it stands above the header, as `Panel A` does."""
    if not table.header_rows or not _spans_all(table.grid[0]):
        return ""
    later = any(
        _spans_all(table.grid[row]) and section_text(table, row)
        for row in range(table.header_rows, len(table.grid))
    )
    return table.grid[0][0].text if later else ""


def _spans_all(cells: Sequence[Cell]) -> bool:
    return len(cells) > 1 and cells[0].text != "" and all(cell.spanned for cell in cells[1:])


def section_text(table: Table, row: int) -> str:
    """The text of a row that holds one text only and so names the rows below it, else ''."""
    if row < table.header_rows or not is_section(table.grid, row):
        return ""
    return next(cell.text for cell in table.grid[row] if cell.text)


def is_doubtful(table: Table, row: int, column: int) -> bool:
    """Whether a body cell of a column of numbers has digits but gives no number."""
    cell = table.grid[row][column]
    if row < table.header_rows or column < table.header_columns or cell.numbers:
        return False
    if not re.search(r"\d", cell.text):
        return False
    body = [other[column] for other in table.grid[table.header_rows :] if other[column].text]
    return 2 * sum(bool(other.numbers) for other in body) >= len(body)


def _place(
    rows: Sequence[Sequence[RawCell]],
) -> tuple[dict[tuple[int, int], tuple[RawCell, bool]], list[str]]:
    places: dict[tuple[int, int], tuple[RawCell, bool]] = {}
    clashes: list[int] = []
    for row, cells in enumerate(rows):
        column = 0
        for cell in cells:
            while (row, column) in places:
                column += 1
            height = max(1, min(cell.rows, len(rows) - row))
            width = max(1, cell.columns)
            if len(places) + height * width > MOST_CELLS:
                raise PaperError(
                    f"a table of more than {MOST_CELLS} cells.",
                    where=str(cell.provenance or ""),
                    hint="Take the table out of the paper's source.",
                )
            for down in range(height):
                for right in range(width):
                    place = (row + down, column + right)
                    if place in places:
                        clashes.append(row + down + 1)
                    else:
                        places[place] = (cell, bool(down or right))
            column += width
    return places, [f"Spanning cells overlap in row {_some(clashes)}."] if clashes else []


def _read_numbers(raw: list[list[tuple[RawCell, bool]]], caption: str) -> Grid:
    read = _number_reader([[cell.text for cell, _ in row] for row in raw], caption)
    return tuple(
        tuple(
            Cell(
                text=cell.text,
                numbers=read(cell.text, column),
                bold=cell.bold,
                underline=cell.underline,
                spanned=spanned,
                provenance=cell.provenance,
            )
            for column, (cell, spanned) in enumerate(row)
        )
        for row in raw
    )


def _number_reader(
    texts: list[list[str]], caption: str
) -> Callable[[str, int], tuple[Quantity, ...]]:
    """What reads the numbers of a cell's text in a column, as the whole table and its caption say."""
    kind = stated_uncertainty(caption)
    bracketed = kind is not None and re.search(r"parenthes|bracket", caption, re.I) is not None
    commas = _decimal_commas(texts)

    def read(text: str, column: int) -> tuple[Quantity, ...]:
        found = parse_numbers(text, decimal_comma=commas[column], bracketed_spread=bracketed)
        return _with_kind(found, kind)

    return read


def _decimal_commas(texts: list[list[str]]) -> list[bool]:
    """Per column; a whole table that writes decimals with a comma does so in its short columns."""
    columns = list(zip(*texts, strict=True))
    if column_uses_decimal_comma(text for row in texts for text in row):
        return [True] * len(columns)
    return [column_uses_decimal_comma(column) for column in columns]


def _with_kind(numbers: tuple[Quantity, ...], kind: UncertaintyKind | None) -> tuple[Quantity, ...]:
    if kind is None:
        return numbers
    return tuple(
        number
        if number.uncertainty is None
        else number.model_copy(update={"uncertainty_kind": kind})
        for number in numbers
    )


def _label_above(table: Table, row: int, column: int) -> str:
    for above in range(row - 1, table.header_rows - 1, -1):
        if section_text(table, above):
            return ""
        if text := table.grid[above][column].text:
            return text
    return ""


def _inner_header_above(table: Table, row: int) -> int | None:
    """The nearest body row above that holds column names only; None if there is none."""
    for above in range(row - 1, table.header_rows, -1):
        cells = table.grid[above][table.header_columns :]
        names = [cell for cell in cells if not is_blank(cell)]
        if len(names) == len(cells) > 1 and not any(cell.numbers for cell in cells):
            return above if len({cell.text for cell in names}) > 1 else None
    return None


def _without_repeats(texts: Iterable[str]) -> tuple[str, ...]:
    path: list[str] = []
    for text in texts:
        if text and text not in path[-1:]:
            path.append(text)
    return tuple(path)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun} is" if count == 1 else f"{count} {noun}s are"


def _some(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in sorted(set(numbers))[:5])
    return shown + (" …" if len(set(numbers)) > 5 else "")
