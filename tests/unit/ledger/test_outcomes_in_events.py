"""Outcomes in events are of their kinds, and stand in the ledger as the words that they always were."""

import pytest
from pydantic import ValidationError

from repro_pipeline.ledger.events import PAYLOAD
from repro_pipeline.status import AlertKind, Outcome

SCORED = {
    "kind": "scored",
    "rubric": "a" * 64,
    "evidence": "b" * 64,
    "scores": "c" * 64,
    "headline": "1 of 2",
}
TRIED = {
    "kind": "alert_tried",
    "alert": "a" * 64,
    "paper": None,
    "stage": None,
    "reason": "It broke.",
    "launch": None,
    "channel": "slack",
    "number": 1,
    "delivered": True,
    "sentence": "",
}


@pytest.mark.parametrize(
    ("stored", "field", "words"),
    [
        (SCORED, "overall", ("pass", "fail", "inconclusive", "not_checkable", "not_applicable")),
        (TRIED, "about", ("run_failed", "stage_failed", "overall_fail", "budget", "sweep")),
    ],
)
def test_what_was_stored_is_read_and_written_back_the_same(stored, field, words):
    for word in words:
        before = {**stored, field: word}
        event = PAYLOAD.validate_python(before)
        assert isinstance(getattr(event, field), Outcome | AlertKind)
        assert event.model_dump(mode="json") == before
    with pytest.raises(ValidationError):
        PAYLOAD.validate_python({**stored, field: "perfect"})
