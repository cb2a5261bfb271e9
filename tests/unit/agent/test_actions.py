"""What single actions refuse, and what they leave in the ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from repro_pipeline.agent.actions import Tools, perform
from repro_pipeline.agent.coder import Report
from repro_pipeline.agent.decisions import Decision
from repro_pipeline.agent.standing import Standing
from repro_pipeline.agent.workspace import Workspace
from repro_pipeline.bundle.task import Budget
from repro_pipeline.status import Status
from tests.scripted import ScriptedModel


@pytest.fixture
def tools(make_desk):
    material = SimpleNamespace(
        claims=[SimpleNamespace(id="a")],
        references={"old.md": "text"},
        paper=SimpleNamespace(parts=()),
        reference=lambda name, words: "An old text." if name == "old.md" else None,
        section=lambda name, words: None,
    )
    desk = make_desk(ScriptedModel([]), budget=Budget(experiments=2))
    return Tools(desk, material, workspace=None, trials=None, coder=None, session="0" * 64)


def do(tools: Tools, standing: Standing | None = None, **action):
    decision = Decision(why="", do=action)
    return perform(tools, decision, 1, standing or Standing(), summary=None, advice="")


def choice(**more) -> dict:
    return {"id": "x", "topic": "data", "statement": "It is so.", "value": 1, **more}


def test_assumptions_are_recorded_as_the_model_s_own(tools):
    done = do(tools, action="assume", choices=[choice(), choice(id="y", claims=["a"])])
    assert done.status is Status.OK and set(done.facts["assumed"]) == {"x", "y"}
    recorded = [
        event.content.assumption
        for event in tools.desk.ledger.events("tiny", kinds={"assumption_recorded"})
    ]
    assert [one.id for one in recorded] == ["x", "y"]
    assert {one.proposed_by for one in recorded} == {"model:scripted"}
    assert {one.source.kind for one in recorded} == {"model"}


def test_an_assumption_on_a_claim_that_is_not_there_records_nothing(tools):
    assert "no claim 'b'" in do(tools, action="assume", choices=[choice(claims=["b"])]).said
    assert not list(tools.desk.ledger.events("tiny"))


def test_a_look_up_finds_a_reference_or_names_what_there_is(tools):
    done = do(tools, action="look_up", where="old.md")
    assert tools.desk.store.get(done.facts["looked_up"]["text"]) == b"An old text."
    lost = do(tools, action="look_up", where="../task.yaml")
    assert lost.status is Status.FAILED and "There are: old.md" in lost.said


def test_no_more_experiments_are_run_in_full_than_the_budget_allows(tools):
    full = {"action": "run_experiments", "experiments": ["e", "f"]}
    refused = do(tools, Standing(in_full=1), **full)
    assert (refused.status, refused.reason.code) == (Status.FAILED, "budget_exhausted")
    assert "2 allowed, 1 spent" in refused.said


@dataclass(frozen=True)
class Writes:
    """A coder that writes files, or deletes those whose text is None, and says whether that was all."""

    files: tuple[tuple[str, str | None], ...]
    done: bool

    def change(self, order, workspace, keep) -> Report:
        for path, text in self.files:
            keep(workspace.delete(path) if text is None else workspace.write(path, text))
        return Report("Written.", done=self.done)


@pytest.mark.parametrize(
    ("files", "changed", "patches"),
    [
        ([("a.py", "x = 1\n")], [], 0),
        ([("a.py", "x = 1\n"), ("b.py", "y = 1\n")], ["b.py"], 1),
        ([("a.py", "x = 2\n"), ("a.py", "x = 2\n")], ["a.py"], 1),
        ([("a.py", "x = 2\n"), ("a.py", "x = 1\n")], [], 2),
        ([("__init__.py", "")], ["__init__.py"], 1),
        ([("a.py", None)], ["a.py"], 1),
    ],
)
def test_a_file_written_anew_with_what_stood_there_is_no_change(
    tools, tmp_path, files, changed, patches
):
    workspace = Workspace(tmp_path / "work")
    workspace.write("a.py", "x = 1\n")
    material = SimpleNamespace(**vars(tools.material), assumptions=())
    coder = Writes(tuple(files), done=False)
    made = replace(tools, workspace=workspace, coder=coder, material=material)
    done = perform(
        made,
        Decision(why="", do={"action": "change_code", "part": "method", "task": "Write it."}),
        1,
        Standing(),
        summary=SimpleNamespace(points=()),
        advice="",
    )
    assert done.facts["changed"] == changed
    assert done.said.startswith(f"{len(changed)} files changed.")
    assert done.reason.code == ("order_not_done" if changed else "nothing_changed")
    assert len(list(tools.desk.ledger.events("tiny", kinds={"patch_applied"}))) == patches
