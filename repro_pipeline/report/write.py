"""Bring everything that is known of a paper into its report, and write the report's files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import repro_pipeline
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ledger.projections import attempts, model_calls, warnings
from repro_pipeline.ledger.rows import ModelCallRow
from repro_pipeline.ledger.tables import tables, write_tables
from repro_pipeline.lineage.model import AssumptionLedger, Lineage
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.resolve import resolve_cell
from repro_pipeline.project import Project
from repro_pipeline.report.html import render_html
from repro_pipeline.report.model import ClaimTable, ModelCost, ReportData, StageRow
from repro_pipeline.scoring.attribution import Attribution
from repro_pipeline.scoring.current import rubric_of
from repro_pipeline.scoring.explain import explanations
from repro_pipeline.scoring.model import Evidence, ReviewQueue, Scores
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import Stage, latest


class ReportFiles(Frozen):
    """A paper's report: its files in the artifact store, and where they were written."""

    headline: str
    html: Sha256
    json_data: Sha256
    html_path: str
    """Relative to the project."""


def write_report(
    stage: Stage,
    bundle: Bundle,
    paper: Paper,
    evidence: Evidence,
    scores: Scores,
    lineage: Lineage | None,
    assumptions: AssumptionLedger | None,
    attribution: Attribution | None,
    review: ReviewQueue | None,
) -> ReportFiles:
    """Make the report's data, render it, keep both in the store and write them to `reports/`.

    Beside them lie the paper's tables as Parquet.
    """
    project = stage.project
    events = list(project.ledger.events(stage.paper))
    data = ReportData(
        paper=stage.paper,
        title=bundle.task.title or paper.title,
        authors=paper.authors,
        year=paper.year,
        source=paper.source,
        scores=scores,
        evidence=evidence,
        rubric=rubric_of(project, scores.rubric),
        tables=_claim_tables(paper, evidence),
        assumptions=assumptions.assumptions if assumptions else (),
        lineage=lineage,
        attribution=attribution,
        attempts=attempts(events),
        stages=_stage_rows(stage),
        explanations=explanations(scores),
        review=review,
        warnings=warnings(events),
        model_cost=_model_cost(model_calls(events)),
        ledger=project.ledger.head(stage.paper),
        generated_at=datetime.now(UTC),
        version=repro_pipeline.__version__,
    )
    store = project.store
    files = ReportFiles(
        headline=scores.headline,
        html=store.put(render_html(data).encode()),
        json_data=store.put(data.model_dump_json(indent=1, by_alias=True).encode()),
        html_path=str((project.reports(stage.paper) / "report.html").relative_to(project.root)),
    )
    restore_report(project, stage.paper, files)
    frames = tables(events, main=evidence.claims.main)
    write_tables(frames, project.reports(stage.paper) / "tables")
    return files


def restore_report(project: Project, paper: str, files: ReportFiles) -> Path:
    """Write a report's files from the store to `reports/`; return the page's path."""
    folder = project.reports(paper)
    folder.mkdir(parents=True, exist_ok=True)
    for name, digest in (("report.html", files.html), ("report.json", files.json_data)):
        fresh = folder / f".{name}.new"
        fresh.write_bytes(project.store.get(digest))
        fresh.replace(folder / name)
    return folder / "report.html"


def _claim_tables(paper: Paper, evidence: Evidence) -> tuple[ClaimTable, ...]:
    places: dict[int, dict[str, tuple[int, int]]] = {}
    for claim in evidence.claims.claims:
        if isinstance(claim.address, CellAddress):
            table, row, column, _, _ = resolve_cell(paper, claim.address)
            places.setdefault(table.index, {})[claim.id] = (row, column)
    return tuple(
        ClaimTable(table=table, places=places[table.index])
        for table in paper.tables
        if table.index in places
    )


def _model_cost(calls: tuple[ModelCallRow, ...]) -> ModelCost | None:
    if not calls:
        return None
    prices = [call.usd for call in calls if call.usd is not None]
    return ModelCost(
        usd=sum(prices) if prices else None,
        tokens=sum(call.tokens_in + call.tokens_out for call in calls),
        calls=len(calls),
        unpriced=len(calls) - len(prices),
    )


def _stage_rows(stage: Stage) -> tuple[StageRow, ...]:
    rows = [latest(stage.project, stage.paper, name) for name in STAGES if name != stage.name]
    return tuple(
        StageRow(stage=row.stage, status=row.status, reason=row.reason, seconds=row.seconds)
        for row in rows
        if row
    )
