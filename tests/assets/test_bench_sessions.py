"""The bundled suite's recorded sessions answer today's questions, and make a trial without any model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from repro_pipeline.bench.agents import AtOnceAgent
from repro_pipeline.bench.results import rows_of
from repro_pipeline.bench.suite import open_suite
from repro_pipeline.bench.trial import Assignment
from repro_pipeline.bundle.task import Budget
from repro_pipeline.cli import main
from repro_pipeline.config import Agent, ProjectConfig
from repro_pipeline.submission.place import make_folder
from resources.opening import open_project

CORE = Path(__file__).parents[2] / "suites/core"
SESSIONS = CORE / "sessions"
LARGEST = 3 << 20
TASKS = open_suite(CORE).file.tasks


def test_sessions_are_there_for_every_task_and_small():
    names = {path.name for path in SESSIONS.glob("*.jsonl")}
    assert {f"{task}--{agent}--1.jsonl" for task in TASKS for agent in ("at-once", "loop")} <= names
    assert sum(path.stat().st_size for path in SESSIONS.glob("*")) < LARGEST


@pytest.mark.parametrize("task", TASKS)
def test_an_answer_in_one_go_is_an_answer_to_the_question_of_today(task, tmp_path):
    suite, root = open_suite(CORE), tmp_path / "project"
    config = ProjectConfig(agent=Agent(packages=suite.file.packages, share=0.9))
    make_folder(root, config, tmp_path / "environments")
    shutil.copytree(suite.task(task).bundle_folder, root / "papers" / task)
    session = str(SESSIONS / f"{task}--at-once--1.jsonl")
    project = open_project(root, agent=True, replay=session)
    out = tmp_path / "out"
    out.mkdir()
    produced = AtOnceAgent().reproduce(Assignment(task, project, tmp_path, out, Budget()))
    assert produced.status == "ok", produced.reason
    assert (out / "experiment.yaml").is_file() and (out / "details.json").is_file()


def test_what_a_cited_work_says_is_shown_with_lineage_alone():
    said = "the variance of the noise is not in it"
    with_it, without = (
        (SESSIONS / f"elastic-net--{agent}--1.jsonl").read_text(encoding="utf-8")
        for agent in ("loop", "no-lineage")
    )
    assert said in with_it and said not in without


@pytest.mark.slow
def test_a_recorded_trial_is_graded_anew(tmp_path, capsys):
    words = ["--agent", "trivial", "--agent", "at-once", "--models", "openai/relayed"]
    where = ["--out", str(tmp_path / "out"), "--task", "lars-diabetes", "--seeds", "2"]
    code = main(["bench", "run", str(CORE), *words, *where, "--replay", str(SESSIONS)])
    assert code == 0, capsys.readouterr().err
    rows = {row.contestant: row for row in rows_of(open_project(tmp_path / "out"))}
    assert rows["at-once"].replayed
    assert rows["at-once"].measures.values["fidelity"] == 1
    assert rows["trivial"].measures.values["fidelity"] == 0
