"""The list of references: lines to entries, entries to authors, year, title and identifiers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from statistics import median

from repro_pipeline.paper.model import Reference
from repro_pipeline.paper.pdf.captions import joined_text
from repro_pipeline.paper.pdf.flow import FlowLine

_BRACKETED = re.compile(r"\[(?P<key>\d{1,3}|[A-Z][\w+’'.-]{1,12}\d{2}[a-z]?)\]\s*")
_COUNTED = re.compile(r"(?P<key>\d{1,3})\.?\s+(?=[A-Z‘“\"])")
_YEAR = re.compile(r"(?<![\w:–.-])(?P<year>19\d\d|20[0-3]\d)(?P<letter>[a-z])?(?![\w–-])")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;)]")
_ARXIV = re.compile(
    r"arxiv(?:\.org/(?:abs|pdf)/|[: ]+(?:preprint )?(?:arXiv:)?\s*|:)"
    r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+/\d{7})",
    re.IGNORECASE,
)


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
    rest = text[numbered.end() :] if numbered else text
    years = list(_YEAR.finditer(re.sub(r"arXiv:\S+|https?://\S+|10\.\d{4,9}/\S+", _blank, rest)))
    year = _year(rest, years)
    authors, title = _authors_and_title(rest, year)
    doi, arxiv = _DOI.search(text), _ARXIV.search(text)
    return Reference(
        key=numbered["key"] if numbered else _made_key(authors, year, rest),
        text=rest.strip(),
        title=title,
        authors=authors,
        year=int(year["year"]) if year else None,
        doi=doi[0] if doi else None,
        arxiv=arxiv["id"] if arxiv else None,
    )


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _year(text: str, years: Sequence[re.Match[str]]) -> re.Match[str] | None:
    """The year of publication: one in brackets, else one after the authors, else the last."""
    for match in years:
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        if (before == "(" and after == ")") or after == ";":
            return match
    early = [match for match in years if text[match.end() :][:1] == "." and match.start() < 300]
    return early[0] if early else (years[-1] if years else None)


def _authors_and_title(text: str, year: re.Match[str] | None) -> tuple[tuple[str, ...], str | None]:
    quoted = re.search(r"[“\"](?P<title>[^”\"]{8,300})[”\"]", text)
    if quoted:
        return _names(text[: quoted.start()]), quoted["title"].rstrip(",. ")
    if year is not None and _follows_authors(text, year):
        head = text[: year.start()].rstrip(" (")
        tail = text[year.end() :].lstrip(" ).,:")
        return _names(head), _sentence(tail)
    cut = _end_of_names(text)
    return _names(text[:cut]), _sentence(text[cut:].lstrip(" .,:"))


def _follows_authors(text: str, year: re.Match[str]) -> bool:
    head = text[: year.start()].rstrip(" (.,")
    early = year.start() < 0.6 * len(text) or text[year.end() :][:1] == "."
    if not early or len(text) - year.end() < 15:
        return False
    return len(_names(head)) > 0 and not re.search(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}", head)


def _end_of_names(text: str) -> int:
    """Where the authors end: a full stop that follows a word, not an initial."""
    for match in re.finditer(r"[.:]\s", text):
        word = re.search(r"[\w’'-]+$", text[: match.start()])
        if word and len(word[0]) > 1 and word[0] not in {"Jr", "et", "St"}:
            return match.end()
    return 0


def _sentence(text: str) -> str | None:
    match = re.match(r"(?P<title>.{8,300}?(?:[?!]|\.))(?:\s|$)", text)
    title = (match["title"] if match else text[:300]).strip().rstrip(".")
    return title or None


def _names(text: str) -> tuple[str, ...]:
    """Author names, as printed."""
    text = re.sub(r"\bet al\.?|\(eds?\.?\)|,\s*$", "", text).strip(" .,(")
    if not text or len(text) > 1500:
        return ()
    parts = re.split(r"\s*;\s*|,?\s+and\s+|,?\s*&\s*|,\s+", text)
    names: list[str] = []
    for part in (part.strip() for part in parts):
        initials = re.fullmatch(r"(?:[A-Z]\.?[- ]?){1,4}|Jr\.?|I{2,3}", part)
        if initials and names:
            names[-1] += f", {part}"
        elif part:
            names.append(part)
    plausible = all(len(name.split()) <= 6 and re.search(r"[A-Z]", name) for name in names)
    return tuple(names) if plausible else ()


def _made_key(authors: Sequence[str], year: re.Match[str] | None, text: str) -> str:
    """Family name of the first author and year, as `breiman2001a`."""
    first = authors[0] if authors else re.split(r"[,.\s]", text)[0]
    family = first.split(",")[0] if "," in first else first.split()[-1] if first.split() else "ref"
    letters = re.sub(r"[^\w]", "", family.casefold()) or "ref"
    return letters + (year["year"] + (year["letter"] or "") if year else "")
