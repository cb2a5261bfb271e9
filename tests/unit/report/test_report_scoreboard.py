"""The scoreboard holds every paper of the ledger, each by its latest scores."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from unit.report.breiman import CRASHED, breiman_report, hostile_report

from repro_pipeline.config import ProjectConfig
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import (
    AttemptFinished,
    ModelCalled,
    RubricSeen,
    Scored,
    ScoresChanged,
    StageFinished,
)
from repro_pipeline.project import Project
from repro_pipeline.report.scoreboard import (
    render_scoreboard_html,
    scoreboard_rows,
    sparkline,
    write_scoreboard,
)
from repro_pipeline.scoring.history import scorings
from repro_pipeline.scoring.model import Scores
from repro_pipeline.status import Reason, Status, Verdict
from resources.artifact_store import FsspecArtifactStore
from resources.ledger_sql import SqlLedger


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(
        root=tmp_path,
        config=ProjectConfig(),
        ledger=SqlLedger(f"sqlite:///{tmp_path / 'ledger.sqlite'}"),
        store=FsspecArtifactStore(str(tmp_path / "store")),
        runner=None,
        secret=b"",
        slots=None,
    )


def finish(
    project: Project, paper: str, stage: str, output=None, *, reason: str = "", launch: str = "one"
) -> None:
    """A stage that ended, with its output (or that one's digest) or with the reason that it has none."""
    stored = output
    if output and not isinstance(output, str):
        stored = project.store.put(output.model_dump_json(by_alias=True).encode())
    event = StageFinished(
        stage=stage,
        inputs=digest([paper, stage, stored, reason]),
        status=Status.FAILED if reason else Status.OK,
        reason=Reason(code="bad_file", sentence=reason) if reason else None,
        output=stored,
        code_version="1",
        launch=launch,
        seconds=1.0,
    )
    project.ledger.append(paper, event, actor="code:test")


def scores_of(paper: str, **changes: object) -> Scores:
    return Scores(**{**dict(breiman_report().scores), "paper": paper, **changes})


def test_each_paper_is_judged_by_its_latest_scores(project: Project):
    finish(project, "forests", "scores", scores_of("forests", overall="pass"))
    finish(project, "forests", "scores", scores_of("forests", overall="fail"))
    for attempt in breiman_report().attempts:
        project.ledger.append("forests", AttemptFinished(attempt=attempt), actor="code:test")
    (row,) = scoreboard_rows(project)
    assert row.overall == "fail"
    assert (row.reproduced, row.not_reproduced, row.inconclusive, row.not_run) == (10, 2, 4, 0)
    assert row.claims == 16
    assert row.no_leakage == "inconclusive"
    assert row.attempts == 32
    assert row.run_seconds == pytest.approx(sum(a.seconds for a in breiman_report().attempts))
    assert row.report is None


def test_a_paper_without_scores_is_shown_with_the_reason(project: Project):
    project.ledger.append("_project", RubricSeen(rubric=digest("rubric")), actor="code:test")
    finish(project, "broken", "parsed_paper", reason="paper.tex:3: \\begin{table} is never closed")
    finish(project, "broken", "scores", reason="parsed_paper ended as failed")
    finish(project, "young", "paper_bundle")
    finish(project, "forests", "scores", scores_of("forests"))
    rows = scoreboard_rows(project)
    assert [row.paper for row in rows] == ["broken", "forests", "young"]
    assert rows[0].reason.startswith("parsed_paper: paper.tex:3")
    assert rows[0].overall is None
    assert rows[2].reason == "It was not scored yet."
    page = render_scoreboard_html(rows)
    assert "is never closed" in page
    assert "1 scored: 1 fail" in page


def test_modes_stand_apart(project: Project):
    finish(project, "given", "scores", scores_of("given"))
    finish(project, "written", "scores", scores_of("written", mode="agent", overall="pass"))
    page = render_scoreboard_html(scoreboard_rows(project))
    assert page.count("1 scored:") == 2
    order = ("Given code", "<code>given", "Code written by a model", "<code>written")
    assert [page.index(text) for text in order] == sorted(page.index(text) for text in order)


def test_the_page_is_written_and_links_to_reports_that_exist(project: Project):
    finish(project, "forests", "scores", scores_of("forests", headline=hostile_report().title))
    before = write_scoreboard(project)
    page = Path(before.path)
    assert page == project.root / "reports" / "scoreboard.html"
    assert 'href="forests/report.html"' not in page.read_text()
    assert "<img" not in page.read_text()
    report = project.reports("forests") / "report.html"
    report.parent.mkdir(parents=True)
    report.write_text("a report")
    after = write_scoreboard(project)
    assert 'href="forests/report.html"' in page.read_text()
    assert after.digest != before.digest
    assert after.digest == write_scoreboard(project).digest
    flat = {type(value) for row in after.rows for value in row.values()}
    assert flat <= {str, int, float, type(None)}


def test_a_failed_attempt_costs_as_well(project: Project):
    report = breiman_report()
    (failed,) = [a for a in report.attempts if a.exit_code == CRASHED[2]]
    project.ledger.append("forests", AttemptFinished(attempt=failed), actor="code:test")
    (row,) = scoreboard_rows(project)
    assert (row.attempts, row.run_seconds) == (1, failed.seconds)


def test_an_empty_ledger_has_an_empty_page(project: Project):
    assert "holds no paper yet" in render_scoreboard_html(scoreboard_rows(project))


def scored(project: Project, paper: str, scores: Scores, *, launch: str = "one") -> None:
    finish(project, paper, "scores", scores, launch=launch)
    stored = project.store.put(scores.model_dump_json(by_alias=True).encode())
    event = Scored(
        rubric=digest("rubric"),
        evidence=digest([paper, stored]),
        scores=stored,
        overall=scores.overall,
        headline=scores.headline,
    )
    project.ledger.append(paper, event, actor="code:test")


def worse(verdicts: tuple) -> tuple:
    return (
        tuple(v.model_copy(update={"verdict": Verdict.INCONCLUSIVE}) for v in verdicts[:8])
        + verdicts[8:]
    )


def test_the_trend_goes_from_the_first_scoring_to_the_latest(project: Project):
    latest = scores_of("forests")
    scored(project, "forests", scores_of("forests", verdicts=worse(latest.verdicts)))
    scored(project, "forests", latest)
    (row,) = scoreboard_rows(project)
    assert [look.reproduced for look in row.history] == [5, 10]
    assert row.history[0].at <= row.history[1].at
    found = sparkline(row.history)
    assert found.text == "31 % to 62 % in 2 scorings"
    assert found.points == "0.0,13.8 80.0,7.5"
    page = render_scoreboard_html((row,))
    assert 'aria-label="31 % to 62 % in 2 scorings"' in page
    assert sparkline(row.history[:1]) is None


def test_a_rubric_that_comes_back_is_a_scoring_of_its_own_with_its_own_cause(project: Project):
    first = scores_of("forests")
    other = scores_of("forests", verdicts=worse(first.verdicts))
    for launch, scores in (("a", first), ("b", other), ("c", first), ("d", first)):
        scored(project, "forests", scores, launch=launch)
    stored = [one.scores for one in scorings(project, "forests")]
    for before, after, sentence in (
        (stored[0], stored[1], "stricter"),
        (stored[1], stored[2], "milder"),
        (digest("evidence before"), stored[0], "the evidence"),
    ):
        event = ScoresChanged(
            before=before,
            after=after,
            rubric_before=digest("rubric"),
            rubric_after=digest("rubric"),
            change=digest("change"),
            sentence=sentence,
        )
        project.ledger.append("forests", event, actor="code:test")
    (row,) = scoreboard_rows(project)
    assert [look.reproduced for look in row.history] == [10, 5, 10]
    assert row.changed == "milder"


def test_scores_that_are_gone_are_a_gap_and_no_zero(project: Project):
    finish(project, "forests", "scores", digest("lost"))
    scored(project, "forests", scores_of("forests"))
    event = Scored(
        rubric=digest("rubric"),
        evidence=digest("lost"),
        scores=digest("lost"),
        overall="pass",
        headline="?",
    )
    project.ledger.append("forests", event, actor="code:test")
    (row,) = scoreboard_rows(project)
    assert [look.reproduced for look in row.history] == [None, 10]
    assert row.history[0].overall == "pass"
    assert sparkline(row.history) is None


def test_csv_and_parquet_hold_what_the_page_holds(project: Project):
    scored(project, "forests", scores_of("forests", headline="=HYPERLINK(1)"))
    finish(project, "broken", "parsed_paper", reason="paper.tex:3: \\begin{table} is never closed")
    board = write_scoreboard(project)
    table = pd.read_parquet(Path(board.path).with_suffix(".parquet"))
    plain = pd.read_csv(Path(board.path).with_suffix(".csv"))
    assert list(table["paper"]) == list(plain["paper"]) == ["broken", "forests"]
    assert list(table["reproduced"]) == list(plain["reproduced"]) == [0, 10]
    assert table["headline"][1] == "=HYPERLINK(1)"
    assert plain["headline"][1] == "'=HYPERLINK(1)"
    assert json.loads(table["history"][1])[0]["reproduced"] == 10


def test_what_models_cost_is_told_and_what_is_not_known_as_well(project: Project):
    (row,) = [r for r in _priced(project) if r.paper == "forests"]
    assert (row.model_calls, row.usd, row.unpriced) == (2, 0.5, 1)
    assert "US$ 0.50 and more" in render_scoreboard_html((row,))


def _priced(project: Project):
    scored(project, "forests", scores_of("forests"))
    for number, usd in enumerate((0.5, None)):
        call = ModelCalled(
            role="coder",
            model="m",
            step=f"s{number}",
            ordinal=0,
            prompt=digest("prompt"),
            request=digest(number),
            answer=digest(number),
            tokens_in=1,
            tokens_out=1,
            usd=usd,
            priced=usd is not None,
            seconds=1.0,
        )
        project.ledger.append("forests", call, actor="model:m")
    return scoreboard_rows(project)
