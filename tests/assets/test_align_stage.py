"""A configured judge is asked once; another rubric scores its stored answers and asks nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repro_pipeline.chat import ChatRequest, NotAuthorised
from repro_pipeline.cli import main
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of
from tests.bundles import make_bundle
from tests.scripted import ScriptedModel

QUOTE = "We estimate the mean of a noisy source with two methods"
LINE = "rng = random.Random(int(options.seed))"


def judge(request: ChatRequest) -> dict:
    """Key points from the paper, then 15 points each for the line that draws."""
    text = request.messages[-1].content
    if "The paper:" in text:
        return {
            "points": [
                {"paper_quote": QUOTE, "reference": None, "statement": f"{n}"} for n in range(5)
            ]
        }
    number = int(re.search(rf"(\d+) {re.escape(LINE)}", text)[1])
    span = {"file": "experiment.py", "first": number, "last": number, "quote": LINE}
    return {
        "judgements": [
            {"point": n, "evidence": [span], "reasoning": "so", "points": 15} for n in range(1, 6)
        ]
    }


@pytest.fixture
def run_with(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs the tiny paper with a scripted judge; returns the model."""
    make_bundle(project / "papers" / "tiny")
    (project / "repro.yaml").write_text("schema: 1\nmodels:\n  judge: {model: scripted/one}\n")

    def run(script, *options) -> ScriptedModel:
        from resources import project as resource

        resource._open.cache_clear()
        model = ScriptedModel(script)
        monkeypatch.setattr("resources.chat_litellm.LiteLlmChat", lambda roles: model)
        assert main(["run", "tiny", *options]) == 0
        return model

    return run


def measures(opened) -> dict[str, float | None]:
    scores = output_of(opened, latest(opened, "tiny", "scores"), Scores)
    return {one.id: one.value for one in scores.measures if one.id.startswith("align")}


def test_the_judge_is_asked_once_and_never_for_another_rubric(run_with, opened, project):
    (project / "papers" / "tiny" / "code" / "conda.lock").write_text("numpy=2=abc\n")
    asked = run_with(judge, "--stage", "scores").asked
    assert len(asked) == 4
    shown = asked[1].messages[-1].content
    assert "== experiment.py" in shown and "numpy=2=abc" not in shown
    assert measures(opened) == {"align_paper": 75, "align_code": None, "align_mixed": None}
    rubric = project / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace("threshold: 0.05,", "threshold: 0.04,", 1))
    before = latest(opened, "tiny", "scores").output
    assert run_with([], "--stage", "scores").asked == []
    assert latest(opened, "tiny", "scores").output != before
    assert measures(opened)["align_paper"] == 75


def test_a_judge_that_cannot_be_asked_leaves_the_paper_scored(run_with, opened):
    def refused(request):
        raise NotAuthorised("no key.")

    run_with(refused)
    assert measures(opened)["align_paper"] is None
    assert latest(opened, "tiny", "report").status == "ok"
