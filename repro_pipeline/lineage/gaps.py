"""What a paper says and leaves unsaid of its experiments, by a checklist and rules alone.

    gaps = find_gaps(paper, load_checklist())

Every statement is shown with its span: a sentence of the paper, or a row of a table. A rule sees words,
not meaning: `missing` says that no sentence was found, and a person or a model may know better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from repro_pipeline.bundle.terms import Influence
from repro_pipeline.frozen import Frozen
from repro_pipeline.lineage.checklist import Checklist, Item, compiled
from repro_pipeline.paper.citations import sentences
from repro_pipeline.paper.model import Paper, Provenance, Table

_ENOUGH_SIGNS = 3
"""Sentences with a sign of a kind from which on the paper's experiments are of it."""
_SENTENCES_PER_SIGN = 20
"""In a paper too short for so many, one of this many sentences is enough."""
_LONGEST_SENTENCE = 1200
_MOST_SPANS = 3
_SHORT = 2
"""Cells of a table's row up to which it may be read as a sentence: `Optimizer | Adam`."""
_NAME = re.compile(r"\b(?:\w*[A-Z]\w*[A-Z0-9]\w*(?:-\w+)*|[A-Za-z]+-\d+)\b")
"""A data set's, model's or method's name as papers write them: MNIST, ResNet-50, CIFAR-10, word2vec."""
_RESTATES = re.compile(r"abstract$|table\b", re.IGNORECASE)
_SLIP = 1000
"""From this number on, the same one with two units (20000 epochs, 20000 iterations) is no coincidence."""


class GapStatus(StrEnum):
    """Whether the paper says an item of the checklist."""

    STATED = "stated"
    CONTRADICTED = "contradicted"
    MISSING = "missing"
    NOT_APPLICABLE = "not_applicable"


class Span(Frozen):
    """Where a paper says something."""

    section: str
    """The section's title, or the table's name."""
    text: str
    """The sentence, or the row's cells parted by ` | `."""
    value: str | None = None
    """The value that it states, where the checklist says how to read it."""
    provenance: Provenance | None = None


class Gap(Frozen):
    """An item of the checklist, and what the paper says of it."""

    item: str
    question: str
    status: GapStatus
    influence: Influence
    spans: tuple[Span, ...] = ()
    """Those that state it, the plainest first; the two that differ where they contradict."""
    why: str = ""


class Gaps(Frozen):
    """The whole checklist, for one paper."""

    title: str
    kinds: tuple[str, ...]
    """The kinds of experiment that the paper's words show."""
    items: tuple[Gap, ...]

    @property
    def missing(self) -> tuple[Gap, ...]:
        """What applies and is not said, the most influential first."""
        order = [Influence.HIGH, Influence.MEDIUM, Influence.LOW]
        left = [gap for gap in self.items if gap.status is GapStatus.MISSING]
        return tuple(sorted(left, key=lambda gap: order.index(gap.influence)))


@dataclass(frozen=True)
class _Sentence:
    """A place that may state items: what is shown of it, and what patterns are searched in."""

    span: Span
    words: str
    order: int
    """0 where it stands among settings, 1 elsewhere."""
    own: bool
    """Whether its section speaks of the paper's own experiments."""


def find_gaps(paper: Paper, checklist: Checklist) -> Gaps:
    """Every item of the checklist: stated, contradicted, missing or not applicable."""
    said = tuple(_sentences(paper, checklist))
    kinds = kinds_of(paper, checklist)
    return Gaps(
        title=paper.title,
        kinds=kinds,
        items=tuple(_gap(item, said, paper.tables, kinds, checklist) for item in checklist.items),
    )


def kinds_of(paper: Paper, checklist: Checklist) -> tuple[str, ...]:
    """The kinds of experiment that enough sentences of the paper show."""
    texts = [paper.title, *sentences(paper.abstract)]
    texts += [one for section in paper.sections for one in sentences(section.text)]
    texts = [text for text in texts if not compiled(checklist.unlike).search(text)]
    enough = min(_ENOUGH_SIGNS, max(1, len(texts) // _SENTENCES_PER_SIGN))
    return tuple(
        name
        for name, kind in checklist.kinds.items()
        if sum(any(compiled(sign).search(text) for sign in kind.signs) for text in texts) >= enough
    )


def _sentences(paper: Paper, checklist: Checklist) -> Iterator[_Sentence]:
    """The sentences of a paper that are not about others, and the short rows of its tables."""
    places = [("abstract", paper.abstract, None)]
    places += [(s.title, s.text, s.provenance) for s in paper.sections]
    places += [(str(table), table.caption, table.provenance) for table in paper.tables]
    places += [(figure.number or "figure", figure.text, None) for figure in paper.figures]
    for title, text, provenance in places:
        own = not compiled(checklist.elsewhere).search(title)
        order = 0 if compiled(checklist.setup).search(title) else 1
        for sentence in sentences(text):
            if not compiled(checklist.unlike).search(sentence):
                plain = " ".join(sentence.split())[:_LONGEST_SENTENCE]
                span = Span(section=title, text=plain, provenance=provenance)
                yield _Sentence(span, words_of(plain, checklist), order, own)
    for table in paper.tables:
        for heading, cells in _lines_of(table):
            filled = [cell for cell in cells if cell.strip(" -–—")]
            if heading and 0 < len(filled) <= _SHORT:
                text = " | ".join([heading, *filled])[:_LONGEST_SENTENCE]
                span = Span(section=str(table), text=text, provenance=table.provenance)
                yield _Sentence(span, words_of(" ".join([heading, *filled]), checklist), 0, True)


def words_of(sentence: str, checklist: Checklist) -> str:
    """A sentence as patterns are to see it: minus signs as hyphens, and without what is ignored."""
    text = re.sub(r"[−‐‑]", "-", sentence)
    text = re.sub(r"(?<=\d)\s*e\s*-\s*(?=\d)", "e-", text)
    text = re.sub(r"\^\{?\s*-\s*(?=\d)", "^{-", text)
    for pattern in checklist.ignore:
        text = compiled(pattern).sub(" ", text)
    return " ".join(text.split())


def _gap(
    item: Item,
    said: Sequence[_Sentence],
    tables: Sequence[Table],
    kinds: Sequence[str],
    checklist: Checklist,
) -> Gap:
    base = {"item": item.id, "question": item.question, "influence": item.influence}
    applies = not item.for_ or bool(set(item.for_) & set(kinds))
    places = said if applies or not item.only else ()
    found = [one for one in places if (one.own or item.anywhere) and states(item, one.words)]
    spans = [one.span.model_copy(update={"value": value_in(item, one.words)}) for one in found]
    rows = tuple(_rows(item, tables)) if applies else ()
    if not spans and not rows and not applies:
        why = f"The experiments are not of the kind {' or '.join(item.for_)}."
        return Gap(**base, status=GapStatus.NOT_APPLICABLE, why=why)
    if not spans and not rows:
        counts = (f"{len(said)} sentence{'s' * (len(said) != 1)}", len(tables))
        why = f"None of {counts[0]} and {counts[1]} table{'s' * (len(tables) != 1)} says it."
        return Gap(**base, status=GapStatus.MISSING, why=why)
    if differing := _differing([*spans, *rows], checklist):
        values = " and ".join(str(span.value) for span in differing)
        why = f"Two places give different values, {values}."
        return Gap(**base, status=GapStatus.CONTRADICTED, spans=differing, why=why)
    orders = [*(one.order for one in found), *(0 for _ in rows)]
    ranked = sorted(
        zip(orders, [*spans, *rows], strict=True),
        key=lambda pair: (pair[1].value is None, pair[0], len(pair[1].text)),
    )
    shown = tuple(span for _, span in ranked[:_MOST_SPANS])
    return Gap(**base, status=GapStatus.STATED, spans=shown)


def states(item: Item, words: str) -> bool:
    """Whether a sentence, as `words_of` gives it, states an item."""
    return any(compiled(pattern).search(words) for pattern in item.states) and not _unlike(
        item, words
    )


def _unlike(item: Item, words: str) -> bool:
    return any(compiled(pattern).search(words) for pattern in item.unless)


def value_in(item: Item, words: str) -> str | None:
    """The value that a sentence states, with its unit; None where it states several or none."""
    found = list(compiled(item.value).finditer(words)) if item.value else []
    if len(found) != 1:
        return None
    return " ".join(group for group in found[0].groups() if group)


def _rows(item: Item, tables: Sequence[Table]) -> Iterator[Span]:
    """Rows and columns of tables whose heading names the item, with something in a cell."""
    if item.named is None:
        return
    for table in tables:
        for heading, cells in _lines_of(table):
            filled = [cell for cell in cells if cell.strip(" -–—")]
            if item.cell is not None:
                filled = [cell for cell in filled if compiled(item.cell).search(cell)]
            named = heading and compiled(item.named).search(heading)
            if named and filled and not _unlike(item, heading):
                text = " | ".join([heading, *filled])[:_LONGEST_SENTENCE]
                value = filled[0] if len(filled) == 1 and _NUMBER.fullmatch(filled[0]) else None
                yield Span(section=str(table), text=text, value=value, provenance=table.provenance)
                break


def _lines_of(table: Table) -> Iterator[tuple[str, list[str]]]:
    """Each row and each column of a table: its nearest heading, and the texts of its cells.

    A table that was read as one column is a list: each cell may be the heading of the next.
    """
    rows, columns = table.shape
    if columns == 1:
        cells = [row[0].text for row in table.grid]
        yield from ((name, [cell]) for name, cell in pairwise(cells))
        return
    for row in range(table.header_rows, rows):
        headers = table.row_headers(row)
        cells = [cell.text for cell in table.grid[row][table.header_columns :] if not cell.spanned]
        yield headers[-1] if headers else "", cells
    for column in range(table.header_columns, columns):
        headers = table.column_headers(column)
        cells = [line[column].text for line in table.grid[table.header_rows :]]
        yield headers[-1] if headers else "", cells


_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?|\.\d+")


def _differing(spans: Sequence[Span], checklist: Checklist) -> tuple[Span, Span] | None:
    """Two places about the same experiment that state different values of one item.

    Cautious, since a paper has several experiments: words like `for the large model`, a name that
    stands in one place only, and three values or more are reasons to believe that they are no slip.
    """
    limited = compiled(checklist.contradictions.never_about)
    valued = [(found, span) for span in spans if (found := _canonical(span.value or ""))]
    values: dict[tuple[float, str], Span] = {}
    for found, span in valued:
        if not limited.search(span.text):
            values.setdefault(found, span)
    if len(values) == 2 and len({unit for _, unit in values}) == 1:
        first, second = values.values()
        if _same_names(first, second, checklist):
            return first, second
    return _slip(valued)


def _slip(valued: Sequence[tuple[tuple[float, str], Span]]) -> tuple[Span, Span] | None:
    """One large number with two units, as 20000 epochs and 20000 iterations."""
    for place, ((number, unit), first) in enumerate(valued):
        for (other, another), second in valued[place + 1 :]:
            if number == other >= _SLIP and unit and another and unit != another:
                return first, second
    return None


def _same_names(first: Span, second: Span, checklist: Checklist) -> bool:
    """Whether two places seem to be about the same experiment: no name stands in one of them only.

    Two sections of one title (`Setup`, twice), or two of which one is not about the setup, are about two
    experiments; the abstract and the tables restate.
    """
    if (first.section, first.provenance) != (second.section, second.provenance):
        titles = [first.section, second.section]
        described = [compiled(checklist.setup).search(title) for title in titles]
        restated = any(_RESTATES.match(title) for title in titles)
        if titles[0] == titles[1] or not (restated or all(described)):
            return False
    free = compiled(checklist.contradictions.same_names)
    names = [
        {
            name
            for name in _NAME.findall(f"{span.section}. {span.text}")
            if not free.search(name) and not name.isdigit()
        }
        for span in (first, second)
    ]
    return names[0] == names[1]


def _canonical(value: str) -> tuple[float, str] | None:
    """The number and the unit of a value: `60k steps`, `3 × 10^{-4}`, `1e-3`, `7,500 epochs`."""
    found = _VALUE.fullmatch(value.strip())
    if not value.strip() or not found:
        return None
    mantissa, thousand, power, unit = found.groups()
    number = float(mantissa.replace(",", "")) if mantissa else 1.0
    number *= 1000 if thousand else 1
    number = float(f"{number}e{power}") if power else number
    return float(f"{number:.6g}"), (unit or "").rstrip("s")


_VALUE = re.compile(
    r"(\d[\d,]*\.?\d*(?:e-?\d+)?|\.\d+)?(k)?\s*(?:[×x]?\s*10\^?\{?(-?\d+)\}?)?\s*([a-z]+)?"
)
