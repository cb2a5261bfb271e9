"""What rules frame: the boxes between rules of one width, and rows just beyond these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repro_pipeline.paper.pdf.captions import CaptionAt
from repro_pipeline.paper.pdf.drawings import Box, Rule
from repro_pipeline.paper.pdf.layout import Placed
from repro_pipeline.paper.pdf.lines import Frame, Line

SHORTEST_TABLE_RULE = 36.0
"""Points; a shorter pair of rules frames no table."""


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
        if len(group) >= 2 and any(inside(line, box) for line in fragments):
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
    turned = any(
        not word.upright and upper.y0 < word.y < lower.y0 and upper.x0 < word.x0 < upper.x1
        for word in frame.words
    )
    if any(
        upper.y0 < caption.lines[0].y < lower.y0
        and caption.lines[0].x0 < upper.x1
        and caption.lines[0].x1 > upper.x0
        for caption in captions
    ):
        return True
    if not between and not turned and lower.y0 - upper.y0 > 6:
        # One table ends and the next begins, unless an empty row stands before further numbers.
        return not any(
            0 < line.y - lower.y0 < 18 and upper.x0 < line.x0 < upper.x1 and _is_number(line)
            for line in fragments
        )
    if any(line.x0 < upper.x0 - 8 or line.x1 > upper.x1 + 8 for line in between):
        return True
    width = upper.x1 - upper.x0
    run = longest = 0
    for line in sorted(between, key=lambda line: line.y):
        run = run + 1 if line.x1 - line.x0 > 0.93 * width and _is_words(line) else 0
        longest = max(longest, run)
    if longest >= 5:
        return True
    tall = max([10.0, *(line.size for line in between)])
    return lower.y0 - upper.y0 > 6 * tall and len(between) <= 1 and not turned


def _is_number(line: Line) -> bool:
    return re.match(r"[-−–+(<>~]?[.\d]", line.text) is not None


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
    own = [row for y, row in rows.items() if box[1] < y < box[3]]
    if not own:
        return box
    columns = max(len(row) for row in own)
    # Where rules hold the header only, the rows are below them.
    enough = max(2 if len(own) <= 2 else 3, 0.7 * columns)
    x0, top, x1, bottom = box
    for y in sorted(rows):
        row = rows[y]
        pair = len(row) == columns == 2 and _is_number(max(row, key=lambda part: part.x0))
        if y > bottom and y - bottom < 1.9 * row[0].size and (len(row) >= enough or pair):
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


def inside(line: Line, box: Box) -> bool:
    """Whether a line stands within a box."""
    middle = (line.x0 + line.x1) / 2
    return box[0] - 3 <= middle <= box[2] + 3 and box[1] < line.y < box[3]
