"""Where tables stand: between rules of one width, or beside a caption, and which caption is whose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repro_pipeline.paper.pdf.captions import CaptionAt
from repro_pipeline.paper.pdf.drawings import Box, Rule
from repro_pipeline.paper.pdf.layout import FULL, Placed
from repro_pipeline.paper.pdf.lines import Frame, Line, Word, lines

SHORTEST_TABLE_RULE = 36.0
"""Points; a shorter pair of rules frames no table."""


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


@dataclass(frozen=True)
class Boxes:
    """The ruled boxes of a frame, before captions are given to them."""

    frame: Frame
    placed: Sequence[Placed]
    captions: Sequence[CaptionAt]
    rules: Sequence[Rule]
    boxes: Sequence[Box]


def ruled_boxes(frame: Frame, placed: Sequence[Placed], captions: Sequence[CaptionAt]) -> Boxes:
    """What rules of one width frame, top to bottom."""
    horizontal = join_rules([rule for rule in frame.rules if rule.horizontal])
    vertical = join_rules([rule for rule in frame.rules if not rule.horizontal])
    fragments = [part for item in placed for part in item.parts]
    boxes = _ruled_boxes(frame, horizontal, vertical, fragments, captions)
    boxes = [_extended(_with_bars(box, vertical), fragments, captions) for box in boxes]
    return Boxes(frame, placed, captions, horizontal + vertical, boxes)


def regions(found: Sequence[Boxes]) -> list[list[Region]]:
    """The tables of each frame, each with its caption, top to bottom."""
    sides = [
        caption.box[1] < page.boxes[index][1]
        for page in found
        for index, caption in _paired(page, above=None).items()
    ]
    above = 2 * sum(sides) > len(sides) if sides else None
    return [_regions(page, above) for page in found]


def _regions(page: Boxes, above: bool | None) -> list[Region]:
    pairs = _paired(page, above)
    result = []
    for index, box in enumerate(page.boxes):
        region = _region(page, box, ruled=True, caption=pairs.get(index))
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
    return sorted(result, key=lambda region: (region.box[1], region.box[0]))


def _sharing_captions(found: Sequence[Region], placed: Sequence[Placed]) -> list[Region]:
    """Tables without a caption next to one that has one, in one float, share that caption."""
    result = []
    for region in found:
        if region.caption is None:
            near = [
                other
                for other in found
                if other.caption is not None and _adjacent(region.box, other.box, placed)
            ]
            if near:
                result.append(replace(region, caption=near[0].caption, shared=True))
                continue
        result.append(region)
    captions = [id(region.caption) for region in result if region.shared]
    return [
        replace(region, shared=True) if id(region.caption) in captions else region
        for region in result
    ]


def _adjacent(first: Box, second: Box, placed: Sequence[Placed]) -> bool:
    """Whether two boxes stand one above the other with nothing between."""
    upper, lower = sorted((first, second), key=lambda box: box[1])
    gap = lower[1] - upper[3]
    between = any(
        upper[3] + 1 < part.y < lower[1] - 1 and part.x0 < lower[2] and part.x1 > lower[0]
        for item in placed
        for part in item.parts
    )
    return -2 < gap < 36 and first[0] < second[2] and second[0] < first[2] and not between


def join_rules(rules: Sequence[Rule], gap: float = 1.6) -> list[Rule]:
    """Pieces of one line as one rule, doubles as one."""
    across = all(rule.horizontal for rule in rules)
    spans = [
        (rule.y0, rule.x0, rule.x1) if across else (rule.x0, rule.y0, rule.y1) for rule in rules
    ]
    levels: list[list[tuple[float, float, float]]] = []
    for span in sorted(spans):
        if levels and span[0] - levels[-1][0][0] <= 1.2:
            levels[-1].append(span)
        else:
            levels.append([span])
    joined: list[tuple[float, float, float]] = []
    for level in levels:
        current: tuple[float, float, float] | None = None
        for at, start, end in sorted(level, key=lambda span: span[1]):
            if current and start <= current[2] + gap:
                current = (current[0], current[1], max(current[2], end))
                joined[-1] = current
            else:
                current = (at, start, end)
                joined.append(current)
    return [
        Rule(start, at, end, at) if across else Rule(at, start, at, end)
        for at, start, end in joined
    ]


# Ruled tables


def _ruled_boxes(
    frame: Frame,
    horizontal: Sequence[Rule],
    vertical: Sequence[Rule],
    fragments: Sequence[Line],
    captions: Sequence[CaptionAt],
) -> list[Box]:
    """Boxes between the first and last of rules of one width with text between them."""
    wide = sorted(
        (rule for rule in horizontal if rule.x1 - rule.x0 >= SHORTEST_TABLE_RULE),
        key=lambda rule: rule.y0,
    )
    groups: list[list[Rule]] = []
    for rule in wide:
        group = next(
            (
                group
                for group in reversed(groups)
                if _same_width(group[0], rule)
                and not _parted(frame, group[-1], rule, vertical, fragments, captions)
            ),
            None,
        )
        if group is None:
            groups.append([rule])
        else:
            group.append(rule)
    boxes = []
    for group in groups:
        box = (group[0].x0, group[0].y0, group[0].x1, group[-1].y0)
        inside = [line for line in fragments if _inside(line, box)]
        if len(group) >= 2 and inside:
            boxes.append(box)
    return [box for box in boxes if not any(_within(box, other) for other in boxes)]


def _same_width(first: Rule, second: Rule) -> bool:
    return abs(first.x0 - second.x0) <= 4 and abs(first.x1 - second.x1) <= 4


def _within(box: Box, other: Box) -> bool:
    return (
        box != other
        and box[0] >= other[0] - 4
        and box[2] <= other[2] + 4
        and box[1] >= other[1] - 1
        and box[3] <= other[3] + 1
    )


def _inside(line: Line, box: Box) -> bool:
    middle = (line.x0 + line.x1) / 2
    return box[0] - 3 <= middle <= box[2] + 3 and box[1] < line.y < box[3]


def _parted(
    frame: Frame,
    upper: Rule,
    lower: Rule,
    vertical: Sequence[Rule],
    fragments: Sequence[Line],
    captions: Sequence[CaptionAt],
) -> bool:
    """Whether something stands between two rules that no table holds."""
    if any(
        rule.y0 <= upper.y0 + 2
        and rule.y1 >= lower.y0 - 2
        and upper.x0 - 2 <= rule.x0 <= upper.x1 + 2
        for rule in vertical
    ):
        return False
    between = [
        line
        for line in fragments
        if upper.y0 < line.y < lower.y0 and line.x0 < upper.x1 and line.x1 > upper.x0
    ]
    if any(
        upper.y0 < caption.lines[0].y < lower.y0
        and caption.lines[0].x0 < upper.x1
        and caption.lines[0].x1 > upper.x0
        for caption in captions
    ):
        return True
    if any(line.x0 < upper.x0 - 8 or line.x1 > upper.x1 + 8 for line in between):
        return True
    width = upper.x1 - upper.x0
    run = longest = 0
    for line in sorted(between, key=lambda line: line.y):
        run = run + 1 if line.x1 - line.x0 > 0.93 * width and _is_words(line) else 0
        longest = max(longest, run)
    if longest >= 5:
        return True
    turned = any(
        not word.upright and upper.y0 < word.y < lower.y0 and upper.x0 < word.x0 < upper.x1
        for word in frame.words
    )
    tall = max([10.0, *(line.size for line in between)])
    return lower.y0 - upper.y0 > 6 * tall and len(between) <= 1 and not turned


def _is_words(line: Line) -> bool:
    """Whether a line is text rather than a row of numbers."""
    numbers = sum(re.match(r"[-−+(<>~]?[.\d]", word.text) is not None for word in line.words)
    return 5 * numbers < len(line.words)


def _extended(box: Box, fragments: Sequence[Line], captions: Sequence[CaptionAt]) -> Box:
    """The box with rows beyond its outer rules, where these are aligned parts with gaps between."""
    rows: dict[int, list[Line]] = {}
    for line in fragments:
        named = any(caption.holds(line) for caption in captions)
        if not named and line.x0 >= box[0] - 4 and line.x1 <= box[2] + 4:
            rows.setdefault(round(line.y), []).append(line)
    inside = [row for y, row in rows.items() if box[1] < y < box[3]]
    if not inside:
        return box
    columns = max(len(row) for row in inside)
    # Where rules hold the header only, the rows are below them.
    enough = max(2 if len(inside) <= 2 else 3, 0.7 * columns)
    x0, top, x1, bottom = box
    for y in sorted(rows):
        row = rows[y]
        if y > bottom and y - bottom < 1.9 * row[0].size and len(row) >= enough:
            bottom = y + 0.3 * row[0].size
    for y in sorted(rows, reverse=True):
        row = rows[y]
        near = y < top and top - y < 1.2 * row[0].size
        if near and (len(row) >= enough or _is_title(row, box)):
            top = y - row[0].size
    return x0, top, x1, bottom


def _with_bars(box: Box, vertical: Sequence[Rule]) -> Box:
    """The box as high as the vertical rules that run through it."""
    x0, top, x1, bottom = box
    through = [
        rule
        for rule in vertical
        if x0 - 2 < rule.x0 < x1 + 2 and rule.y0 < bottom - 2 and rule.y1 > top + 2
    ]
    near = 3 * 12.0
    high = [rule.y0 for rule in through if rule.y0 > top - near]
    low = [rule.y1 for rule in through if rule.y1 < bottom + near]
    return x0, min([top, *high]), x1, max([bottom, *low])


def _is_title(row: Sequence[Line], box: Box) -> bool:
    """Whether a line is a short text in the middle over a table."""
    line = row[0]
    middle = abs((line.x0 + line.x1) / 2 - (box[0] + box[2]) / 2) < 2
    return len(row) == 1 and middle and line.x1 - line.x0 < 0.6 * (box[2] - box[0])


# Captions and their tables


def _paired(page: Boxes, above: bool | None) -> dict[int, CaptionAt]:
    """Box number to caption: as many pairs as there can be, near ones first.

    `above` says whether the paper's captions stand above its tables, if that is known.
    """
    options: list[tuple[CaptionAt, list[tuple[float, int]]]] = []
    for caption in page.captions:
        costs = []
        for index, box in enumerate(page.boxes):
            distance = _distance(caption, box, page.placed)
            if distance is not None:
                unusual = above is not None and (caption.box[1] < box[1]) != above
                costs.append((distance + _UNUSUAL_SIDE * unusual, index))
        if caption.kind == "table" and costs:
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


def _distance(caption: CaptionAt, box: Box, found: Sequence[Placed]) -> float | None:
    """Points between a caption and a box above or below it; None where they do not belong."""
    left, top, right, bottom = caption.box
    if left > box[2] or right < box[0]:
        return None
    if bottom <= box[1] + 4:
        gap, upper, lower = box[1] - bottom, bottom, box[1]
    elif top >= box[3] - 4:
        gap, upper, lower = top - box[3], box[3], top
    else:
        return None
    size = caption.lines[0].size
    between = [
        part
        for item in found
        for part in item.parts
        if upper + 1 < part.y < lower - 1
        and part.x0 < box[2]
        and part.x1 > box[0]
        and not caption.holds(part)
    ]
    notes = all(part.size <= size + 0.3 for part in between) and len(between) <= 8
    return gap if gap < 9 * size and (not between or (notes and gap < 9 * size)) else None


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
    inside = tuple(
        rule
        for rule in page.rules
        if x0 - 6 <= (rule.x0 + rule.x1) / 2 <= x1 + 6
        and rule.y0 >= top - 3
        and rule.y1 <= bottom + 3
    )
    return Region(page.frame, box, words, inside, ruled, caption)


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
        and not any(_inside(part, region.box) for region in taken for part in item.parts)
    ]
    below = sorted(
        (item for item in free if item.line.y > caption.box[3] - 2), key=lambda item: item.line.y
    )
    above = sorted(
        (item for item in free if item.line.y < caption.box[1]), key=lambda item: -item.line.y
    )
    widths = sorted(item.line.x1 - item.line.x0 for item in found if item.side == caption.side)
    usual = widths[(9 * (len(widths) - 1)) // 10]
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
