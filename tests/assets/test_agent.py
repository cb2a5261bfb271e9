"""`repro run` in mode `agent`: a scripted model writes the code, real stages run and score it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from repro_pipeline.agent.chat import ChatRequest
from repro_pipeline.cli import main
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import Status, Verdict
from tests.bundles import PAPER, task
from tests.scripted import ScriptedModel

REPRO = """schema: 1
seeds: 3
models:
  coder: {model: scripted/one}
agent: {packages: [pytest], steps: 30}
"""

CODE = '''"""Two estimators of the mean of a noisy source."""
import argparse, json, pathlib, random

def estimate(config, seed):
    rng = random.Random(seed)
    return config["level"] * config["scale"] + rng.gauss(0, config["noise"])

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("--config", "--seed", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    config = json.loads(pathlib.Path(options.config).read_text())
    metrics = [{"claim": config["claim"], "value": estimate(config, int(options.seed))}]
    (pathlib.Path(options.out) / "metrics.json").write_text(json.dumps({"metrics": metrics}))
'''
TESTS = """from experiment import estimate

CONFIG = {"level": 10, "scale": 1.0, "noise": 0.01}

def test_a_changed_scale_changes_the_result():
    assert estimate(CONFIG, 1) != estimate({**CONFIG, "scale": 2.0}, 1)
"""
SPEC = yaml.safe_dump(
    {
        "schema": 1,
        "entry": ["python", "experiment.py"],
        "experiments": [
            {"id": "plain", "claims": ["noisy-plain"], "config": "plain.json"},
            {"id": "shrunk", "claims": ["noisy-shrunk"], "config": "shrunk.json"},
        ],
        "sample": {"config": {"noise": 0.02}},
    }
)


def config(claim: str, level: float) -> str:
    return json.dumps({"claim": claim, "level": level, "scale": 1.0, "noise": 0.01})


FILES = {
    "experiment.py": CODE,
    "experiment.yaml": SPEC,
    "plain.json": config("noisy-plain", 10),
    "shrunk.json": config("noisy-shrunk", 20),
    "tests/conftest.py": "import sys\nsys.path.insert(0, '.')\n",
    "tests/test_experiment.py": TESTS,
}
SUMMARY = {
    "points": [
        {
            "id": "source",
            "part": "data",
            "statement": "The source is noisy.",
            "quote": "noisy source",
        },
        {"id": "two", "part": "method", "statement": "There are two methods.", "quote": ""},
    ],
    "unsaid": ["The size of the noise."],
}
WRITE = {
    "actions": [{"tool": "write", "path": p, "content": c} for p, c in FILES.items()],
    "done": True,
    "said": "All written.",
}
COMPARISON = {"points": [{"point": p["id"], "verdict": "match"} for p in SUMMARY["points"]]}


def do(action: str, **more) -> dict:
    return {"why": "It is next.", "do": {"action": action, **more}}


ASSUME = do("assume", id="noise", topic="data", statement="Noise is Gaussian.", value=0.01)
ORDER = do("change_code", part="data", task="Write everything.", points=["source"])
PLAN = [
    ASSUME,
    ORDER,
    do("run_tests"),
    do("run_sample"),
    do("compare"),
    do("stop", complete=True, reason="Everything is there."),
]


def by_role(plan: list, *, coder=WRITE, judge=COMPARISON, reader=SUMMARY) -> Callable:
    """Answers by role: the planner's one after the other, the others always the same."""
    decisions = iter(plan)

    def said(request: ChatRequest):
        if request.role == "planner":
            return next(decisions)
        one = {"coder": coder, "judge": judge, "reader": reader}[request.role]
        return one(request) if callable(one) else one

    return said


@pytest.fixture
def use(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a scripted model in the place of all models, and a paper without code into the project."""
    folder = project / "papers" / "tiny"
    folder.mkdir(parents=True)
    (folder / "paper.md").write_text(PAPER)
    (folder / "task.yaml").write_text(yaml.safe_dump(task(seeds=None), sort_keys=False))
    (project / "repro.yaml").write_text(REPRO)

    def install(script) -> ScriptedModel:
        from resources import project as resource

        resource._open.cache_clear()
        model = ScriptedModel(script)
        monkeypatch.setattr("resources.chat_litellm.LiteLlmChat", lambda roles: model)
        return model

    return install


def steps(opened) -> list:
    return [event.content for event in opened.ledger.events("tiny", kinds={"agent_stepped"})]


def implementation(opened):
    return latest(opened, "tiny", "implementation")


def test_an_agent_writes_what_is_then_run_and_scored(use, opened, capsys):
    model = use(by_role(PLAN))
    assert main(["run", "tiny"]) == 0
    assert [step.status for step in steps(opened)] == [Status.OK] * 7
    assert implementation(opened).status is Status.OK
    scores = output_of(opened, latest(opened, "tiny", "scores"), Scores)
    assert scores.mode == "agent"
    assert {v.claim: v.verdict for v in scores.verdicts} == {
        "noisy-plain": Verdict.REPRODUCED,
        "noisy-shrunk": Verdict.REPRODUCED,
    }
    for request in model.asked:
        text = "\n".join(message.content for message in request.messages)
        if request.role != "coder":  # whose own configurations hold what it chose
            assert "20.0" not in text and "| 10.0" not in text
    assert [r.role for r in model.asked] == [
        "reader", "planner", "planner", "coder", "planner", "planner", "planner", "judge", "planner",
    ]  # fmt: skip
