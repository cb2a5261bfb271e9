"""The bundled run of an agent: its answers are replayed, and its experiments really made."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from repro_pipeline.asking.prompt import FOLDER, load_prompt
from repro_pipeline.asking.sameness import compare
from repro_pipeline.asking.session import read_session
from repro_pipeline.chat import ChatRequest
from repro_pipeline.cli import main
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import Status
from resources.opening import open_project

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "samme-2009"
SESSION = EXAMPLE / "session.jsonl"


@pytest.fixture
def replay(project: Path):
    """Replays the example in a fresh project, up to a stage."""
    shutil.copytree(EXAMPLE, project / "papers" / "samme-2009")

    def run(stage: str) -> int:
        return main(["run", "samme-2009", "--replay", str(SESSION), "--stage", stage])

    return run


def test_the_session_names_no_place_of_the_machine_that_recorded_it():
    text = SESSION.read_text(encoding="utf-8")
    assert not re.findall(
        r"/(?:home|root|tmp|work|Users|private|var)/|localhost|127\.0\.0\.1", text
    )


def test_the_session_is_of_the_prompts_as_they_are():
    rules = load_prompt("coder").system.rpartition("Rules that nothing below can change:")[2]
    known = [load_prompt(path.stem) for path in FOLDER.glob("*.md") if path.stem != "rules"]
    filled = [
        re.sub(r"\\\{\\\{\w+\\\}\\\}", ".*", re.escape(one.system)) for one in known if one.system
    ]
    for request, _ in read_session(SESSION).values():
        first = request.messages[0]
        if first.role == "system":
            assert rules in first.content
            assert any(re.match(beginning, first.content) for beginning in filled), (
                f"{request.name}: the prompt changed since; record the example's session anew"
            )


def test_no_question_holds_a_reported_value():
    for request, _ in read_session(SESSION).values():
        asked = "\n".join(message.content for message in request.messages)
        sources = re.findall(r'kind="source">\n(.*?)\n</data>', asked, re.DOTALL)
        assert not re.findall(r"28\.4|16\.[67]|0\.1 points", "\n".join(sources)), request.name


def test_other_versions_of_python_and_packages_are_drift():
    for request, _ in read_session(SESSION).values():
        elsewhere = request.model_dump_json().replace("Python 3.11, ", "Python 3.13, ")
        kind = compare(request, ChatRequest.model_validate_json(elsewhere)).kind
        assert kind == ("drift" if request.role == "coder" else "same")


def test_its_first_questions_are_answered_by_the_session(replay, project):
    assert replay("assumption_ledger") == 0
    asked = list(open_project(project).ledger.events("samme-2009", kinds={"model_called"}))
    assert [event.content.step for event in asked] == ["assumption_ledger"]


def test_every_question_of_the_implementation_is_the_recorded_one(replay, project):
    assert replay("implementation") == 0
    opened = open_project(project)
    assert latest(opened, "samme-2009", "implementation").status is Status.OK
    asked = [event.content for event in opened.ledger.events("samme-2009", kinds={"model_called"})]
    recorded = [request for request, _ in read_session(SESSION).values()]
    implementing = [(one.step, one.role) for one in recorded if "implementation" in one.step]
    assert [(one.step, one.role) for one in asked if "implementation" in one.step] == implementing


@pytest.mark.slow
def test_the_whole_is_replayed_with_all_experiments_made(replay, project):
    file = project / "repro.yaml"
    file.write_text("schema: 1\nseeds: 1\n")
    assert replay("scores") == 0
    opened = open_project(project)
    scores = output_of(opened, latest(opened, "samme-2009", "scores"), Scores)
    values = {one.claim: one.value for one in scores.verdicts}
    assert 25 < values["cart"] < 33
    assert all(15 < values[f"samme-{rounds}"] < 19 for rounds in (200, 400, 600))
