"""How far the alternative to an assumption moves each claim, measured against the seeds' noise.

Movement alone is reported. That a result lies nearer to the reported value says nothing for an
assumption, so no reported value enters here.
"""

from __future__ import annotations

from dataclasses import dataclass

from repro_pipeline.evidence.model import Evidence
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.ledger.runs import ExperimentKind, Purpose
from repro_pipeline.statistics import mean, sample_sd, t_interval


@dataclass(frozen=True)
class Movement:
    """What one changed factor does to one claim, in the claim's unit."""

    experiment: Experiment
    claim: str
    n: int
    """Seeds that gave a value with and without the change."""
    base_mean: float | None
    base_sd: float | None
    """Standard deviation over seeds of the unchanged experiment: the seeds' noise."""
    difference: float | None
    """Mean over seeds of changed - unchanged, paired by seed."""
    interval95: tuple[float, float] | None

    @property
    def reading(self) -> str:
        """What the numbers say, in words."""
        if self.n == 0:
            return "not run"
        if self.interval95 is None:
            return "too few seeds to tell"
        low, high = self.interval95
        if low == high == 0:
            return "moves nothing"
        if low <= 0 <= high:
            return "no movement that can be told from noise"
        if not self.base_sd:
            return "moves the claim"
        return f"moves the claim by {abs(self.difference) / self.base_sd:.1f} × seed noise"


def movements(evidence: Evidence) -> tuple[Movement, ...]:
    """One row per sensitivity experiment and claim; experiments that did not run are listed too."""
    return tuple(
        _movement(evidence, experiment, claim)
        for experiment in evidence.experiments
        if experiment.kind is ExperimentKind.SENSITIVITY
        for claim in experiment.claims
    )


def _movement(evidence: Evidence, experiment: Experiment, claim: str) -> Movement:
    base = _values(evidence, experiment.of, claim)
    changed = _values(evidence, experiment.id, claim)
    differences = [changed[key] - base[key] for key in changed if key in base]
    return Movement(
        experiment=experiment,
        claim=claim,
        n=len(differences),
        base_mean=mean(list(base.values())) if base else None,
        base_sd=sample_sd(list(base.values())),
        difference=mean(differences) if differences else None,
        interval95=t_interval(differences, 0.95),
    )


def _values(
    evidence: Evidence, experiment: str | None, claim: str
) -> dict[tuple[Purpose, int | None], float]:
    return {
        (run.purpose, run.seed): run.values[claim]
        for run in evidence.runs
        if run.experiment == experiment and claim in run.values
    }
