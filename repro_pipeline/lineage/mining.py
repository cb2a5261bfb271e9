"""Fill what a paper leaves unsaid from the works that it builds upon, each filling with its evidence.

Trusted in this order: the text of a cited work, its code (read, not run), the library's default at the
paper's date, convention, a model. All that was found is kept; what nobody says stays a named gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from repro_pipeline.bundle.terms import AssumptionSource
from repro_pipeline.ledger.assumption import Assumption, Candidate
from repro_pipeline.lineage.assumptions import filled_in, line_of
from repro_pipeline.lineage.checklist import Checklist, Item, compiled
from repro_pipeline.lineage.defaults import Default, holds, unsaid
from repro_pipeline.lineage.gaps import Gaps, GapStatus, states, value_in, words_of
from repro_pipeline.lineage.mine_code import settings_of, snake
from repro_pipeline.lineage.model import Lineage, OpenGap
from repro_pipeline.paper.citations import sentences

TRUST = ("reference", "reference_code", "framework_default", "convention", "model")
_CODE = {".py", ".yaml", ".yml", ".json"}
_LONGEST_QUOTE = 400
_LONGEST_VALUE = 120
_MOST = 12
"""Candidates of one kind of source that are kept for one item."""


def mine(
    gaps: Gaps,
    checklist: Checklist,
    texts: Mapping[str, str],
    lineage: Lineage,
    defaults: Sequence[Default],
    *,
    year: int | None,
    covered: frozenset[str] = frozenset(),
) -> tuple[tuple[Assumption, ...], tuple[OpenGap, ...]]:
    """An assumption for each missing item that a source speaks of, and the gaps that none does.

    `texts` are reference texts and code, name → content; `covered` are items that somebody has
    already assumed something for. Influential items come first.
    """
    items = {item.id: item for item in checklist.items}
    said = " ".join(span.text for gap in gaps.items for span in gap.spans)
    assumptions, left = [], []
    for gap in gaps.missing:
        if gap.item in covered:
            continue
        item = items[gap.item]
        found = _candidates(item, checklist, texts, lineage) if item.taken else []
        found += [
            _of_default(default, value)
            for default in defaults
            if default.item == item.id and holds(default, said, gaps.kinds, year)
            if (value := unsaid(default.value, said))
        ]
        if found:
            assumptions.append(_chosen(item, found))
        else:
            left.append(OpenGap(item=gap.item, question=gap.question, influence=gap.influence))
    return tuple(assumptions), tuple(left)


def contradicted(gaps: Gaps) -> tuple[str, ...]:
    """A sentence for each item that the paper says in two ways."""
    return tuple(
        f"The paper contradicts itself on {gap.item}: "
        + " / ".join(f"'{span.text[:160]}' ({span.section})" for span in gap.spans)
        for gap in gaps.items
        if gap.status is GapStatus.CONTRADICTED
    )


def _candidates(
    item: Item, checklist: Checklist, texts: Mapping[str, str], lineage: Lineage
) -> list[Candidate]:
    """What texts say of an item, then what code does: of the works with the highest rank first."""
    keys = [ranked.key for ranked in lineage.ranked]
    files = {ranked.local_file: ranked.key for ranked in lineage.ranked if ranked.local_file}

    def place(name: str) -> int:
        key = _key_of(name, files, keys)
        return keys.index(key) if key else len(keys)

    by_text: list[Candidate] = []
    by_code: list[Candidate] = []
    for name in sorted(texts, key=lambda name: (place(name), name)):
        key = _key_of(name, files, keys)
        if Path(name).suffix in _CODE:
            by_code += _in_code(item, name, texts[name], key)
        else:
            by_text += _in_text(item, checklist, name, texts[name], key)
    return by_text[:_MOST] + by_code[:_MOST]


def _key_of(name: str, files: Mapping[str, str], keys: Sequence[str]) -> str | None:
    """The reference that a file belongs to: by its head or name, or by the folder that it lies in."""
    if name in files:
        return files[name]
    return next((part for part in Path(name).parts[:-1] if part in keys), None)


def _in_text(
    item: Item, checklist: Checklist, name: str, text: str, key: str | None
) -> Iterator[Candidate]:
    for sentence in sentences(_without_head(text)):
        quote = " ".join(sentence.split())
        words = words_of(quote, checklist)
        if len(quote) > _LONGEST_QUOTE or not states(item, words):
            continue
        source = AssumptionSource(
            kind="reference",
            reference=key,
            file=name,
            line=line_of(quote, text, near=None),
            quote=quote,
        )
        value = value_in(item, words)
        yield Candidate(value=_typed(value) if value else quote[:_LONGEST_VALUE], source=source)


def _in_code(item: Item, name: str, text: str, key: str | None) -> Iterator[Candidate]:
    if item.code is None:
        return
    lines = text.splitlines()
    for setting in settings_of(name, text):
        if compiled(item.code).fullmatch(snake(setting.name)):
            yield Candidate(
                value=setting.value,
                source=AssumptionSource(
                    kind="reference_code",
                    reference=key,
                    file=name,
                    line=setting.line,
                    quote=lines[setting.line - 1].strip()[:_LONGEST_QUOTE] or None,
                    note=f"{setting.name}: {setting.how}",
                ),
            )


def _of_default(default: Default, value: str) -> Candidate:
    kind = "framework_default" if default.library else "convention"
    return Candidate(value=_typed(value), source=AssumptionSource(kind=kind, note=default.source))


def _chosen(item: Item, found: Sequence[Candidate]) -> Assumption:
    """The most trusted candidate as an assumption, the others beside it."""
    ordered = sorted(found, key=lambda one: TRUST.index(one.source.kind))
    first = ordered[0]
    others = tuple(dict.fromkeys(one.value for one in ordered if one.value != first.value))
    return Assumption(
        id=item.id,
        topic=item.id,
        statement=filled_in(item.question, first.value),
        value=first.value,
        alternatives=others,
        source=first.source,
        influence=item.influence,
        proposed_by="lineage",
        source_found=True if first.source.quote else None,
        candidates=tuple(ordered),
        why=_why(first, ordered, others),
    )


def _why(first: Candidate, ordered: Sequence[Candidate], others: Sequence[object]) -> str:
    source = first.source
    where = {
        "reference": f"the text of '{source.reference or source.file}' says it",
        "reference_code": f"the code of '{source.reference or source.file}' does it",
        "framework_default": "the library does it where nothing is said",
        "convention": "the field does it where nothing is said",
    }[source.kind]
    beside = f" {len(ordered) - 1} more found, {len(others)} with another value." * (
        len(ordered) > 1
    )
    return f"The most trusted source: {where}.{beside}"


def _typed(value: str) -> str | int | float:
    """A value read from words, as a number where it is one."""
    plain = value.replace(",", "")
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        return float(plain)
    except ValueError:
        return value


def _without_head(text: str) -> str:
    """A text without the block of keys that it begins with; as many lines stay."""
    head = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
    return "\n" * text.count("\n", 0, head.end()) + text[head.end() :] if head else text
