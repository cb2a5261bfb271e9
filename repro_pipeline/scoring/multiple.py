"""Many claims at once: how many of the decided verdicts are wrong is held down, not only each one.

A verdict is a rejection: `reproduced` of 'the truth lies outside the tolerance', `not_reproduced` of
'it lies inside', each by a test of 5 %. Among many claims some are rejected by chance. Benjamini and
Hochberg (1995) bound the expected share of false rejections among all of them; Benjamini and
Yekutieli (2001) do so however the tests depend on each other. The verdicts stay what they are; which
of them stand is said beside them. docs/scoring.md says why, and what it costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repro_pipeline.scoring.model import ClaimVerdict, FalseDiscovery
from repro_pipeline.scoring.rubric import FalseDiscoveryRule
from repro_pipeline.status import Verdict
from repro_pipeline.wording import counted, percent

NAMES = {
    "benjamini_yekutieli": "Benjamini-Yekutieli",
    "benjamini_hochberg": "Benjamini-Hochberg",
}


def adjusted(p_values: Sequence[float], procedure: str) -> list[float]:
    """The p-values adjusted for their number: reject those at most the level.

    The k-th smallest of m becomes the least of c m p_j / j over all j >= k, at most 1, where c is 1
    (Benjamini-Hochberg) or 1 + 1/2 + … + 1/m (Benjamini-Yekutieli).
    """
    m = len(p_values)
    factor = sum(1 / k for k in range(1, m + 1)) if procedure == "benjamini_yekutieli" else 1.0
    result = [1.0] * m
    least = 1.0
    for rank, index in sorted(enumerate(_ascending(p_values), start=1), reverse=True):
        least = min(least, factor * m * p_values[index] / rank)
        result[index] = least
    return result


def control(
    verdicts: Mapping[str, ClaimVerdict], rule: FalseDiscoveryRule
) -> tuple[dict[str, ClaimVerdict], FalseDiscovery]:
    """The verdicts with their adjusted p-values and whether they stand, and what that comes to.

    The family is every claim with a reported number that was frozen beforehand, so that leaving
    claims out cannot help: one without a value has p = 1. Deterministic values are no matter of
    chance; they would only make it easier for the others, and take no part.
    """
    family = [v for v in verdicts.values() if v.reported is not None and not v.deterministic]
    if rule.procedure == "none":
        return dict(verdicts), _said(verdicts.values(), rule, len(family))
    tests = zip(
        family,
        adjusted([_or_one(v.p_equivalence) for v in family], rule.procedure),
        adjusted([_or_one(v.p_difference) for v in family], rule.procedure),
        strict=True,
    )
    found = {verdict.claim: (same, other) for verdict, same, other in tests}
    controlled = {
        claim: _controlled(verdict, found.get(claim), rule.level)
        for claim, verdict in verdicts.items()
    }
    return controlled, _said(controlled.values(), rule, len(family))


def _controlled(
    verdict: ClaimVerdict, adjusted_p: tuple[float, float] | None, level: float
) -> ClaimVerdict:
    same, other = adjusted_p or (None, None)
    deciding = {Verdict.REPRODUCED: same, Verdict.NOT_REPRODUCED: other}
    by = deciding.get(verdict.verdict)
    stands = None if verdict.verdict not in deciding else by is None or by <= level
    aside = f" It does not stand among so many claims: its adjusted p-value is {by or 0:.2g}."
    return verdict.model_copy(
        update={
            "reason": verdict.reason + (aside if stands is False else ""),
            "adjusted_p_equivalence": None if verdict.p_equivalence is None else same,
            "adjusted_p_difference": None if verdict.p_difference is None else other,
            "stands": stands,
        }
    )


def _said(
    verdicts: Sequence[ClaimVerdict], rule: FalseDiscoveryRule, family: int
) -> FalseDiscovery:
    decided = {Verdict.REPRODUCED: 0, Verdict.NOT_REPRODUCED: 0}
    standing = dict(decided)
    for one in verdicts:
        if one.verdict in decided:
            decided[one.verdict] += 1
            standing[one.verdict] += one.stands is not False
    total, left = sum(decided.values()), sum(standing.values())
    if rule.procedure == "none":
        sentence = "The rubric asks for no control of false discoveries."
    elif not total:
        sentence = "No verdict is decided, so none can be a false discovery."
    else:
        stay = "all stand" if left == total else f"{left} stand"
        sentence = (
            f"Of {counted(total, 'decided verdict')}, {stay} with the false-discovery rate held at "
            f"{percent(rule.level)} over {counted(family, 'claim')} ({NAMES[rule.procedure]})."
        )
    return FalseDiscovery(
        procedure=rule.procedure,
        level=rule.level,
        family=family,
        reproduced=standing[Verdict.REPRODUCED],
        not_reproduced=standing[Verdict.NOT_REPRODUCED],
        sentence=sentence,
    )


def _ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda index: p_values[index])


def _or_one(p_value: float | None) -> float:
    return 1.0 if p_value is None else p_value
