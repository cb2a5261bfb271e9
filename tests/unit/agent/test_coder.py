"""The coder's turns: an edit that fails gives another turn, the same one again ends the order."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from repro_pipeline.agent.coder import ModelCoder, Order
from repro_pipeline.agent.decisions import ChangeCode
from repro_pipeline.agent.workspace import Workspace
from repro_pipeline.asking.prompt import Block
from tests.scripted import ScriptedModel

WRITE = {"tool": "write", "path": "a.py", "content": "x = 1\nx = 1\n"}
TWICE = {"tool": "replace", "path": "a.py", "search": "x = 1", "replacement": "x = 2"}
ONCE = {"tool": "replace", "path": "a.py", "search": "x = 1\nx = 1", "replacement": "x = 2"}


@pytest.fixture
def carry_out(make_desk, tmp_path):
    """Has an order carried out by a scripted coder; gives its report, its questions and the file."""

    def run(*turns):
        model = ScriptedModel(turns)
        material = SimpleNamespace(claims=(), pairs=(), paper=SimpleNamespace(parts=()))
        versions = (Block("versions", "numpy 2.4", "output"),)
        coder = ModelCoder(make_desk(model), material, trials=None, environment=versions)
        order = Order(
            "implementation/1", ChangeCode(action="change_code", part="data", task="t"), ()
        )
        work = Workspace(tmp_path / "work")
        report = coder.change(order, work, keep=lambda change: None)
        return report, model.asked, work.read("a.py")

    return run


def test_a_failed_edit_is_shown_and_can_be_mended(carry_out):
    report, asked, text = carry_out(
        {"actions": [WRITE, TWICE], "done": True, "said": "All done."},
        {"actions": [ONCE], "done": True, "said": "Mended."},
    )
    assert report.done and report.said == "Mended."
    assert "stands 2 times" in asked[1].messages[1].content
    assert "x = 2" in text


def test_the_same_failing_actions_again_end_the_order(carry_out):
    turn = {"actions": [WRITE, TWICE], "done": True, "said": "All done."}
    report, asked, _ = carry_out(*[turn] * 8)
    assert not report.done and len(asked) == 2
    assert "failed twice in a row" in report.said


def test_versions_may_differ_when_a_session_is_replayed(carry_out):
    _, asked, _ = carry_out({"actions": [WRITE], "done": True, "said": "Done."})
    assert '<data name="versions" kind="output">\nnumpy 2.4\n' in asked[0].messages[1].content
