"""Glyphs to words: pieces of one baseline, raised and lowered marks joined to what they stand at.

All places are in the frame of the text: x to the right along the reading direction, y down.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from repro_pipeline.paper.pdf.chars import Glyph, Page
from repro_pipeline.paper.pdf.drawings import Box

WORD_GAP = 0.13
"""A gap wider than this share of the font size parts words."""
GUESSED_GAP = 0.09
"""The same where pdfium takes the gap for a space."""
_ASCENT, _DESCENT = 0.72, 0.22

Place = Callable[[float, float], tuple[float, float]]
"""From a place on the page to a place in the frame."""


@dataclass(frozen=True, slots=True)
class Word:
    """Glyphs without a space between them. `y` is the baseline."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    font: str
    bold: bool
    upright: bool = True
    """False for a word turned or slanted against its frame; its box is that of the whole word."""
    above: float = 0.0
    """Height above the baseline, where it is not the font's own."""

    @property
    def top(self) -> float:
        """The upper edge."""
        return self.y - (self.above or _ASCENT * self.size)

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + (0 if self.above else _DESCENT * self.size)

    @property
    def level(self) -> float:
        """The baseline of a row at whose height it stands: for a turned word, at its middle."""
        return self.y if self.upright else (self.top + self.bottom) / 2 + 0.35 * self.size

    @property
    def box(self) -> Box:
        """The box around the word."""
        return self.x0, self.top, self.x1, self.bottom


@dataclass(slots=True)
class _Piece:
    """Glyphs in a row: one baseline, one size."""

    glyphs: list[Glyph]
    text: str
    x0: float
    x1: float
    y: float
    size: float
    role: str = "base"
    """base, raised, lowered"""


def words_of(glyphs: Sequence[Glyph]) -> list[Word]:
    """The words that upright glyphs make."""
    pieces = _pieces(_with_accents(glyphs))
    hosts = _hosts(pieces)
    attached: dict[int, list[_Piece]] = defaultdict(list)
    for small, (at, role) in hosts.items():
        pieces[small].role = role
        host = at
        while host in hosts:
            host = hosts[host][0]
        attached[host].append(pieces[small])
    groups = [[piece, *attached[index]] for index, piece in enumerate(pieces) if index not in hosts]
    return [_word(group) for group in _joined(groups)]


def _pieces(glyphs: Iterable[Glyph]) -> list[_Piece]:
    """Runs of glyphs as the file has them, cut at gaps, spaces, and changes of size or baseline."""
    runs: list[list[Glyph]] = []
    for glyph in glyphs:
        if runs and _follows(runs[-1], glyph):
            runs[-1].append(glyph)
        elif runs and _follows([glyph], runs[-1][0]):
            runs[-1].insert(0, glyph)  # some files set a line backwards
        else:
            runs.append([glyph])
    return [
        _Piece(
            glyphs=run,
            text="".join(glyph.text for glyph in run),
            x0=run[0].x,
            x1=_end(run),
            y=run[0].y,
            size=run[0].size,
        )
        for run in runs
    ]


def _end(run: Sequence[Glyph]) -> float:
    return max(glyph.x + glyph.advance for glyph in run[-2:])


def _follows(run: Sequence[Glyph], glyph: Glyph) -> bool:
    last = run[-1]
    size = max(last.size, glyph.size)
    gap = glyph.x - _end(run)
    return (
        abs(glyph.y - last.y) < 0.06 * size
        and (abs(glyph.size - last.size) < 0.12 * size or _same_case_run(last, glyph))
        and glyph.x >= last.x - 0.02 * size
        and gap < (GUESSED_GAP if glyph.guessed else WORD_GAP) * size
        and not (glyph.spaced and gap > -0.15 * size)
    )


def _same_case_run(last: Glyph, glyph: Glyph) -> bool:
    """Small capitals: two sizes of one font on one baseline."""
    return last.font == glyph.font and last.text.isupper() and glyph.text.isupper()


def _hosts(pieces: Sequence[_Piece]) -> dict[int, tuple[int, str]]:
    """For each small raised or lowered piece: the piece it stands at, and its role."""
    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    largest: dict[int, float] = defaultdict(float)
    for index, piece in enumerate(pieces):
        row = int(piece.y // 12)
        largest[row] = max(largest[row], piece.size)
        for column in _columns(piece):
            places[row, column].append(index)
    found: dict[int, tuple[int, str]] = {}
    small: list[int] = []
    for index, piece in enumerate(pieces):
        row = int(piece.y // 12)
        around = [other for other in (row - 1, row, row + 1) if other in largest]
        limit = max(largest[other] for other in around)
        if piece.size > 0.88 * limit and piece.size > _TINY:
            continue
        small.append(index)
        best: tuple[float, int, str] | None = None
        beside = {
            number: {at for column in _columns(piece, 1) for at in places.get((number, column), ())}
            for number in around
        }
        for other in (at for number in around for at in sorted(beside[number])):
            distance = _distance(piece, pieces[other]) if other != index else None
            if distance is not None and (best is None or distance < best[0]):
                role = _role(piece, pieces[other])
                best = (distance, other, role) if role else best
        if best:
            found[index] = (best[1], best[2])
    found = {mark: host for mark, host in found.items() if not _circular(mark, found)}
    for index in small:
        if index not in found:
            neighbour = _behind_mark(pieces[index], index, pieces, found)
            if neighbour:
                found[index] = neighbour
    return found


def _columns(piece: _Piece, more: int = 0) -> range:
    """The strips of 60 points that a piece reaches into, and `more` on either side of it."""
    first, last = (int(min(max(x, -1e4), 1e4) // 60) for x in (piece.x0, piece.x1))
    return range(first - more, last + more + 1)


_TINY = 6.2
"""Points; marks at type of this size are no smaller than it."""


def _distance(piece: _Piece, host: _Piece) -> float | None:
    """How far beside the host a mark stands; None if it does not touch it. Behind is nearer."""
    size = host.size
    behind = piece.x0 >= host.x1 - 0.25 * size
    gap = piece.x0 - host.x1 if behind else host.x0 - piece.x1
    return abs(gap) + (0 if behind else 0.3 * size) if -0.25 * size <= gap < 0.3 * size else None


def _behind_mark(
    piece: _Piece, index: int, pieces: Sequence[_Piece], hosts: dict[int, tuple[int, str]]
) -> tuple[int, str] | None:
    """The host of a mark that stands behind another mark, as the star in `x_i^*`."""
    for mark, (at, _) in hosts.items():
        host = pieces[at]
        gap = piece.x0 - pieces[mark].x1
        if at != index and abs(gap) < 0.25 * host.size and abs(piece.y - host.y) < host.size:
            role = _role(piece, host)
            if role:
                return at, role
    return None


def _role(piece: _Piece, host: _Piece) -> str | None:
    """Whether a piece is raised or lowered against its host.

    It is smaller than the host, or, in the smallest type, a mark or digit of the same size.
    """
    lift = host.y - piece.y
    if piece.size <= 0.88 * host.size:
        if 0.12 * host.size < lift < 0.75 * host.size:
            return "raised"
        if -0.45 * host.size < lift < -0.06 * host.size:
            return "lowered"
    tiny = piece.size <= 1.02 * host.size <= _TINY and len(piece.text) <= 3
    if tiny and len(host.text) >= 2 and 0.25 * host.size < lift < 0.6 * host.size:
        return "raised" if piece.x0 - host.x1 < 0.15 * host.size else None
    return None


def _circular(start: int, hosts: dict[int, tuple[int, str]]) -> bool:
    seen = {start}
    at = start
    while at in hosts:
        at = hosts[at][0]
        if at in seen:
            return True
        seen.add(at)
    return False


def _joined(groups: list[list[_Piece]]) -> list[list[_Piece]]:
    """Groups that touch on one baseline are one word, in whatever order the file has them."""
    groups.sort(key=lambda group: (round(group[0].y, 0), group[0].x0))
    order = sorted(range(len(groups)), key=lambda index: (groups[index][0].y, groups[index][0].x0))
    lines: list[list[list[_Piece]]] = []
    for index in order:
        group = groups[index]
        base = group[0]
        if lines and abs(lines[-1][-1][0].y - base.y) < 0.06 * base.size:
            lines[-1].append(group)
        else:
            lines.append([group])
    joined: list[list[_Piece]] = []
    for line in lines:
        line.sort(key=lambda group: _span(group)[0])
        current: list[_Piece] | None = None
        for group in line:
            if current and _touch(current, group):
                current += group
            else:
                current = list(group)
                joined.append(current)
    return joined


def _span(group: Sequence[_Piece]) -> tuple[float, float]:
    return min(piece.x0 for piece in group), max(piece.x1 for piece in group)


def _touch(left: Sequence[_Piece], right: Sequence[_Piece]) -> bool:
    first = min(right, key=lambda piece: piece.x0)
    size = max(left[0].size, right[0].size)
    gap = _span(right)[0] - _span(left)[1]
    spaced = first.glyphs[0].spaced and first.role == "base"
    limit = GUESSED_GAP if first.glyphs[0].guessed and first.role == "base" else WORD_GAP
    return -0.6 * size < gap < limit * size and not (spaced and gap > -0.15 * size)


def _word(group: list[_Piece]) -> Word:
    group.sort(key=lambda piece: piece.x0)
    bases = [piece for piece in group if piece.role == "base"]
    main = max(bases, key=lambda piece: sum(glyph.advance for glyph in piece.glyphs))
    letters = [
        glyph for piece in bases for glyph in piece.glyphs if glyph.text.isalnum()
    ] or main.glyphs
    x0, x1 = _span(group)
    return Word(
        text=_word_text(group),
        x0=x0,
        x1=x1,
        y=main.y,
        size=max(glyph.size for glyph in main.glyphs),
        font=Counter(glyph.font for glyph in letters).most_common(1)[0][0],
        bold=sum(glyph.bold for glyph in letters) > 0.5 * len(letters),
    )


_RAISED = str.maketrans("0123456789+-−–()nabcde", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁽⁾ⁿᵃᵇᶜᵈᵉ")

_MARKS = re.compile(r"[-\d+−–,()abcden*†‡§¶∗]+")
_NOTE_SIGN = re.compile(r"\d{1,2}|[a-e]")
_CHANGE = re.compile(r"[-+−–]\d*\.\d+%?")
"""A change, or one of two unequal errors, set small beside a number."""
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _word_text(group: Sequence[_Piece]) -> str:
    """The word's text; raised digits and footnote letters as superscript characters.

    So that a footnote mark never becomes a digit of the number that it stands at.
    """
    text = ""
    for piece in group:
        part = piece.text
        marks = (_MARKS if text else _NOTE_SIGN).fullmatch(part)
        if piece.role == "raised" and marks:
            text += part.translate(_RAISED)
        elif piece.role != "base" and re.search(r"\d\}?$", text) and _CHANGE.fullmatch(part):
            text += f"{'^' if piece.role == 'raised' else '_'}{{{part}}}"
        elif piece.role == "lowered" and re.search(r"[\d)\]]$", text) and part[:1].isdigit():
            text += "_" + part
        elif piece.role == "lowered" and re.fullmatch(r"\d{1,2}", part):
            text += part.translate(_LOWERED)
        else:
            text += part
    return text


_ACCENTS = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "¯": "\u0304",
    "ˇ": "\u030c", "˘": "\u0306", "˚": "\u030a", "˙": "\u0307", "˝": "\u030b", "¸": "\u0327",
}  # fmt: skip


def _with_accents(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Accents that are glyphs of their own joined to the letter that they are set over."""
    accents = [glyph for glyph in glyphs if glyph.text in _ACCENTS]
    if not accents:
        return list(glyphs)
    letters = [
        (place, glyph)
        for place, glyph in enumerate(glyphs)
        if len(glyph.text) == 1 and glyph.text.isalpha()
    ]
    marked: dict[int, str] = {}
    gone: set[int] = set()
    for accent in accents:
        middle = accent.x + accent.advance / 2
        for place, letter in letters:
            over = letter.x <= middle <= letter.x + letter.advance
            if over and place not in marked and abs(letter.y - accent.y) < 0.35 * letter.size:
                marked[place] = _accented(letter.text, accent.text)
                gone.add(id(accent))
                break
    return [
        replace(glyph, text=marked[place]) if place in marked else glyph
        for place, glyph in enumerate(glyphs)
        if id(glyph) not in gone
    ]


def _accented(letter: str, accent: str) -> str:
    plain = {"ı": "i", "ȷ": "j"}.get(letter, letter)
    return unicodedata.normalize("NFC", plain + _ACCENTS[accent])


# Turned words


def turned_words(page: Page, turn: int, place: Place) -> list[Word]:
    """Labels that read in another direction than the frame, each with its whole box."""
    words: list[Word] = []
    run: list[Glyph] = []
    for glyph in (*page.glyphs, None):
        if glyph is not None and (glyph.turn == turn or _is_watermark(glyph)):
            continue
        if run and (glyph is None or not _same_run(run[-1], glyph)):
            words.append(_turned_word(run, place))
            run = []
        if glyph is not None:
            run.append(glyph)
    return words


def _is_watermark(glyph: Glyph) -> bool:
    return glyph.turn is None and glyph.size > 24


def _same_run(last: Glyph, glyph: Glyph) -> bool:
    distance = ((glyph.x - last.x) ** 2 + (glyph.y - last.y) ** 2) ** 0.5
    return abs(glyph.angle - last.angle) < 2 and distance < last.advance + 0.8 * last.size


def _turned_word(run: Sequence[Glyph], place: Place) -> Word:
    spaced = ""
    for last, glyph in zip([None, *run], run, strict=False):
        if last is not None:
            step = ((glyph.x - last.x) ** 2 + (glyph.y - last.y) ** 2) ** 0.5
            spaced += " " if step - last.advance > WORD_GAP * glyph.size else ""
        spaced += glyph.text
    points = [place(glyph.x, glyph.y) for glyph in run]
    xs, ys = zip(*points, strict=True)
    size = median(glyph.size for glyph in run)
    slanted = run[0].turn is None
    left, right = min(xs), max(xs)
    # A slanted label stands over the place where its baseline begins.
    left, right = (xs[0], xs[0] + size) if slanted else (left - _ASCENT * size, right)
    bottom = max(ys)
    return Word(
        text=spaced,
        x0=left,
        x1=max(right, left + size),
        y=bottom,
        size=size,
        font=run[0].font,
        bold=sum(glyph.bold for glyph in run) > 0.5 * len(run),
        upright=False,
        above=max(bottom - min(ys) + (0 if slanted else run[-1].advance), size),
    )
