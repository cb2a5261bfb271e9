"""Why a claim did not reproduce: only causes that stored evidence speaks for, and what would decide.

No cause is inferred from a result's nearness to the reported value: that an assumption moves a claim
shows that it matters, not that its alternative is right.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from repro_pipeline.experiment.model import Run
from repro_pipeline.experiment.spec import ExperimentKind
from repro_pipeline.experiment.statistics import t_interval
from repro_pipeline.frozen import Frozen
from repro_pipeline.scoring.model import ClaimVerdict, Evidence, Scores
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
    for verdict in scores.verdicts:
        if verdict.verdict is not Verdict.REPRODUCED:
            causes += _causes(verdict, evidence)
    return Attribution(causes=tuple(causes))


def _causes(verdict: ClaimVerdict, evidence: Evidence) -> list[Cause]:
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
    found += _assumptions(claim, evidence)
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
        found.append(
            Cause(
                claim=claim,
                cause="not_determinable",
                evidence="No experiment varied anything that this claim rests on.",
                next_step="Declare a sensitivity experiment for what the paper leaves unsaid.",
            )
        )
    return found


def _assumptions(claim: str, evidence: Evidence) -> list[Cause]:
    """The assumptions whose alternative moves the claim beyond the noise of the seeds."""
    moved = []
    for experiment in evidence.experiments:
        if experiment.kind is not ExperimentKind.SENSITIVITY or claim not in experiment.claims:
            continue
        base, varied = (
            _by_seed(evidence, experiment.of, claim),
            _by_seed(evidence, experiment.id, claim),
        )
        differences = [varied[seed] - base[seed] for seed in base.keys() & varied.keys()]
        if len(differences) < 2:
            continue
        low, high = t_interval(differences, 0.95)
        if low <= 0 <= high:
            continue
        moved.append(
            Cause(
                claim=claim,
                cause="assumption",
                evidence=(
                    f"The alternative to '{experiment.assumption or experiment.id}' moves it by "
                    f"{statistics.fmean(differences):+.3g} (95 % interval {low:+.3g} to {high:+.3g}, "
                    f"n = {len(differences)})."
                ),
                next_step="Look the detail up in the cited source; a result near the reported value "
                "is no reason to choose it.",
            )
        )
    return moved


def _by_seed(evidence: Evidence, experiment: str | None, claim: str) -> Mapping[int | None, float]:
    runs: list[Run] = [run for run in evidence.runs if run.experiment == experiment]
    return {run.seed: run.values[claim] for run in runs if claim in run.values}
