"""What a paper says and leaves unsaid of its experiments, by a checklist and rules alone.

    gaps = find_gaps(paper, load_checklist())

Every statement is shown with its span: a sentence of the paper, or a row of a table. A rule sees words,
not meaning: `missing` says that no sentence was found, and a person or a model may know better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from repro_pipeline.frozen import Frozen
from repro_pipeline.lineage.checklist import Checklist, Item, compiled
from repro_pipeline.lineage.model import Influence
from repro_pipeline.paper.citations import sentences
from repro_pipeline.paper.model import Paper, Provenance, Table

_ENOUGH_SIGNS = 3
"""Sentences with a sign of a kind from which on the paper's experiments are of it."""
_LONGEST_SENTENCE = 1200
_MOST_SPANS = 3


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
    return tuple(
        name
        for name, kind in checklist.kinds.items()
        if sum(any(compiled(sign).search(text) for sign in kind.signs) for text in texts)
        >= _ENOUGH_SIGNS
    )


def _sentences(paper: Paper, checklist: Checklist) -> Iterator[Span]:
    """The sentences in which the paper may speak of its own experiments."""
    places = [("abstract", paper.abstract, None)]
    places += [(s.title, s.text, s.provenance) for s in paper.sections]
    places += [(str(table), table.caption, table.provenance) for table in paper.tables]
    places += [(figure.number or "figure", figure.text, None) for figure in paper.figures]
    for title, text, provenance in places:
        if compiled(checklist.elsewhere).search(title):
            continue
        for sentence in sentences(text):
            if not compiled(checklist.unlike).search(sentence):
                plain = " ".join(sentence.split())[:_LONGEST_SENTENCE]
                yield Span(section=title, text=plain, provenance=provenance)


def _gap(
    item: Item,
    said: Sequence[Span],
    tables: Sequence[Table],
    kinds: Sequence[str],
    checklist: Checklist,
) -> Gap:
    spans = [*(span for span in said if _states(item, span.text)), *_rows(item, tables)]
    spans = [span.model_copy(update={"value": _value(item, span.text)}) for span in spans]
    base = {"item": item.id, "question": item.question, "influence": item.influence}
    if not spans and item.for_ and not set(item.for_) & set(kinds):
        why = f"The experiments are not of the kind {' or '.join(item.for_)}."
        return Gap(**base, status=GapStatus.NOT_APPLICABLE, why=why)
    if not spans:
        why = f"None of {len(said)} sentences and {len(tables)} tables says it."
        return Gap(**base, status=GapStatus.MISSING, why=why)
    if differing := _differing(spans, checklist):
        values = " and ".join(str(span.value) for span in differing)
        why = f"Two sentences give different values, {values}."
        return Gap(**base, status=GapStatus.CONTRADICTED, spans=differing, why=why)
    plainest = sorted(spans, key=lambda span: (span.value is None, len(span.text)))
    return Gap(**base, status=GapStatus.STATED, spans=tuple(plainest[:_MOST_SPANS]))


def _states(item: Item, sentence: str) -> bool:
    return any(compiled(pattern).search(sentence) for pattern in item.states) and not any(
        compiled(pattern).search(sentence) for pattern in item.unless
    )


def _value(item: Item, text: str) -> str | None:
    found = compiled(item.value).search(text) if item.value else None
    return found[1] if found else None


def _rows(item: Item, tables: Sequence[Table]) -> Iterator[Span]:
    """Rows and columns of tables whose heading names the item, with something in a cell."""
    if item.named is None:
        return
    for table in tables:
        for heading, cells in _lines_of(table):
            filled = [cell for cell in cells if cell.strip(" -–—")]
            if heading and filled and compiled(item.named).search(heading):
                text = " | ".join([heading, *filled])[:_LONGEST_SENTENCE]
                yield Span(section=str(table), text=text, provenance=table.provenance)
                break


def _lines_of(table: Table) -> Iterator[tuple[str, list[str]]]:
    """Each row and each column of a table: its nearest heading, and the texts of its cells."""
    rows, columns = table.shape
    for row in range(table.header_rows, rows):
        headers = table.row_headers(row)
        cells = [cell.text for cell in table.grid[row][table.header_columns :] if not cell.spanned]
        yield headers[-1] if headers else "", cells
    for column in range(table.header_columns, columns):
        headers = table.column_headers(column)
        cells = [line[column].text for line in table.grid[table.header_rows :]]
        yield headers[-1] if headers else "", cells


def _differing(spans: Sequence[Span], checklist: Checklist) -> tuple[Span, Span] | None:
    """Two sentences about all experiments that state different values of one item."""
    limited = compiled(checklist.contradictions.never_about)
    values: Mapping[str, Span] = {}
    for span in spans:
        if span.value is None or limited.search(span.text):
            continue
        number = _canonical(span.value)
        values = {**values, number: values.get(number, span)}
    return tuple(list(values.values())[:2]) if len(values) > 1 else None  # type: ignore[return-value]


def _canonical(value: str) -> str:
    try:
        return repr(float(value.replace("−", "-").replace("–", "-").replace(" ", "")))
    except ValueError:
        return value
