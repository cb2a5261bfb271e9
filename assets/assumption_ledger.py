"""Stage `assumption_ledger`: what had to be assumed, before anything is implemented."""

from __future__ import annotations

import dagster as dg

from assets.stage import stage_asset
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.ledger.events import AssumptionRecorded
from repro_pipeline.lineage.assumptions import collect_assumptions
from repro_pipeline.lineage.model import AssumptionLedger, Lineage
from repro_pipeline.lineage.rank import read_references
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Stage


def describe(ledger: AssumptionLedger) -> dict:
    """The assumptions as a table."""
    rows = [
        {
            "assumption": a.id,
            "topic": a.topic,
            "statement": a.statement,
            "source": a.source.reference or a.source.kind,
            "source found": {True: "yes", False: "NO", None: ""}[a.source_found],
            "influence": str(a.influence),
        }
        for a in ledger.assumptions
    ]
    table = (
        {"assumptions": dg.MetadataValue.table([dg.TableRecord(row) for row in rows])}
        if rows
        else {}
    )
    return {**table, "count": len(rows), "warnings": len(ledger.warnings)}


@stage_asset(group="understand", version="1", describe=describe)
def assumption_ledger(
    stage: Stage,
    paper_bundle: Bundle,
    parsed_paper: Paper,
    reported_claims: ReportedClaims,
    paper_lineage: Lineage,
) -> AssumptionLedger:
    """What the paper leaves unsaid and how it was filled in, each with its source, before any code."""
    texts = read_references(stage.bundle_folder, paper_bundle.references)
    ledger = collect_assumptions(paper_bundle.task, texts, paper_lineage, parsed_paper)
    for assumption in ledger.assumptions:
        stage.record(AssumptionRecorded(assumption=assumption))
    for warning in ledger.warnings:
        stage.warn("assumptions", warning)
    return ledger
