"""The judge of a bench: it sees the code and the verified implementation, and is asked apart."""

from __future__ import annotations

import pytest

from repro_pipeline.bench.judging import NO_CODE, aligned
from repro_pipeline.bench.suite import open_suite
from repro_pipeline.bundle.task import Budget
from repro_pipeline.chat import Unavailable
from repro_pipeline.config import ProjectConfig, Role, Roles
from repro_pipeline.submission.place import make_folder
from resources.opening import open_project
from tests.bench_suites import make_suite
from tests.judge_script import QUOTE, judged
from tests.scripted import ScriptedModel


@pytest.fixture
def place(tmp_path, monkeypatch):
    task = open_suite(make_suite(tmp_path / "suite")).task("seen")
    make_folder(
        tmp_path / "judging",
        ProjectConfig(models=Roles(judge=Role(model="openai/judge"))),
        tmp_path / "environments",
    )

    def opened(model: ScriptedModel):
        monkeypatch.setattr("resources.opening._chat", lambda models, replay: model)
        return open_project(tmp_path / "judging"), task

    return opened


def test_all_three_levels_are_scored_and_the_judge_sees_no_reported_value(place):
    model = ScriptedModel(judged)
    project, task = place(model)
    found = aligned(project, task, task.reference, Budget())
    assert found.values == {"align_paper": 90.0, "align_code": 87.0, "align_mixed": 90.0}
    assert not found.unscored and len(model.asked) == 12
    shown = " ".join(message.content for one in model.asked for message in one.messages)
    assert QUOTE in shown and "20.0" not in shown and "verified" not in shown
    aligned(project, task, task.reference, Budget())
    assert len(model.asked) == 12, "what was answered is not asked again"


def test_a_judge_that_fails_leaves_levels_unscored_which_is_no_zero(place, monkeypatch):
    monkeypatch.setattr("repro_pipeline.asking.ask.TRIES", 1)
    project, task = place(ScriptedModel([Unavailable("the provider is down.")]))
    found = aligned(project, task, task.reference, Budget())
    assert set(found.values) == set(NO_CODE.values) and set(found.values.values()) == {None}
    assert len(found.unscored) == 3 and "the provider is down" in found.unscored[0]
    assert set(NO_CODE.values.values()) == {0.0}
