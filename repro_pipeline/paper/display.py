"""A paper on the terminal: what was read, how sure the reader is, and each table as a grid."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from repro_pipeline.paper.document import spans
from repro_pipeline.paper.model import Cell, Paper, Table
from repro_pipeline.paper.tables import is_doubtful

_LONGEST = 60


def print_paper(paper: Paper, console: Console) -> None:
    """Title, sections, counts, tables, and what the reader could not read."""
    source = paper.source
    console.print(Text(paper.title or "(no title)", style="bold"))
    console.print(Text(f"{source.file}, read as {source.format} by {source.reader}", style="dim"))
    for other in paper.also:
        console.print(Text(f"and {other.file}, by {other.reader}", style="dim"))
    if paper.authors:
        year = f" ({paper.year})" if paper.year else ""
        console.print(Text(", ".join(paper.authors) + year))
    cited = sum(bool(reference.contexts) for reference in paper.references)
    console.print(
        Text(
            f"{len(paper.sections)} sections, {len(paper.tables)} tables, "
            f"{len(paper.figures)} figures, {len(paper.references)} references "
            f"({cited} with the sentences that cite them)"
        )
    )
    for section in paper.sections:
        console.print(Text("  " * section.level + (section.title or "(no heading)")))
    print_tables(paper.tables, console)
    for warning in paper.warnings:
        console.print(Text(f"! {warning}", style="yellow"))


def print_tables(tables: Sequence[Table], console: Console) -> None:
    """Each table with its confidence; a cell that has digits but is read as no number has a `?`."""
    doubtful = 0
    for table in tables:
        doubtful += sum(is_doubtful(table, row, at) for row, at, _, _ in spans(table))
        console.print()
        where = f" ({table.provenance})" if table.provenance else ""
        console.print(Text(f"{table}{where}", style="bold"), Text(_sureness(table)))
        if table.caption:
            console.print(Text(table.caption))
        console.print(_grid(table))
        for line in _corrections(table):
            console.print(Text(line, style="cyan"))
        for doubt in table.doubts:
            console.print(Text(f"? {doubt}", style="yellow"))
    if doubtful:
        console.print(Text("? after a cell: it has digits, but is read as no number.", "yellow"))


def _corrections(table: Table) -> list[str]:
    """A sentence for each corrected cell."""
    found = [(row, at, table.grid[row][at]) for row, at, _, _ in spans(table)]
    return [
        f"✎ row {row + 1}, column {at + 1}: '{cell.text}' by {cell.corrected.actor}; "
        f"'{cell.corrected.before}' was read. {cell.corrected.reason}"
        for row, at, cell in found
        if cell.corrected
    ]


def _sureness(table: Table) -> str:
    numbers = sum(len(cell.numbers) for row in table.grid for cell in row if not cell.spanned)
    sure = f"confidence {table.confidence:g}"
    return f"{sure}, {numbers} numbers" + ("" if table.confidence == 1 else ", DOUBTFUL")


def _grid(table: Table) -> Grid:
    """The grid; what spans several columns is printed at the first of them."""
    grid = Grid(box=SIMPLE_HEAD, show_header=table.header_rows > 0)
    for column in range(table.shape[1]):
        header = Text("\n").join(_shown(table, row, column) for row in range(table.header_rows))
        grid.add_column(header, overflow="fold")
    for row in range(table.header_rows, len(table.grid)):
        grid.add_row(*(_shown(table, row, at) for at in range(table.shape[1])))
    return grid


def _shown(table: Table, row: int, column: int) -> Text:
    cell = table.grid[row][column]
    beside = column > 0 and table.grid[row][column - 1].text == cell.text
    if cell.spanned and (beside or row < table.header_rows):
        return Text("")
    text = cell.text if len(cell.text) <= _LONGEST else cell.text[: _LONGEST - 1] + "…"
    if cell.corrected:
        return Text(f"{text} ✎", style=f"cyan {_style(cell)}")
    if is_doubtful(table, row, column):
        return Text(f"{text} ?", style="yellow")
    return Text(text, style=_style(cell))


def _style(cell: Cell) -> str:
    styles = ("bold" if cell.bold else "", "underline" if cell.underline else "")
    return " ".join(style for style in styles if style)
