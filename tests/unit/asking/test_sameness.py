"""A recorded question and the one that is asked: the same, drifted, or another."""

from __future__ import annotations

import pytest

from repro_pipeline.asking.prompt import Block
from repro_pipeline.asking.sameness import compare
from repro_pipeline.chat import ChatRequest, Message


def asked(text: str, output: str = "loss 1.5") -> ChatRequest:
    content = f"{text}\n{Block('log', output, 'output')}\nEnd."
    return ChatRequest(step="s", role="coder", messages=(Message(role="user", content=content),))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("in /tmp/abc/x.py", "in /tmp/pytest-of-someone/def/x.py"),
        ("at 2026-05-01 10:00:00", "at 2027-01-01T09:30:11.5Z"),
        ("object at 0x7f901ed630d0", "object at 0x7fffffffffff"),
        ("loss 0.123456789", "loss 0.123456712"),
    ],
)
def test_paths_times_addresses_and_noise_do_not_matter(before, now):
    assert compare(asked(before), asked(now)).kind == "same"
    assert compare(asked("x", before), asked("x", now)).kind == "same"


def test_run_output_may_drift_and_the_rest_may_not():
    drift = compare(asked("x", "loss 1.5\nok"), asked("x", "loss 1.5\nfailed"))
    assert (drift.kind, drift.where) == ("drift", "line 2: was 'ok', is 'failed'")
    other = compare(asked("x"), asked("y"))
    assert (other.kind, other.where) == ("different", "line 1: was 'x', is 'y'")


def test_how_long_a_run_took_is_no_drift_and_how_long_it_may_take_is_a_setting():
    assert compare(asked("x", "3 passed in 0.99s"), asked("x", "3 passed in 2.62s")).kind == "same"
    assert compare(asked("stop after 10 s"), asked("stop after 20 s")).kind == "different"


def test_settings_in_prose_are_no_noise():
    assert compare(asked("rate 0.001"), asked("rate 0.002")).kind == "different"
    assert compare(asked("rate 0.12345"), asked("rate 0.22345")).kind == "different"


def test_another_schema_is_another_question():
    schema = asked("x").model_copy(update={"answer_schema": {"type": "object"}})
    assert compare(asked("x"), schema).kind == "different"
