"""The name that was meant is found for slips of the hand, and costs nothing for what code may write."""

from __future__ import annotations

import pytest

from repro_pipeline import choices as module
from repro_pipeline.choices import choices, nearest


@pytest.mark.parametrize("typed", ["basline", "baselin", "baseline_", "baeslin"])
def test_a_slip_is_met(typed):
    assert nearest(typed, ["report", "baseline"]) == "baseline"


def test_a_name_longer_than_any_hand_writes_is_compared_with_nothing(monkeypatch):
    def compared(*_):
        raise AssertionError("compared")

    monkeypatch.setattr(module, "_is_one_slip", compared)
    monkeypatch.setattr(module.difflib, "get_close_matches", compared)
    assert nearest("x" * 200_000, ["a"]) is None
    told = choices("x" * 200_000, ["a"])
    assert told == "There are: a."
