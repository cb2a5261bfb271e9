"""Which leading rows and columns of a grid are headers: told by its source, or guessed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from repro_pipeline.paper.model import Cell

Grid = tuple[tuple[Cell, ...], ...]


def guess_headers(
    grid: Grid, *, rules: Collection[int] = (), header_rows: int | None = None
) -> tuple[int, int, tuple[str, ...]]:
    """How many leading rows and columns are headers, and doubts about it.

    `rules` are the numbers of rows above each rule that crosses the whole table; `header_rows` is
    what the source itself marks.
    """
    if header_rows is None:
        rows, doubts = _header_rows(grid, rules)
    else:
        rows, doubts = min(header_rows, len(grid)), ()
    columns = _header_columns(grid, rows)
    while _names_rows_as_well(grid, rows, columns):
        columns += 1
    return rows, columns, doubts


def is_section(grid: Grid, row: int) -> bool:
    """Whether a row is one text alone: spread over columns, or in a row that is else empty."""
    cells = grid[row]
    texts = {cell.text for cell in cells if cell.text}
    if len(texts) != 1 or len(cells) < 2 or any(cell.numbers for cell in cells):
        return False
    filled = [cell for cell in cells if cell.text]
    if row and all(cell.spanned for cell in filled):
        return False  # reached by a span from the row above
    return len(filled) == 1 or all(cell.spanned for cell in filled[1:])


_MISSING = re.compile(r"|[-–—−/.]+|n\.?/?a\.?|none", re.I)


def is_blank(cell: Cell) -> bool:
    """Whether a cell is empty, or prints what stands for a missing value."""
    return _MISSING.fullmatch(cell.text) is not None


def _is_data(grid: Grid, row: int) -> bool:
    """Whether a row holds numbers outside of its first column."""
    return any(cell.numbers for cell in grid[row][1:])


def _is_decimal(grid: Grid, row: int) -> bool:
    return any(number.quantum < 1 for cell in grid[row][1:] for number in cell.numbers)


def _header_rows(grid: Grid, rules: Collection[int]) -> tuple[int, tuple[str, ...]]:
    height = len(grid)
    if height < 2:
        return 0, ("The table has a single row; it is taken as data.",) if height else ()
    if len(grid[0]) == 2 and grid[0][1].numbers and not is_blank(grid[0][0]):
        return 0, ()  # a list of names and values
    head = _certain_header_rows(grid)
    data = [row for row in range(height) if _is_data(grid, row) and row >= head]
    inside = sorted(rule for rule in rules if 0 < rule < height)
    if len(inside) == height - 1 and height > 2:
        inside = []  # a rule below every row tells nothing
    if inside and not any(0 < row < inside[0] for row in data):
        return _extended(grid, max(inside[0], head), data), ()
    if data[:1] != [0]:
        return _extended(grid, max(head, 1), data), ()
    if not _is_decimal(grid, 0) and (len(data) == 1 or _is_decimal(grid, data[1])):
        return 1, ()
    if not grid[0][0].numbers and not inside and not is_blank(grid[0][0]):
        return 0, ("No header row was recognised.",)
    return 1, ("The first row holds numbers; that it is a header is a guess.",)


def _certain_header_rows(grid: Grid) -> int:
    """Leading rows that are headers even where they hold numbers.

    Those that a top left cell spans, and those without a name whose numbers stand below a
    spreading header (`Noise` over 10, 20, 30).
    """
    if _is_data(grid, 0):
        return 0
    height = 1
    corner = grid[0][0].text
    while height < len(grid) - 1:
        cells, above = grid[height], grid[height - 1]
        spanned = corner and cells[0].spanned and cells[0].text == corner
        unnamed = not cells[0].text or not grid[0][0].text
        numbers = [column for column, cell in enumerate(cells) if cell.numbers]
        whole = all(number.quantum >= 1 for column in numbers for number in cells[column].numbers)
        below = all(_is_wide(above, column) or above[column].spanned for column in numbers)
        if not spanned and not (numbers and below and unnamed and (whole or not cells[0].text)):
            break
        height += 1
    return height if height > 1 else 0


def _extended(grid: Grid, rows: int, data: list[int]) -> int:
    """Header rows with those that follow and subdivide the columns, or go on without a name."""
    while rows < len(grid) and data and rows < data[-1] and _continues_header(grid, rows):
        rows += 1
    return rows


def _continues_header(grid: Grid, row: int) -> bool:
    cells, above = grid[row], grid[row - 1]
    texts = {cell.text for cell in cells if not is_blank(cell)}
    if any(cell.numbers for cell in cells[1:]) or is_section(grid, row) or len(texts) < 2:
        return False
    if not cells[0].text:
        return not above[0].numbers
    unnamed_above = not above[0].text or cells[0].spanned or _is_wide(above, 0)
    return unnamed_above and any(_is_wide(above, column) for column in range(len(cells)))


def _is_wide(cells: Sequence[Cell], column: int) -> bool:
    """Whether the cell at a column reaches into the next column."""
    following = cells[column + 1 : column + 2]
    return any(cell.spanned and cell.text == cells[column].text != "" for cell in following)


def _header_columns(grid: Grid, header_rows: int) -> int:
    body = grid[header_rows:]
    width = len(grid[0]) if grid else 0
    if width < 2:
        return 0
    body = tuple(row for row in body if any(cell.numbers for cell in row[1:]))
    count = next(
        (column for column in range(width) if not _names_rows(body, column)),
        1,
    )
    return min(max(count, 1), width - 1) if body else 1


def _names_rows_as_well(grid: Grid, header_rows: int, column: int) -> bool:
    """Whether a column of whole numbers is what tells rows apart, as horizons below a data set.

    Its header is the one of the names beside it, or those names span several rows.
    """
    width = len(grid[0]) if grid else 0
    body = [row for row in range(header_rows, len(grid)) if not is_section(grid, row)]
    if not column or column + 1 >= width or len(body) < 2:
        return False
    cells = [grid[row][column] for row in body]
    if not all(len(cell.numbers) == 1 and cell.numbers[0].quantum >= 1 for cell in cells):
        return False
    head = grid[:header_rows]
    shared = bool(head) and all(
        row[column].spanned and row[column].text == row[column - 1].text for row in head
    )
    grouped = any(grid[row][column - 1].spanned for row in body)
    names = [tuple(cell.text for cell in grid[row][:column]) for row in body]
    longer = {(*name, cell.text) for name, cell in zip(names, cells, strict=True)}
    told_apart = len(set(names)) < len(body) == len(longer)
    return told_apart and (shared or grouped)


def _names_rows(body: Grid, column: int) -> bool:
    """Whether a column is text, or numbers of which one spans several rows beside a name.

    What is printed for a missing value says nothing.
    """
    cells = [row[column] for row in body]
    if all(is_blank(cell) and cell.text for cell in cells):
        return False
    if any(cell.spanned for cell in cells) and column + 2 < len(body[0]):
        names = [tuple(cell.text for cell in row[:column]) for row in body]
        if not column or "" in {name[-1] for name in names} or len(set(names)) < len(names):
            return True
    told = [cell for cell in cells if not (cell.text and is_blank(cell))]
    return sum(bool(cell.numbers) for cell in told) * 4 < len(told)
