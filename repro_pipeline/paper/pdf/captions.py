"""Captions: the lines that name a table or a figure, and how far each caption reaches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repro_pipeline.paper.pdf.drawings import Box
from repro_pipeline.paper.pdf.layout import Placed
from repro_pipeline.paper.pdf.lines import Frame, Line, bounding

_NUMBER = r"(?P<number>(?:[A-Z]{1,2}[.-]?)?\d{1,3}(?:\.\d{1,2})*[a-z]?|[IVX]{1,6})"
_CAPTION = re.compile(
    rf"(?P<kind>Table|TABLE|Tab\.|Figure|FIGURE|Fig\.|FIG\.|Algorithm|ALGORITHM|Listing|Box)\s?{_NUMBER}"
    r"\s*(?P<stop>[:.|—–-]|$)?\s*(?P<rest>.*)",
    re.DOTALL,
)
_CONTINUED = re.compile(r"\(?\s*(?:continued|cont[’'.]?d?\.?|table continue[sd])\s*\)?[.:]?$", re.I)


@dataclass(frozen=True)
class CaptionAt:
    """A caption and where it stands. `kind` is 'table', 'figure' or 'other'."""

    kind: str
    number: str
    """As printed: 'Table 2'."""
    text: str
    """Without its number."""
    frame: Frame
    side: int
    lines: tuple[Line, ...]
    continued: bool = False

    @property
    def box(self) -> Box:
        """The box around it, in its frame."""
        return bounding(line.box for line in self.lines)

    def holds(self, line: Line) -> bool:
        """Whether a line, or the part of a line, belongs to this caption."""
        own = {id(word) for part in self.lines for word in part.words}
        return id(line.words[0]) in own


def captions(frame: Frame, found: Sequence[Placed]) -> list[CaptionAt]:
    """The captions among the placed lines of a frame."""
    starts = [
        (item, part, match)
        for item in found
        for part in item.parts
        if (match := _CAPTION.match(part.text)) and _begins_caption(part, item, match)
    ]
    first_lines = {id(part) for _, part, _ in starts}
    result = []
    for item, start, match in starts:
        own = [other for other, _, _ in starts if other is item]
        part = _first_line(item) if start is item.parts[0] and len(own) == 1 else start
        body = [part, *_continuation(frame, part, item, found, first_lines)]
        text = joined_text([line.text for line in body])
        whole = _CAPTION.match(text) or match
        rest = whole["rest"].strip()
        word = whole["kind"].title()
        kind = {"T": "table", "F": "figure"}.get(word[0], "other")
        name = {"table": "Table", "figure": "Figure"}.get(kind, word)
        continued = bool(_CONTINUED.match(rest))
        result.append(
            CaptionAt(
                kind=kind,
                number=f"{name} {whole['number']}",
                text=rest,
                frame=frame,
                side=item.side,
                lines=tuple(body),
                continued=continued,
            )
        )
    return result


def _first_line(item: Placed) -> Line:
    """A line up to a wide gap, behind which a table or a figure's part may stand.

    A gap behind the caption's number does not count.
    """
    words = list(item.parts[0].words)
    for part in item.parts[1:]:
        named = _CAPTION.match(Line(tuple(words)).text)
        if part.x0 - words[-1].x1 > _WIDE_GAP * part.size and named and named["rest"]:
            return Line(tuple(words))
        words += part.words
    return item.line


_WIDE_GAP = 3.0
"""Font sizes; a justified line has no such gap between its words."""


def _begins_caption(part: Line, item: Placed, match: re.Match[str]) -> bool:
    """Whether `Table 2 …` names a table here, and is no sentence that begins so."""
    if match["stop"] or not match["rest"]:
        # `Table 2.` at a line's start may end a sentence of the paragraph before.
        return not (match["stop"] == "." and match["rest"][:1].islower())
    number_words = 2 if len(part.words) > 1 else 1
    label, rest = part.words[:number_words], part.words[number_words:]
    if not rest:
        return True
    differs = (label[0].bold and not rest[0].bold) or label[0].font != rest[0].font
    gap = rest[0].x0 - label[-1].x1 > 0.55 * part.size
    return (differs or gap or part.words[0].bold) and not rest[0].text[0].islower()


def _continuation(
    frame: Frame, first: Line, item: Placed, found: Sequence[Placed], starts: set[int]
) -> list[Line]:
    """The caption's further lines: same size, even steps, until a rule, a gap or another caption."""
    alone = first is item.line or len(item.parts) == 1
    body: list[Line] = []
    last, step = first, None
    below = sorted(
        (other for other in found if other.side == item.side and other.line.y > first.y + 1),
        key=lambda other: other.line.y,
    )
    for other in below:
        line = other.line if alone else _part_under(other, first)
        if line is None:
            continue
        gap = line.y - last.y
        # A caption of one column is not continued by what stands far to its side.
        apart = line.x0 > max(first.x1, last.x1) or line.x1 < first.x0
        if apart and gap < 0.8 * first.size:
            continue
        limit = 1.62 * first.size if step is None else 1.12 * step + 0.6
        if (
            gap > limit
            or apart
            or abs(line.size - first.size) > 0.7
            or any(id(part) in starts for part in other.parts)
            or _rule_between(frame, last, line)
            or (len(other.parts) > 1 and alone and _tabular(other))
            or _ends_before(last, first, line)
        ):
            break
        body.append(line)
        last, step = line, gap
    return body


def _part_under(other: Placed, first: Line) -> Line | None:
    words = tuple(
        word
        for part in other.parts
        for word in part.words
        if first.x0 - 0.5 * first.size <= (word.x0 + word.x1) / 2 <= first.x1 + 2 * first.size
    )
    return Line(words) if words else None


def _tabular(other: Placed) -> bool:
    gaps = [right.x0 - left.x1 for left, right in zip(other.parts, other.parts[1:], strict=False)]
    return max(gaps) > 1.2 * other.line.size


def _rule_between(frame: Frame, upper: Line, lower: Line) -> bool:
    return any(
        rule.horizontal
        and upper.y - 0.2 * upper.size < rule.y0 < lower.y
        and rule.x0 < lower.x1
        and rule.x1 > lower.x0
        and rule.x1 - rule.x0 > 30
        for rule in frame.rules
    )


def _ends_before(last: Line, first: Line, line: Line) -> bool:
    """Whether the caption ended: its last line is a short one, and the next begins elsewhere."""
    short = last.x1 < line.x1 - 4 * first.size and last.text.endswith(".")
    indented = (
        line.x0 > last.x0 + 0.8 * first.size and abs((line.x0 + line.x1) - (last.x0 + last.x1)) > 4
    )
    return short and (indented or (line.text[:1].isupper() and line.font != last.font))


def joined_text(texts: Sequence[str], known: frozenset[str] = frozenset()) -> str:
    """Lines as one text; a word parted at a line's end is made whole.

    `known` are the paper's words: they tell whether the hyphen is a word's own.
    """
    text = ""
    for line in texts:
        head = re.match(r"[^\W\d_]+(?:-[^\W\d_]+)*", line)
        tail = re.search(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-‐\u00ad]$", text[-60:])
        if tail and head:
            text = (text if _keeps_hyphen(tail[1], head[0], known) else text[:-1]) + line
        elif re.search(r"\w[-–/]$", text[-2:]) and re.match(r"\w", line):
            text += line
        else:
            text += (" " if text else "") + line
    return text


def _keeps_hyphen(tail: str, head: str, known: frozenset[str]) -> bool:
    """Whether the hyphen between a line's last word and the next line's first is the word's own."""
    capital = head[0].isupper()
    tail, head = tail.casefold(), head.casefold()
    if f"{tail}-{head}" in known:
        return capital or tail + head not in known
    last, first = tail.split("-")[-1], head.split("-")[0]
    if last + first in known or tail + head in known:
        return False
    if capital or "-" in tail or "-" in head:
        return True
    return min(len(tail), len(head)) >= 4 and tail in known and head in known
