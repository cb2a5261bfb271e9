"""Stage `attribution`: why claims did not reproduce, as far as the evidence says."""

from __future__ import annotations

from assets.stage import stage_asset, table
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.scoring.attribution import Attribution, attribute
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import Stage


def describe(attribution: Attribution) -> dict:
    """The causes per claim."""
    rows = [
        {
            "claim": cause.claim,
            "cause": cause.cause,
            "strength": str(cause.strength),
            "evidence": cause.evidence,
            "next": cause.next_step,
        }
        for cause in attribution.causes
    ]
    unexplained = len({cause.claim for cause in attribution.causes})
    return {**table("causes", rows), "claims not reproduced": unexplained}


@stage_asset(group="judge", version="2", describe=describe)
def attribution(
    stage: Stage,
    experiment_ledger: Evidence,
    scores: Scores,
    assumption_ledger: AssumptionLedger | None,
) -> Attribution:
    """For each claim that is not reproduced: the causes that the evidence speaks for, or that none does."""
    return attribute(experiment_ledger, scores, assumption_ledger)
