"""A table's header lines: which are rows of their own, and which columns each header spans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from repro_pipeline.paper.pdf.columns import Column, Piece, TableLine, overlap
from repro_pipeline.paper.pdf.draft import Draft
from repro_pipeline.paper.pdf.drawings import Rule
from repro_pipeline.paper.pdf.words import Word

Span = tuple[int, int]
"""First and last column."""

_TOUCH = 0.5
"""Points that two things must share to stand over each other."""
_ALIGNED = 1.5
"""Points by which a header may miss the alignment of its column."""
_MOST_WORDS = 14
"""A longer text over columns is no row of headers."""
_CENTRED = 2.0
"""Points by which a centred header may miss the middle of its columns."""


def head_rows(
    draft: Draft,
    head: Sequence[TableLine],
    found: Sequence[Column],
    partial: Sequence[Rule],
    vertical: Sequence[Rule],
) -> None:
    """Add the header lines to the draft as rows; lines that only go on are one row."""
    groups: list[list[TableLine]] = []
    for line in head:
        if groups and _goes_on(groups[-1], line, found, partial):
            groups[-1].append(line)
        else:
            groups.append([line])
    for number, group in enumerate(groups):
        row = len(draft.ys)
        draft.ys.append(group[-1].y)
        leaf = number == len(groups) - 1
        parts = [piece for line in group for piece in line.pieces]
        if not leaf:
            parts = [part for piece in parts for part in _cut_at_rules(piece, partial)]
        below = groups[number + 1][0].y if not leaf else None
        fixed = [
            _boxed_span(part, parts, found, vertical)
            or (_own_column(part, found) if leaf else None)
            or _ruled_span(part, parts, group, found, partial, below)
            for part in parts
        ]
        spans = _spans(draft, parts, found, fixed, leaf=leaf)
        for part, (start, end) in zip(parts, spans, strict=True):
            draft.add((row, start), part.words, columns=end - start + 1)


def with_headers(found: Sequence[Column], head: Sequence[TableLine]) -> list[Column]:
    """Columns as wide as the headers of the last header line, and those that only it fills."""
    if not head or not found:
        return list(found)
    wide = []
    own = head[-1].pieces
    for column in found:
        over = [piece for piece in own if overlap(piece, column) > _TOUCH]
        single = [
            piece for piece in over if sum(overlap(piece, other) > _TOUCH for other in found) == 1
        ]
        wide.append(
            Column(
                min([column.x0, *(piece.x0 for piece in single)]),
                max([column.x1, *(piece.x1 for piece in single)]),
            )
        )
    extra = [
        Column(piece.x0, piece.x1)
        for piece in own
        if all(overlap(piece, column) < -2 for column in found)
        and not _over_a_gap(piece, own, found)
    ]
    return sorted([*wide, *extra], key=lambda column: column.x0)


def _over_a_gap(piece: Piece, own: Sequence[Piece], found: Sequence[Column]) -> bool:
    """Whether a header between two columns without headers is one that spans both."""
    left = [column for column in found if column.x1 < piece.x0]
    right = [column for column in found if column.x0 > piece.x1]
    if not left or not right:
        return False
    sides = (left[-1], right[0])
    return not all(any(overlap(other, column) > 0 for other in own) for column in sides)


def _goes_on(
    group: Sequence[TableLine],
    line: TableLine,
    found: Sequence[Column],
    partial: Sequence[Rule],
) -> bool:
    """Whether a header line only goes on with cells of the line above it."""
    last = group[-1]
    step = line.y - last.y
    if any(last.y < rule.y0 < line.y for rule in partial):
        return False
    if step < 0.75 * line.size:
        return True
    if step > 1.6 * line.size or _tiles(last, line, found):
        return False
    return not any(_reaches_over(piece, line, found) for piece in last.pieces)


def _tiles(last: TableLine, below: TableLine, found: Sequence[Column]) -> bool:
    """Whether headers are centred on runs of columns that together are all but the first ones."""
    if len(last.pieces) >= len(below.pieces):
        return False
    choices = [_candidates(piece, found, False, False) for piece in last.pieces]
    return _is_tiling(_best(choices), len(found))


def _reaches_over(piece: Piece, below: TableLine, found: Sequence[Column]) -> bool:
    """Whether a header stands over several columns, or over the gap between two."""
    covered = [column for column in found if overlap(piece, column) > _TOUCH]
    under = [other for other in below.pieces if overlap(piece, other) > -1]
    if len(covered) != 1 or len(under) >= 2:
        return True
    aligned = any(
        abs(piece.middle - other.middle) < _CENTRED
        or abs(piece.x0 - other.x0) < 1.5
        or abs(piece.x1 - other.x1) < 1.5
        for other in under
    )
    return bool(under) and not aligned


def with_parted_leaf(head: Sequence[TableLine], found: Sequence[Column]) -> list[TableLine]:
    """The header lines, with texts of the last cut where they stand over columns of their own."""
    if not head:
        return []
    last = head[-1]
    parts = tuple(part for piece in last.pieces for part in _parted(piece, found))
    return [*head[:-1], TableLine(last.y, last.size, parts)]


def _parted(piece: Piece, found: Sequence[Column]) -> list[Piece]:
    """A text over several columns cut so that each part is set as its column's cells are."""
    covered = [index for index, column in enumerate(found) if overlap(piece, column) > _TOUCH]
    if not 2 <= len(covered) <= len(piece.words) <= _MOST_WORDS:
        return [piece]
    best: tuple[float, list[Piece]] | None = None
    for cuts in itertools.combinations(range(1, len(piece.words)), len(covered) - 1):
        edges = [0, *cuts, len(piece.words)]
        parts = [Piece(piece.words[low:high]) for low, high in itertools.pairwise(edges)]
        misfits = [_misfit(part, found[at]) for part, at in zip(parts, covered, strict=True)]
        if max(misfits) < _ALIGNED and (best is None or sum(misfits) < best[0]):
            best = (sum(misfits), parts)
    return best[1] if best else [piece]


def _misfit(part: Piece, column: Column) -> float:
    """How far, in points, a text is from being set left, right or centred in a column."""
    return min(abs(part.x0 - column.x0), abs(part.x1 - column.x1), abs(part.middle - column.middle))


def _cut_at_rules(piece: Piece, partial: Sequence[Rule]) -> list[Piece]:
    """A piece cut between its words where one partial rule below ends and the next begins."""
    near = sorted(
        (
            rule
            for rule in partial
            if 0 < rule.y0 - piece.words[0].y < 1.2 * piece.words[0].size
            and rule.x0 < piece.x1
            and rule.x1 > piece.x0
        ),
        key=lambda rule: rule.x0,
    )
    parts: list[list[Word]] = [[piece.words[0]]]
    for left, right in itertools.pairwise(piece.words):
        if any(
            (left.x0 + left.x1) / 2 < before.x1 + 1 and (right.x0 + right.x1) / 2 > after.x0 - 1
            for before, after in itertools.pairwise(near)
        ) and not any(rule.x0 < left.x1 and right.x0 < rule.x1 for rule in near):
            parts.append([])
        parts[-1].append(right)
    return [Piece(tuple(words)) for words in parts]


# Spans


def _spans(
    draft: Draft,
    parts: Sequence[Piece],
    found: Sequence[Column],
    fixed: Sequence[Span | None],
    *,
    leaf: bool,
) -> list[Span]:
    """The columns that each header of a row stands over.

    Rules beside or below a header say it (`fixed`). Else a header in the last row, or aligned with
    one column, stands over what it touches; another over columns that it is centred on, such that
    together the headers leave the fewest columns without one.
    """
    order = sorted(range(len(parts)), key=lambda index: parts[index].middle)
    choices = [
        [span]
        if (span := fixed[index])
        else _candidates(parts[index], found, leaf=leaf, alone=len(parts) == 1)
        for index in order
    ]
    chosen = _best(choices)
    spans: list[Span] = [(0, 0)] * len(parts)
    for index, span, options in zip(order, chosen, choices, strict=True):
        spans[index] = span
        wide = span[1] > span[0]
        over_one = any(abs(column.middle - parts[index].middle) < _CENTRED for column in found)
        by_place = fixed[index] is None and (len(options) > 1 or wide)
        if by_place and not (wide and not over_one and _is_tiling(chosen, len(found))):
            draft.doubt("Which columns a header spans was judged by its place alone.")
    return spans


def _is_tiling(spans: Sequence[Span], width: int) -> bool:
    """Whether headers of two and more columns together stand over all columns but the first."""
    ordered = sorted(set(spans))
    follow = all(before[1] + 1 == after[0] for before, after in itertools.pairwise(ordered))
    wide = all(end > start for start, end in ordered)
    return (
        bool(ordered)
        and wide
        and follow
        and 1 <= ordered[0][0] <= 3
        and ordered[-1][1] == width - 1
    )


def _boxed_span(
    part: Piece, parts: Sequence[Piece], found: Sequence[Column], vertical: Sequence[Rule]
) -> Span | None:
    """The columns between the vertical rules on both sides of a header that is alone there."""
    y = part.words[0].y
    beside = [rule.x0 for rule in vertical if rule.y0 < y < rule.y1]
    left = [x for x in beside if x < part.middle]
    right = [x for x in beside if x > part.middle]
    if not left and not right:
        return None
    low, high = max(left, default=float("-inf")), min(right, default=float("inf"))
    alone = sum(low < other.middle < high for other in parts if not _stacked(other, part)) == 1
    under = [index for index, column in enumerate(found) if low < column.middle < high]
    return (under[0], under[-1]) if under and alone else None


def _own_column(part: Piece, found: Sequence[Column]) -> Span | None:
    """The one column that a header touches."""
    covered = [index for index, column in enumerate(found) if overlap(part, column) > _TOUCH]
    return (covered[0], covered[0]) if len(covered) == 1 else None


def _stacked(other: Piece, part: Piece) -> bool:
    """Whether another piece is a further line of the same header."""
    apart = abs(other.words[0].y - part.words[0].y) > 0.4 * part.words[0].size
    return other is not part and apart and overlap(other, part) > 0


def _ruled_span(
    part: Piece,
    parts: Sequence[Piece],
    group: Sequence[TableLine],
    found: Sequence[Column],
    partial: Sequence[Rule],
    below: float | None,
) -> Span | None:
    """The columns over a partial rule that lies between the header and the next row."""
    last = group[-1]
    limit = below if below is not None else last.y + 0.9 * last.size
    y = part.words[0].y
    ruled = [
        rule for rule in partial if y < rule.y0 < limit and rule.x0 - 3 < part.middle < rule.x1 + 3
    ]
    if not ruled:
        return None
    rule = min(ruled, key=lambda rule: rule.y0)
    over = [
        other for other in parts if rule.x0 < other.middle < rule.x1 and not _stacked(other, part)
    ]
    if len(over) > 1:
        return None  # pieces of one rule that touch, each below its own header
    under = [
        index for index, column in enumerate(found) if rule.x0 - 3 <= column.middle <= rule.x1 + 3
    ]
    return (under[0], under[-1]) if under else None


def _candidates(part: Piece, found: Sequence[Column], leaf: bool, alone: bool) -> list[Span]:
    """The runs of columns that a header may stand over."""
    covered = [index for index, column in enumerate(found) if overlap(part, column) > _TOUCH]
    touched = (covered[0], covered[-1]) if covered else None
    if leaf and touched:
        return [touched]
    first = 0 if alone or covered[:1] == [0] else 1
    centred = [
        (start, end)
        for start in range(first, len(found))
        for end in range(start, len(found))
        if abs((found[start].x0 + found[end].x1) / 2 - part.middle) < _CENTRED
        and (touched is None or (start <= touched[0] and end >= touched[1]))
    ]
    if centred:
        return centred
    nearest = min(range(len(found)), key=lambda index: abs(found[index].middle - part.middle))
    return [touched or (nearest, nearest)]


def _best(choices: Sequence[Sequence[Span]]) -> list[Span]:
    """One span for each header, left to right without overlap, that together cover most columns.

    Where no choice avoids overlap, each header's narrowest span.
    """
    # Best cover by last used column: (columns covered, spans), extended header by header.
    states: dict[int, tuple[int, list[Span]]] = {-1: (0, [])}
    for options in choices:
        extended: dict[int, tuple[int, list[Span]]] = {}
        for last, (count, spans) in states.items():
            for start, end in options:
                if start <= last and spans and (start, end) != spans[-1]:
                    continue
                covered = count + (end - start + 1) * ((start, end) not in spans)
                if end not in extended or covered > extended[end][0]:
                    extended[end] = (covered, [*spans, (start, end)])
        if not extended:
            return [min(options, key=lambda span: span[1] - span[0]) for options in choices]
        states = extended
    return max(states.values(), key=lambda state: state[0])[1]
