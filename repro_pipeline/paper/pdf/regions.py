"""Where tables stand: between rules of one width, or beside a caption, and which caption is whose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repro_pipeline.paper.pdf.captions import CaptionAt
from repro_pipeline.paper.pdf.drawings import Box, Rule
from repro_pipeline.paper.pdf.layout import FULL, Placed
from repro_pipeline.paper.pdf.lines import Frame, Line, lines
from repro_pipeline.paper.pdf.ruled import Boxes, inside
from repro_pipeline.paper.pdf.words import Word


@dataclass(frozen=True)
class Region:
    """The place of a table: its words and rules, and its caption if it has one."""

    frame: Frame
    box: Box
    words: tuple[Word, ...]
    rules: tuple[Rule, ...]
    """Horizontal and vertical rules in the box, pieces joined."""
    ruled: bool
    """Whether rules frame it, or only its caption and the alignment of its words say so."""
    caption: CaptionAt | None = None
    shared: bool = False
    """Whether another table has the same caption."""
    unusual: bool = False
    """Whether its caption stands on the other side than most captions of the paper."""


def regions(found: Sequence[Boxes]) -> list[list[Region]]:
    """The tables of each frame, each with its caption, top to bottom."""
    sides = [
        caption.box[1] < page.boxes[index][1]
        for page in found
        for index, caption in _paired(page, above=None).items()
    ]
    above = 2 * sum(sides) > len(sides) if sides else None
    most = max(sum(sides), len(sides) - sum(sides))
    settled = most >= max(3, 0.75 * len(sides))
    return [_regions(page, above, settled) for page in found]


def _regions(page: Boxes, above: bool | None, settled: bool) -> list[Region]:
    pairs = _paired(page, above)
    result = []
    for index, box in enumerate(page.boxes):
        caption = pairs.get(index)
        region = _region(page, box, ruled=True, caption=caption)
        if caption is not None and settled:
            region = replace(region, unusual=(caption.box[1] < box[1]) != above)
        if region.caption is not None or _is_tabular(region, page.captions):
            result.append(region)
    result = _sharing_captions(result, page.placed)
    taken = {id(caption) for caption in pairs.values()}
    for caption in page.captions:
        if caption.kind == "table" and id(caption) not in taken:
            box = _aligned_box(caption, page.placed, result, page.captions)
            box = box and _with_turned(box, page.frame)
            if box is not None:
                result.append(_region(page, box, ruled=False, caption=caption))
    return _in_reading_order(result)


def _in_reading_order(found: Sequence[Region]) -> list[Region]:
    """Top to bottom; those that stand side by side, left to right."""
    rows: list[list[Region]] = []
    for region in sorted(found, key=lambda region: region.box[1]):
        if rows and _are_level(region.box, rows[-1][0].box):
            rows[-1].append(region)
        else:
            rows.append([region])
    return [region for row in rows for region in sorted(row, key=lambda region: region.box[0])]


def _are_level(first: Box, second: Box) -> bool:
    """Whether half of the lower of two boxes is at the height of the other."""
    shared = min(first[3], second[3]) - max(first[1], second[1])
    return shared > 0.5 * min(first[3] - first[1], second[3] - second[1])


def _sharing_captions(found: Sequence[Region], placed: Sequence[Placed]) -> list[Region]:
    """Tables without a caption next to one that has one, in one float, share that caption."""
    result = []
    for region in found:
        if region.caption is None:
            near = [
                other
                for other in found
                if other.caption is not None
                and (_beside(region.box, other) or _adjacent(region.box, other, placed))
            ]
            near.sort(key=lambda other: not _beside(region.box, other))
            if near:
                result.append(replace(region, caption=near[0].caption, shared=True))
                continue
        result.append(region)
    captions = [id(region.caption) for region in result if region.shared]
    return [
        replace(region, shared=True) if id(region.caption) in captions else region
        for region in result
    ]


def _adjacent(first: Box, other: Region, placed: Sequence[Placed]) -> bool:
    """Whether a box stands above or below a table with nothing between."""
    second = other.box
    upper, lower = sorted((first, second), key=lambda box: box[1])
    if other.caption and upper[3] < other.caption.lines[0].y < lower[1]:
        return False
    gap = lower[1] - upper[3]
    between = any(
        upper[3] + 1 < part.y < lower[1] - 1 and part.x0 < lower[2] and part.x1 > lower[0]
        for item in placed
        for part in item.parts
    )
    return -2 < gap < 36 and first[0] < second[2] and second[0] < first[2] and not between


def _beside(box: Box, other: Region) -> bool:
    """Whether a box stands at the side of a table whose caption is not over that table alone."""
    caption = other.caption.box if other.caption else other.box
    apart = box[2] < other.box[0] or other.box[2] < box[0]
    left, right = min(box[0], other.box[0]), max(box[2], other.box[2])
    centred = abs(caption[0] + caption[2] - left - right) < 0.2 * (right - left)
    return apart and centred and _are_level(box, other.box)


# Captions and their tables


def _paired(page: Boxes, above: bool | None) -> dict[int, CaptionAt]:
    """Box number to caption: as many pairs as there can be, near ones first.

    `above` says whether the paper's captions stand above its tables, if that is known. What no
    caption stands over is given to captions that are left, of the same column of the page.
    """
    pairs = _pairs(page, above, {}, aside=False)
    return pairs | _pairs(page, above, pairs, aside=True)


def _pairs(
    page: Boxes, above: bool | None, taken: dict[int, CaptionAt], *, aside: bool
) -> dict[int, CaptionAt]:
    options: list[tuple[CaptionAt, list[tuple[float, int]]]] = []
    for caption in page.captions:
        costs = []
        for index, box in enumerate(page.boxes):
            distance = _distance(caption, box, page.placed, aside=aside)
            if distance is not None and index not in taken:
                unusual = above is not None and (caption.box[1] < box[1]) != above
                costs.append((distance + _UNUSUAL_SIDE * unusual, index))
        used = any(caption is other for other in taken.values())
        if caption.kind == "table" and costs and not used:
            options.append((caption, sorted(costs)[:3]))
    _, chosen = _matching([costs for _, costs in options[:_MOST_MATCHED]], frozenset())
    pairs = zip(chosen, options, strict=False)
    return {index: caption for index, (caption, _) in pairs if index is not None}


_UNUSUAL_SIDE = 6.0
"""Points by which a table on the unusual side of its caption must be nearer than another."""
_MOST_MATCHED = 9
"""Captions of one page that are matched; more are no page of a paper."""


def _matching(
    options: Sequence[Sequence[tuple[float, int]]], taken: frozenset[int]
) -> tuple[tuple[int, float], list[int | None]]:
    """The best choice of one free box for each caption: fewest without one, then least cost."""
    if not options:
        return (0, 0.0), []
    (missing, cost), rest = _matching(options[1:], taken)
    best: tuple[tuple[int, float], list[int | None]] = ((missing + 1, cost), [None, *rest])
    for own, index in options[0]:
        if index not in taken:
            (missing, cost), rest = _matching(options[1:], taken | {index})
            best = min(best, ((missing, cost + own), [index, *rest]), key=lambda choice: choice[0])
    return best


def _distance(
    caption: CaptionAt, box: Box, found: Sequence[Placed], *, aside: bool
) -> float | None:
    """Points between a caption and a box above or below it; None where they do not belong.

    `aside` allows for captions of the box's column that do not reach over the box.
    """
    left, top, right, bottom = caption.box
    beside = max(left - box[2], box[0] - right, 0)
    if beside and not (aside and beside < _FARTHEST_ASIDE and caption.side in _sides(box, found)):
        return None
    if bottom <= box[1] + 4:
        gap, upper, lower = box[1] - bottom, bottom, box[1]
    elif top >= box[3] - 4:
        gap, upper, lower = top - box[3], box[3], top
    else:
        return None
    size = caption.lines[0].size
    x0, x1 = (min(box[0], left), max(box[2], right)) if beside else (box[0], box[2])
    between = [
        part
        for item in found
        for part in item.parts
        if upper + 1 < part.y < lower - 1
        and part.x0 < x1
        and part.x1 > x0
        and not caption.holds(part)
    ]
    notes = all(part.size <= size + 0.3 for part in between) and len(between) <= 8
    return gap + beside / 10 if gap < 9 * size and (not between or notes) else None


_FARTHEST_ASIDE = 150.0
"""Points between a narrow table at the margin and a short caption in the middle of the column."""


def _sides(box: Box, found: Sequence[Placed]) -> set[int]:
    """The columns of the page whose lines a box holds."""
    return {item.side for item in found if any(inside(part, box) for part in item.parts)}


def _region(page: Boxes, box: Box, *, ruled: bool, caption: CaptionAt | None) -> Region:
    x0, top, x1, bottom = box
    own = {id(word) for line in caption.lines for word in line.words} if caption else set()
    words = tuple(
        word
        for word in page.frame.words
        if id(word) not in own
        and x0 - 4 <= (word.x0 + word.x1) / 2 <= x1 + 4
        and top - 0.5 < (word.y if word.upright else (word.top + word.bottom) / 2) < bottom + 0.5
    )
    bars = tuple(
        rule
        for rule in page.rules
        if x0 - 6 <= (rule.x0 + rule.x1) / 2 <= x1 + 6
        and rule.y0 >= top - 3
        and rule.y1 <= bottom + 3
    )
    return Region(page.frame, box, words, bars, ruled, caption)


def _is_tabular(region: Region, captions: Sequence[CaptionAt]) -> bool:
    """Whether a framed region without a caption is a table: several rows of several parts."""
    first = (
        min(region.words, key=lambda word: (round(word.y), word.x0)).text if region.words else ""
    )
    if re.match(r"Algorithm|Listing|Procedure|Input|Require", first):
        return False
    if any(caption.kind != "table" and _covers(region.box, caption.box) for caption in captions):
        return False
    if re.match(r"1:?$", first):
        return False
    rows: dict[int, list[Line]] = {}
    for line in lines(word for word in region.words if word.upright):
        rows.setdefault(round(line.y), []).append(line)
    several = sum(len(row) >= 2 for row in rows.values())
    numeric = sum(
        any(re.match(r"[-−+<>~]?[.\d]", part.text) for part in row) for row in rows.values()
    )
    return several >= 3 and several >= 0.5 * len(rows) and numeric >= 2


def _covers(box: Box, other: Box) -> bool:
    return box[0] - 5 < other[0] < box[2] and box[1] - 5 < other[1] < box[3] + 5


# Tables without rules


def _aligned_box(
    caption: CaptionAt,
    found: Sequence[Placed],
    taken: Sequence[Region],
    captions: Sequence[CaptionAt],
) -> Box | None:
    """The rows of separated parts next below a caption, else next above it."""
    free = [
        item
        for item in found
        if (item.side in (caption.side, FULL) or caption.side == FULL)
        and not any(other.holds(part) for other in captions for part in item.parts)
        and not any(inside(part, region.box) for region in taken for part in item.parts)
    ]
    below = sorted(
        (item for item in free if item.line.y > caption.box[3] - 2), key=lambda item: item.line.y
    )
    above = sorted(
        (item for item in free if item.line.y < caption.box[1]), key=lambda item: -item.line.y
    )
    sided = [item.line for item in found if caption.side in (FULL, item.side)]
    usual = max(line.x1 for line in sided) - min(line.x0 for line in sided)
    runs = [
        _run(items, start, usual)
        for items, start in ((below, caption.box[3]), (above, caption.box[1]))
    ]
    best = max(runs, key=lambda run: sum(len(item.parts) > 1 for item in run))
    if sum(len(item.parts) > 1 for item in best) < 2:
        return None
    boxes = [item.line.box for item in best]
    return (
        min(box[0] for box in boxes) - 2,
        min(box[1] for box in boxes) - 1,
        max(box[2] for box in boxes) + 2,
        max(box[3] for box in boxes) + 1,
    )


def _with_turned(box: Box, frame: Frame) -> Box:
    """The box with turned headers that stand on it."""
    x0, top, x1, bottom = box
    heads = [
        word
        for word in frame.words
        if not word.upright
        and x0 < word.x0 < x1 + 2
        and word.top < top
        and abs(word.bottom - top) < 1.6 * word.size
    ]
    return x0, min([top, *(word.top - 1 for word in heads)]), x1, bottom


def _run(items: Sequence[Placed], start: float, usual: float) -> list[Placed]:
    """Lines in even steps from `start` on, up to prose: lines of one part, as wide as the text."""
    run: list[Placed] = []
    last = start
    for item in items:
        step = abs(item.line.y - last)
        if step > (4.0 if not run else 2.6) * item.line.size or _is_prose(item, usual):
            break
        run.append(item)
        last = item.line.y
    while run and len(run[-1].parts) == 1 and not _heads_columns(run, start):
        run.pop()
    return run


def _heads_columns(run: Sequence[Placed], start: float) -> bool:
    """Whether the topmost line of a run that ends above it is a header over some columns."""
    top = run[-1].line
    if len(run) < 3 or top.y > start or len(run[-2].parts) < 2:
        return False
    next_line = run[-2].line
    near = next_line.y - top.y < 1.8 * top.size
    return near and top.x0 > next_line.x0 + 2 * top.size and top.x1 <= next_line.x1 + top.size


def _is_prose(item: Placed, usual: float) -> bool:
    return len(item.parts) == 1 and item.line.x1 - item.line.x0 > 0.9 * usual
