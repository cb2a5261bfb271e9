"""From an address to the number that stands there, or to what its writer should have said."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from repro_pipeline.errors import AddressError
from repro_pipeline.paper.address import (
    CellAddress,
    TableAddress,
    TableIndex,
    TableLabel,
    TextAddress,
)
from repro_pipeline.paper.citations import sentences
from repro_pipeline.paper.model import Cell, Paper, Quantity, Table
from repro_pipeline.paper.numbers import find_numbers
from repro_pipeline.paper.tables import column_path, is_section, normalise, row_path

SHOWN = 8
"""How many rows, columns or tables an error lists."""

Found = tuple[Table, int, int, Cell, Quantity]


def resolve_cell(paper: Paper, address: CellAddress) -> Found:
    """The table, row, column and cell that an address names, and the number in it.

    Raises AddressError as `find_cell` does, and for a cell without that number.
    """
    table, row, column = find_cell(paper, address)
    cell = table.grid[row][column]
    return table, row, column, cell, _part(cell.numbers, cell.text, address)


def find_cell(paper: Paper, address: CellAddress) -> tuple[Table, int, int]:
    """The table, row and column that an address names, whatever stands there.

    A header path matches where its texts stand in this order among the headers of a row or a
    column; the closest match wins. Raises AddressError when there is none, or more than one.
    """
    candidates = tables_named(paper, address.table)
    places: list[tuple[Table, int, int]] = []
    failures: list[AddressError] = []
    for table in candidates:
        try:
            row = _row(table, address)
            places.append((table, row, _column(table, row, address)))
        except AddressError as error:
            failures.append(error)
    if not places:
        raise failures[0]
    if len(places) > 1:
        raise AddressError(
            f"{len(places)} tables of that name have such a cell.",
            where=str(address),
            hint="Name the table by its order: "
            + ", ".join(f"{{index: {table.index}}}" for table, _, _ in places)
            + ".",
        )
    return places[0]


def resolve_text(paper: Paper, address: TextAddress) -> tuple[str, Quantity]:
    """The title of the section in which a quote stands, and the number that the quote holds.

    The number is read with what follows it, so that a unit behind the quote counts. Raises
    AddressError when the quote is not there, not so often, or holds no number.
    """
    quote = _folded(address.quote)
    seen = 0
    for title, text in _texts(paper):
        folded = _folded(text)
        for start in _occurrences(folded, quote):
            seen += 1
            if seen == address.occurrence:
                end = start + len(quote)
                inside = [number for at, _, number in find_numbers(folded) if start <= at < end]
                return title, _part(inside, address.quote, address)
    if seen:
        raise AddressError(
            f"the quote occurs {seen} time{'s' if seen > 1 else ''}, not {address.occurrence}.",
            where=str(address),
        )
    raise AddressError(
        "the paper has no such text.", where=str(address), hint=_nearest_text(paper, quote)
    )


def _part(numbers: Sequence[Quantity], text: str, address: CellAddress | TextAddress) -> Quantity:
    if not numbers:
        shown = f"'{text}'" if text else "nothing"
        raise AddressError(f"holds {shown}, which is not a number.", where=str(address))
    if address.part >= len(numbers):
        listed = ", ".join(f"{at}: {number.text}" for at, number in enumerate(numbers))
        raise AddressError(
            f"'{text}' has no part {address.part}.",
            where=str(address),
            hint=f"Its parts: {listed}.",
        )
    return numbers[address.part]


# Tables


def tables_named(paper: Paper, address: TableAddress) -> list[Table]:
    """The tables of a number, a label or an order. Raises AddressError where there is none."""
    if isinstance(address, TableLabel):
        found = [table for table in paper.tables if table.label == address.label]
        name = f"table with the label '{address.label}'"
    elif isinstance(address, TableIndex):
        found = [table for table in paper.tables if table.index == address.index]
        name = f"table number {address.index}"
    else:
        wanted = _table_number(address)
        found = [table for table in paper.tables if _table_number(table.number) == wanted]
        found = found or [
            table
            for table in paper.tables
            if re.fullmatch(re.escape(wanted) + r"\(?[a-z]\)?", _table_number(table.number))
        ]
        name = f"'{address}'"
    if found:
        return found
    known = [
        f"{table}{f' ({_short(table.caption)})' if table.caption else ''}" for table in paper.tables
    ]
    hint = f"The paper has {_listed(known)}." if known else "The paper has no tables."
    raise AddressError(f"there is no {name}.", where=paper.source.file, hint=hint)


def _table_number(name: str | None) -> str:
    return re.sub(r"^(?:table|tab)", "", normalise(name or "")).strip(".:")


def _short(text: str) -> str:
    return text if len(text) <= 50 else text[:49].rsplit(" ", 1)[0] + " …"


# Rows and columns


def _row(table: Table, address: CellAddress) -> int:
    body = [
        row for row in range(table.header_rows, len(table.grid)) if not is_section(table.grid, row)
    ]
    paths = {row: row_path(table, row) for row in body}
    own = {row: table.row_headers(row) for row in body}
    found = _matches(address.row, paths, own)
    if len(found) != 1:
        keyed = {row: (*paths[row], *_keys(table, row)) for row in body}
        by_key = _matches(address.row, keyed, {})
        found = by_key if len(by_key) == 1 else found
        if len({paths[row] for row in found}) < len(found):
            paths = keyed
    found = found or _by_position("row", address.row, body)
    if len(found) == 1:
        return found[0]
    columns = [table.column_headers(column) for column in range(table.shape[1])]
    swapped = any(_contains(address.row, path) for path in columns)
    raise _error("row", address.row, found, paths, f"{table}", swapped)


def _keys(table: Table, row: int) -> tuple[str, ...]:
    """Settings beside a row's name, as in `Dot-Product | 0.1 | …`, that tell rows apart."""
    start = table.header_columns
    return tuple(cell.text for cell in table.grid[row][start : start + 2] if cell.text)


def _column(table: Table, row: int, address: CellAddress) -> int:
    width = table.shape[1]
    paths = {column: column_path(table, row, column) for column in range(width)}
    own = {column: table.column_headers(column) for column in range(width)}
    body = range(table.header_columns, width)
    found = _matches(address.column, {c: paths[c] for c in body}, {c: own[c] for c in body})
    found = found or _matches(address.column, paths, own)
    found = _without_spans(table, row, found)
    found = found or _by_position("column", address.column, range(width))
    if len(found) == 1:
        return found[0]
    rows = [row_path(table, other) for other in range(table.header_rows, len(table.grid))]
    swapped = any(_contains(address.column, path) for path in rows)
    raise _error("column", address.column, found, paths, f"{table}", swapped)


def _by_position(kind: str, wanted: Sequence[str], places: Iterable[int]) -> list[int]:
    """`row 3` or `column 2`, counted from 1 with the headers, for what has no name."""
    position = re.fullmatch(rf"{kind}\s?(\d+)", wanted[-1].strip(), re.I)
    return [at for at in places if position and at + 1 == int(position[1])]


def _without_spans(table: Table, row: int, columns: list[int]) -> list[int]:
    """Places that one spanning cell covers are one place."""
    cells = table.grid[row]
    return [
        column
        for column in columns
        if not (
            cells[column].spanned
            and column - 1 in columns
            and cells[column - 1].text == cells[column].text
        )
    ]


Paths = dict[int, tuple[str, ...]]


def _matches(wanted: Sequence[str], paths: Paths, own: Paths) -> list[int]:
    """The places that match best: by whole path, by own headers, by texts in order."""
    for simplify in (normalise, _unmarked, _bare):
        texts = [simplify(text) for text in wanted]
        whole = [at for at, path in paths.items() if [simplify(t) for t in path] == texts]
        if whole:
            return whole
        alone = [at for at, path in own.items() if [simplify(t) for t in path] == texts]
        if alone:
            return alone
        partly = [at for at, path in paths.items() if _in_order(texts, [simplify(t) for t in path])]
        if partly:
            return partly
    return []


def _contains(wanted: Sequence[str], path: Sequence[str]) -> bool:
    return _in_order([normalise(text) for text in wanted], [normalise(text) for text in path])


def _in_order(wanted: Sequence[str], path: Iterable[str]) -> bool:
    rest = iter(path)
    return all(text in rest for text in wanted)


_NOTE = r"[a-z\d*†‡§#]{1,2}"
_MARKS = re.compile(
    rf"(?:\^\{{?{_NOTE}(?:,\s?{_NOTE})*\}}?|[⁰¹²³⁴-⁹ᵃᵇᶜᵈᵉ]+(?:,[⁰¹²³⁴-⁹]+)*)\s*$", re.I
)
_ASIDE = re.compile(r"(?:\([^()]*\)|\[[^\[\]]*\])\s*$")


def _unmarked(text: str) -> str:
    """A header without a raised mark at its end, whether it came as `^1` or as `¹`."""
    return normalise(_MARKS.sub("", text.strip()).strip() or text)


def _bare(text: str) -> str:
    """A header without a unit, citation or footnote mark at its end."""
    shorter = _ASIDE.sub("", _MARKS.sub("", text.strip())).strip()
    return normalise(_MARKS.sub("", shorter) or text)


def _error(
    kind: str,
    wanted: Sequence[str],
    found: Sequence[int],
    paths: Paths,
    table: str,
    swapped: bool,
) -> AddressError:
    name = " > ".join(f"'{text}'" for text in wanted)
    if found:
        listed = [_path(paths[at]) or f"'{kind} {at + 1}'" for at in found]
        repeated = len(set(listed)) < len(listed)
        if repeated:
            listed = [f"'{kind} {at + 1}'" for at in found]
        advice = "Name one by its place" if repeated else "Give a longer path"
        return AddressError(
            f"{name} names {len(found)} {kind}s.", where=table, hint=f"{advice}: {_listed(listed)}."
        )
    if swapped:
        other = "row" if kind == "column" else "column"
        hint = f"It names a {other}: are row and column swapped?"
    else:
        nearest = sorted(paths, key=lambda at: (-_similarity(wanted, paths[at]), at))
        names = dict.fromkeys(_path(paths[at]) or f"'{kind} {at + 1}'" for at in nearest)
        hint = f"There are: {_listed(list(names))}."
    return AddressError(f"there is no {kind} {name}.", where=table, hint=hint)


def _similarity(wanted: Sequence[str], path: Sequence[str]) -> float:
    one = normalise("".join(wanted))
    candidates = [normalise("".join(path)), *(normalise(text) for text in path)]
    return max(SequenceMatcher(None, one, other).ratio() for other in candidates)


def _path(path: Sequence[str]) -> str:
    return " > ".join(f"'{text}'" for text in path)


def _listed(items: Sequence[str]) -> str:
    shown = ", ".join(items[:SHOWN])
    return shown if len(items) <= SHOWN else f"{shown} and {len(items) - SHOWN} more"


# Running text


def _texts(paper: Paper) -> Iterator[tuple[str, str]]:
    yield "Abstract", paper.abstract
    for section in paper.sections:
        yield section.title, section.text
    for table in paper.tables:
        yield f"caption of {table}", table.caption
    for figure in paper.figures:
        yield f"caption of {figure.number or 'a figure'}", figure.text


def _folded(text: str) -> str:
    """Text in which kinds of space, dash, quote and ligature make no difference."""
    text = unicodedata.normalize("NFC", text)
    for pattern, plain in _FOLDS:
        text = pattern.sub(plain, text)
    return " ".join(text.split())


_FOLDS = (
    (re.compile("[−‐‑‒–—﹣－]|--+"), "-"),
    (re.compile("[‘’′]"), "'"),
    (re.compile("[“”″]|``|''"), '"'),
    (re.compile("ﬁ"), "fi"),
    (re.compile("ﬂ"), "fl"),
    (re.compile("ﬀ"), "ff"),
    (re.compile("ﬃ"), "ffi"),
    (re.compile("\u00ad"), ""),
    (re.compile(r"\\%"), "%"),
)


def _occurrences(text: str, quote: str) -> Iterator[int]:
    """Where a quote stands, not cutting through a word or a number."""
    start = text.find(quote) if quote else -1
    while start >= 0:
        before, after = text[:start][-2:], text[start + len(quote) :][:2]
        cuts_before = quote[0].isalnum() and re.search(r"\w$|\d[.,]$", before)
        cuts_after = quote[-1].isalnum() and re.match(r"\w|[.,]\d", after)
        if not cuts_before and not cuts_after:
            yield start
        start = text.find(quote, start + 1)


def _nearest_text(paper: Paper, quote: str) -> str:
    """The sentence that is most like a quote, among those that share a word with it."""
    wanted = set(quote.casefold().split())
    best, score = "", 0.0
    for _, text in _texts(paper):
        for sentence in sentences(text):
            words = set(_folded(sentence).casefold().split())
            share = len(words & wanted) / max(len(wanted), 1)
            if share > score:
                best, score = sentence, share
    return f"The nearest sentence is '{_clip(best)}'." if score >= 0.5 else ""


def _clip(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:199]}…"
