"""What the words around a number say of it: a setting, which stays, or a result, which does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from repro_pipeline.claims import cues
from repro_pipeline.claims.numerals import Numeral

_NEAR = 80
"""Characters before and after a number that are read."""
_CLOSE = 25
"""Characters between a comparing word and the metric that it is said of."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a text, by its places, and what its words tell."""

    start: int
    end: int
    metric: bool
    """It names a metric."""
    verdict: bool
    """It compares or reports."""
    setup: bool
    """It tells how something is set up."""

    @property
    def tells_results(self) -> bool:
        """It names a metric, or it reports and tells of no set-up."""
        return self.metric or (self.verdict and not self.setup)


def sentences_of(text: str, metrics: re.Pattern[str]) -> Iterator[Sentence]:
    """The sentences of a text; `metrics` finds the names of the claims' metrics."""
    start = 0
    for match in [*cues.SENTENCE_END.finditer(text), None]:
        end = match.end() if match else len(text)
        part = text[start:end]
        if part.strip():
            yield Sentence(
                start=start,
                end=end,
                metric=bool(cues.METRIC.search(part) or metrics.search(part)),
                verdict=bool(cues.REPORTS.search(part) or cues.DIRECTION.search(part)),
                setup=bool(cues.SETUP.search(part)),
            )
        start = end


def is_purpose(text: str, direction: re.Match[str]) -> bool:
    """Whether a comparing word tells of an aim (`to reduce memory`), not of an outcome."""
    before = text[max(0, direction.start() - 40) : direction.start()]
    bare = re.search(r"(?:e|er|p|t|st)$", direction[0]) is not None
    return bare and bool(cues.AIM.search(before)) and not cues.OUTCOME.search(before)


def tells_winner(part: str, direction: re.Match[str]) -> bool:
    """Whether a comparing word of a sentence on set-up tells of a result: by itself, or near a metric."""
    near = part[max(0, direction.start() - _CLOSE) : direction.end() + _CLOSE]
    return bool(cues.VERDICT.search(direction[0]) or cues.METRIC.search(near))


def is_hyperparameter(text: str, one: Numeral) -> bool:
    """Whether a hyperparameter's name, or a symbol that is no statistic's, stands before a number."""
    if one.unit in ("points", "times"):
        return False
    if cues.THEN_NAMED.match(text[one.stop : one.stop + _NEAR]):
        return True
    return any(
        _names_setting(before, one)
        or ((found := cues.SYMBOL.search(before)) and not cues.STATISTIC.fullmatch(found["symbol"]))
        for before in _before(text, one)
    )


def _names_setting(before: str, one: Numeral) -> bool:
    """Whether a text ends with a hyperparameter's name; what is counted has no share and no decimals."""
    named = cues.HYPERPARAMETER.search(before)
    counted = named is not None and cues.COUNTED_SETTING.match(named[0])
    return named is not None and not (counted and (one.unit == "%" or not one.whole))


def is_loose_setting(text: str, one: Numeral, sentence: Sentence) -> bool:
    """Whether words such as `range` precede a number in a sentence that tells of no metric's value."""
    told = sentence.metric and not sentence.setup
    return not told and any(cues.LOOSE.search(before) for before in _before(text, one))


def is_count(text: str, one: Numeral) -> bool:
    """Whether a number counts what follows it (trees, epochs, samples), or is a share of it."""
    if one.unit == "times":
        return one.whole and not cues.MULTIPLE.match(text[one.end : one.end + _NEAR])
    if one.unit == "points" or not (one.whole or one.unit):
        return False
    known = cues.SHARE if one.unit == "%" else cues.COUNTED
    return known.match(text[one.stop : one.stop + _NEAR]) is not None


def is_base(text: str, one: Numeral) -> bool:
    """Whether a number is raised to a power, as 0.5 in 0.5^{|i - j|}."""
    return cues.POWER.match(text[one.stop : one.stop + _NEAR]) is not None


def is_pointer(text: str, one: Numeral) -> bool:
    """Whether a number names a table, a citation, a version, a year, a shape or an exponent."""
    before, after = text[max(0, one.start - 40) : one.start], text[one.stop : one.stop + 4]
    if cues.SHAPE_BEFORE.search(before) or cues.SHAPE_AFTER.match(after):
        return True
    if cues.EXPONENT.search(before) or cues.POINTER.search(before):
        return True
    if one.whole and cues.CITED.search(before):
        return True
    value = one.readings[0]
    year = value.quantum == 1 and 1900 <= value.value <= 2100 and not one.unit
    return year and len(text[one.start : one.stop]) == 4


def _before(text: str, one: Numeral) -> Iterator[str]:
    """What stands before a number; for a further member of a list, what stands before the list."""
    before = text[max(0, one.start - _NEAR) : one.start]
    yield before
    members = cues.LIST.search(before)
    if members and re.search(r"\d|masked", members[0]):
        opening = re.match(r"[\s({\[$]*", members[0])[0]
        yield before[: members.start()] + opening
