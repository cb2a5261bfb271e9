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
_NUMBER = re.compile(r"[-−–+±<>~≈]?[$€£]?\.?\d")
_NAME = re.compile(r"[A-Za-z]{3}|-[A-Za-z]|\d[A-Z][a-z]")
"""What tells `1-hop` and `20News` from numbers with units."""
MISSING = re.compile(r"[-–—−]+|n\.?/?a\.?", re.IGNORECASE)
"""What stands in a cell without a value."""
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
    return _NUMBER.match(word.text) is not None and not _NAME.search(word.text)


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
    if last.text[-1:] == "±" and is_numeric(word):
        return False  # no cell ends so, however far a stretched column is set
    if last.text[-1:] == "±" or word.text[:1] == "±":
        return gap > 1.6 * size
    if last.text[-1:] in "|/" or word.text[:1] in "|/":
        return gap > 0.8 * size
    if _JOINS.fullmatch(last.text) or _JOINS.fullmatch(word.text):
        return gap > 0.7 * size
    return gap > SURE_GAP * size


def body_columns(lines: Sequence[TableLine]) -> tuple[list[Column], list[TableLine]]:
    """The columns of body lines, and the lines with their pieces cut at the columns' borders.

    A border is a strip of x that no word reaches into, from the first line to the last, and where
    either most gaps are too wide for a space between words, or what stands on its two sides cannot
    be one cell: two numbers, or texts whose right parts begin at one x while the left ones end
    anywhere. Texts alone in their line are left aside: they name the rows below them, and may
    reach over any column; so are texts that stand over several cells of most other lines.
    """
    several = [line for line in lines if not _names_section(line, lines)]
    spread = _spanning(lines)
    spread |= _bridging(several, spread)
    rows = [
        [piece for piece in line.pieces if id(piece) not in spread] for line in several or lines
    ]
    runs = _runs([word for row in rows for piece in row for word in piece.words])
    found, borders = _parted_runs(runs, rows)
    labels = [line.pieces[0] for line in lines if not any(line is other for other in several)]
    found = _with_outer_labels(found, labels)
    cut = []
    for line in lines:
        loose = not any(line is other for other in several)
        parts: list[Piece] = []
        for piece in line.pieces:
            if loose or id(piece) in spread:
                parts += _as_row(piece, found, alone=len(line.pieces) == 1)
            else:
                parts += _cut(piece, borders)
        cut.append(TableLine(line.y, line.size, tuple(parts)))
    found = [_widened(column, at, found, cut) for at, column in enumerate(found)]
    return found, cut


def _as_row(piece: Piece, found: Sequence[Column], *, alone: bool) -> list[Piece]:
    """A text over several columns in parts, if its parts are set as these columns' cells are.

    A text alone in its line is a row only if most of its parts are numbers.
    """
    homes = [home(word, found) for word in piece.words]
    groups = [
        (at, Piece(tuple(word for word, _ in pairs)))
        for at, pairs in itertools.groupby(
            zip(piece.words, homes, strict=True), key=lambda pair: pair[1]
        )
    ]
    fitting = all(_fits(part, found[at]) for at, part in groups)
    numbers = sum(part.numeric for _, part in groups[1:])
    is_row = len(groups) > 1 and fitting and (not alone or 2 * numbers >= len(groups) - 1)
    return [part for _, part in groups] if is_row else [piece]


def _fits(part: Piece, column: Column) -> bool:
    """Whether a text is set to the left, the right or the middle of a column, or fills it."""
    return (
        abs(part.x0 - column.x0) < 1.2
        or abs(part.x1 - column.x1) < 1.2
        or abs(part.middle - column.middle) < 1.2
    )


def home(word: Word, found: Sequence[Column]) -> int:
    """The column that a word shares most with, or is nearest to."""
    return max(range(len(found)), key=lambda index: overlap(Piece((word,)), found[index]))


def _widened(
    column: Column, at: int, found: Sequence[Column], lines: Sequence[TableLine]
) -> Column:
    """The column with the room of the pieces that reach over its edges, but not to the next."""
    low = found[at - 1].x1 if at else float("-inf")
    high = found[at + 1].x0 if at + 1 < len(found) else float("inf")
    inside = [
        piece
        for line in lines
        if len(line.pieces) > 1
        for piece in line.pieces
        if low < piece.x0 and piece.x1 < high and overlap(piece, column) > 0
    ]
    return Column(
        min([column.x0, *(piece.x0 for piece in inside)]),
        max([column.x1, *(piece.x1 for piece in inside)]),
    )


def _names_section(line: TableLine, lines: Sequence[TableLine]) -> bool:
    """Whether a line is one text at the left or in the middle of the table."""
    if len(line.pieces) > 1 or line.pieces[0].numeric:
        return False
    left = min(piece.x0 for other in lines for piece in other.pieces)
    right = max(piece.x1 for other in lines for piece in other.pieces)
    piece = line.pieces[0]
    return piece.x0 < left + 3 * line.size or abs(piece.middle - (left + right) / 2) < 3


def _parted_runs(
    runs: Sequence[Column], rows: Sequence[Sequence[Piece]]
) -> tuple[list[Column], list[float]]:
    """Runs joined to columns, and the borders between the columns."""
    found = list(runs[:1])
    borders: list[float] = []
    for run in runs[1:]:
        last = found[-1]
        if _is_border(last, run, rows):
            borders.append((last.x1 + run.x0) / 2)
            found.append(run)
        else:
            found[-1] = Column(last.x0, run.x1)
    return found, borders


def _with_outer_labels(found: list[Column], labels: Sequence[Piece]) -> list[Column]:
    """Columns with one for labels that stand alone between rows, left of all columns."""
    if not found:
        return found
    left = [piece for piece in labels if piece.x1 < found[0].x0 - 1.5]
    if not left:
        return found
    return [Column(min(p.x0 for p in left), max(p.x1 for p in left)), *found]


def _bridging(lines: Sequence[TableLine], spread: set[int]) -> set[int]:
    """The ids of texts that alone stand across a border that all other lines leave free."""
    texts = [
        piece
        for line in lines
        for piece in line.pieces
        if id(piece) not in spread and not any(is_numeric(word) for word in piece.words)
    ]
    rows = [[piece for piece in line.pieces if id(piece) not in spread] for line in lines]
    words = [word for row in rows for piece in row for word in piece.words]
    count = len(_parted_runs(_runs(words), rows)[0])
    if len(lines) < 4 or len(texts) > _MOST_TEXTS:
        return set()
    alone = [line.pieces[0] for line in lines if len(line.pieces) == 1]
    groups = [[piece for piece in texts if any(piece is other for other in alone)]]
    groups += [[piece] for piece in texts]
    found: set[int] = set()
    for group in groups:
        gone = {id(piece) for piece in group}
        own = {id(word) for piece in group for word in piece.words}
        others = [[piece for piece in row if id(piece) not in gone] for row in rows]
        runs = _runs([word for word in words if id(word) not in own])
        if group and len(_parted_runs(runs, others)[0]) > count:
            found |= gone
    return found


_MOST_TEXTS = 300
"""Texts that are tried as bridges; a table of more is not searched."""


def _runs(words: Sequence[Word]) -> list[Column]:
    """The stretches of x that words cover, left to right."""
    runs: list[Column] = []
    for word in sorted(words, key=lambda word: word.x0):
        if runs and word.x0 <= runs[-1].x1 + 0.3:
            runs[-1] = Column(runs[-1].x0, max(runs[-1].x1, word.x1))
        else:
            runs.append(Column(word.x0, word.x1))
    return runs


def _is_border(left_run: Column, right_run: Column, rows: Sequence[Sequence[Piece]]) -> bool:
    """Whether what lies between two runs parts two columns, by the lines with words in both."""
    sides: list[tuple[Word, Word]] = []
    lonely: list[Word] = []
    apart = 0
    for row in rows:
        left, right = _within(left_run, row), _within(right_run, row)
        if left and right:
            (before, own), (after, other) = left[-1], right[0]
            sides.append((before, after))
            apart += own is not other
        elif right:
            lonely.append(right[0][0])
    if not sides:
        size = max(word.size for row in rows for piece in row for word in piece.words)
        return right_run.x0 - left_run.x1 > SURE_GAP * size
    if sum(_joins(left, right) for left, right in sides) > 0.5 * len(sides):
        return False
    texts = sum(not is_numeric(left) and not is_numeric(right) for left, right in sides)
    if apart >= (0.75 if texts > 0.7 * len(sides) else 0.4) * len(sides):
        return True
    parted = sum(_two_values(left, right) for left, right in sides)
    return parted >= 0.7 * len(sides) or _left_aligned(sides, lonely)


def _within(run: Column, row: Sequence[Piece]) -> list[tuple[Word, Piece]]:
    """The words of a line that lie in a run, each with its piece."""
    return [
        (word, piece)
        for piece in row
        for word in piece.words
        if run.x0 - 0.1 <= word.x0 and word.x1 <= run.x1 + 0.1
    ]


def _joins(left: Word, right: Word) -> bool:
    """Whether two words are parts of one value, however far apart."""
    gap = right.x0 - left.x1
    if left.text[-1:] == "±" and is_numeric(right):
        return True
    if left.text[-1:] in "±×" or right.text[:1] in "±×":
        return gap <= 1.6 * right.size
    if left.text[-1:] in "|/" or right.text[:1] in "|/":
        return gap <= 0.8 * right.size
    return is_numeric(left) and right.text[:1] in "([" and gap <= 0.7 * right.size


def _two_values(left: Word, right: Word) -> bool:
    """Whether two neighbours are values of two cells: a number or gap, and another of these."""
    if not (is_numeric(right) or MISSING.fullmatch(right.text)) or right.text.startswith("("):
        return False
    thousands = re.fullmatch(r"\d{1,3}", left.text) and re.fullmatch(r"\d{3}", right.text)
    ends = is_numeric(left) or left.text.endswith((")", "%")) or MISSING.fullmatch(left.text)
    duration = re.fullmatch(r"\d+[dhm]", left.text) and re.fullmatch(r"\d+[hms]", right.text)
    return bool(ends) and not thousands and not duration and not left.text.endswith(("/", ",", "("))


def _left_aligned(sides: Sequence[tuple[Word, Word]], lonely: Sequence[Word]) -> bool:
    """Whether the right words begin at one x, as a column does, not a space after the left ones.

    `lonely` are right words of lines that have no left one: labels that are printed once.
    """
    starts = [word.x0 for word in (*(right for _, right in sides), *lonely)]
    if len(starts) < 3 or max(starts) - min(starts) > 0.8:
        return False
    if len({(left.text, right.text) for left, right in sides}) == 1 and not lonely:
        return False  # one text repeated, as `SQuAD 2.0`
    ends = [left.x1 for left, _ in sides]
    wide = min(right.x0 - left.x1 for left, right in sides) > 0.45 * sides[0][1].size
    return max(ends) - min(ends) > 2.5 or wide or len(lonely) >= len(sides)


def _spanning(lines: Sequence[TableLine]) -> set[int]:
    """The ids of texts that stand over two or more cells of most other lines."""
    found: set[int] = set()
    for line in lines:
        for piece in line.pieces:
            if len(piece.text) < 3 or any(is_numeric(word) for word in piece.words):
                continue
            counts = [
                sum(overlap(piece, other) > 0.5 for other in below.pieces)
                for below in lines
                if below is not line
            ]
            several = sum(count >= 2 for count in counts)
            if several and several >= sum(count == 1 for count in counts):
                found.add(id(piece))
    return found


def overlap(first: Piece | Column, second: Piece | Column) -> float:
    """How much of x two things share, in points; negative: how far apart they are."""
    return min(first.x1, second.x1) - max(first.x0, second.x0)


def _cut(piece: Piece, borders: Sequence[float]) -> list[Piece]:
    """A piece in parts, cut at the borders that run through its gaps."""
    parts: list[list[Word]] = [[piece.words[0]]]
    for left, right in itertools.pairwise(piece.words):
        if any(left.x1 <= border <= right.x0 for border in borders):
            parts.append([])
        parts[-1].append(right)
    return [Piece(tuple(words)) for words in parts]
