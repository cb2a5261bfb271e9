"""The list of references: lines to entries, and a key for each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from statistics import median

from repro_pipeline.paper.citations import reference_from_text
from repro_pipeline.paper.model import Reference
from repro_pipeline.paper.pdf.captions import joined_text
from repro_pipeline.paper.pdf.flow import FlowLine

_BRACKETED = re.compile(r"\[(?P<key>\d{1,3}|[A-Z][\w+’'.-]{1,12}\d{2}[a-z]?)\]\s*")
_COUNTED = re.compile(r"(?P<key>\d{1,3})\.?\s+(?=[A-Z‘“\"])")


def references(lines: Sequence[FlowLine], known: frozenset[str]) -> tuple[Reference, ...]:
    """The entries of a list of references, in order. Keys are the printed numbers, else made."""
    entries = _entries(lines)
    found = [_reference(joined_text([line.text for line in entry], known)) for entry in entries]
    keys: set[str] = set()
    result = []
    for reference in found:
        key = reference.key
        if key in keys:
            key = next(
                f"{reference.key}-{count}"
                for count in range(2, len(found) + 2)
                if f"{reference.key}-{count}" not in keys
            )
        keys.add(key)
        result.append(reference.model_copy(update={"key": key}))
    return tuple(result)


def _entries(lines: Sequence[FlowLine]) -> list[list[FlowLine]]:
    """Lines grouped to entries: by printed numbers, else by hanging indents, else by gaps."""
    if not lines:
        return []
    for pattern in (_BRACKETED, _COUNTED):
        starts = [bool(pattern.match(line.text)) for line in lines]
        if sum(starts) >= 3 and (starts[0] or starts[1:2] == [True]) and _rising(lines, pattern):
            return _cut(lines, starts)
    return _cut(lines, _starts_by_indent(lines) or _starts_by_gap(lines))


def _rising(lines: Sequence[FlowLine], pattern: re.Pattern[str]) -> bool:
    keys = [match["key"] for line in lines if (match := pattern.match(line.text))]
    numbers = [int(key) for key in keys if key.isdigit()]
    if not numbers:
        return pattern is _BRACKETED
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    return sum(step == 1 for step in steps) >= 0.8 * len(steps)


def _cut(lines: Sequence[FlowLine], starts: Sequence[bool]) -> list[list[FlowLine]]:
    entries: list[list[FlowLine]] = []
    for line, start in zip(lines, starts, strict=True):
        if start or not entries:
            entries.append([])
        entries[-1].append(line)
    return entries


def _starts_by_indent(lines: Sequence[FlowLine]) -> list[bool] | None:
    """Entries begin at a column's left edge, their further lines are indented."""
    edges: dict[tuple[int, int], float] = {}
    for line in lines:
        column = (line.frame.page.number, line.side)
        edges[column] = min(edges.get(column, line.line.x0), line.line.x0)
    indents = [line.line.x0 - edges[line.frame.page.number, line.side] for line in lines]
    hanging = sum(4 < indent < 40 for indent in indents)
    if hanging < 0.3 * len(lines):
        return None
    return [indent < 3 for indent in indents]


def _starts_by_gap(lines: Sequence[FlowLine]) -> list[bool]:
    """Entries are parted by more space than lines, or begin a column after a finished entry."""
    steps = [
        after.line.y - before.line.y
        for before, after in itertools.pairwise(lines)
        if after.line.y > before.line.y
    ]
    usual = median(steps) if steps else 12.0
    usual = min(usual, 1.35 * lines[0].line.size)
    starts = [True]
    for before, after in itertools.pairwise(lines):
        step = after.line.y - before.line.y
        new_column = step <= 0 or after.frame.page.number != before.frame.page.number
        if new_column:
            starts.append(before.text.endswith(".") and re.match(r"[A-Z]", after.text) is not None)
        else:
            starts.append(step > 1.2 * usual)
    return starts


def _reference(text: str) -> Reference:
    numbered = _BRACKETED.match(text) or _COUNTED.match(text)
    rest = text[numbered.end() :].strip() if numbered else text.strip()
    reference = reference_from_text(numbered["key"] if numbered else "", rest, blocks=_blocks(rest))
    return reference if numbered else reference.model_copy(update={"key": _made_key(reference)})


_YEAR = re.compile(r"(?<![\w:–.-])\(?(?:19\d\d|20[0-3]\d)[a-z]?\)?[.,:]\s")
_PROSE = re.compile(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}")


def _blocks(text: str) -> tuple[str, ...]:
    """Authors, title and the rest of an entry; empty where they are not clear."""
    quoted = re.search(r"[“\"](?P<title>[^”\"]{8,300}?)[,.]?[”\"]", text)
    if quoted:
        return text[: quoted.start()], quoted["title"], text[quoted.end() :]
    dated = _YEAR.search(text)
    if dated and dated.start() > 3 and not _PROSE.search(text[: dated.start()]):
        start = dated.end()
        authors = text[: dated.start()]
    else:
        start = _end_of_names(text)
        authors = text[:start]
    title = re.match(r".{6,300}?(?:[?!]|\.)(?=\s|$)", text[start:])
    if not start or not title:
        return ()
    authors = re.sub(r",?\s*\bet al\.?\s*$", "", authors.rstrip(" .,("))
    return authors, title[0].strip(" ."), text[start + title.end() :]


def _end_of_names(text: str) -> int:
    """Where the authors end: at a full stop behind a word that is no initial."""
    for match in re.finditer(r"(?:\bet al)?[.:]\s", text):
        word = re.search(r"[\w’'-]+$", text[: match.start()])
        if match[0].startswith("et al") or (
            word and len(word[0]) > 1 and word[0] not in ("Jr", "St")
        ):
            return match.end() if not _PROSE.search(text[: match.start()]) else 0
    return 0


def _made_key(reference: Reference) -> str:
    """Family name of the first author and year, as `breiman2001a`."""
    words = reference.authors[0].split() if reference.authors else reference.text.split()[:1]
    family = re.sub(r"\W", "", words[-1].casefold()) if words else ""
    year = str(reference.year or "")
    letter = re.search(rf"{year}([a-z])\b", reference.text) if year else None
    return (family or "ref") + year + (letter[1] if letter else "")
