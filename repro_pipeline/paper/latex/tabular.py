"""A tabular's tokens as rows of cells: columns, spans, rules, and what stands between columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from repro_pipeline.paper.latex.arguments import (
    Tokens,
    argument,
    is_balanced,
    option,
    plain,
    words,
)
from repro_pipeline.paper.latex.columns import Column, read_columns
from repro_pipeline.paper.latex.definitions import Macro
from repro_pipeline.paper.latex.text import Printer
from repro_pipeline.paper.latex.tokens import Token
from repro_pipeline.paper.model import Provenance
from repro_pipeline.paper.tables import RawCell

TABULARS = words(
    """tabular tabular* tabularx tabulary longtable xltabular supertabular xtabular mpsupertabular
    tblr longtblr talltblr NiceTabular NiceTabular* NiceTabularX tabu longtabu longtable*"""
)
_FULL_RULES = words(
    "hline toprule midrule bottomrule hdashline Xhline specialrule thickhline firsthline lasthline"
)
_ROW_ENDS = words("tabularnewline cr") | {"\\"}


@dataclass(frozen=True)
class Rows:
    """Rows of cells for `make_table`; `rules` are the numbers of rows above each full rule."""

    rows: list[list[RawCell]]
    rules: frozenset[int]
    doubts: tuple[str, ...]


@dataclass
class _Cell:
    """A cell at its column, before vertical spans are settled."""

    column: int
    raw: RawCell


@dataclass
class _Lines:
    """Rows in the making."""

    rows: list[list[_Cell]] = field(default_factory=list)
    rules: set[int] = field(default_factory=set)
    doubts: list[str] = field(default_factory=list)


def read_tabular(
    name: str, body: Tokens, printer: Printer, column_types: Mapping[str, Macro]
) -> Rows:
    """The rows of a tabular environment of a name, from the tokens between its begin and end."""
    columns, start = read_columns(name, body, column_types)
    content = body[start:]
    lines = _Lines()
    if not is_balanced(content):
        lines.doubts.append("Braces are not balanced.")
    for row in _without_repeated_heads(_split_rows(content)):
        _add_row(row, columns, printer, lines)
    if columns and any(_width(row) > len(columns) for row in lines.rows):
        lines.doubts.append(f"A row has more cells than the {len(columns)} columns set up.")
    joined = _join_columns(lines.rows, columns, printer)
    return _settle(joined, lines.rules, lines.doubts)


# Rows and cells


def _split_rows(body: Tokens) -> Iterator[list[list[Token]]]:
    """Rows of cells: split at `\\\\` and `&` outside of groups and inner environments."""
    depth = inner = 0
    cells: list[list[Token]] = [[]]
    at = 0
    while at < len(body):
        token = body[at]
        if token.kind == "command" and token.text in {"begin", "end"}:
            inner += 1 if token.text == "begin" else -1
            inner = max(inner, 0)
        depth = max(depth + (token.kind == "{") - (token.kind == "}"), 0)
        if depth or inner:
            cells[-1].append(token)
        elif token.kind == "command" and token.text in _ROW_ENDS:
            yield cells
            cells = [[]]
            at = _after_row_end(body, at)
            continue
        elif token.kind == "&":
            cells.append([])
        else:
            cells[-1].append(token)
        at += 1
    yield cells


def _after_row_end(body: Tokens, at: int) -> int:
    following = body[at + 1] if at + 1 < len(body) else None
    at += 2 if following is not None and following.text == "*" else 1
    given, after = option(body, at)
    if given is not None and any(char.isdigit() for char in plain(given)):
        return after
    return at


def _without_repeated_heads(rows: Iterator[list[list[Token]]]) -> list[list[list[Token]]]:
    """longtable: the first head and the body, without the head and foot of further pages."""
    parts: dict[str, list[list[list[Token]]]] = {}
    current: list[list[list[Token]]] = []
    for row in rows:
        while marker := _marker(row):
            parts[marker] = current
            current = []
        current.append(row)
    head = parts.get("endfirsthead", parts.get("endhead", []))
    return [*head, *current]


def _marker(row: list[list[Token]]) -> str | None:
    """Takes a marker such as `\\endhead` from the start of a row."""
    first = row[0]
    for place, token in enumerate(first):
        if token.kind == "command" and token.text in _MARKERS:
            del first[: place + 1]
            return token.text
        if token.kind in {"char", "$", "{"}:
            return None
    return None


_MARKERS = words("endfirsthead endhead endfoot endlastfoot")


def _add_row(
    cells: list[list[Token]], columns: list[Column], printer: Printer, lines: _Lines
) -> None:
    cells[0] = _take_rules(cells[0], len(columns), lines)
    row: list[_Cell] = []
    column = 0
    for tokens in cells:
        frame = columns[column] if column < len(columns) else Column()
        raw = _cell(tokens, frame, printer)
        row.append(_Cell(column, raw))
        column += raw.columns
    if len(row) > 1 or row[0].raw.text or any(cell.raw.rows != 1 for cell in row):
        lines.rows.append(row)


def _take_rules(tokens: list[Token], width: int, lines: _Lines) -> list[Token]:
    """Notes the rules at the start of a row and takes them out of its first cell."""
    at = 0
    rest: list[Token] = []
    while at < len(tokens):
        token = tokens[at]
        name = token.text if token.kind == "command" else ""
        if name in _FULL_RULES:
            lines.rules.add(len(lines.rows))
            at += 1
            _, at = option(tokens, at)
            for _ in range({"Xhline": 1, "specialrule": 3}.get(name, 0)):
                _, at = argument(tokens, at)
        elif name in {"cmidrule", "cline"}:
            _, at = option(tokens, at + 1)
            _, at = option(tokens, at, "()")
            span, at = argument(tokens, at)
            if width and plain(span).replace(" ", "") == f"1-{width}":
                lines.rules.add(len(lines.rows))
        elif name in {"caption", "label"}:
            _, at = option(tokens, at + 1)
            _, at = argument(tokens, at)
        elif token.kind in {"space", "par"} and not rest:
            at += 1
        elif name:
            rest.append(token)
            at += 1
        else:
            break
    return [*rest, *tokens[at:]]


def _cell(tokens: Tokens, column: Column, printer: Printer) -> RawCell:
    content: list[Token] = list(tokens)
    width, height = 1, 1
    at = _command(content, {"multicolumn"})
    own_format = at is not None
    if at is not None:
        count, after = argument(content, at + 1)
        _, after = argument(content, after)
        inner, after = argument(content, after)
        width = max(_integer(count), 1)
        content = [*content[:at], *inner, *content[after:]]
    at = _command(content, {"multirow", "multirowcell", "multirowthead"})
    if at is not None:
        height, content = _multirow(content, at)
    at = _command(content, {"SetCell", "Block"})
    if at is not None:
        height, width, content = _declared_span(content, at)
    if not own_format:
        content = [*column.before, *content, *column.after]
    printed = printer.print(content)
    first = next((token for token in tokens if token.kind not in {"space", "par"}), None)
    return RawCell(
        text=printed.text,
        rows=height,
        columns=min(width, 500),
        bold=printed.bold,
        underline=printed.underline,
        provenance=Provenance(file=first.file, line=first.line) if first else None,
    )


def _command(tokens: Tokens, names: set[str]) -> int | None:
    return next(
        (at for at, token in enumerate(tokens) if token.kind == "command" and token.text in names),
        None,
    )


def _multirow(tokens: list[Token], at: int) -> tuple[int, list[Token]]:
    """The rows that a `\\multirow` spans, and its cell's tokens without it."""
    _, after = option(tokens, at + 1)
    count, after = argument(tokens, after)
    _, after = option(tokens, after)
    if tokens[at].text == "multirow":
        _, after = argument(tokens, after)
        _, after = option(tokens, after)
    inner, after = argument(tokens, after)
    return _integer(count) or 1, [*tokens[:at], *inner, *tokens[after:]]


def _declared_span(tokens: list[Token], at: int) -> tuple[int, int, list[Token]]:
    """Rows, columns and content of `\\SetCell[r=2,c=3]{…}` or `\\Block{2-3}{…}`."""
    if tokens[at].text == "SetCell":
        given, after = option(tokens, at + 1)
        _, after = argument(tokens, after)
        sizes = dict(
            part.replace(" ", "").split("=", 1)
            for part in plain(given or []).split(",")
            if "=" in part
        )
        height, width = sizes.get("r", "1"), sizes.get("c", "1")
        return _digits(height), _digits(width), [*tokens[:at], *tokens[after:]]
    _, after = option(tokens, at + 1)
    span, after = argument(tokens, after)
    inner, after = argument(tokens, after)
    height, _, width = plain(span).strip().partition("-")
    return _digits(height), _digits(width), [*tokens[:at], *inner, *tokens[after:]]


def _digits(text: str) -> int:
    return max(int(text), 1) if text.isdigit() and len(text) < 4 else 1


def _integer(tokens: Tokens) -> int:
    text = plain(tokens).strip()
    digits = text.lstrip("+-")
    whole = digits.split(".")[0]
    if not whole.isdigit() or len(whole) > 3:
        return 0
    return -int(whole) if text.startswith("-") else int(whole)


# Columns that are printed as one, and vertical spans


def _join_columns(
    rows: list[list[_Cell]], columns: list[Column], printer: Printer
) -> list[list[_Cell]]:
    """Joins columns with text set between them, such as `r@{±}l` and `r@{.}l`, to one."""
    joints = {
        place: text
        for place, column in enumerate(columns)
        if place and (text := printer.print(column.joint).text)
    }
    if not joints:
        return rows
    joined: list[list[_Cell]] = []
    for row in rows:
        cells: list[_Cell] = []
        for cell in row:
            last = cells[-1] if cells else None
            if cell.column in joints and last and last.column == cell.column - 1:
                cells[-1] = _Cell(last.column, _joined(last.raw, joints[cell.column], cell.raw))
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


def _shifted(cell: _Cell, joints: Mapping[int, str]) -> _Cell:
    """The cell at its place among the columns that are left."""
    end = cell.column + cell.raw.columns
    start = cell.column - sum(joint <= cell.column for joint in joints)
    width = end - sum(joint < end for joint in joints) - start
    return _Cell(start, replace(cell.raw, columns=max(width, 1)))


def _width(row: list[_Cell]) -> int:
    return row[-1].column + row[-1].raw.columns if row else 0


def _settle(rows: list[list[_Cell]], rules: set[int], doubts: list[str]) -> Rows:
    """Settles vertical spans, drops empty rows, and fills rows up to the table's width.

    A `\\multirow` covers the places below it (above it, if negative) as long as they are empty.
    """
    width = max((_width(row) for row in rows), default=0)
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
