"""The scoreboard holds every paper of the ledger, each by its latest scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.breiman import CRASHED, breiman_report, hostile_report

from repro_pipeline.config import ProjectConfig
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import AttemptFinished, RubricSeen, StageFinished
from repro_pipeline.project import Project
from repro_pipeline.report.scoreboard import (
    render_scoreboard_html,
    scoreboard_rows,
    write_scoreboard,
)
from repro_pipeline.scoring.model import Scores
from repro_pipeline.status import Reason, Status
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
    )


def finish(project: Project, paper: str, stage: str, output=None, *, reason: str = "") -> None:
    """A stage that ended, with its output or with the reason that it has none."""
    stored = project.store.put(output.model_dump_json(by_alias=True).encode()) if output else None
    event = StageFinished(
        stage=stage,
        inputs=digest([paper, stage, stored, reason]),
        status=Status.FAILED if reason else Status.OK,
        reason=Reason(code="bad_file", sentence=reason) if reason else None,
        output=stored,
        code_version="1",
        launch="launch",
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
