"""Stage `report`: the page that a person reads."""

from __future__ import annotations

import dagster as dg
from pydantic import BaseModel

from assets.stage import stage_asset
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.lineage.model import AssumptionLedger, Lineage
from repro_pipeline.paper.model import Paper
from repro_pipeline.report.write import ReportFiles, write_report
from repro_pipeline.scoring.attribution import Attribution
from repro_pipeline.scoring.model import ReviewQueue, Scores
from repro_pipeline.stages import Stage, latest_of
from repro_pipeline.sweeps.trend import never_ended, swept


def describe(files: ReportFiles) -> dict:
    """Where the report lies."""
    return {"headline": files.headline, "html": dg.MetadataValue.path(files.html_path)}


def inputs_and_sweeps(stage: Stage, **inputs: BaseModel | None) -> dict:
    """The inputs, by the digests of their outputs, and what sweeps found since."""
    rows = latest_of(stage.project, stage.paper, inputs)
    begun = [row.number for _, row in never_ended(stage.project, stage.paper)]
    return {
        **{name: row.output if row else None for name, row in rows.items()},
        "sweeps": [row.model_dump(mode="json") for _, row in swept(stage.project, stage.paper)],
        **({"sweeps without an end": begun} if begun else {}),
    }


@stage_asset(
    group="judge",
    version="4",
    describe=describe,
    depends_on=inputs_and_sweeps,
    also_after=["sweep"],
)
def report(
    stage: Stage,
    paper_bundle: Bundle,
    parsed_paper: Paper,
    reported_claims: ReportedClaims,
    paper_lineage: Lineage | None,
    assumption_ledger: AssumptionLedger | None,
    experiment_ledger: Evidence,
    scores: Scores,
    attribution: Attribution | None,
    review_queue: ReviewQueue | None,
) -> ReportFiles:
    """The report as one HTML page, Markdown, JSON and a script that runs it again, under reports/<paper>/."""
    return write_report(
        stage,
        paper_bundle,
        parsed_paper,
        experiment_ledger,
        scores,
        paper_lineage,
        assumption_ledger,
        attribution,
        review_queue,
    )
