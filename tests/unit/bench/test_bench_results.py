"""What is shared between processes at work on one comparison: its trials, its plan and its ceiling."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro_pipeline.bench.plan import Ceiling, Contestant, TrialKey
from repro_pipeline.bench.results import (
    AtWork,
    CeilingReached,
    keep_plan,
    plan_of,
    started,
    under_way,
)
from repro_pipeline.bundle.task import Budget
from repro_pipeline.errors import UserError
from repro_pipeline.project import Project
from resources.opening import open_project
from tests.unit.bench.test_bench_plan import plan

FIRST, SECOND = (TrialKey(task="one", contestant="mine", repeat=n) for n in (1, 2))
MINE = (Contestant(name="mine", agent="command:true"),)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / ".repro").mkdir()
    (tmp_path / "repro.yaml").write_text("schema: 1\n")
    return open_project(tmp_path)


def test_a_trial_is_run_by_one_process_at_a_time(project):
    made = plan(contestants=MINE, repeats=2)
    with started(project, made, FIRST):
        assert under_way(project, FIRST) and not under_way(project, SECOND)
        with pytest.raises(AtWork), started(open_project(project.root), made, FIRST):
            pass
        with started(project, made, SECOND):
            assert under_way(project, SECOND)
    assert not under_way(project, FIRST)


def test_a_trial_under_way_elsewhere_counts_with_its_whole_budget(project):
    made = plan(
        contestants=MINE, repeats=2, budget=Budget(tokens=1000), ceiling=Ceiling(tokens=1999)
    )
    keep_plan(project, made)
    with started(project, made, FIRST):
        with pytest.raises(CeilingReached, match="1000 of 1999"), started(project, made, SECOND):
            pass
        assert not under_way(project, SECOND), "what may not be started is not held"
    with started(project, made, SECOND):
        assert under_way(project, SECOND)


def test_a_refused_trial_of_other_conditions_leaves_the_plan(project):
    made = plan(contestants=MINE)
    keep_plan(project, made)
    for changes in ({"allow": ("data.test",)}, {"runner": "docker"}):
        with pytest.raises(UserError, match="other conditions"):
            keep_plan(project, plan(contestants=MINE, **changes))
    assert plan_of(project) == made


def test_a_suite_or_program_that_changed_under_way_is_told():
    made = plan()
    made.check_same(made.suite_content, made.scoring_code)
    for suite, code, what in (
        ("1" * 64, made.scoring_code, "the suite changed"),
        (made.suite_content, "1" * 64, "the scoring code changed"),
    ):
        with pytest.raises(UserError, match=what):
            made.check_same(suite, code)
