"""Why a claim did not reproduce: only causes that stored evidence speaks for, and what would decide.

No cause is inferred from a result's nearness to the reported value: that an assumption moves a claim
shows that it matters, not that its alternative is right.
"""

from __future__ import annotations

from collections.abc import Sequence

from repro_pipeline.frozen import Frozen
from repro_pipeline.scoring.model import ClaimVerdict, Evidence, Scores
from repro_pipeline.scoring.sensitivity import Movement, movements
from repro_pipeline.scoring.words import counted
from repro_pipeline.status import Verdict


class Cause(Frozen):
    """A cause that the evidence speaks for."""

    claim: str
    cause: str
    """One of: not_run, seed_variance, assumption, unit, not_determinable."""
    evidence: str
    next_step: str


class Attribution(Frozen):
    """The causes per claim that is not reproduced, those first that the evidence speaks for most."""

    causes: tuple[Cause, ...] = ()


def attribute(evidence: Evidence, scores: Scores) -> Attribution:
    """The causes for every claim whose verdict is not `reproduced`."""
    causes: list[Cause] = []
    moved = movements(evidence)
    for verdict in scores.verdicts:
        if verdict.verdict is not Verdict.REPRODUCED:
            causes += _causes(verdict, moved)
    return Attribution(causes=tuple(causes))


def _causes(verdict: ClaimVerdict, moved: Sequence[Movement]) -> list[Cause]:
    claim = verdict.claim
    if verdict.verdict is Verdict.NOT_RUN:
        return [
            Cause(
                claim=claim,
                cause="not_run",
                evidence=verdict.reason,
                next_step="Mend what stopped the run, and run again.",
            )
        ]
    found = []
    if verdict.unit_error is not None:
        found.append(
            Cause(
                claim=claim,
                cause="unit",
                evidence=f"The values differ by a factor of {verdict.unit_error:g}.",
                next_step="Compare the claim's unit with what the code reports.",
            )
        )
    found += _assumptions(claim, moved)
    if verdict.verdict is Verdict.INCONCLUSIVE and verdict.seeds_to_decide:
        found.append(
            Cause(
                claim=claim,
                cause="seed_variance",
                evidence=f"The interval of {verdict.n} seeds reaches over the tolerance's edge.",
                next_step=f"Run {verdict.seeds_to_decide} seeds in all.",
            )
        )
    if not found:
        tried = sum(one.claim == claim and one.n > 0 for one in moved)
        found.append(
            Cause(
                claim=claim,
                cause="not_determinable",
                evidence=f"{counted(tried, 'sensitivity experiment')} varied what it may rest on; "
                "none moved it beyond the seeds' noise."
                if tried
                else "No experiment varied anything that it rests on.",
                next_step="Declare a sensitivity experiment for what the paper leaves unsaid.",
            )
        )
    return found


def _assumptions(claim: str, moved: Sequence[Movement]) -> list[Cause]:
    """The assumptions whose alternative moves the claim beyond the noise of the seeds."""
    return [
        Cause(
            claim=claim,
            cause="assumption",
            evidence=(
                f"The alternative to '{one.experiment.assumption or one.experiment.id}' moves it by "
                f"{one.difference:+.3g} (95 % interval {one.interval95[0]:+.3g} to "
                f"{one.interval95[1]:+.3g}, n = {one.n})."
            ),
            next_step="Look the detail up in the cited source; a result near the reported value "
            "is no reason to choose it.",
        )
        for one in moved
        if one.claim == claim and one.interval95 and not one.interval95[0] <= 0 <= one.interval95[1]
    ]
