"""Bring everything that is known of a paper into its report, and write the report's files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import repro_pipeline
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ledger.logs import tail
from repro_pipeline.ledger.projections import State, advance, attempts, model_calls, warnings
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.ledger.tables import tables, write_tables
from repro_pipeline.lineage.model import AssumptionLedger, Lineage
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.resolve import resolve_cell
from repro_pipeline.ports import ArtifactStore
from repro_pipeline.project import Project
from repro_pipeline.report import words
from repro_pipeline.report.again import SCRIPT, script
from repro_pipeline.report.html import render_html
from repro_pipeline.report.later import later_launch
from repro_pipeline.report.markdown_report import render_markdown
from repro_pipeline.report.model import ClaimTable, ModelCost, ReportData, StageRow
from repro_pipeline.report.privacy import (
    is_private,
    published,
    published_frames,
    words_of_runs,
)
from repro_pipeline.scoring.attribution import Attribution
from repro_pipeline.scoring.current import rubric_of
from repro_pipeline.scoring.explain import explanations
from repro_pipeline.scoring.history import last_change
from repro_pipeline.scoring.model import ReviewQueue, Scores
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import Stage, latest_of
from repro_pipeline.status import Status
from repro_pipeline.sweeps.trend import trend_of
from repro_pipeline.wholefile import whole

_LOGS, _LOG_LINES, _LOG_WIDTH = 40, 12, 300
"""How many logs of failed attempts a report quotes, and how much of each."""


class ReportFiles(Frozen):
    """A paper's report: its files in the artifact store, and where they were written."""

    headline: str
    html: Sha256
    json_data: Sha256
    markdown: Sha256 | None = None
    """None in reports of an earlier version."""
    script: Sha256 | None = None
    """`reproduce.sh`; None where there is nothing to run again."""
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
    """Make the report's data, render it, keep all of it in the store and write it to `reports/`.

    Beside it lie the paper's tables as Parquet. Where an input is private, nothing of it quotes a run.
    """
    project = stage.project
    known = advance(State(), project.ledger.events(stage.paper))
    tried = attempts(known)
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
        gaps=assumptions.gaps if assumptions else (),
        contradictions=assumptions.contradictions if assumptions else (),
        lineage=lineage,
        attribution=attribution,
        attempts=tried,
        log_ends={} if is_private(evidence.data) else _log_ends(tried, project.store),
        stages=_stage_rows(stage),
        explanations=explanations(scores),
        review=review,
        change=last_change(project, stage.paper),
        trend=trend_of(project, stage.paper, scores),
        warnings=warnings(known),
        model_cost=ModelCost.of(calls) if (calls := model_calls(known)) else None,
        ledger=project.ledger.head(stage.paper),
        generated_at=datetime.now(UTC),
        version=repro_pipeline.__version__,
    )
    data = published(data)
    store, again = project.store, script(data)
    files = ReportFiles(
        headline=data.scores.headline,
        html=store.put(render_html(data).encode()),
        json_data=store.put(data.model_dump_json(indent=1, by_alias=True).encode()),
        markdown=store.put(render_markdown(data).encode()),
        script=store.put(again.encode()) if again else None,
        html_path=str((project.reports(stage.paper) / "report.html").relative_to(project.root)),
    )
    restore_report(project, stage.paper, files)
    frames = tables(known, main=evidence.claims.main)
    quoted = words_of_runs(tried) if is_private(evidence.data) else ()
    write_tables(published_frames(frames, quoted), project.reports(stage.paper) / "tables")
    return files


def restore_report(project: Project, paper: str, files: ReportFiles) -> Path:
    """Write a report's files from the store to `reports/`; return the page's path.

    Where a later launch did not get through, the page and the Markdown say so above the headline.
    """
    folder = project.reports(paper)
    written = {
        "report.html": files.html,
        "report.json": files.json_data,
        "report.md": files.markdown,
        SCRIPT: files.script,
    }
    later = later_launch(project, paper)
    for name, digest in written.items():
        if digest is None:
            (folder / name).unlink(missing_ok=True)
            continue
        with whole(folder / name) as fresh:
            fresh.write_bytes(_with_note(name, project.store.get(digest), later))
            fresh.chmod(0o755 if name == SCRIPT else 0o644)
    return folder / "report.html"


def _with_note(name: str, content: bytes, later: str | None) -> bytes:
    """A report with a note above its headline; its data and script stay as they are."""
    if later is None:
        return content
    notes = {
        "report.html": (
            b'<p class="headline">',
            f'<div class="banner" role="note"><p><strong>{escape(later)}</strong></p></div>',
        ),
        "report.md": (b"\n**", f"\n> {later}\n"),
    }
    if name not in notes:
        return content
    mark, note = notes[name]
    return content.replace(mark, note.encode() + mark, 1)


def _log_ends(tried: Sequence[Attempt], store: ArtifactStore) -> dict[str, tuple[str, ...]]:
    """The last lines of the first failed attempts' logs that are in the store."""
    failed = [attempt.log for attempt in tried if attempt.status is not Status.OK]
    ends = {}
    for log in list(dict.fromkeys(log for log in failed if log))[:_LOGS]:
        if log in store:
            with store.open(log) as stream:
                ends[log] = tuple(_log_line(line) for line in tail(stream, _LOG_LINES))
    return ends


def _log_line(line: str) -> str:
    """A line without control characters, its indent kept, cut at its end."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    text = indent + words.plain(line)
    return text if len(text) <= _LOG_WIDTH else f"{text[: _LOG_WIDTH - 1]}…"


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


def _stage_rows(stage: Stage) -> tuple[StageRow, ...]:
    names = [name for name in STAGES if name != stage.name]
    rows = latest_of(stage.project, stage.paper, names).values()
    return tuple(
        StageRow(stage=row.stage, status=row.status, reason=row.reason, seconds=row.seconds)
        for row in rows
        if row
    )
