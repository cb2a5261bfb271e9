"""What is to be hidden: the reported values of the claims, and the results that stand beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from repro_pipeline.claims.context import is_count, is_hyperparameter, sentences_of
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.claims.numerals import Numeral, Reading, numerals
from repro_pipeline.paper.model import Paper

_SMALL = 1e-6
TELLING = 3
"""Significant digits from which on a match is hardly chance."""


@dataclass(frozen=True)
class Secret:
    """A value to hide, with the spellings that percent, fraction and complement give it."""

    claims: tuple[str, ...]
    """The claims with this value; empty for another result of a table that holds claims."""
    spellings: tuple[Reading, ...]
    is_setting: bool = False
    """The paper uses the value as a setting as well."""

    @classmethod
    def of(
        cls, value: float, quantum: float, *, rate: bool, claims: tuple[str, ...] = ()
    ) -> Secret:
        """The secret of a printed value; `rate`: its complement to 1 or 100 tells it too."""
        return cls(claims, tuple(dict.fromkeys(_spellings(abs(value), quantum, rate))))

    def match(self, reading: Reading) -> bool:
        """Whether a number is this value: rounded as the number is printed, or more exact."""
        value = abs(reading.value)
        for hidden in self.spellings:
            half = max(reading.quantum, hidden.quantum) / 2
            if abs(value - hidden.value) <= half * (1 + 1e-9) and value > 0:
                return True
        return False


def _spellings(value: float, quantum: float, rate: bool) -> Iterator[Reading]:
    yield Reading(value, quantum)
    if value <= 1:
        yield Reading(100 * value, 100 * quantum)
    if value <= 100:
        yield Reading(value / 100, quantum / 100)
    if rate and value <= 1:
        yield from (Reading(1 - value, quantum), Reading(100 - 100 * value, 100 * quantum))
    if rate and value <= 100 and not (value <= 1 and quantum < 0.01):
        yield from (Reading(100 - value, quantum), Reading(1 - value / 100, quantum / 100))


@dataclass(frozen=True)
class Hit:
    """A number that is a hidden value."""

    claims: tuple[str, ...]
    telling: bool
    """It has three significant digits or more, and the value is no setting of the paper."""


@dataclass(frozen=True)
class Secrets:
    """All that is hidden of one paper."""

    of_claims: tuple[Secret, ...]
    of_tables: tuple[Secret, ...] = ()
    metrics: tuple[str, ...] = ()

    def hit(self, one: Numeral, *, tables: bool = True) -> Hit | None:
        """The claims whose values a number gives in any of its readings; None where it gives none.

        With `tables`, the other results of the claims' tables count as well.
        """
        claims: dict[str, None] = {}
        found = telling = False
        for reading in one.readings:
            for secret in (*self.of_claims, *(self.of_tables if tables else ())):
                if secret.match(reading):
                    found = True
                    claims.update(dict.fromkeys(secret.claims))
                    telling |= reading.digits >= TELLING and not secret.is_setting
        return Hit(tuple(claims), telling) if found else None

    @cached_property
    def metric_names(self) -> re.Pattern[str]:
        """Finds the names of the claims' metrics in a text."""
        words = sorted({re.sub(r"[_-]", " ", name) for name in self.metrics}, key=len, reverse=True)
        listed = "|".join(re.escape(word).replace(r"\ ", r"[ _-]") for word in words)
        return re.compile(rf"\b(?:{listed})\b" if listed else "(?!)", re.I)


_RATES = re.compile(
    r"acc|err|precision|recall|f-?1|rate|auc|roc|iou|sensitiv|specific|top|exact|hits|purity|dice|miss",
    re.I,
)


def is_rate(claim: Claim) -> bool:
    """Whether a metric is a share of cases, so that 93.2 correct are 6.8 wrong."""
    return claim.unit == "percent" or bool(_RATES.search(claim.metric))


def secrets_of(paper: Paper, reported: ReportedClaims, others: Iterable[Reading] = ()) -> Secrets:
    """The secrets of a paper's claims, and of `others`: the results in the claims' tables."""
    by_value: dict[tuple, list[str]] = {}
    for claim in reported.claims:
        if claim.value:
            key = (claim.value, claim.quantum or _last_digit(claim.value), is_rate(claim))
            by_value.setdefault(key, []).append(claim.id)
    rate = any(is_rate(claim) for claim in reported.claims)
    settings = _settings(paper)
    of_claims = [
        Secret.of(value, quantum, rate=share, claims=tuple(ids))
        for (value, quantum, share), ids in by_value.items()
    ]
    of_claims += _differences(reported)
    known = {(abs(value), quantum) for value, quantum, _ in by_value}
    rest = dict.fromkeys((abs(o.value), o.quantum) for o in others if o.value)
    of_tables = [Secret.of(*one, rate=rate) for one in rest if one not in known]
    return Secrets(
        of_claims=tuple(_marked(secret, settings) for secret in of_claims),
        of_tables=tuple(_marked(secret, settings) for secret in of_tables),
        metrics=tuple({claim.metric for claim in reported.claims}),
    )


def _differences(reported: ReportedClaims) -> list[Secret]:
    """What tells the size of an ablation: difference, ratio and relative difference of its claims.

    They count as settings: such a number is hidden where the words show a result, and is never a leak.
    """
    made = []
    for pair in reported.pairs:
        full, variant = reported.claim(pair.full).value, reported.claim(pair.variant).value
        if full and variant and full != variant:
            gap = abs(variant - full)
            told = (gap, gap / abs(full), gap / abs(variant), abs(full / variant))
            told += (abs(variant / full), 100 * told[1], 100 * told[2])
            spellings = tuple(Reading(one, gap * _SMALL) for one in told)
            made.append(Secret((pair.full, pair.variant), spellings, is_setting=True))
    return made


def _marked(secret: Secret, settings: frozenset[float]) -> Secret:
    value = secret.spellings[0].value
    also = secret.is_setting or value in settings
    return Secret(secret.claims, secret.spellings, is_setting=also)


def _settings(paper: Paper) -> frozenset[float]:
    """The values that the running text names as settings."""
    texts = [paper.abstract, *(section.text for section in paper.sections)]
    return frozenset(value for text in texts for value in _settings_of(text))


def _settings_of(text: str) -> Iterator[float]:
    sentences = list(sentences_of(text, re.compile("(?!)")))
    for one in numerals(text):
        told = any(s.start <= one.start < s.end and (s.metric or s.verdict) for s in sentences)
        count = one.whole and not told and is_count(text, one)
        if count or is_hyperparameter(text, one):
            yield one.readings[0].value


def _last_digit(value: float) -> float:
    return 10.0 ** -len(repr(value).partition(".")[2].rstrip("0"))
