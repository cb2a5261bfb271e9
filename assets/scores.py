"""Stage `scores`: what the rubric makes of the evidence."""

from __future__ import annotations

import dagster as dg

from assets.stage import brief, stage_asset, table
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import digest
from repro_pipeline.report.plots import forest_markdown
from repro_pipeline.report.words import seeds
from repro_pipeline.scoring.history import change_rows, last_change
from repro_pipeline.scoring.model import ClaimVerdict, Scores
from repro_pipeline.scoring.record import score_and_record, scored_from
from repro_pipeline.stages import Stage
from repro_pipeline.status import Outcome

DIMENSIONS = {
    "environment_parity": "Locked with hashes, seeds fixed, and two runs of one configuration agree.",
    "metric_parity": "The key claims are reproduced within the rubric's threshold.",
    "ablation_faithful": "The ablations have the paper's signs.",
    "no_leakage": "No evaluation data in training, no label read, no reported value shown.",
}


def describe_change(stage: Stage, scores: Scores) -> dict:
    """What is otherwise than in the scores before, and which settings made it so."""
    change = last_change(stage.project, stage.paper)
    if change is None or change.after != digest(scores):
        return {}
    return {"since the scores before": change.sentence, **table("changes", change_rows(change))}


def describe(scores: Scores) -> dict:
    """The headline, the verdicts and the dimensions."""
    reproduced = sum(verdict.verdict == "reproduced" for verdict in scores.verdicts)
    parity = next(d for d in scores.dimensions if d.id == "metric_parity")
    return {
        "headline": scores.headline,
        "overall": str(scores.overall),
        "claims at a glance": dg.MetadataValue.md(forest_markdown(scores, parity.threshold)),
        **table("verdicts", [_verdict(verdict) for verdict in scores.verdicts]),
        **table("why", [{"claim": one.claim, "why": one.reason} for one in scores.verdicts]),
        "reproduced": reproduced,
        "claims": len(scores.verdicts),
        "share reproduced": reproduced / len(scores.verdicts),
        **{measure.id: _shown(measure.value) for measure in scores.measures},
        **(
            {"false discoveries": scores.false_discovery.sentence} if scores.false_discovery else {}
        ),
        "integrity": str(scores.integrity),
        "rubric": scores.rubric,
        **{dimension.id: str(dimension.outcome) for dimension in scores.dimensions},
    }


def _shown(value: float | None) -> float | str:
    return "not scored" if value is None else brief(value)


def _verdict(verdict: ClaimVerdict) -> dict:
    """A row for people, the verdict where no page cuts it off; the artifact has all digits."""
    p = (
        verdict.adjusted_p_equivalence
        if verdict.verdict == "reproduced"
        else verdict.adjusted_p_difference
    )
    return {
        "claim": verdict.claim,
        "verdict": str(verdict.verdict),
        "reported": verdict.reported,
        "reproduced": brief(verdict.value),
        "sd": brief(verdict.sd),
        "seeds": seeds(verdict),
        "relative error": brief(verdict.relative_error),
        "relative gap": brief(verdict.relative_gap),
        "performance gap": brief(verdict.performance_gap),
        "adjusted p": brief(p),
    }


def judge(scores: Scores) -> list[dg.AssetCheckResult]:
    """The dimensions as asset checks: only a pass passes; what is not decided warns."""
    return [
        dg.AssetCheckResult(
            asset_key="scores",
            check_name=dimension.id,
            passed=dimension.outcome in {Outcome.PASS, Outcome.NOT_APPLICABLE},
            severity=dg.AssetCheckSeverity.ERROR
            if dimension.outcome is Outcome.FAIL
            else dg.AssetCheckSeverity.WARN,
            description=dimension.sentence,
            metadata={
                **{check.id: f"{check.outcome}: {check.sentence}" for check in dimension.checks},
                "outcome": str(dimension.outcome),
                "value": dimension.value,
                "threshold": dimension.threshold,
                "critical": dimension.critical,
            },
        )
        for dimension in scores.dimensions
    ]


def evidence_and_rubric(stage: Stage, experiment_ledger: Evidence) -> dict:
    """The stored evidence, all attempts that count, and the rubric's content."""
    return scored_from(stage)


@stage_asset(
    group="judge",
    version="2",
    describe=describe,
    depends_on=evidence_and_rubric,
    also_after=["rubric"],
    checks=DIMENSIONS,
    judge=judge,
    describe_in=describe_change,
)
def scores(stage: Stage, experiment_ledger: Evidence) -> Scores:
    """A verdict per claim, the four dimensions and the integrity findings, under the current rubric.

    A changed rubric scores the same evidence again, and runs nothing.
    """
    return score_and_record(stage, experiment_ledger)
