"""Which claims a person should look at: a sample that anyone can draw again."""

from __future__ import annotations

import hashlib

from repro_pipeline.frozen import digest
from repro_pipeline.scoring.model import Finding, ReviewItem, ReviewQueue, Scores
from repro_pipeline.scoring.rubric import ReviewRule

_ODD_INFORMATION = {"better_than_reported", "sudden_approach", "equals_reported"}
_LITTLE_TESTED = {"untested", "no_sandbox"}
"""Findings that say how little was tested: nothing odd in the value."""


def sample(scores: Scores, rule: ReviewRule) -> ReviewQueue:
    """Draw claims for review. The unit is the claim; the order is that of the claims.

    A claim is drawn where sha256(seed, claim, digest of the scores), read as a number in [0, 1),
    lies below its rate: so the sample follows from the rubric and the scores, and cannot be chosen.
    The rate is the phase's, the anomaly's where a finding names the claim, and 1 where the finding
    is grave (suspect or violation). A finding without claims concerns all.
    """
    content = digest(scores)
    items = []
    for verdict in scores.verdicts:
        rate, why = _rate(verdict.claim, scores.findings, rule)
        if _draw(rule.seed, verdict.claim, content) < rate:
            items.append(ReviewItem(claim=verdict.claim, rate=rate, why=why))
    return ReviewQueue(items=tuple(items), sampled_from=len(scores.verdicts), seed=rule.seed)


def _rate(claim: str, findings: tuple[Finding, ...], rule: ReviewRule) -> tuple[float, str]:
    """The rate of a claim, and why it is that."""
    odd = [f for f in findings if _is_odd(f) and (claim in f.claims or not f.claims)]
    grave = [finding.kind for finding in odd if finding.severity in {"suspect", "violation"}]
    if grave:
        return 1.0, f"every claim with a grave finding: {', '.join(grave)}"
    base = getattr(rule.rates, rule.phase)
    if odd and rule.rates.anomaly >= base:
        kinds = ", ".join(finding.kind for finding in odd)
        return rule.rates.anomaly, f"a raised rate for what looks odd: {kinds}"
    return base, f"the rate of the {rule.phase} phase"


def _is_odd(finding: Finding) -> bool:
    if finding.severity == "info":
        return finding.kind in _ODD_INFORMATION
    return finding.kind not in _LITTLE_TESTED


def _draw(seed: int, claim: str, content: str) -> float:
    """A number in [0, 1) that depends on nothing else."""
    hashed = hashlib.sha256(f"{seed}\n{claim}\n{content}".encode()).digest()
    return int.from_bytes(hashed[:8], "big") / 2**64
