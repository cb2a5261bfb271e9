"""Frames of text that reads in one direction, and the lines in them.

All places are in the frame: x to the right along the reading direction, y down.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from repro_pipeline.paper.pdf.chars import Glyph, Page
from repro_pipeline.paper.pdf.drawings import Box, Rule
from repro_pipeline.paper.pdf.words import Place, Word, turned_words, words_of

FRAGMENT_GAP = 0.75
"""A gap wider than this share of the font size parts the texts of two columns."""


@dataclass(frozen=True)
class Frame:
    """The text of a page that reads in one direction, turned upright, with the page's rules."""

    page: Page
    turn: int
    width: float
    height: float
    words: tuple[Word, ...]
    rules: tuple[Rule, ...]
    pictures: tuple[Box, ...]

    def on_page(self, box: Box) -> Box:
        """A box of the frame as a box of the page, rounded to a tenth of a point."""
        width, height = self.page.width, self.page.height
        x0, y0, x1, y1 = box
        match self.turn:
            case 1:
                box = (y0, height - x1, y1, height - x0)
            case 2:
                box = (width - x1, height - y1, width - x0, height - y0)
            case 3:
                box = (width - y1, x0, width - y0, x1)
        left, top, right, bottom = (round(value, 1) for value in box)
        return left, top, right, bottom


def frames(page: Page) -> list[Frame]:
    """The page's main frame first, then frames for text turned against it that is more than labels.

    The frames' page is without its glyphs, which are many.
    """
    counts = Counter(glyph.turn for glyph in page.glyphs if glyph.turn is not None)
    turns = [turn for turn, count in counts.most_common() if count >= 0.3 * len(page.glyphs)]
    for turn in counts:
        if turn not in turns and _has_caption(page, turn):
            turns.append(turn)
    return [_frame(page, turn) for turn in turns or [0]]


def _has_caption(page: Page, turn: int) -> bool:
    text = "".join(glyph.text for glyph in page.glyphs if glyph.turn == turn)
    return len(text) > 60 and re.search(r"Table\d|TABLE[IVX\d]|Figure\d", text) is not None


def _frame(page: Page, turn: int) -> Frame:
    place = _turned(page, turn)
    glyphs = [glyph for glyph in page.glyphs if glyph.turn == turn]
    if turn:
        glyphs = [_moved(glyph, place) for glyph in glyphs]
    words = words_of(glyphs) + turned_words(page, turn, place)
    sideways = turn in (1, 3)
    return Frame(
        page=replace(page, glyphs=(), rules=()),
        turn=turn,
        width=page.height if sideways else page.width,
        height=page.width if sideways else page.height,
        words=tuple(words),
        rules=tuple(_moved_rule(rule, place) for rule in page.rules),
        pictures=tuple(_moved_box(box, place) for box in page.pictures),
    )


def _turned(page: Page, turn: int) -> Place:
    """From places on the page to places in the frame."""
    places: tuple[Place, ...] = (
        lambda x, y: (x, y),
        lambda x, y: (page.height - y, x),
        lambda x, y: (page.width - x, page.height - y),
        lambda x, y: (y, page.width - x),
    )
    return places[turn]


def _moved(glyph: Glyph, place: Place) -> Glyph:
    x, y = place(glyph.x, glyph.y)
    return replace(glyph, x=x, y=y)


def _moved_rule(rule: Rule, place: Place) -> Rule:
    return Rule(*_moved_box((rule.x0, rule.y0, rule.x1, rule.y1), place))


def _moved_box(box: Box, place: Place) -> Box:
    (ax, ay), (bx, by) = place(box[0], box[1]), place(box[2], box[3])
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)


@dataclass(frozen=True)
class Line:
    """Words on one baseline, left to right, none far from the next."""

    words: tuple[Word, ...]

    @cached_property
    def x0(self) -> float:
        """The left edge."""
        return self.words[0].x0

    @cached_property
    def x1(self) -> float:
        """The right edge."""
        return self.words[-1].x1

    @cached_property
    def y(self) -> float:
        """The baseline."""
        return median(word.y for word in self.words)

    @cached_property
    def size(self) -> float:
        """The largest font size."""
        return max(word.size for word in self.words)

    @cached_property
    def top(self) -> float:
        """The upper edge."""
        return min(word.top for word in self.words)

    @cached_property
    def bottom(self) -> float:
        """The lower edge."""
        return max(word.bottom for word in self.words)

    @cached_property
    def text(self) -> str:
        """The words with spaces between."""
        return " ".join(word.text for word in self.words)

    @cached_property
    def bold(self) -> bool:
        """Whether most of it is bold."""
        letters = sum(len(word.text) for word in self.words)
        return 2 * sum(len(word.text) for word in self.words if word.bold) > letters

    @cached_property
    def font(self) -> str:
        """The commonest font."""
        fonts: Counter[str] = Counter()
        for word in self.words:
            fonts[word.font] += len(word.text)
        return fonts.most_common(1)[0][0]

    @cached_property
    def box(self) -> Box:
        """The box around it."""
        return self.x0, self.top, self.x1, self.bottom


def rows(words: Iterable[Word], tolerance: float = 0.25) -> list[list[Word]]:
    """Words by baseline, top to bottom, each row left to right; `tolerance` in font sizes."""
    found: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.y, word.x0)):
        if found and abs(word.y - found[-1][0].y) <= tolerance * min(word.size, found[-1][0].size):
            found[-1].append(word)
        else:
            found.append([word])
    for row in found:
        row.sort(key=lambda word: word.x0)
    return found


def lines(words: Iterable[Word], gap: float = FRAGMENT_GAP) -> list[Line]:
    """Words joined along baselines where no gap between them exceeds `gap` font sizes."""
    found: list[Line] = []
    for row in rows(words):
        current = [row[0]]
        for word in row[1:]:
            limit = gap * max(current[-1].size, word.size)
            if word.x0 - max(part.x1 for part in current[-3:]) > limit:
                found.append(Line(tuple(current)))
                current = []
            current.append(word)
        found.append(Line(tuple(current)))
    return found


def bounding(boxes: Iterable[Box]) -> Box:
    """The smallest box around boxes, of which there must be one."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
