"""The column specification of a tabular, as `l r@{.}l *{3}{>{\\bfseries}c}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from repro_pipeline.paper.latex.arguments import (
    Tokens,
    argument,
    option,
    plain,
    skip_space,
    words,
)
from repro_pipeline.paper.latex.definitions import Macro
from repro_pipeline.paper.latex.tokens import Token

_WIDTH_FIRST = words("tabular* tabularx tabulary xltabular NiceTabular* NiceTabularX")


@dataclass(frozen=True)
class Column:
    """A column of the specification: tokens put around its cells, and text printed before it."""

    before: tuple[Token, ...] = ()
    after: tuple[Token, ...] = ()
    joint: tuple[Token, ...] = ()
    numeric: str | None = None
    """The options of an `S` column of siunitx; None for any other column."""


def read_columns(
    name: str, body: Tokens, column_types: Mapping[str, Macro]
) -> tuple[list[Column], int]:
    """The columns that a tabular's arguments set up, and the place after these arguments."""
    at = 0
    if name in _WIDTH_FIRST:
        _, at = argument(body, at)
    _, at = option(body, at)
    if name in {"tabu", "longtabu"}:
        start = skip_space(body, at)
        if start < len(body) and body[start].text in {"t", "s"}:  # `to WIDTH`, `spread WIDTH`
            while start < len(body) and body[start].kind != "{":
                start += 1
            at = start
    spec, at = argument(body, at)
    if name.startswith("NiceTabular"):
        _, at = option(body, at)
    if name.endswith("tblr"):
        return [], at
    return _columns(list(spec), column_types), at


def _columns(spec: list[Token], column_types: Mapping[str, Macro], depth: int = 0) -> list[Column]:
    columns: list[Column] = []
    before: list[Token] = []
    joint: list[Token] = []
    at = 0
    while at < len(spec) and len(columns) < 500:
        text = spec[at].text
        at += 1
        if text == ">":
            tokens, at = argument(spec, at)
            before = [*before, *tokens]
        elif text == "<":
            tokens, at = argument(spec, at)
            if columns:
                last = columns[-1]
                columns[-1] = replace(last, after=(*tokens, *last.after))
        elif text in {"@", "!"}:
            tokens, at = argument(spec, at)
            joint = [*joint, *tokens]
        elif text == "*":
            count, at = argument(spec, at)
            repeated, at = argument(spec, at)
            digits = plain(count).strip()
            times = min(int(digits), 200) if digits.isdigit() else 1
            spec[at:at] = list(repeated) * (times if depth == 0 or len(spec) < 5000 else 1)
        elif text in column_types and depth < 5:
            macro = column_types[text]
            given = []
            for _ in macro.pattern:
                tokens, at = argument(spec, at)
                given.append(tokens)
            inner: list[Token] = []
            for token in macro.body:
                number = token.text[1:]
                inner += given[int(number) - 1] if _is_parameter(token, len(given)) else [token]
            own = _columns(inner, {k: v for k, v in column_types.items() if k != text}, depth + 1)
            if own:
                own[0] = replace(own[0], before=(*before, *own[0].before), joint=tuple(joint))
                before, joint = [], []
            columns += own
        elif text.isalpha():
            given, at = option(spec, at)
            options = plain(given or ()) if text == "S" else None
            columns.append(Column(tuple(before), (), tuple(joint), options))
            before, joint = [], []
            while at < len(spec) and spec[at].kind == "{":
                _, at = argument(spec, at)
    return columns


def _is_parameter(token: Token, count: int) -> bool:
    return token.kind == "#" and token.text[1:].isdigit() and int(token.text[1:]) <= count
