"""A table's columns: where its words leave white space from top to bottom."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from repro_pipeline.paper.pdf.drawings import Rule
from repro_pipeline.paper.pdf.words import Word

SURE_GAP = 0.52
"""A gap wider than this share of the font size parts two cells."""
LOOSE_GAP = 0.18
"""A narrower gap than `SURE_GAP` parts two numbers where it runs through all rows."""

_NUMBER = re.compile(r"[-−–+<>~≈]?[$€£]?\.?\d")
_JOINS = re.compile(r"[±/×=<>≤≥~≈+]|\+/[-−]|->|→|\(|\[")


@dataclass(frozen=True)
class Piece:
    """Words of one table line that stand close together: one cell, or a part of one."""

    words: tuple[Word, ...]

    @property
    def x0(self) -> float:
        """The left edge."""
        return min(word.x0 for word in self.words)

    @property
    def x1(self) -> float:
        """The right edge."""
        return max(word.x1 for word in self.words)

    @property
    def middle(self) -> float:
        """Half way between the edges."""
        return (self.x0 + self.x1) / 2

    @property
    def text(self) -> str:
        """The words, spaces between."""
        return " ".join(word.text for word in self.words)

    @property
    def numeric(self) -> bool:
        """Whether it begins as a number does."""
        return is_numeric(self.words[0])


@dataclass(frozen=True)
class TableLine:
    """One baseline of a table."""

    y: float
    size: float
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Column:
    """The room that a column's cells take up."""

    x0: float
    x1: float

    @property
    def middle(self) -> float:
        """Half way between the edges."""
        return (self.x0 + self.x1) / 2


def is_numeric(word: Word) -> bool:
    """Whether a word begins as a number does."""
    return _NUMBER.match(word.text) is not None


def pieces(row: Sequence[Word], vertical: Sequence[Rule]) -> tuple[Piece, ...]:
    """The words of one line, left to right, cut at wide gaps and at vertical rules."""
    found: list[list[Word]] = []
    for word in sorted(row, key=lambda word: word.x0):
        if found and not _parts(found[-1], word, vertical):
            found[-1].append(word)
        else:
            found.append([word])
    return tuple(Piece(tuple(words)) for words in found)


def _parts(before: Sequence[Word], word: Word, vertical: Sequence[Rule]) -> bool:
    last = max(before, key=lambda other: other.x1)
    gap, size = word.x0 - last.x1, max(last.size, word.size)
    if any(
        last.x1 - 0.2 * size < rule.x0 < word.x0 + 0.2 * size and rule.y0 < word.y < rule.y1
        for rule in vertical
    ):
        return True
    if last.text[-1:] == "±" or word.text[:1] == "±":
        return gap > 1.6 * size
    if _JOINS.fullmatch(last.text) or _JOINS.fullmatch(word.text):
        return gap > 0.7 * size
    return gap > SURE_GAP * size


def columns(lines: Sequence[TableLine]) -> list[Column]:
    """The columns of body lines: runs of x that pieces cover.

    Pieces over several cells are left aside, and texts that stand alone in their line: these
    name the rows below them, and may reach over any column.
    """
    spread = spanning(lines)
    several = [line for line in lines if len(line.pieces) > 1 or line.pieces[0].numeric]
    covered = sorted(
        (piece.x0, piece.x1)
        for line in several or lines
        for piece in line.pieces
        if id(piece) not in spread
    )
    merged: list[list[float]] = []
    size = max((line.size for line in lines), default=10.0)
    for x0, x1 in covered:
        if merged and x0 <= merged[-1][1] + 0.08 * size:
            merged[-1][1] = max(merged[-1][1], x1)
        else:
            merged.append([x0, x1])
    return [Column(x0, x1) for x0, x1 in merged]


def spanning(lines: Sequence[TableLine]) -> set[int]:
    """The ids of pieces that stand over two or more cells of most other lines."""
    spread: set[int] = set()
    for _ in range(2):
        found: set[int] = set()
        for line in lines:
            for piece in line.pieces:
                counts = [
                    sum(
                        overlap(piece, other) > 0.5
                        for other in below.pieces
                        if id(other) not in spread
                    )
                    for below in lines
                    if below is not line
                ]
                several = sum(count >= 2 for count in counts)
                single = sum(count == 1 for count in counts)
                if several and several >= single and len(piece.text) > 2:
                    found.add(id(piece))
        if found == spread:
            break
        spread = found
    return spread


def overlap(first: Piece | Column, second: Piece | Column) -> float:
    """How much of x two things share, in points; negative: how far apart they are."""
    return min(first.x1, second.x1) - max(first.x0, second.x0)


def split_close_numbers(lines: Sequence[TableLine]) -> list[TableLine]:
    """Lines with pieces of several numbers cut where one narrow gap runs through all lines.

    Narrow column separation puts two cells as close as two words. Two plain numbers side by side
    are never one cell if the gap between them stands at the same place in every line.
    """
    gaps = [
        (left.x1, right.x0)
        for line in lines
        for piece in line.pieces
        for left, right in itertools.pairwise(piece.words)
        if right.x0 - left.x1 > LOOSE_GAP * right.size and _two_numbers(left, right)
    ]
    cuts: list[float] = []
    for start, end in gaps:
        middle = (start + end) / 2
        if any(start < cut < end for cut in cuts):
            continue
        through = sum(low < middle < high for low, high in gaps)
        crossed = sum(
            word.x0 < middle < word.x1
            for line in lines
            for piece in line.pieces
            for word in piece.words
        )
        if through >= 2 and through >= 0.6 * len(lines) and not crossed:
            cuts.append(middle)
    return [
        TableLine(
            line.y, line.size, tuple(part for piece in line.pieces for part in _cut(piece, cuts))
        )
        for line in lines
    ]


def _two_numbers(left: Word, right: Word) -> bool:
    thousands = re.fullmatch(r"\d{1,3}", left.text) and re.fullmatch(r"\d{3}", right.text)
    plain = not left.text.endswith(("/", ",", "(")) and not right.text.startswith("(")
    return is_numeric(left) and is_numeric(right) and plain and not thousands


def _cut(piece: Piece, cuts: Sequence[float]) -> list[Piece]:
    parts: list[list[Word]] = [[piece.words[0]]]
    for left, right in itertools.pairwise(piece.words):
        if any(left.x1 <= cut <= right.x0 for cut in cuts):
            parts.append([])
        parts[-1].append(right)
    return [Piece(tuple(words)) for words in parts]
