"""From a table's place on the page to its grid: lines to rows, white space to columns, spans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from repro_pipeline.paper.pdf.bodies import body_rows
from repro_pipeline.paper.pdf.columns import (
    MISSING,
    Piece,
    TableLine,
    body_columns,
    is_numeric,
    overlap,
    pieces,
)
from repro_pipeline.paper.pdf.draft import Draft, raw_rows, underlines
from repro_pipeline.paper.pdf.drawings import Rule
from repro_pipeline.paper.pdf.headers import head_rows, with_headers, with_parted_leaf
from repro_pipeline.paper.pdf.lines import rows
from repro_pipeline.paper.pdf.regions import Region
from repro_pipeline.paper.pdf.words import Word
from repro_pipeline.paper.tables import RawCell


@dataclass(frozen=True)
class Grid:
    """A table as rows of raw cells, the rows above full rules, and what is unsure about it."""

    rows: list[list[RawCell]]
    rules: tuple[int, ...]
    doubts: tuple[str, ...]


def read_grid(region: Region, file: str, known: frozenset[str]) -> Grid | None:
    """The grid of a region; None where it has not two rows and two columns.

    `known` are the paper's words, by which hyphens at line ends are judged.
    """
    underlined, horizontal, vertical = _sorted_rules(region)
    full = [rule.y0 for rule in horizontal if _is_full(rule, region)]
    partial = [rule for rule in horizontal if not _is_full(rule, region)]
    lines = _table_lines(region, vertical)
    if len(lines) < 2:
        return None
    head_end = _head_end(full, partial, lines)
    own, body = body_columns([line for line in lines if line.y > head_end])
    head = [line for line in lines if line.y <= head_end]
    head = with_parted_leaf(head, own)
    found = with_headers(own, head)
    if len(found) < 2:
        return None
    draft = Draft(len(found))
    head_rows(draft, head, found, partial, vertical)
    body_rows(draft, body, found, full, partial, vertical)
    if len(draft.ys) < 2:
        return None
    cells = raw_rows(draft, underlined, region.frame, file, known)
    rules = {sum(y < rule for y in draft.ys) for rule in full} - {0, len(draft.ys)}
    return Grid(cells, tuple(sorted(rules)), tuple(draft.doubts))


def _sorted_rules(region: Region) -> tuple[list[Rule], list[Rule], list[Rule]]:
    """Rules that underline words, other horizontal rules, vertical rules."""
    underlined, horizontal, vertical = [], [], []
    for rule in region.rules:
        if not rule.horizontal:
            vertical.append(rule)
        elif _is_underline(rule, region.words):
            underlined.append(rule)
        else:
            horizontal.append(rule)
    return underlined, sorted(horizontal, key=lambda rule: rule.y0), vertical


def _is_underline(rule: Rule, words: Sequence[Word]) -> bool:
    """Whether a rule is as wide as one text close above it, and no wider."""
    near = sorted((word for word in words if underlines(rule, word)), key=lambda word: word.x0)
    if not near or any(
        right.x0 - left.x1 > 0.6 * right.size for left, right in itertools.pairwise(near)
    ):
        return False
    return abs(near[0].x0 - rule.x0) < 1.5 and abs(near[-1].x1 - rule.x1) < 1.5


def _is_full(rule: Rule, region: Region) -> bool:
    return rule.x1 - rule.x0 > 0.94 * (region.box[2] - region.box[0])


def _table_lines(region: Region, vertical: Sequence[Rule]) -> list[TableLine]:
    upright = [word for word in region.words if word.upright]
    found = [
        TableLine(row[0].y, max(word.size for word in row), pieces(row, vertical))
        for row in rows(upright, tolerance=0.2)
    ]
    turned = [word for word in region.words if not word.upright]
    beside = [word for word in turned if _stands_beside(word, upright)]
    heads = tuple(Piece((word,)) for word in turned if not any(word is other for other in beside))
    if heads:
        found = _with_turned(found, heads, region)
    found += [TableLine(word.level, word.size, (Piece((word,)),)) for word in beside]
    return sorted(found, key=lambda line: line.y)


def _stands_beside(label: Word, upright: Sequence[Word]) -> bool:
    """Whether a turned word names the rows at its side, rather than the column below it."""
    own = Piece((label,))
    rows_at_side = any(
        label.top + 1 < word.y < label.bottom and is_numeric(word) for word in upright
    )
    below = any(word.y > label.bottom - 1 and overlap(Piece((word,)), own) > 0 for word in upright)
    return rows_at_side or not below


def _with_turned(
    found: list[TableLine], labels: tuple[Piece, ...], region: Region
) -> list[TableLine]:
    """Turned headers as parts of the last line that they stand beside, or a line of their own."""
    bottom = max(label.words[0].bottom for label in labels)
    size = max(label.words[0].size for label in labels)
    rules = [rule.y0 for rule in region.rules if rule.horizontal and _is_full(rule, region)]
    parted = min((y for y in rules if y > bottom - 2), default=float("inf"))
    near = [line.y for line in found if abs(line.y - bottom) < 0.9 * size and line.y < parted]
    if not near:
        return [*found, TableLine(bottom, size, labels)]
    return [
        TableLine(
            line.y,
            line.size,
            tuple(sorted((*line.pieces, *labels), key=lambda piece: piece.x0))
            if line.y == max(near)
            else line.pieces,
        )
        for line in found
    ]


def _head_end(full: Sequence[float], partial: Sequence[Rule], lines: Sequence[TableLine]) -> float:
    """The height where the header ends: at a rule, else above the first numbers."""
    inside = [y for y in full if lines[0].y < y < lines[-1].y]
    if not inside or sum(line.y < inside[0] for line in lines) > 6:
        return _above_numbers(lines)
    end = inside[0]
    for following in inside[1:]:
        between = [line for line in lines if end < line.y < following]
        above = [line for line in lines if line.y < end]
        names = len(between) == 1 and _subdivides(between[0], above[-1], lines)
        if not names and (not 1 <= len(between) <= 2 or any(_is_data(line) for line in between)):
            break
        end = following
    head = [line for line in lines if line.y < end]
    if len(head) > 1 and len(head[-1].pieces) == 1 < len(head[-2].pieces):
        ruled = [rule.y0 for rule in partial if head[-2].y < rule.y0 < head[-1].y]
        end = min(ruled, default=end)
    return end


def _subdivides(line: TableLine, above: TableLine, lines: Sequence[TableLine]) -> bool:
    """Whether a line between rules, numbers or not, names the columns below fewer headers.

    It does not reach into the column of labels with which the lines below it begin.
    """
    labels = [other.pieces[0] for other in lines if other.y > line.y + 1]
    free = all(overlap(line.pieces[0], label) < -1 for label in labels)
    return len(line.pieces) > len(above.pieces) and free


def _is_data(line: TableLine) -> bool:
    """Whether a line cannot belong to a header: it holds values, or names a section."""
    return len(line.pieces) < 2 or any(
        piece.numeric or MISSING.fullmatch(piece.text) for piece in line.pieces[1:]
    )


def _above_numbers(lines: Sequence[TableLine]) -> float:
    """Just above the first line with a number beside its first piece, and above its section."""
    first = next(
        (
            index
            for index, line in enumerate(lines)
            if any(piece.numeric for piece in line.pieces[1:])
        ),
        1,
    )
    if first >= 2 and len(lines[first - 1].pieces) == 1 < len(lines[first - 2].pieces):
        first -= 1
    if not first:
        return lines[0].y - lines[0].size
    return (lines[first - 1].y + lines[first].y) / 2
