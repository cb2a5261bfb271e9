"""Running text: lines in reading order to headings and paragraphs, notes and figure text aside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repro_pipeline.paper.pdf.captions import CaptionAt, joined_text
from repro_pipeline.paper.pdf.drawings import Box
from repro_pipeline.paper.pdf.layout import FULL, Placed
from repro_pipeline.paper.pdf.lines import Frame, Line


@dataclass(frozen=True)
class FlowLine:
    """A line of running text, with where it stands."""

    line: Line
    side: int
    frame: Frame
    left: float
    """Left edge of its column on its page."""
    right: float

    @property
    def text(self) -> str:
        """Its words with spaces between."""
        return self.line.text


@dataclass(frozen=True)
class Style:
    """The type of the running text: its font and size."""

    font: str
    size: float


@dataclass(frozen=True)
class Passage:
    """A heading (level 1 to 3), or a paragraph (level 0), or a note (level -1)."""

    level: int
    text: str
    lines: tuple[FlowLine, ...]


def body_style(frames: Iterable[Frame]) -> Style:
    """The commonest font and size of a paper, by characters."""
    counts: Counter[tuple[str, float]] = Counter()
    for frame in frames:
        for word in frame.words:
            counts[word.font, round(word.size * 2) / 2] += len(word.text)
    (font, size), _ = counts.most_common(1)[0] if counts else (("", 10.0), 0)
    return Style(font, size)


def flow(
    frame: Frame,
    ordered: Sequence[Placed],
    captions: Sequence[CaptionAt],
    tables: Sequence[Box],
    style: Style,
) -> list[FlowLine]:
    """The page's running text in reading order: no captions, tables, or lettering of figures."""
    aside = _words_of(captions)
    boxes = [*tables, *_figure_boxes(captions, ordered, style), *_large(frame)]
    edges = _edges(ordered)
    kept = []
    for item in ordered:
        words = tuple(
            word
            for part in item.parts
            for word in part.words
            if id(word) not in aside
            and not any(_holds(box, word.x0, word.x1, word.y) for box in boxes)
        )
        if words and not _CONTINUED.fullmatch(Line(words).text):
            left, right = edges[item.side]
            kept.append(FlowLine(Line(words), item.side, frame, left, right))
    return kept


def _words_of(captions: Sequence[CaptionAt]) -> set[int]:
    return {id(word) for caption in captions for line in caption.lines for word in line.words}


def _large(frame: Frame) -> list[Box]:
    """Pictures that are no background of the page."""
    area = frame.width * frame.height
    return [box for box in frame.pictures if (box[2] - box[0]) * (box[3] - box[1]) < 0.5 * area]


def _holds(box: Box, x0: float, x1: float, y: float) -> bool:
    return box[0] - 3 <= (x0 + x1) / 2 <= box[2] + 3 and box[1] - 1 < y < box[3] + 1


def _edges(ordered: Sequence[Placed]) -> dict[int, tuple[float, float]]:
    edges = {}
    for side in {item.side for item in ordered}:
        found = [item.line for item in ordered if item.side == side]
        lefts, rights = sorted(line.x0 for line in found), sorted(line.x1 for line in found)
        edges[side] = (lefts[len(lefts) // 10], rights[(9 * (len(rights) - 1)) // 10])
    return edges


def _figure_boxes(
    captions: Sequence[CaptionAt], ordered: Sequence[Placed], style: Style
) -> list[Box]:
    """The room above each figure caption, up to the next line of prose or caption."""
    aside = _words_of(captions)
    boxes = []
    for caption in captions:
        if caption.kind != "figure":
            continue
        left, top, right, _ = caption.box
        if caption.side != FULL:
            sided = [item.line for item in ordered if item.side == caption.side]
            left = min(line.x0 for line in sided)
            right = max(line.x1 for line in sided)
        ceiling = 0.0
        for item in ordered:
            part = item.parts[0]
            beside = part.x1 < left or part.x0 > right
            stops = id(part.words[0]) in aside or _is_prose(item.line, style, right - left)
            if part.y < top and not beside and stops:
                ceiling = max(ceiling, item.line.bottom)
        boxes.append((left, ceiling, right, top))
    return boxes


def _is_prose(line: Line, style: Style, width: float) -> bool:
    same = abs(line.size - style.size) < 0.6 and line.font.rstrip(
        "0123456789"
    ) == style.font.rstrip("0123456789")
    long = len(line.words) > 4 and line.x1 - line.x0 > 0.45 * width
    return (same and (long or _NUMBERED.match(line.text) is not None)) or (
        line.size > style.size + 0.5 and line.bold
    )


# Headings and paragraphs

_NUMBERED = re.compile(
    r"(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3}|[IVX]{1,5})[.):]?\s+(?P<title>\S.*)"
)
_KNOWN = re.compile(
    r"(?:abstract|introduction|related works?|background|methods?|methodology|approach|experiments?|"
    r"(?:experimental )?results?(?: and discussions?)?|discussions?|conclusions?(?: and .{3,30})?|"
    r"limitations?|acknowledge?ments?|references|bibliography|appendix|appendices|"
    r"supplementary materials?|ethics statement|broader impact(?: statement)?|summary)[.:]?",
    re.IGNORECASE,
)


def passages(text: Sequence[FlowLine], style: Style) -> list[Passage]:
    """Headings, paragraphs and notes in order; a paragraph goes on over columns and pages."""
    known = vocabulary(line.text for line in text)
    found: list[Passage] = []
    paragraph: list[FlowLine] = []
    asides = _notes(text, style)
    last: FlowLine | None = None

    def close() -> None:
        nonlocal paragraph
        if paragraph:
            whole = joined_text([line.text for line in paragraph], known)
            found.append(Passage(0, whole, tuple(paragraph)))
            paragraph = []

    index = 0
    while index < len(text):
        line = text[index]
        if index in asides:
            end = asides[index]
            note = tuple(text[index:end])
            found.append(Passage(-1, joined_text([part.text for part in note], known), note))
            index = end
            continue
        heading = _heading(text, index, style, last)
        if heading:
            close()
            found.append(heading)
            index += len(heading.lines)
            last = heading.lines[-1]
            continue
        if paragraph and _new_paragraph(paragraph[-1], line, style):
            close()
        paragraph.append(line)
        last = line
        index += 1
    close()
    return found


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """The words of a paper as they stand within lines, those with inner hyphens too."""
    words: set[str] = set()
    parted = False
    for text in texts:
        found = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text)
        found = found[1:] if parted else found
        parted = text.endswith(("-", "‐", "\u00ad"))
        words.update(word.casefold() for word in (found[:-1] if parted else found))
    return frozenset(words)


def _same_column(first: FlowLine, second: FlowLine) -> bool:
    return first.frame.page.number == second.frame.page.number and first.side == second.side


def _new_paragraph(last: FlowLine, line: FlowLine, style: Style) -> bool:
    size = style.size
    if not _same_column(last, line) or line.line.y < last.line.y:
        # Over a column's or page's end a paragraph goes on unless it plainly ended.
        ended = last.text.endswith((".", ":", "!", "?")) and last.line.x1 < last.right - 4 * size
        indented = line.line.x0 > line.left + 0.8 * size
        return ended or (indented and last.text.endswith((".", ":", "?", "!")))
    step = line.line.y - last.line.y
    if step > 1.75 * max(size, line.line.size):
        return True
    indented = line.line.x0 > line.left + 0.8 * size and last.line.x0 < line.left + 0.5 * size
    bullet = re.match(r"[•◦∙·–-]\s|\(?\d{1,2}[.)]\s|\[\d{1,3}\]", line.text) is not None
    short = last.line.x1 < last.right - 3 * size and last.text.endswith((".", ":"))
    return (
        (indented and (short or last.text.endswith((".", ":", "?"))))
        or bullet
        or (short and step > 1.35 * line.line.size)
    )


def _heading(
    text: Sequence[FlowLine], index: int, style: Style, last: FlowLine | None
) -> Passage | None:
    """The heading that begins here, its further lines joined; None where none does."""
    first = text[index]
    if not _looks_set_apart(first, style) or not _starts_block(first, last, style):
        return None
    body = [first]
    for line in text[index + 1 : index + 4]:
        step = line.line.y - body[-1].line.y
        if not (
            _same_column(first, line)
            and 0 < step < 1.6 * first.line.size
            and _looks_set_apart(line, style)
            and line.line.font == first.line.font
            and abs(line.line.size - first.line.size) < 0.4
            and not _NUMBERED.fullmatch(line.text)
        ):
            break
        body.append(line)
    title = joined_text([line.text for line in body])
    numbered = _NUMBERED.fullmatch(title)
    if not re.search(r"[^\W\d_]{2}", title) or len(title) > 150:
        return None
    if numbered:
        letters = numbered["title"]
        if (not letters[:1].isupper() and not letters[:1].isdigit()) or _is_sentence(letters):
            return None
        return Passage(1 + numbered["number"].count("."), title, tuple(body))
    if _KNOWN.fullmatch(title):
        return Passage(1, title.rstrip(":."), tuple(body))
    large = first.line.size > style.size + 0.7
    if _is_sentence(title) or not title[:1].isupper() or len(body) > 2:
        return None
    return Passage(1 if large else 2, title, tuple(body)) if large or first.line.bold else None


def _looks_set_apart(line: FlowLine, style: Style) -> bool:
    letters = [word for word in line.line.words if re.search(r"[^\W\d_]", word.text)]
    if not letters:
        return False
    heavy = all(word.bold for word in letters)
    larger = line.line.size > style.size + 0.7
    capitals = line.text.upper() == line.text and len(line.text) > 4
    known = _KNOWN.fullmatch(line.text) is not None
    numbered = _NUMBERED.fullmatch(line.text)
    numbered_capitals = bool(numbered) and numbered["title"].upper() == numbered["title"]
    other_font = all(word.font != style.font for word in letters)
    return (
        heavy
        or larger
        or (capitals and (known or numbered_capitals))
        or (known and other_font)
        or (bool(numbered) and numbered_capitals and len(numbered["title"]) > 3)
    )


def _starts_block(line: FlowLine, last: FlowLine | None, style: Style) -> bool:
    if last is None or not _same_column(last, line) or line.line.y < last.line.y:
        return True
    step = line.line.y - last.line.y
    alike = last.line.font == line.line.font and abs(last.line.size - line.line.size) < 0.4
    if alike and step < 1.6 * line.line.size and not _NUMBERED.match(line.text):
        return False
    return step > 1.15 * style.size or line.line.size > style.size + 0.7


def _is_sentence(text: str) -> bool:
    return text.endswith((",", ";")) or (text.endswith(".") and len(text.split()) > 2)


def _notes(text: Sequence[FlowLine], style: Style) -> dict[int, int]:
    """Notes at the foot of a page or a table, as first line to end: small type, begun by a mark."""
    notes: dict[int, int] = {}
    start = 0
    while start < len(text):
        end = start + 1
        if _is_note(text[start], style):
            while end < len(text) and _goes_on_small(text[end - 1], text[end], style):
                end += 1
            if any(line.line.size > style.size - 0.7 for line in text[:start]):
                notes[start] = end
        start = end
    return notes


_NOTE = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉ*†‡§¶∗]")
_CONTINUED = re.compile(r"\(?(?:table )?continue[sd](?: on (?:the )?next page)?\)?", re.IGNORECASE)


def _is_note(line: FlowLine, style: Style) -> bool:
    return line.line.size <= style.size - 0.7 and _NOTE.match(line.text) is not None


def _goes_on_small(last: FlowLine, line: FlowLine, style: Style) -> bool:
    step = line.line.y - last.line.y
    near = _same_column(last, line) and 0 < step < 1.5 * line.line.size
    return near and line.line.size <= style.size - 0.7 and not _is_note(line, style)
