"""A tabular's tokens as rows of cells: columns, spans, rules, and what stands between columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
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
from repro_pipeline.paper.latex.spans import PlacedCell, Rows, join_columns, settle, width_of
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
_DECLARING = words("SetCell Block")


@dataclass
class _Lines:
    """Rows in the making."""

    rows: list[list[PlacedCell]] = field(default_factory=list)
    rules: set[int] = field(default_factory=set)
    doubts: list[str] = field(default_factory=list)


def read_tabular(
    name: str, body: Tokens, printer: Printer, column_types: Mapping[str, Macro]
) -> Rows:
    """The rows of a tabular environment of a name, from the tokens between its begin and end."""
    columns, start = read_columns(name, body, column_types)
    content = printed_part(body[start:])
    lines = _Lines()
    if not is_balanced(content):
        lines.doubts.append("Braces are not balanced.")
    for row in _without_repeated_heads(_split_rows(content)):
        _add_row(row, columns, printer, lines)
    if name.endswith("tblr"):
        _span_as_specified(plain(body[:start]), lines)
    if columns and any(width_of(row) > len(columns) for row in lines.rows):
        lines.doubts.append(f"A row has more cells than the {len(columns)} columns set up.")
    joined = join_columns(lines.rows, columns, printer)
    return settle(joined, lines.rules, lines.doubts)


# Rows and cells


def printed_part(body: Tokens) -> Tokens:
    """What is printed of a body: without the drawing before and after it that `nicematrix` has."""
    first = _command(body, {"Body"})
    body = body[first + 1 :] if first is not None else body
    last = _command(body, {"CodeAfter"})
    return body[:last] if last is not None else body


def _span_as_specified(spec: str, lines: _Lines) -> None:
    """The spans of cells that a `tblr` sets up beforehand: `cell{1}{2} = {r=2,c=3}{c}`."""
    for row, column, sizes in _SPECIFIED.findall(spec):
        height, width = (re.search(rf"\b{name}\s*=\s*(\d+)", sizes) for name in "rc")
        if not height and not width:
            continue
        if not row.strip().isdigit() or not column.strip().isdigit():
            lines.doubts.append("Cells span others in places that are not understood.")
            continue
        place = int(row) - 1, int(column) - 1
        if place[0] < len(lines.rows):
            lines.rows[place[0]] = _spanning(
                lines.rows[place[0]],
                place[1],
                _digits(height[1] if height else "1"),
                _digits(width[1] if width else "1"),
            )


_SPECIFIED = re.compile(r"\bcell\s*\{([^{}]*)\}\s*\{([^{}]*)\}\s*=\s*\{([^{}]*)\}")


def _spanning(row: list[PlacedCell], column: int, height: int, width: int) -> list[PlacedCell]:
    """The row with its cell at a column made to cover those beside it, which are set in vain."""
    covered = range(column + 1, column + width)
    return [
        PlacedCell(column, replace(cell.raw, rows=height, columns=width))
        if cell.column == column
        else cell
        for cell in row
        if cell.column not in covered
    ]


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
    row: list[PlacedCell] = []
    column = covered = 0
    for tokens in cells:
        if covered:
            covered -= 1
            continue
        frame = columns[column] if column < len(columns) else Column()
        raw = _cell(tokens, frame, printer)
        row.append(PlacedCell(column, raw))
        column += raw.columns
        if _command(tokens, _DECLARING) is not None:
            covered = raw.columns - 1  # unlike below \\multicolumn, their `&` are written
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
    at = _command(content, _DECLARING)
    if at is not None:
        height, width, content = _declared_span(content, at)
    if not own_format:
        content = [*column.before, *content, *column.after]
    printed = printer.print(content)
    text = printed.text
    if column.numeric is not None and not own_format and not any(t.kind == "{" for t in tokens):
        text = printer.rounding.with_options(column.numeric).of(text)
    first = next((token for token in tokens if token.kind not in {"space", "par"}), None)
    return RawCell(
        text=text,
        rows=height,
        columns=min(width, 500),
        bold=printed.bold,
        underline=printed.underline,
        provenance=Provenance(file=first.file, line=first.line) if first else None,
    )


def _command(tokens: Tokens, names: Collection[str]) -> int | None:
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
    _, after = option(tokens, after, "<>")
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
