"""The first page: title, authors, year."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repro_pipeline.paper.pdf.captions import joined_text
from repro_pipeline.paper.pdf.flow import FlowLine, Style

_ENDS_FRONT = re.compile(
    r"(?:[\dI]\.?\s+)?(?:abstract|introduction|summary|contents)\b", re.IGNORECASE
)
_FIRST_SECTION = re.compile(r"[1I]\.?\s+[A-Z][a-zA-Z]{2}")
_AFFILIATION = re.compile(
    r"universit|institut|department|school|college|laborator|\blabs?\b|research|google|microsoft|inc\.|"
    r"academy|corporation|faculty|centre|center|@|https?:|^\W*\d+$|correspond|equal contribution|"
    r"under (?:double-blind )?review|\bjournal\b|volume|proceedings|conference|published|accepted|"
    r"preprint|restated|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿᵃᵇᶜᵈᵉ*∗†‡§¶‖♠♣♥♦]+,?")


def front_matter(
    first_page: Sequence[FlowLine], style: Style, known: frozenset[str]
) -> tuple[str, tuple[str, ...], list[FlowLine]]:
    """Title, authors, and the lines that they take up with all others before the abstract."""
    head: list[FlowLine] = []
    for line in first_page:
        named = _ENDS_FRONT.match(line.text) and (line.line.bold or len(line.text) < 40)
        if named or (_FIRST_SECTION.match(line.text) and line.line.bold):
            break
        head.append(line)
    else:
        head = head[:12]
    title_lines = _title_lines(head, style)
    if not title_lines:
        return "", (), []
    title = joined_text([line.text for line in title_lines], known)
    after = head[head.index(title_lines[-1]) + 1 :]
    return _MARKS.sub("", title).strip(), _authors(after), head


def _title_lines(head: Sequence[FlowLine], style: Style) -> list[FlowLine]:
    large = [line for line in head if re.search(r"[^\W\d_]{3}", line.text)]
    if not large:
        return []
    size = max(line.line.size for line in large)
    if size < style.size + 0.8:
        return [large[0]]
    start = next(index for index, line in enumerate(head) if line.line.size == size)
    found = [head[start]]
    for line in head[start + 1 :]:
        near = line.line.y - found[-1].line.y < 2.2 * size
        # Small capitals: a line without a capital has the smaller size only.
        smaller = line.line.size < 0.75 * size or not line.text.isupper()
        if (smaller and abs(line.line.size - size) > 0.12 * size) or not near:
            break
        found.append(line)
    return found


def _authors(lines: Sequence[FlowLine]) -> tuple[str, ...]:
    """Names among the lines below the title: two to five capitalised words, no affiliation."""
    names: list[str] = []
    for line in lines[:14]:
        for part in _parts(line):
            clean = _MARKS.sub(",", part).replace("·", ",")
            for piece in re.split(r",|;|\band\b|&", clean):
                name = piece.strip(" .")
                if _is_name(name) and name not in names:
                    names.append(name)
    return tuple(names)


def _parts(line: FlowLine) -> list[str]:
    """The line cut at wide gaps, which part names set side by side."""
    parts: list[list[str]] = [[]]
    last = None
    for word in line.line.words:
        if last is not None and word.x0 - last.x1 > 0.8 * word.size:
            parts.append([])
        parts[-1].append(word.text)
        last = word
    texts = [" ".join(part) for part in parts]
    return (
        []
        if _AFFILIATION.search(line.text) and len(texts) < 2
        else [text for text in texts if not _AFFILIATION.search(text)]
    )


_NAME_WORD = re.compile(
    r"(?:[^\W\d_a-z](?:[^\W\d_]|['’-])*\.?|[A-Z]\.(?:-?[A-Z]\.)*|van|von|de|der|den|del|della|da|di|la|le|"
    r"bin|ibn|al|el|dos|du|ten|ter)"
)


def _is_name(text: str) -> bool:
    words = text.split()
    if not 2 <= len(words) <= 5 or re.search(r"\d", text):
        return False
    lower = {"the", "of", "for", "anonymous", "authors"}
    return all(_NAME_WORD.fullmatch(word) for word in words) and not (
        {word.casefold() for word in words} & lower
    )


def year_of(margins: Sequence[str], head: Sequence[FlowLine]) -> int | None:
    """The year that the pages' margins state, else the lines around the title."""
    for text in (*margins, *(line.text for line in head)):
        match = re.search(r"(?<![\d.])(19[5-9]\d|20[0-4]\d)(?![\d.])", text)
        if match:
            return int(match[1])
    return None
