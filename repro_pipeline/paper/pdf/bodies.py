"""A table's body lines: rows, cells of several lines, labels that stand beside several rows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from repro_pipeline.paper.pdf.columns import Column, Piece, TableLine, home, is_numeric, overlap
from repro_pipeline.paper.pdf.draft import Draft, DraftCell
from repro_pipeline.paper.pdf.drawings import Rule

_TOUCH = 0.5


def body_rows(
    draft: Draft,
    body: Sequence[TableLine],
    found: Sequence[Column],
    full: Sequence[float],
    partial: Sequence[Rule],
    vertical: Sequence[Rule],
) -> None:
    """Add the body lines to the draft as rows, band by band between full rules."""
    cuts = sorted([*full, *(rule.y0 for rule in partial)])
    edges = itertools.pairwise([float("-inf"), *sorted(full), float("inf")])
    bands = [[line for line in body if low < line.y <= high] for low, high in edges]
    bands = [band for band in bands if band]
    boxed = _is_boxed(bands, found, vertical)
    for band in bands:
        labels = sum(overlap(line.pieces[0], found[0]) > _TOUCH for line in band)
        ruled = any(band[0].y < rule.y0 < band[-1].y for rule in partial)
        in_boxes = all(_borders(found, vertical, line.y - 2) == len(found) - 1 for line in band)
        if boxed and in_boxes and labels <= 1 and not ruled:
            draft.ys.append(band[0].y)
            for line in band:
                for part, first, last in _line_cells(draft, line, found):
                    draft.add((len(draft.ys) - 1, first), part.words, columns=last - first + 1)
            continue
        anchors, floating = _anchors(band)
        start = len(draft.ys)
        previous: TableLine | None = None
        for line in anchors:
            ruled = previous is not None and any(previous.y < cut < line.y for cut in cuts)
            if previous is not None and not ruled and _goes_on(draft, previous, line, found):
                row = len(draft.ys) - 1
            else:
                row = len(draft.ys)
                draft.ys.append(line.y)
            for part, first, last in _line_cells(draft, line, found):
                draft.add((row, first), part.words, columns=last - first + 1)
            previous = line
        rows = range(start, len(draft.ys))
        for line in floating:
            _between_rows(draft, line, found, rows)
        for group in _groups(draft, rows):
            _centre_labels(draft, group, found, partial)


def _is_boxed(
    bands: Sequence[Sequence[TableLine]], found: Sequence[Column], vertical: Sequence[Rule]
) -> bool:
    """Whether every cell stands in a box of rules, so that a band is a row of any height.

    Where most bands hold one line, one that holds several holds cells of several lines.
    """
    single = sum(len(band) == 1 for band in bands)
    return len(bands) >= 5 and single >= 0.6 * len(bands) and _borders(found, vertical) > 0


def _borders(found: Sequence[Column], vertical: Sequence[Rule], y: float | None = None) -> int:
    """How many pairs of neighbouring columns have a rule between them, at a height if given."""
    return sum(
        any(
            left.x1 - 1 < rule.x0 < right.x0 + 1 and (y is None or rule.y0 < y < rule.y1)
            for rule in vertical
        )
        for left, right in itertools.pairwise(found)
    )


def _anchors(band: Sequence[TableLine]) -> tuple[list[TableLine], list[TableLine]]:
    """Lines far enough apart to be rows, the fullest first; and those that stand between rows."""
    upright = [line for line in band if any(word.upright for p in line.pieces for word in p.words)]
    kept: list[TableLine] = []
    for line in sorted(upright, key=lambda line: (-len(line.pieces), line.y)):
        if all(abs(line.y - other.y) >= 0.75 * min(line.size, other.size) for other in kept):
            kept.append(line)
    kept.sort(key=lambda line: line.y)
    return kept, [line for line in band if line not in kept]


def _line_cells(
    draft: Draft, line: TableLine, found: Sequence[Column]
) -> list[tuple[Piece, int, int]]:
    """The line's cells with their first and last columns."""
    return [
        cell
        for piece in line.pieces
        for cell in _cells(draft, piece, found, alone=len(line.pieces) == 1)
    ]


def _cells(
    draft: Draft, piece: Piece, found: Sequence[Column], *, alone: bool
) -> list[tuple[Piece, int, int]]:
    covered = [index for index, column in enumerate(found) if overlap(piece, column) > _TOUCH]
    if len(covered) == 1:
        return [(piece, covered[0], covered[0])]
    if not covered:
        nearest = min(range(len(found)), key=lambda index: abs(found[index].middle - piece.middle))
        draft.doubt(f"'{piece.text}' stands in no column; it was given to the nearest.")
        return [(piece, nearest, nearest)]
    numbers = [word for word in piece.words if is_numeric(word)]
    if not numbers or alone:
        return [(piece, covered[0], covered[-1])]
    homes = [home(word, found) for word in piece.words]
    groups = [
        (at, tuple(word for word, _ in pairs))
        for at, pairs in itertools.groupby(
            zip(piece.words, homes, strict=True), key=lambda pair: pair[1]
        )
    ]
    clean = all(
        overlap(Piece(words), column) <= _TOUCH
        for at, words in groups
        for index, column in enumerate(found)
        if index != at
    )
    if len(groups) < 2:
        draft.doubt(f"'{piece.text}' reaches over two columns.")
        return [(piece, covered[0], covered[-1])]
    if not clean:
        draft.doubt(f"'{piece.text}' was parted into the columns that it reaches over.")
    return [(Piece(words), at, at) for at, words in groups]


def _goes_on(draft: Draft, above: TableLine, line: TableLine, found: Sequence[Column]) -> bool:
    """Whether a line only goes on with cells of the row above: wrapped text, no numbers."""
    if line.y - above.y > 1.45 * line.size or any(piece.numeric for piece in line.pieces):
        return False
    row = len(draft.ys) - 1
    places = [
        [index for index, column in enumerate(found) if overlap(piece, column) > _TOUCH]
        for piece in line.pieces
    ]
    if any(len(place) != 1 for place in places):
        return False
    homes = [place[0] for place in places]
    above_cells = [draft.cells.get((row, at)) for at in homes]
    if any(cell is None or is_numeric(cell.words[0]) for cell in above_cells):
        return False  # numbers do not wrap
    if 0 not in homes:
        return True
    wrapped = all(
        re.match(r"[a-z(&]", piece.text) or _ends_open(draft.cells[row, at])
        for piece, at in zip(line.pieces, homes, strict=True)
    )
    return wrapped and len(homes) < len(found)


def _ends_open(cell: DraftCell) -> bool:
    return re.search(r"[-–,&/+(]$|\b(?:and|of|with|for|the|w/)$", cell.text()) is not None


def _between_rows(draft: Draft, line: TableLine, found: Sequence[Column], band: range) -> None:
    """A line between rows: a label of both where both lack it, else a further line of a cell."""
    near = _near_rows(draft, line, band)
    for part, first, last in _line_cells(draft, line, found):
        free = [row for row in near if (row, first) not in draft.cells]
        if len(near) == 2 and len(free) == 2:
            draft.add((near[0], first), part.words, columns=last - first + 1).rows = 2
        elif near:
            row = min(
                near,
                key=lambda row: ((row, first) not in draft.cells, abs(draft.ys[row] - line.y)),
            )
            if any(is_numeric(word) for word in part.words):
                draft.doubt(f"'{part.text}' stands between two rows.")
            draft.add((row, first), part.words, columns=last - first + 1)


def _near_rows(draft: Draft, line: TableLine, band: range) -> list[int]:
    """The two rows that a line stands between, or the one whose cell it is a part of."""
    above = max((row for row in band if draft.ys[row] <= line.y), default=None)
    below = min((row for row in band if draft.ys[row] > line.y), default=None)
    if above is not None and below is not None:
        share = (line.y - draft.ys[above]) / (draft.ys[below] - draft.ys[above])
        if 0.4 < share < 0.6:
            return [above, below]
        return [above] if share <= 0.4 else [below]
    return [row for row in (above, below) if row is not None]


def _groups(draft: Draft, rows: range) -> list[range]:
    """The runs of rows between rows that hold one cell alone."""
    counts = [sum((row, column) in draft.cells for column in range(draft.width)) for row in rows]
    breaks = [row for row, count in zip(rows, counts, strict=True) if count == 1]
    if len(breaks) == len(rows):
        return [rows]
    edges = [rows.start - 1, *breaks, rows.stop]
    return [range(low + 1, high) for low, high in itertools.pairwise(edges) if high - low > 1]


def _centre_labels(
    draft: Draft, band: range, found: Sequence[Column], partial: Sequence[Rule]
) -> None:
    """Labels of the first columns that stand at the middle of their rows are spread over these.

    Partial rules that reach over a column part its labels. Where the first row has a label, labels
    stand at the top of their rows and stay there.
    """
    for column in range(min(2, draft.width - 1)):
        cuts = [rule.y0 for rule in partial if rule.x0 - 2 < found[column].middle < rule.x1 + 2]
        for group in _between_cuts(draft, band, cuts):
            labels = [
                (row, draft.cells[row, column])
                for row in group
                if (row, column) in draft.cells and draft.cells[row, column].columns == 1
            ]
            if not labels or (labels[0][0] == group.start and labels[0][1].rows == 1):
                continue
            spans = _middle_spans(draft, labels, group)
            if spans is None:
                draft.doubt("Which rows a label at their side belongs to is unsure.")
                continue
            for row, _ in labels:
                del draft.cells[row, column]
            for first, last, cell in spans:
                cell.rows = last - first + 1
                draft.cells[first, column] = cell


def _between_cuts(draft: Draft, band: range, cuts: Sequence[float]) -> list[range]:
    """The runs of rows between rules."""
    starts = [
        row
        for row in band
        if row == band.start or any(draft.ys[row - 1] < cut < draft.ys[row] for cut in cuts)
    ]
    return [range(low, high) for low, high in itertools.pairwise([*starts, band.stop])]


def _middle_spans(
    draft: Draft, labels: Sequence[tuple[int, DraftCell]], band: range
) -> list[tuple[int, int, DraftCell]] | None:
    """First and last row of each label, so that it stands in the middle; None where none fits."""
    ys = draft.ys
    step = (ys[band[-1]] - ys[band[0]]) / max(1, len(band) - 1)
    start = band.start
    spans: list[tuple[int, int, DraftCell]] = []
    for place, (row, cell) in enumerate(labels):
        if start >= band.stop:
            return None
        heights = [line[0].level for line in cell.lines]
        middle = (min(heights) + max(heights)) / 2
        following = labels[place + 1][0] if place + 1 < len(labels) else band.stop
        ends = range(max(start, row), following)
        if not ends:
            return None
        end = min(ends, key=lambda end: abs((ys[start] + ys[end]) / 2 - middle))
        if abs((ys[start] + ys[end]) / 2 - middle) > 0.3 * step:
            return None
        spans.append((start, end, cell))
        start = end + 1
    return spans if start == band.stop else None
