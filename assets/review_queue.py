"""Stage `review_queue`: the claims that a person should look at."""

from __future__ import annotations

import dagster as dg

from assets.stage import stage_asset
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import ReviewSampled
from repro_pipeline.scoring.current import current_rubric
from repro_pipeline.scoring.model import ReviewQueue, Scores
from repro_pipeline.scoring.review import sample
from repro_pipeline.stages import Stage


def describe(queue: ReviewQueue) -> dict:
    """The sample."""
    rows = [{"claim": item.claim, "rate": item.rate, "why": item.why} for item in queue.items]
    table = (
        {"sample": dg.MetadataValue.table([dg.TableRecord(row) for row in rows])} if rows else {}
    )
    return {**table, "sampled": len(rows), "of": queue.sampled_from, "seed": queue.seed}


@stage_asset(group="judge", version="1", describe=describe)
def review_queue(stage: Stage, scores: Scores) -> ReviewQueue:
    """Claims drawn for review by the rubric's seed; what looks odd is drawn more often."""
    queue = sample(scores, current_rubric(stage.project)[0].review)
    for item in queue.items:
        stage.record(
            ReviewSampled(claim=item.claim, scores=digest(scores), rate=item.rate, why=item.why)
        )
    return queue
