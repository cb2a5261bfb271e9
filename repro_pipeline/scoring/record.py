"""Scoring a paper as a stage does: which attempts count, under which rubric, and a record of it."""

from __future__ import annotations

from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import Sha256, digest
from repro_pipeline.ledger.events import Event, Scored
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.ledger.runs import Purpose
from repro_pipeline.scoring.current import keep_rubric, read_rubric
from repro_pipeline.scoring.history import record_change
from repro_pipeline.scoring.model import Scores
from repro_pipeline.scoring.score import score
from repro_pipeline.stages import Stage, latest


def scored_from(stage: Stage) -> dict[str, Sha256]:
    """The digests of all that scores rest on: the evidence, all attempts that count, and the rubric.

    Evidence and attempts as they stand, not as today's models write them: a field that these gain
    would score anew what did not change, and leave people's decisions with scores that no longer
    stand. Raises FileFormatError for a broken rubric.
    """
    return {
        "evidence": _stored(stage),
        "attempts": digest([event.hash for event in _own_attempts(stage)]),
        "rubric": read_rubric(stage.project)[1],
    }


def score_and_record(stage: Stage, evidence: Evidence) -> Scores:
    """Score a paper's stored evidence under the project's rubric; keep the rubric, and write down that
    it was scored and what that changed. Raises FileFormatError for a broken rubric.
    """
    rubric, rubric_digest = keep_rubric(stage.project)
    stored, tried = _stored(stage), attempts(_own_attempts(stage))
    scores = score(evidence, rubric, rubric_digest, tried, content=stored)
    stage.record(
        Scored(
            rubric=rubric_digest,
            evidence=stored,
            scores=digest(scores),
            overall=scores.overall,
            headline=scores.headline,
        )
    )
    record_change(stage, evidence, tried, scores, rubric)
    return scores


def _own_attempts(stage: Stage) -> list[Event]:
    """Every attempt in the paper's ledger, of whatever code: none can be left out. Those of sweeps are no
    part of the reproduction, and are held against it elsewhere."""
    made = stage.events({"attempt_started", "attempt_finished"})
    return [event for event in made if _purpose(event) != Purpose.SWEEP]


def _purpose(event: Event) -> str:
    attempt = event.payload["attempt"] if event.kind == "attempt_finished" else event.payload
    return attempt["purpose"]


def _stored(stage: Stage) -> Sha256:
    """The digest of the evidence as stored."""
    return latest(stage.project, stage.paper, "experiment_ledger").output
