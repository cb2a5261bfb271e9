"""Recorded sessions: what a file holds, what a replay refuses, and what a broken file says."""

from __future__ import annotations

import json

import pytest

from repro_pipeline.asking.prompt import Block
from repro_pipeline.asking.session import write_session
from repro_pipeline.chat import ChatRequest, Message, NotRecorded
from repro_pipeline.errors import FileFormatError
from resources.chat_replay import ReplayChat
from tests.scripted import ScriptedModel


def request(ordinal: int = 0, text: str = "Question", log: str = "ok") -> ChatRequest:
    content = f"{text}\n{Block('log', log, 'output')}"
    message = Message(role="user", content=content)
    return ChatRequest(step="s/1", role="coder", ordinal=ordinal, messages=(message,))


@pytest.fixture(params=["session.jsonl", "session.jsonl.gz"])
def session(request, tmp_path):
    return tmp_path / "deep" / request.param


def record(path, *requests) -> None:
    model = ScriptedModel(f"answer {n}" for n in range(9))
    write_session({(r.step, r.role, r.ordinal): (r, model.complete(r)) for r in requests}, path)


def test_what_was_recorded_is_answered_again(session):
    record(session, request(0), request(1))
    replay = ReplayChat(session)
    assert [replay.complete(request(n)).text for n in (1, 0, 1)] == [
        "answer 1",
        "answer 0",
        "answer 1",
    ]
    assert replay.info("coder").name == "scripted"


def test_a_new_question_and_a_changed_one_are_named(session):
    record(session, request(0))
    replay = ReplayChat(session)
    with pytest.raises(NotRecorded, match="no answer to 's/1 coder 1'"):
        replay.complete(request(1))
    with pytest.raises(NotRecorded, match="was 'Question', is 'Other'"):
        replay.complete(request(0, text="Other"))


def test_a_role_that_was_never_asked_has_a_model_and_an_empty_session_has_none(session):
    record(session, request(0))
    assert ReplayChat(session).info("judge").name == "scripted"
    record(session)
    with pytest.raises(NotRecorded, match="no answer at all"):
        ReplayChat(session).info("judge")


def test_other_run_output_is_drift_that_is_told(session):
    record(session, request(0))
    answer = ReplayChat(session).complete(request(0, log="failed"))
    assert (answer.drift, answer.usd) == ("line 1: was 'ok', is 'failed'", 0)
    assert not ReplayChat(session).complete(request(0)).drift


@pytest.mark.parametrize(
    "content", ["", "{}\n", "no json\n", '{"schema": 2, "kind": "recorded-session"}\n']
)
def test_what_is_no_session_is_refused(tmp_path, content):
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(FileFormatError):
        ReplayChat(path)


def test_a_broken_line_is_named(tmp_path):
    record(tmp_path / "x.jsonl", request(0))
    with (tmp_path / "x.jsonl").open("a") as file:
        file.write(json.dumps({"request": {}}) + "\n")
    with pytest.raises(FileFormatError, match=r"x\.jsonl:3"):
        ReplayChat(tmp_path / "x.jsonl")
    with pytest.raises(FileFormatError, match="no such recorded session"):
        ReplayChat(tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("step", "role", "named"),
    [
        ("assumption_ledger", "reader", {"coder", "reader"}),
        ("align", "judge", {"coder", "judge"}),
        ("implementation/0", "reader", {"coder"}),
        ("reported_claims", "reader", {"coder"}),
    ],
)
def test_a_replay_casts_the_roles_that_were_asked_outside_of_the_loop(session, step, role, named):
    record(session, request(0).model_copy(update={"step": step, "role": role}))
    roles = ReplayChat(session).roles
    assert {name for name, one in roles if one is not None} == named
    assert roles.of("planner").model == "scripted"
