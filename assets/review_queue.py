"""Stage `review_queue`: the claims that a person should look at, and what people decided."""

from __future__ import annotations

from typing import Literal

from assets.stage import stage_asset, table
from repro_pipeline.ledger.events import ReviewSampled
from repro_pipeline.ledger.rows import ReviewRow
from repro_pipeline.scoring.current import read_rubric, reviews_of, sampling_phase
from repro_pipeline.scoring.history import scores_at
from repro_pipeline.scoring.model import ReviewQueue, Scores
from repro_pipeline.scoring.review import holding, sample
from repro_pipeline.stages import Stage, latest


def describe(queue: ReviewQueue) -> dict:
    """The sample, and what was decided."""
    rows = [
        {
            "claim": item.claim,
            "rate": item.rate,
            "why": item.why,
            "reviews": len(item.decisions),
            "reviewed": str(item.verdict or "waiting"),
        }
        for item in queue.items
    ]
    return {
        **table("sample", rows),
        "sampled": len(rows),
        "of": queue.sampled_from,
        "reviewed": sum(bool(item.decisions) for item in queue.items),
        "phase": queue.phase,
        "seed": queue.seed,
    }


def scores_and_reviews(stage: Stage, scores: Scores) -> dict:
    """The scores, the phase of sampling, and what people decided that holds for them."""
    rows = _standing(stage, scores)
    return {
        "scores": _stored(stage),
        "phase": _phase(stage),
        "decisions": [d.model_dump(mode="json") for row in rows for d in row.decisions],
    }


@stage_asset(group="judge", version="3", describe=describe, depends_on=scores_and_reviews)
def review_queue(stage: Stage, scores: Scores) -> ReviewQueue:
    """Claims drawn for review by the rubric's seed, what looks odd more often, and people's decisions."""
    stored, standing = _stored(stage), _standing(stage, scores)
    queue = sample(
        scores, read_rubric(stage.project)[0].review, phase=_phase(stage), standing=standing
    )
    bound = {row.claim: row.bound_to for row in standing if row.bound_to != stored}
    for item in queue.items:
        stage.record(
            ReviewSampled(
                claim=item.claim,
                scores=stored,
                rate=item.rate,
                why=item.why,
                decided_on=bound.get(item.claim),
            )
        )
    return queue


def _standing(stage: Stage, scores: Scores) -> tuple[ReviewRow, ...]:
    """The draws so far that hold for the scores."""
    project = stage.project
    rows = reviews_of(project, stage.paper)
    return holding(scores, _stored(stage), rows, lambda digest: scores_at(project, digest))


def _phase(stage: Stage) -> Literal["early", "stable"]:
    return stage.review_phase or sampling_phase(stage.project)


def _stored(stage: Stage) -> str:
    """The digest of the scores as stored."""
    return latest(stage.project, stage.paper, "scores").output
