"""metric_parity: the verdicts of the key claims, with the point rule beside them."""

from __future__ import annotations

from collections.abc import Mapping

from repro_pipeline.evidence.model import Evidence
from repro_pipeline.scoring.dimension import combine
from repro_pipeline.scoring.model import Check, ClaimVerdict, DimensionScore
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.status import Outcome, Verdict
from repro_pipeline.wording import counted, percent

_OUTCOMES = {
    Verdict.REPRODUCED: Outcome.PASS,
    Verdict.NOT_REPRODUCED: Outcome.FAIL,
    Verdict.INCONCLUSIVE: Outcome.INCONCLUSIVE,
    Verdict.NOT_RUN: Outcome.INCONCLUSIVE,
}


def score(
    evidence: Evidence, rubric: Rubric, verdicts: Mapping[str, ClaimVerdict]
) -> DimensionScore:
    """Score the dimension; its value is the greatest relative error of the claims that count."""
    rule = rubric.dimensions.metric_parity
    claims = evidence.claims.key_claims if rule.key_claims_only else evidence.claims.claims
    judged = [verdicts[claim.id] for claim in claims]
    checks = tuple(_check(verdict) for verdict in judged)
    errors = [v.relative_error for v in judged if v.relative_error is not None]
    which = "key claim" if rule.key_claims_only else "claim"
    reproduced = sum(verdict.verdict is Verdict.REPRODUCED for verdict in judged)
    within = sum(bool(verdict.within_threshold) for verdict in judged)
    return DimensionScore(
        id="metric_parity",
        outcome=combine(checks),
        critical=rule.critical,
        value=max(errors, default=None),
        threshold=rule.threshold,
        sentence=(
            f"{reproduced} of {counted(len(judged), which)} reproduced; by their values alone, "
            f"{within} of {len(judged)} lie within {percent(rule.threshold)}."
        ),
        checks=checks,
    )


def _check(verdict: ClaimVerdict) -> Check:
    outcome = _OUTCOMES[verdict.verdict]
    if verdict.reported is None and verdict.verdict is Verdict.INCONCLUSIVE:
        outcome = Outcome.NOT_CHECKABLE
    return Check(id=verdict.claim, outcome=outcome, sentence=verdict.reason)
