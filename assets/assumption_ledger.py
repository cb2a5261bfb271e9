"""Stage `assumption_ledger`: what had to be assumed, before anything is implemented."""

from __future__ import annotations

from assets.stage import stage_asset, table
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.ledger.events import AssumptionRecorded
from repro_pipeline.lineage.checklist import load_checklist
from repro_pipeline.lineage.gaps import find_gaps
from repro_pipeline.lineage.ledger import HUMAN, assumptions_of, changes_in
from repro_pipeline.lineage.model import AssumptionLedger, Lineage
from repro_pipeline.lineage.rank import brought_texts, read_references
from repro_pipeline.lineage.reading import read_gaps
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
            "proposed by": a.proposed_by,
            "alternatives": ", ".join(map(str, a.alternatives)),
        }
        for a in ledger.assumptions
    ]
    gaps = [
        {"gap": gap.item, "influence": str(gap.influence), "question": gap.question}
        for gap in ledger.gaps
    ]
    return {
        **table("assumptions", rows),
        "count": len(rows),
        **table("gaps", gaps),
        "open gaps": len(gaps),
        "warnings": len(ledger.warnings),
    }


def what_assumptions_rest_on(
    stage: Stage,
    paper_bundle: Bundle,
    parsed_paper: Paper,
    reported_claims: ReportedClaims,
    paper_lineage: Lineage,
) -> dict:
    """What is said of assumptions, the document, the works at hand, and what people changed."""
    changes = changes_in(stage.events({"assumption_recorded"}))
    reader = stage.project.config.models.reader
    return {
        "reader": reader.model if reader else None,
        "claims": reported_claims.model_dump(mode="json") if reader else None,
        "task": paper_bundle.task.model_dump(mode="json", include={"assumptions"}),
        "paper": parsed_paper.model_dump(mode="json"),
        "lineage": paper_lineage.model_dump(mode="json"),
        "references": {name: paper_bundle.files[name] for name in paper_bundle.references},
        "changes": {name: one.model_dump(mode="json") for name, one in sorted(changes.items())},
    }


@stage_asset(
    group="understand", version="4", describe=describe, depends_on=what_assumptions_rest_on
)
def assumption_ledger(
    stage: Stage,
    paper_bundle: Bundle,
    parsed_paper: Paper,
    reported_claims: ReportedClaims,
    paper_lineage: Lineage,
) -> AssumptionLedger:
    """What the paper leaves unsaid and how it was filled in, each with its source, before any code."""
    texts = read_references(stage.bundle_folder, paper_bundle.references)
    texts |= brought_texts(paper_lineage, stage.project.store)
    changes = changes_in(stage.events({"assumption_recorded"}))
    task = paper_bundle.task
    unsaid = find_gaps(parsed_paper, load_checklist())
    gaps = read_gaps(stage, task, parsed_paper, reported_claims, unsaid)
    ledger = assumptions_of(task, texts, paper_lineage, parsed_paper, changes, gaps)
    for assumption in ledger.assumptions:
        if not assumption.proposed_by.startswith(HUMAN):
            stage.record(AssumptionRecorded(assumption=assumption))
    for warning in ledger.warnings:
        stage.warn("assumptions", warning)
    return ledger
