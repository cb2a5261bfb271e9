"""Columns of a tabular that are printed as one, and cells that span rows, settled to a grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from repro_pipeline.paper.latex.columns import Column
from repro_pipeline.paper.latex.text import Printer
from repro_pipeline.paper.tables import RawCell


@dataclass(frozen=True)
class Rows:
    """Rows of cells for `make_table`; `rules` are the numbers of rows above each full rule."""

    rows: list[list[RawCell]]
    rules: frozenset[int]
    doubts: tuple[str, ...]


@dataclass
class PlacedCell:
    """A cell at its column, before vertical spans are settled."""

    column: int
    raw: RawCell


def join_columns(
    rows: list[list[PlacedCell]], columns: list[Column], printer: Printer
) -> list[list[PlacedCell]]:
    """Joins columns with text set between them, such as `r@{±}l` and `r@{.}l`, to one."""
    joints = {
        place: text
        for place, column in enumerate(columns)
        if place and (text := printer.print(column.joint).text)
    }
    if not joints:
        return rows
    joined: list[list[PlacedCell]] = []
    for row in rows:
        cells: list[PlacedCell] = []
        for cell in row:
            last = cells[-1] if cells else None
            if cell.column in joints and last and last.column == cell.column - 1:
                cells[-1] = PlacedCell(
                    last.column, _joined(last.raw, joints[cell.column], cell.raw)
                )
            else:
                cells.append(cell)
        joined.append([_shifted(cell, joints) for cell in cells])
    return joined


def _joined(left: RawCell, text: str, right: RawCell) -> RawCell:
    parts = (left.text, text, right.text) if left.text and right.text else (left.text, right.text)
    return replace(
        left,
        text="".join(parts),
        columns=left.columns + right.columns,
        provenance=left.provenance or right.provenance,
    )


def _shifted(cell: PlacedCell, joints: Mapping[int, str]) -> PlacedCell:
    """The cell at its place among the columns that are left."""
    end = cell.column + cell.raw.columns
    start = cell.column - sum(joint <= cell.column for joint in joints)
    width = end - sum(joint < end for joint in joints) - start
    return PlacedCell(start, replace(cell.raw, columns=max(width, 1)))


def width_of(row: list[PlacedCell]) -> int:
    """How many columns a row reaches over."""
    return row[-1].column + row[-1].raw.columns if row else 0


def settle(rows: list[list[PlacedCell]], rules: set[int], doubts: list[str]) -> Rows:
    """Settles vertical spans, drops empty rows, and fills rows up to the table's width.

    A `\\multirow` covers the places below it (above it, if negative) as long as they are empty.
    """
    width = max((width_of(row) for row in rows), default=0)
    grid: list[dict[int, RawCell]] = [{cell.column: cell.raw for cell in row} for row in rows]
    for row, cells in enumerate(grid):
        for column, raw in list(cells.items()):
            if raw.rows < 0:
                _lift(grid, row, column)
    covered: set[tuple[int, int]] = set()
    for row, cells in enumerate(grid):
        for column, raw in list(cells.items()):
            height = _free_height(grid, row, column)
            cells[column] = replace(raw, rows=height)
            covered |= {
                (below, place)
                for below in range(row + 1, row + height)
                for place in range(column, column + raw.columns)
            }
    kept = [
        row
        for row, cells in enumerate(grid)
        if any(raw.text and (row, column) not in covered for column, raw in cells.items())
    ]
    out: list[list[RawCell]] = []
    for row in kept:
        line: list[RawCell] = []
        column = 0
        while column < width:
            raw = grid[row].get(column, RawCell(""))
            if (row, column) not in covered:
                spanned = sum(row <= other < row + raw.rows for other in kept)
                line.append(replace(raw, rows=max(spanned, 1)))
            column += raw.columns
        out.append(line)
    moved = frozenset(sum(row < rule for row in kept) for rule in rules)
    return Rows(out, moved, tuple(doubts))


def _lift(grid: list[dict[int, RawCell]], row: int, column: int) -> None:
    """Moves a cell that spans upwards to the top of the empty places that it spans."""
    raw = grid[row][column]
    top = row
    while top > 0 and row - top < -raw.rows - 1:
        above = grid[top - 1].get(column)
        if above is None or above.text or above.columns != raw.columns:
            break
        top -= 1
    grid[row][column] = replace(raw, text="", rows=1)
    grid[top][column] = replace(raw, rows=row - top + 1)


def _free_height(grid: list[dict[int, RawCell]], row: int, column: int) -> int:
    """How far a vertical span reaches before it meets a cell with text, or one set otherwise."""
    raw = grid[row][column]
    height = 1
    while height < raw.rows and row + height < len(grid):
        below = grid[row + height]
        places = range(column, column + raw.columns)
        if any(below[place].text for place in places if place in below):
            break
        if any(place in below and place + below[place].columns > places.stop for place in places):
            break
        height += 1
    return height
