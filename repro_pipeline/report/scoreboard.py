"""All papers side by side: how each stands by its latest scores, and what it cost.

Papers whose code was given and papers whose code a model wrote stand in tables of their own: the two
are never averaged. A paper that could not be scored has a row with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from repro_pipeline.frozen import Frozen, Slug, digest
from repro_pipeline.ledger.events import PROJECT_CHAIN, StageFinished
from repro_pipeline.ledger.projections import State, advance, attempts, reviews, stages
from repro_pipeline.paper.model import Paper
from repro_pipeline.project import Project
from repro_pipeline.report.html import environment
from repro_pipeline.report.model import MODE_LABELS
from repro_pipeline.scoring.model import IntegrityStatus, Scores
from repro_pipeline.scoring.review import after_review, item_of
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import output_of
from repro_pipeline.status import Outcome, Status, Verdict


class ScoreboardRow(Frozen):
    """One paper. Without scores, `reason` says why."""

    paper: Slug
    title: str
    mode: Literal["code", "agent"] | None = None
    overall: Outcome | None = None
    reproduced: int = 0
    not_reproduced: int = 0
    inconclusive: int = 0
    not_run: int = 0
    claims: int = 0
    environment_parity: Outcome | None = None
    metric_parity: Outcome | None = None
    ablation_faithful: Outcome | None = None
    no_leakage: Outcome | None = None
    integrity: IntegrityStatus | None = None
    headline: str = ""
    review: str = ""
    """What people's decisions make of the verdicts, which stand beside them as the rubric gave them."""
    reason: str = ""
    attempts: int = 0
    run_seconds: float = 0.0
    report: str | None = None
    """The report's page, relative to the scoreboard's."""


class Scoreboard(Frozen):
    """The rows of all papers, and the page that shows them."""

    papers: tuple[ScoreboardRow, ...]
    path: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as flat JSON values, for tables of other tools."""
        return [row.model_dump(mode="json") for row in self.papers]

    @property
    def digest(self) -> str:
        """Digest of the rows."""
        return digest(self.rows)


def scoreboard_rows(project: Project) -> tuple[ScoreboardRow, ...]:
    """One row per paper of the ledger, in the order of their ids."""
    papers = sorted(chain for chain in project.ledger.chains() if chain != PROJECT_CHAIN)
    return tuple(
        _row(paper, advance(State(), project.ledger.events(paper)), project) for paper in papers
    )


def render_scoreboard_html(rows: tuple[ScoreboardRow, ...]) -> str:
    """The page: one table per mode, and the papers without scores."""
    groups = [
        (label, members, _summary(members))
        for mode, label in MODE_LABELS.items()
        if (members := [row for row in rows if row.mode == mode])
    ]
    unscored = [row for row in rows if row.mode is None]
    return environment().get_template("scoreboard.html").render(groups=groups, unscored=unscored)


def write_scoreboard(project: Project) -> Scoreboard:
    """Make the scoreboard of all papers in the ledger and write `reports/scoreboard.html`."""
    rows = scoreboard_rows(project)
    page = project.root / "reports" / "scoreboard.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    fresh = page.with_name(".scoreboard.html.new")
    fresh.write_text(render_scoreboard_html(rows), encoding="utf-8")
    fresh.replace(page)
    return Scoreboard(papers=rows, path=str(page))


def _row(paper: str, state: State, project: Project) -> ScoreboardRow:
    last = {row.stage: row for row in stages(state)}
    tried = attempts(state)
    known = {
        "paper": paper,
        "title": _title(last.get("parsed_paper"), project) or paper,
        "attempts": len(tried),
        "run_seconds": sum(attempt.seconds for attempt in tried),
    }
    scored = last.get("scores")
    if scored is None or scored.output is None:
        return ScoreboardRow(**known, reason=_why(last))
    result = output_of(project, scored, Scores)
    found = Counter(verdict.verdict for verdict in result.verdicts)
    report = project.reports(paper) / "report.html"
    return ScoreboardRow(
        **known,
        mode=result.mode,
        overall=result.overall,
        claims=len(result.verdicts),
        integrity=result.integrity,
        headline=result.headline,
        review=_review(result, scored.output, state) or "",
        report=f"{paper}/{report.name}" if report.exists() else None,
        **{verdict.value: found[verdict] for verdict in Verdict},
        **{dimension.id: dimension.outcome for dimension in result.dimensions},
    )


def _review(scores: Scores, stored: str, state: State) -> str | None:
    """What was decided on these scores, also since the report was written."""
    return after_review(scores, [item_of(row) for row in reviews(state) if row.scores == stored])


def _title(row: StageFinished | None, project: Project) -> str:
    return output_of(project, row, Paper).title if row and row.output else ""


def _why(last: Mapping[str, StageFinished]) -> str:
    """The first stage that stopped the paper, in a sentence."""
    for name in STAGES:
        row = last.get(name)
        if row and row.reason and row.status not in {Status.OK, Status.BLOCKED}:
            return f"{name}: {row.reason.sentence}"
    return "It was not scored yet."


def _summary(rows: list[ScoreboardRow]) -> str:
    outcomes = Counter(row.overall for row in rows)
    parts = [f"{count} {outcome}" for outcome, count in sorted(outcomes.items())]
    return f"{len(rows)} scored: {', '.join(parts)}"
