"""Where text stands on a page: running heads, the gutter between two columns, reading order."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from repro_pipeline.paper.pdf.drawings import Rule
from repro_pipeline.paper.pdf.lines import Frame, Line, Word, lines

FULL, LEFT, RIGHT = 0, 1, 2
"""Sides: across the page, or one of two columns."""


@dataclass(frozen=True)
class Placed:
    """A line of one column (or across both), its far-apart parts joined."""

    line: Line
    side: int
    parts: tuple[Line, ...]


def without_running_heads(pages: Sequence[Frame]) -> tuple[list[Frame], tuple[str, ...]]:
    """The frames without heads, feet, page numbers and margin stamps; and the texts taken away."""
    margins = [_margin_lines(frame) for frame in pages]
    seen = Counter(
        key
        for frame, found in zip(pages, margins, strict=True)
        for key in {_running_key(line, frame) for line in found}
    )
    often = 2 if len(pages) < 5 else 3
    ruled = Counter(key for frame in pages for key in {_rule_key(rule) for rule in frame.rules})
    kept, texts = [], []
    for frame, found in zip(pages, margins, strict=True):
        imprint = _imprint(found, frame)
        dropped = [
            line
            for line in found
            if (seen[_running_key(line, frame)] >= often and re.search(r"[^\W\d_]{3}", line.text))
            or line in imprint
        ]
        dropped += [line for line in found if _is_page_number(line, frame, dropped)]
        texts += [line.text for line in dropped]
        gone = {id(word) for line in dropped for word in line.words}
        rules = tuple(
            rule
            for rule in frame.rules
            if ruled[_rule_key(rule)] < often or not _under_head(rule, dropped)
        )
        words = tuple(word for word in frame.words if id(word) not in gone)
        kept.append(replace(frame, words=words, rules=rules))
    return kept, tuple(texts)


def _margin_lines(frame: Frame) -> list[Line]:
    """The lines in the upper and lower margin; not those below a rule at the top, a table's head."""
    band = 0.085 * frame.height
    edge = [word for word in _upright(frame) if not band < word.y < frame.height - band]
    return [
        line
        for line in lines(edge, gap=2.0)
        if not any(
            rule.horizontal
            and 0 < line.y - rule.y0 < 2 * line.size
            and rule.x0 - 3 < line.x0 < rule.x1
            and line.y < frame.height / 2
            for rule in frame.rules
        )
    ]


def _running_key(line: Line, frame: Frame) -> tuple[str, int]:
    half = int(line.y > frame.height / 2)
    return re.sub(r"\d+|\b[ivxl]+\b", "#", line.text.casefold()), half


def _rule_key(rule: Rule) -> tuple[int, int, int]:
    return round(rule.x0 / 3), round(rule.x1 / 3), round(rule.y0 / 2)


def _under_head(rule: Rule, heads: Sequence[Line]) -> bool:
    """Whether a rule across the page belongs to a running head."""
    return rule.horizontal and any(abs(rule.y0 - line.y) < 2 * line.size for line in heads)


def _is_page_number(line: Line, frame: Frame, heads: Sequence[Line]) -> bool:
    """A number alone that no other text lies beyond, running heads aside."""
    if not re.fullmatch(r"[-–— ]*(?:page )?\d{1,5}(?: of \d+)?[-–— ]*", line.text, re.I):
        return False
    apart = {id(word) for part in (line, *heads) for word in part.words}
    ys = [word.y for word in _upright(frame) if id(word) not in apart]
    return bool(ys) and (line.y > max(ys) + 2 or line.y < min(ys) - 2)


_IMPRINT = re.compile(
    r"proceedings|conference|©|copyright|all rights reserved|preprint|workshop|under review|"
    r"\bvol(?:\.|ume)|pages? \d+|doi[: ]|https?://doi|license[ds]?\b|\bICML\b|\bNeurIPS\b|\bISSN\b",
    re.IGNORECASE,
)


def _imprint(found: Sequence[Line], frame: Frame) -> list[Line]:
    """The first page's notes of where the paper appeared, and what stands below them."""
    if frame.page.number != 1:
        return []
    low = [line for line in found if line.y > frame.height / 2]
    notes = [line for line in found if _IMPRINT.search(line.text) and "@" not in line.text]
    start = min((line.y for line in notes if line in low), default=frame.height)
    return notes + [line for line in low if line.y > start and line not in notes]


def gutters(pages: Sequence[Frame]) -> list[float | None]:
    """Per page the middle of the gap between two text columns; None where there is one column."""
    own = [_gutter(frame) for frame in pages]
    known = [gutter for gutter in own if gutter is not None]
    if not known:
        return own
    return [
        gutter if gutter is not None else _borrowed(frame, known)
        for frame, gutter in zip(pages, own, strict=True)
    ]


def _gutter(frame: Frame) -> float | None:
    found = [line for line in lines(_upright(frame)) if line.x1 - line.x0 > 0.2 * frame.width]
    starts = Counter(
        round(line.x0) for line in found if 0.35 * frame.width < line.x0 < 0.68 * frame.width
    )
    if not starts:
        return None
    start, _ = max(starts.items(), key=lambda item: _near(starts, item[0]))
    right = [line for line in found if abs(line.x0 - start) <= 2]
    left = [line for line in found if line.x1 < start]
    crossing = [line for line in found if line.x0 < start - 8 and line.x1 > start + 8]
    if len(right) < 5 or len(right) < 0.12 * len(found) or len(left) < 3:
        return None
    if len(crossing) > 2 * (len(left) + len(right)):
        return None
    ends = sorted(line.x1 for line in left)
    end = ends[int(0.9 * (len(ends) - 1))]
    return (end + start) / 2 if end < start else start - 2


def _near(starts: Counter[int], at: int) -> int:
    return starts[at - 1] + starts[at] + starts[at + 1]


def _borrowed(frame: Frame, known: Sequence[float]) -> float | None:
    """The paper's usual gutter, where text of this page stands on both sides of it only."""
    gutter = median(known)
    found = lines(_upright(frame))
    wide = [line for line in found if line.x1 - line.x0 > 0.25 * frame.width] or found
    crossing = sum(line.x0 < gutter - 8 and line.x1 > gutter + 8 for line in wide)
    beside = sum(line.x1 < gutter or line.x0 > gutter for line in wide)
    return gutter if found and beside > 2 * crossing else None


def _upright(frame: Frame) -> list[Word]:
    return [word for word in frame.words if word.upright]


def placed(words: Iterable[Word], gutter: float | None) -> list[Placed]:
    """Lines by column, top to bottom within each side."""
    fragments = lines(word for word in words if word.upright)
    if gutter is None:
        return _joined(fragments, FULL)
    sides: dict[int, list[Line]] = defaultdict(list)
    for fragment in fragments:
        sides[_side(fragment, gutter)].append(fragment)
    found = [line for side in (FULL, LEFT, RIGHT) for line in _joined(sides[side], side)]
    return _with_last_lines(found)


def _side(line: Line, gutter: float) -> int:
    if line.x1 <= gutter + 3:
        return LEFT
    return RIGHT if line.x0 >= gutter - 3 else FULL


def _joined(fragments: Sequence[Line], side: int) -> list[Placed]:
    """Fragments of one side and one baseline as one line."""
    found: list[list[Line]] = []
    for fragment in sorted(fragments, key=lambda line: (line.y, line.x0)):
        if found and abs(fragment.y - found[-1][0].y) <= 0.25 * fragment.size:
            found[-1].append(fragment)
        else:
            found.append([fragment])
    whole = []
    for parts in found:
        parts.sort(key=lambda line: line.x0)
        words = tuple(word for part in parts for word in part.words)
        whole.append(Placed(Line(words), side, tuple(parts)))
    return whole


def _with_last_lines(found: list[Placed]) -> list[Placed]:
    """A short last line of a paragraph across the page stands on one side; it belongs across."""
    by_side = {side: [item for item in found if item.side == side] for side in (LEFT, RIGHT)}
    moved: set[int] = set()
    extra: list[Placed] = []
    for item in [item for item in found if item.side == FULL]:
        above = item.line
        for side, other in ((LEFT, RIGHT), (RIGHT, LEFT)):
            for below in by_side[side]:
                step = below.line.y - above.y
                same = abs(below.line.size - above.size) < 0.6
                aligned = abs(below.line.x0 - above.x0) < 2.5 or _centred(below.line, above)
                alone = not any(
                    abs(neighbour.line.y - below.line.y) < 0.9 * above.size
                    for neighbour in by_side[other]
                )
                if 0 < step < 1.5 * above.size and same and aligned and alone:
                    moved.add(id(below))
                    extra.append(replace(below, side=FULL))
    return [item for item in found if id(item) not in moved] + extra


def _centred(line: Line, above: Line) -> bool:
    return abs((line.x0 + line.x1) - (above.x0 + above.x1)) < 4


def reading_order(found: Iterable[Placed], barriers: Iterable[float] = ()) -> list[Placed]:
    """Lines in the order in which they are read: across the page, then left, then right.

    `barriers` are heights at which a table or figure cuts both columns.
    """
    found = list(found)
    cuts = sorted([*(item.line.y for item in found if item.side == FULL), *barriers])
    bands: dict[int, list[Placed]] = defaultdict(list)
    for item in found:
        band = sum(cut < item.line.y - 0.1 for cut in cuts)
        bands[2 * band + (item.side == FULL)].append(item)
    ordered: list[Placed] = []
    for band in sorted(bands):
        ordered += sorted(bands[band], key=lambda item: (item.side, item.line.y, item.line.x0))
    return ordered
