"""The loop and its ablations as contestants: the same scripted model plays all roles in each."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from repro_pipeline.bench.results import rows_of
from repro_pipeline.chat import ChatRequest, Unavailable
from repro_pipeline.cli import main
from resources.opening import open_project
from tests.bench_suites import CONFIG, REFERENCE, SPEC, make_suite, truth
from tests.scripted import ScriptedModel

TESTS = """import random, sys
sys.path.insert(0, ".")
from experiment import error

def test_a_larger_threshold_errs_more():
    assert error(0.9, 500, random.Random(1)) > error(0.1, 500, random.Random(1))
"""
FILES = {
    "experiment.py": REFERENCE,
    "experiment.yaml": yaml.safe_dump({**SPEC, "sample": {"config": {"cases": 50}}}),
    "config.json": json.dumps(CONFIG),
    "tests/test_experiment.py": TESTS,
}
SUMMARY = {"points": [{"id": "source", "part": "data", "statement": "It is noisy.", "quote": ""}]}
COMPARISON = {"points": [{"point": "source", "verdict": "match"}]}
WRITE = {
    "actions": [{"tool": "write", "path": p, "content": c} for p, c in FILES.items()],
    "done": True,
    "said": "All written.",
}


def do(action: str, **more) -> dict:
    return {"why": "It is next.", "do": {"action": action, **more}}


CHOICE = {"id": "cases", "topic": "data", "statement": "Cases of a run.", "value": 60000}
PLAN = [
    do("assume", choices=[CHOICE]),
    do("change_code", part="data", task="Write everything.", points=["source"]),
    do("run_tests"),
    do("run_sample"),
    do("compare"),
    do("stop", complete=True, reason="Everything is there."),
]


ALL = {"reader": 1, "coder": 1, "judge": 1}


def script(plan):
    decisions = iter(plan)

    def said(request: ChatRequest):
        if request.step == "memory_probe":
            return {"values": []}
        if request.role == "planner":
            return next(decisions)
        return {"coder": WRITE, "judge": COMPARISON, "reader": SUMMARY}[request.role]

    return said


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    suite = make_suite(tmp_path / "suite", {"one": truth()})
    listed = yaml.safe_load((suite / "suite.yaml").read_text())
    (suite / "suite.yaml").write_text(yaml.safe_dump({**listed, "packages": ["pytest"]}))
    references = suite / "tasks/one/bundle/references"
    references.mkdir()
    (references / "method.md").write_text("# A method of estimation\n\nThe source is sampled.\n")

    def made(agent: str, plan) -> tuple:
        model = ScriptedModel(script(plan))
        monkeypatch.setattr("resources.opening._chat", lambda models, replay: model)
        out = tmp_path / "results"
        words = ["--agent", agent, "--agent", "trivial", "--models", "openai/one", "--seeds", "3"]
        code = main(["bench", "run", str(suite), "--out", str(out), *words])
        rows = {row.contestant: row for row in rows_of(open_project(out))}
        return code, rows.get(agent), model

    return made


@pytest.mark.parametrize(
    ("agent", "plan", "asked"),
    [
        ("loop", PLAN, {**ALL, "planner": 6}),
        pytest.param("no-lineage", PLAN, {**ALL, "planner": 6}, marks=pytest.mark.slow),
        ("no-planner", [], ALL),
        pytest.param(
            "no-tests", [*PLAN[:3], *PLAN[4:]], {**ALL, "planner": 5}, marks=pytest.mark.slow
        ),
    ],
)
def test_each_loop_leaves_code_that_is_graded(run, agent, plan, asked, capsys):
    code, row, model = run(agent, plan)
    assert code == 0, capsys.readouterr().err
    assert row.graded and row.measures.values["fidelity"] == 1, row.reason
    assert row.measures.values["details_right"] == (0 if agent == "no-planner" else 1)
    roles = Counter(r.role for r in model.asked if r.step != "memory_probe")
    assert roles == Counter(asked)
    shown = "\n".join(message.content for one in model.asked for message in one.messages)
    assert ("method.md" in shown) == (agent in {"loop", "no-tests"})  # whose planner can look it up
    if agent == "no-tests":
        assert "neither unit tests nor sample runs" in shown


def test_a_model_that_is_down_leaves_no_row_and_the_same_command_goes_on(run, monkeypatch, capsys):
    monkeypatch.setattr("repro_pipeline.asking.ask.TRIES", 1)
    down = [*PLAN[:2], Unavailable("the provider is down.")]
    code, row, _ = run("loop", down)
    assert code == 2 and row is None
    assert "not made" in capsys.readouterr().err
    code, row, second = run("loop", PLAN[2:])
    assert code == 0 and row.measures.values["fidelity"] == 1
    assert "coder" not in {one.role for one in second.asked}, "its answer was recorded"
