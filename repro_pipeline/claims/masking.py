"""Hide results in running text: values, differences and ratios, and the words that tell who wins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Literal

from repro_pipeline.claims import context, cues
from repro_pipeline.claims.context import Sentence, sentences_of
from repro_pipeline.claims.numerals import Numeral, numerals
from repro_pipeline.claims.secrets import Hit, Secrets
from repro_pipeline.frozen import Frozen

MASK = "[masked]"


class MaskedSpan(Frozen):
    """A place that was hidden. For people and for scoring: it is never shown to a model."""

    where: str
    """The abstract, a section, a cell or a file."""
    start: int
    end: int
    """Characters in the text of that place."""
    kind: Literal["value", "result", "direction", "cell"]
    """`value`: it matches a hidden value; `result`: by its words; `direction`: who wins."""
    claims: tuple[str, ...] = ()
    hidden: str


class Reach(StrEnum):
    """How much of a text is hidden."""

    RESULTS = "results"
    """All that its words show to be a result, and who wins: abstract, results, captions."""
    SETUP = "setup"
    """Results, but not comparing words, which tell of choices there: methods, data, training."""
    VALUES = "values"
    """Only what matches a hidden value: works of others, code."""


def mask_text(
    text: str,
    secrets: Secrets,
    *,
    where: str,
    reach: Reach = Reach.RESULTS,
    quotes: Sequence[tuple[int, int]] = (),
) -> tuple[str, tuple[MaskedSpan, ...]]:
    """The text with its results hidden, and what was hidden where.

    In `quotes`, which are places of the text, every number that is a hidden value is hidden.
    """
    spans = _joined(sorted(_spans(text, secrets, where, reach, quotes), key=lambda one: one.start))
    pieces, position = [], 0
    for span in spans:
        pieces += [text[position : span.start], MASK]
        position = span.end
    return "".join([*pieces, text[position:]]), tuple(spans)


def _spans(
    text: str, secrets: Secrets, where: str, reach: Reach, quotes: Sequence[tuple[int, int]]
) -> Iterator[MaskedSpan]:
    found = numerals(text)
    position = 0
    for read in sentences_of(text, secrets.metric_names):
        inside = []
        while position < len(found) and found[position].start < read.end:
            inside.append(found[position])
            position += 1
        hidden = []
        hits = [secrets.hit(one) for one in inside]
        own = reach is Reach.RESULTS and any(map(_is_claims_own, hits, inside))
        sentence = replace(read, verdict=True) if own else read
        for one, hit in zip(inside, hits, strict=True):
            quoted = any(start <= one.start < end for start, end in quotes)
            if (quoted and hit) or _is_result(text, sentence, one, hit, reach):
                start, end = _place(text, one)
                hidden.append(
                    MaskedSpan(
                        where=where,
                        start=start,
                        end=end,
                        kind="value" if hit else "result",
                        claims=hit.claims if hit else (),
                        hidden=text[start:end],
                    )
                )
        yield from hidden
        if reach is Reach.RESULTS:
            yield from _directions(text, sentence, where, told=bool(hidden))


def _is_claims_own(hit: Hit | None, one: Numeral) -> bool:
    """Whether a number is a claim's value beyond doubt: then its sentence reports."""
    return hit is not None and hit.telling and bool(hit.claims) and not one.whole


def _is_result(text: str, sentence: Sentence, one: Numeral, hit: Hit | None, reach: Reach) -> bool:
    """Whether a number is to be hidden, by what it matches and by the words around it."""
    telling = hit is not None and hit.telling and (bool(hit.claims) or one.decimal)
    if one.in_name and not (telling and one.decimal):
        return False
    if context.is_pointer(text, one) or context.is_hyperparameter(text, one):
        return False
    if telling and (not one.whole or sentence.tells_results or not context.is_count(text, one)):
        return True
    marked = one.spread or one.unit != ""
    told = sentence.tells_results or (marked and sentence.verdict)
    if not told or context.is_count(text, one) or context.is_base(text, one):
        return False
    named = _follows_metric(text, sentence, one)
    if hit is not None and hit.claims and (one.decimal or marked or named):
        return True
    if reach is Reach.VALUES or context.is_loose_setting(text, one, sentence):
        return False
    return _looks_like_result(sentence, one, named, reach)


def _looks_like_result(sentence: Sentence, one: Numeral, named: bool, reach: Reach) -> bool:
    if one.unit in ("points", "times") or (one.spread and sentence.metric):
        return True
    if one.unit == "%":
        return sentence.verdict or reach is Reach.RESULTS
    if not one.whole:
        return sentence.metric and (sentence.verdict or reach is Reach.RESULTS)
    return named and reach is Reach.RESULTS


_AFTER_METRIC = re.compile(
    cues.METRIC.pattern + r"(?:\s(?:of|is|was|to|from|by|at|about))*[\s=:]*$", re.I
)


def _follows_metric(text: str, sentence: Sentence, one: Numeral) -> bool:
    """Whether a metric's name stands shortly before the number: `an accuracy of 93`."""
    return bool(_AFTER_METRIC.search(text[max(sentence.start, one.start - 30) : one.start]))


def _directions(text: str, sentence: Sentence, where: str, *, told: bool) -> Iterator[MaskedSpan]:
    """The words that tell who wins, in a sentence that compares; not those that tell of a set-up."""
    part = text[sentence.start : sentence.end]
    if not (told or sentence.metric or cues.COMPARES.search(part)):
        return
    for match in cues.DIRECTION.finditer(part):
        setup = sentence.setup and not told and not context.tells_winner(part, match)
        if setup or context.is_purpose(part, match):
            continue
        start, end = sentence.start + match.start(), sentence.start + match.end()
        yield MaskedSpan(where=where, start=start, end=end, kind="direction", hidden=match[0])


_AHEAD = re.compile(r"(?:(?<![\w)\]}])[+\-−–]|[<>≈~∼≥≤±]\s?)$")


def _place(text: str, one: Numeral) -> tuple[int, int]:
    """The number with its sign and its spread; its unit stays, for it is no result."""
    ahead = _AHEAD.search(text[max(0, one.start - 2) : one.start])
    start = one.start - (len(ahead[0]) if ahead else 0)
    return start, one.end if one.spread else one.stop


def _joined(spans: Sequence[MaskedSpan]) -> list[MaskedSpan]:
    """Spans that overlap as one."""
    joined: list[MaskedSpan] = []
    for span in spans:
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            if span.end > last.end:
                extra = span.hidden[last.end - span.start :]
                claims = tuple(dict.fromkeys((*last.claims, *span.claims)))
                joined[-1] = last.model_copy(
                    update={"end": span.end, "hidden": last.hidden + extra, "claims": claims}
                )
        else:
            joined.append(span)
    return joined


def reach_of(title: str) -> Reach:
    """How much of a section is hidden, by its title."""
    if cues.SETTING_UP_TITLE.search(title):
        return Reach.SETUP
    if cues.RESULTS_TITLE.search(title):
        return Reach.RESULTS
    return Reach.SETUP if cues.METHODS_TITLE.search(title) else Reach.RESULTS
