"""Stage `scores`: what the rubric makes of the evidence."""

from __future__ import annotations

import dagster as dg

from assets.stage import stage_asset, table
from repro_pipeline.experiment.model import Attempt
from repro_pipeline.experiment.spec import Purpose
from repro_pipeline.frozen import Sha256, digest
from repro_pipeline.ledger.events import Scored
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.report.plots import forest_markdown
from repro_pipeline.scoring.current import current_rubric
from repro_pipeline.scoring.history import change_rows, last_change, record_change
from repro_pipeline.scoring.model import ClaimVerdict, Evidence, Scores
from repro_pipeline.scoring.score import score
from repro_pipeline.stages import Stage, latest
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
    return "not scored" if value is None else value


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
        "reproduced": _brief(verdict.value),
        "sd": _brief(verdict.sd),
        "n": f"{verdict.n}/{verdict.planned}",
        "relative error": _brief(verdict.relative_error),
        "relative gap": _brief(verdict.relative_gap),
        "performance gap": _brief(verdict.performance_gap),
        "adjusted p": _brief(p),
    }


def _brief(value: float | None) -> float | None:
    """Six significant digits."""
    return None if value is None else float(f"{value:.6g}")


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
    """The evidence and all attempts ever made, both as they stand, and the rubric's content.

    Not as today's models write them: a field that these gain would score anew what did not change,
    and leave people's decisions with scores that no longer stand.
    """
    made = stage.events({"attempt_started", "attempt_finished"})
    purposes = {"attempt_started": ("purpose",), "attempt_finished": ("attempt", "purpose")}
    own = [e.hash for e in made if _at(e.payload, purposes[e.kind]) != Purpose.SWEEP]
    return {
        "evidence": _stored(stage),
        "attempts": digest(own),
        "rubric": current_rubric(stage.project)[1],
    }


def all_attempts(stage: Stage) -> tuple[Attempt, ...]:
    """Every attempt in the paper's ledger, of whatever code: none can be left out. Those of sweeps are no
    part of the reproduction, and are held against it elsewhere."""
    made = attempts(stage.project.ledger.events(stage.paper))
    return tuple(attempt for attempt in made if attempt.purpose is not Purpose.SWEEP)


def _at(value: dict, path: tuple[str, ...]) -> str:
    for name in path:
        value = value[name]
    return value


def _stored(stage: Stage) -> Sha256:
    """The digest of the evidence as stored."""
    return latest(stage.project, stage.paper, "experiment_ledger").output


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
    rubric, rubric_digest = current_rubric(stage.project)
    stored, tried = _stored(stage), all_attempts(stage)
    result = score(experiment_ledger, rubric, rubric_digest, tried, content=stored)
    stage.record(
        Scored(
            rubric=rubric_digest,
            evidence=stored,
            scores=digest(result),
            overall=result.overall,
            headline=result.headline,
        )
    )
    record_change(stage, experiment_ledger, tried, result, rubric)
    return result
