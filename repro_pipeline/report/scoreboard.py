"""All papers side by side: how each stands by its latest scores, and what it cost.

Papers whose code was given and papers whose code a model wrote stand in tables of their own: the two
are never averaged. A paper that could not be scored has a row with the reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import AwareDatetime

from repro_pipeline.environment.model import DataManifest
from repro_pipeline.frozen import Frozen, Slug, digest
from repro_pipeline.ledger.events import PROJECT_CHAIN, StageFinished
from repro_pipeline.ledger.projections import (
    State,
    advance,
    attempts,
    model_calls,
    reviews,
    score_changes,
    scores,
    stages,
)
from repro_pipeline.ledger.tables import frame, write_tables
from repro_pipeline.paper.model import Paper
from repro_pipeline.project import Project
from repro_pipeline.report.model import MODE_LABELS, ModelCost
from repro_pipeline.report.pages import inline_script, templates
from repro_pipeline.report.privacy import is_private
from repro_pipeline.scoring.history import Scoring, last_pair, scores_at, scorings
from repro_pipeline.scoring.model import IntegrityStatus, Scores
from repro_pipeline.scoring.review import after_review, item_of
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import output_of
from repro_pipeline.status import Outcome, Status, Verdict
from repro_pipeline.wholefile import whole

_LOOKS = 50
"""How many scorings of a paper the trend shows."""


class Look(Frozen):
    """One scoring of a paper: a new rubric, or new evidence."""

    at: AwareDatetime
    overall: Outcome | None
    """None where neither scores nor ledger say it any more."""
    reproduced: int | None
    """Claims reproduced then; None where those scores cannot be read any more."""
    claims: int


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
    changed: str = ""
    """What the latest scores say otherwise than those before, and by which settings."""
    reason: str = ""
    attempts: int = 0
    run_seconds: float = 0.0
    model_calls: int = 0
    usd: float | None = None
    """What the calls of known price cost; None where none is known."""
    unpriced: int = 0
    """How many calls have no known price."""
    history: tuple[Look, ...] = ()
    """The latest scorings, oldest first."""
    report: str | None = None
    """The report's page, relative to the scoreboard's."""


class Scoreboard(Frozen):
    """The rows of all papers, and the page that shows them; the same as CSV and Parquet beside it."""

    papers: tuple[ScoreboardRow, ...]
    path: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as flat JSON values, for tables of other tools; the history as JSON text."""
        rows = [row.model_dump(mode="json") for row in self.papers]
        return [{**row, "history": json.dumps(row["history"])} for row in rows]

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
    return (
        templates()
        .get_template("scoreboard.html")
        .render(
            groups=groups,
            unscored=unscored,
            outcomes=sorted({row.overall for row in rows if row.overall}),
            sparklines={row.paper: sparkline(row.history) for row in rows},
            **inline_script("scoreboard.js"),
        )
    )


@dataclass(frozen=True)
class Sparkline:
    """The share of reproduced claims over the scorings, as a line in a box of 80 by 20."""

    points: str
    """Corners of the line, as SVG wants them."""
    last: tuple[float, float]
    text: str
    """The same in words."""


def sparkline(history: tuple[Look, ...]) -> Sparkline | None:
    """The line; None for fewer than two scorings that can be read."""
    shares = [look.reproduced / look.claims for look in history if look.reproduced is not None]
    if len(shares) < 2:
        return None
    places = [
        (round(80 * index / (len(shares) - 1), 1), round(20 - 20 * share, 1))
        for index, share in enumerate(shares)
    ]
    first, last = (f"{100 * share:.0f} %" for share in (shares[0], shares[-1]))
    return Sparkline(
        points=" ".join(f"{x},{y}" for x, y in places),
        last=places[-1],
        text=f"{first} to {last} in {len(shares)} scorings",
    )


def write_scoreboard(project: Project) -> Scoreboard:
    """Make the scoreboard of all papers in the ledger and write it to `reports/`.

    `scoreboard.html` is the page; `scoreboard.csv` and `scoreboard.parquet` hold its rows.
    """
    rows = scoreboard_rows(project)
    page = project.root / "reports" / "scoreboard.html"
    with whole(page) as fresh:
        fresh.write_text(render_scoreboard_html(rows), encoding="utf-8")
    table = frame(ScoreboardRow, rows)
    write_tables({"scoreboard": table}, page.parent)
    with whole(page.with_name("scoreboard.csv")) as fresh:
        table.map(_no_formula).to_csv(fresh, index=False)
    return Scoreboard(papers=rows, path=str(page))


def _no_formula(cell: Any) -> Any:
    """A text that no spreadsheet takes for a formula: titles are the papers', and may be hostile."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@")) else cell


def _row(paper: str, state: State, project: Project) -> ScoreboardRow:
    last = {row.stage: row for row in stages(state)}
    tried, spent = attempts(state), ModelCost.of(model_calls(state))
    made = scorings(project, paper)
    known = {
        "paper": paper,
        "title": _title(last.get("parsed_paper"), project) or paper,
        "attempts": len(tried),
        "run_seconds": sum(attempt.seconds for attempt in tried),
        "model_calls": spent.calls,
        "usd": spent.usd,
        "unpriced": spent.unpriced,
        "history": _history(made, state, project),
    }
    scored = last.get("scores")
    if scored is None or scored.output is None:
        return ScoreboardRow(**known, reason=_why(last, project))
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
        changed=_changed(made, state),
        report=f"{paper}/{report.name}" if report.exists() else None,
        **{verdict.value: found[verdict] for verdict in Verdict},
        **{dimension.id: dimension.outcome for dimension in result.dimensions},
    )


def _review(result: Scores, stored: str, state: State) -> str | None:
    """What was decided on these scores, also since the report was written."""
    return after_review(result, [item_of(row) for row in reviews(state) if row.scores == stored])


def _changed(made: Sequence[Scoring], state: State) -> str:
    pair = last_pair(made)
    said = {(one.before, one.after): one.sentence for one in score_changes(state)}
    return said.get(pair, "") if pair else ""


def _title(row: StageFinished | None, project: Project) -> str:
    return output_of(project, row, Paper).title if row and row.output else ""


def _history(made: Sequence[Scoring], state: State, project: Project) -> tuple[Look, ...]:
    """A look per scoring, but for those that came out as the one before."""
    overall = {one.scores: one.overall for one in scores(state)}
    before = (None, *(one.scores for one in made))
    differing = [one for one, last in zip(made, before, strict=False) if one.scores != last]
    return tuple(_look(one, overall.get(one.scores), project) for one in differing[-_LOOKS:])


def _look(made: Scoring, overall: Outcome | None, project: Project) -> Look:
    """`overall` is what the ledger says of it."""
    found = scores_at(project, made.scores)
    if found is None:  # collected, or of an earlier version
        return Look(at=made.at, overall=overall, reproduced=None, claims=0)
    reproduced = sum(verdict.verdict is Verdict.REPRODUCED for verdict in found.verdicts)
    return Look(
        at=made.at,
        overall=found.overall,
        reproduced=reproduced if found.verdicts else None,
        claims=len(found.verdicts),
    )


def _why(last: Mapping[str, StageFinished], project: Project) -> str:
    """The first stage that stopped the paper, in a sentence; by its code alone where data are private."""
    described = last.get("data_manifest")
    private = described and described.output and output_of(project, described, DataManifest)
    for name in STAGES:
        row = last.get(name)
        if row and row.reason and row.status not in {Status.OK, Status.BLOCKED}:
            said = row.reason.code if private and is_private(private) else row.reason.sentence
            return f"{name}: {said}"
    return "It was not scored yet."


def _summary(rows: list[ScoreboardRow]) -> str:
    outcomes = Counter(row.overall for row in rows)
    parts = [f"{count} {outcome}" for outcome, count in sorted(outcomes.items())]
    return f"{len(rows)} scored: {', '.join(parts)}"
