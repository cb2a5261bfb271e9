"""Which claims a person should look at, a sample that anyone can draw again, and what came of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Literal

from repro_pipeline.findings import Finding
from repro_pipeline.frozen import Sha256
from repro_pipeline.ledger.events import ReviewDecided
from repro_pipeline.ledger.rows import ReviewRow
from repro_pipeline.scoring.agreement import Agreement, agreement
from repro_pipeline.scoring.model import ReviewItem, ReviewQueue, Scores
from repro_pipeline.scoring.rubric import ReviewRule
from repro_pipeline.status import Verdict
from repro_pipeline.wording import counted, plain

_ODD_INFORMATION = {"better_than_reported", "sudden_approach", "equals_reported"}
_LITTLE_TESTED = {"untested", "no_sandbox", "self_evaluated"}
"""Findings that say how little was tested: nothing odd in the value."""


def sample(
    scores: Scores,
    rule: ReviewRule,
    *,
    phase: Literal["early", "stable"] | None = None,
    standing: Iterable[ReviewRow] = (),
) -> ReviewQueue:
    """Draw claims for review. The unit is the claim; the order is that of the claims.

    A claim is drawn where sha256(seed, claim, digest of the evidence), read as a number in [0, 1),
    lies below its rate: so the sample follows from the evidence, the seed and the rates, and nothing
    else that the rubric says. What was drawn before (`standing`: `holding` says what holds) stays
    drawn, with its decisions: another seed or rate can add claims, and take none away.
    The rate is the phase's (the rule's, where none is given), the anomaly's where a finding names
    the claim, and 1 where the finding is grave (suspect or violation). A finding without claims
    concerns all.
    """
    phase = phase or rule.phase
    before = {row.claim: row for row in standing}
    items = []
    for verdict in scores.verdicts:
        rate, why = _rate(verdict.claim, scores.findings, rule, phase)
        if row := before.get(verdict.claim):
            items.append(item_of(row))
        elif _draw(rule.seed, verdict.claim, scores.evidence) < rate:
            items.append(ReviewItem(claim=verdict.claim, rate=rate, why=why))
    return ReviewQueue(
        items=tuple(items), sampled_from=len(scores.verdicts), seed=rule.seed, phase=phase
    )


def holding(
    scores: Scores,
    content: Sha256,
    rows: Iterable[ReviewRow],
    read: Callable[[Sha256], Scores | None],
) -> tuple[ReviewRow, ...]:
    """The draws that hold for scores (`content`: their digest as stored), at most one per claim.

    A draw and its decisions hold for the scores that it was made from, and for others of the same
    evidence with the same verdict on the claim; `read` gives earlier scores, None where they cannot be
    read. Where there are several, the one from these scores, else the last with decisions.
    """
    read, verdicts = cache(read), _verdicts(scores)

    def holds(row: ReviewRow) -> bool:
        if row.scores == content:
            return True
        old = read(row.bound_to)
        return (
            old is not None
            and old.evidence == scores.evidence
            and _verdicts(old).get(row.claim) == verdicts[row.claim]
        )

    held: dict[str, ReviewRow] = {}
    for row in sorted(rows, key=lambda row: (row.scores == content, bool(row.decisions))):
        if row.claim in verdicts and holds(row):
            held[row.claim] = row
    return tuple(held.values())


def _verdicts(scores: Scores) -> dict[str, Verdict]:
    return {verdict.claim: verdict.verdict for verdict in scores.verdicts}


def item_of(row: ReviewRow) -> ReviewItem:
    """A row of the ledger as an item of the queue."""
    fields = set(ReviewDecided.model_fields)
    decisions = [ReviewDecided(**made.model_dump(include=fields)) for made in row.decisions]
    return ReviewItem(claim=row.claim, rate=row.rate, why=row.why, decisions=tuple(decisions))


def reviewers_agreement(rows: Iterable[ReviewRow], rule: ReviewRule) -> Agreement:
    """The agreement over the claims of any papers; of blind decisions alone, where the rule is so."""
    return agreement(
        [
            {
                made.reviewer: made.decision
                for made in row.decisions
                if made.blind or not rule.double_blind
            }
            for row in rows
            if row.decided_on is None  # the same decisions as those of the row they are bound to
        ]
    )


def phase_of(rule: ReviewRule, found: Agreement) -> Literal["early", "stable"]:
    """The phase that sampling is in: stable after enough reviews that agree well enough."""
    agreed = found.kappa is not None and found.kappa >= rule.stable_kappa
    return "stable" if agreed and found.claims >= rule.stable_after else rule.phase


def after_review(scores: Scores, items: Iterable[ReviewItem]) -> str | None:
    """What people's decisions make of the verdicts, in a sentence; None where there is none."""
    reviewed = {item.claim: item.verdict for item in items if item.verdict}
    if not reviewed:
        return None
    final = [reviewed.get(verdict.claim, verdict.verdict) for verdict in scores.verdicts]
    overruled = [
        f"{verdict.claim} from {plain(verdict.verdict)} to {plain(reviewed[verdict.claim])}"
        for verdict in scores.verdicts
        if reviewed.get(verdict.claim, verdict.verdict) is not verdict.verdict
    ]
    return (
        f"After review of {counted(len(reviewed), 'claim')} by people: "
        f"{sum(verdict is Verdict.REPRODUCED for verdict in final)} of {len(final)} claims reproduced; "
        f"{'overruled: ' + '; '.join(overruled) if overruled else 'no verdict overruled'}."
    )


def _rate(
    claim: str, findings: tuple[Finding, ...], rule: ReviewRule, phase: str
) -> tuple[float, str]:
    """The rate of a claim, and why it is that."""
    odd = [f for f in findings if _is_odd(f) and (claim in f.claims or not f.claims)]
    grave = [finding.kind for finding in odd if finding.severity in {"suspect", "violation"}]
    if grave:
        return 1.0, f"every claim with a grave finding: {', '.join(grave)}"
    base = getattr(rule.rates, phase)
    if odd and rule.rates.anomaly >= base:
        kinds = ", ".join(finding.kind for finding in odd)
        return rule.rates.anomaly, f"a raised rate for what looks odd: {kinds}"
    return base, f"the rate of the {phase} phase"


def _is_odd(finding: Finding) -> bool:
    if finding.severity == "info":
        return finding.kind in _ODD_INFORMATION
    return finding.kind not in _LITTLE_TESTED


def _draw(seed: int, claim: str, evidence: Sha256) -> float:
    """A number in [0, 1) that depends on nothing else."""
    hashed = hashlib.sha256(f"{seed}\n{claim}\n{evidence}".encode()).digest()
    return int.from_bytes(hashed[:8], "big") / 2**64
