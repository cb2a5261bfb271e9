"""Shares of cases: counts as they come, and what was done to them afterwards."""

from __future__ import annotations

import random

import pytest
from forensic_cases import claim, kinds
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.forensics.counts import findings, impossible, step

ERROR = claim("e", 14.16, metric="test_error", direction="lower")
SETTINGS = {"n_test": 300, "n_draws": 12, "shift": 0.5}


def counted(cases=3600, seeds=9, p=0.17, salt=0):
    """Honest error rates in per cent, one a seed."""
    rng = random.Random(salt)
    return [
        100 * sum(rng.random() < p for _ in range(cases)) / cases for _ in range(seeds)
    ]  # fmt: skip


def judged(values, about=ERROR, config=SETTINGS, rows=None, drawn=True):
    return kinds(
        findings({about.id: values}, {about.id: about}, {about.id: config}, rows=rows, drawn=drawn)
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda v: v, {}),
        (lambda v: round(v, 1), {}),
        (lambda v: v * 0.83, {"shifted_counts": "suspect"}),
        (lambda v: v - 2.063, {"shifted_counts": "suspect"}),
        (lambda v: 14.16 + 0.08 * (v - 14.16), {"shifted_counts": "suspect"}),
        (lambda v: v * (1 + random.Random(v).gauss(0, 0.002)), {"not_a_count": "unverified"}),
    ],
)
def test_what_was_done_to_a_count(change, expected):
    found = judged([change(v) for v in counted()])
    found.pop("too_even", None)
    assert found == expected


def test_round_numbers_of_cases():
    """Counts over 10,000 cases have two decimals, as rounded values have."""
    config = {"n_test": 1000, "n_draws": 10}
    honest = [round(v, 2) for v in counted(10000)]
    assert judged(honest, config=config) == {}
    found = judged([round(14.16 + 0.08 * (v - 14.16), 6) for v in honest], config=config)
    assert found["not_a_count"] == "unverified"
    assert judged([round(v, 1) for v in honest], config=config) == {}, "rounded too far to tell"
    assert judged([round(v, 4) for v in counted(3600)]) == {}, "rounded by the program"


def test_less_scatter_than_fresh_cases_give():
    even = [17.0 + 0.05 * (v - 17.0) for v in counted(seeds=12)]
    assert judged(even)["too_even"] == "unverified"
    assert "too_even" not in judged(even, drawn=False), "the cases are not drawn anew"
    assert "too_even" not in judged(even, config={**SETTINGS, "data_seed": 3})


@given(
    cases=st.sampled_from([50, 150, 400, 3600]),
    p=st.floats(0.03, 0.6),
    salt=st.integers(0, 10**6),
    draws=st.sampled_from([1, 3, 10]),
)
def test_honest_counts_are_never_accused(cases, p, salt, draws):
    rng = random.Random(salt)
    spread = (p * (1 - p) / cases / draws) ** 0.5
    values = []
    for _ in range(8):
        wrong = [min(max(round(cases * rng.gauss(p, spread)), 1), cases - 1) for _ in range(draws)]
        values.append(sum(100 * w / cases for w in wrong) / draws)
    assert judged(values, config={}, rows=cases, drawn=False) == {}


def test_rows_that_were_left_out():
    values = counted(352, p=0.3)
    assert judged(values, rows=400, drawn=False) == {"other_rows_counted": "unverified"}
    assert judged(counted(400, p=0.3), rows=400, drawn=False) == {}


def test_other_metrics_are_no_counts():
    loss = claim("log-loss", 0.88, unit=None, metric="test_error", direction="lower")
    assert judged([0.8 + 0.01 * random.Random(s).random() for s in range(9)], loss) == {}


def test_what_no_share_can_be():
    runs = [("Easy", {"e": -2.9}), ("Usual", {"e": 14.0})]
    assert kinds(impossible({"e": ERROR}, runs)) == {"impossible_value": "suspect"}
    assert kinds(impossible({"e": ERROR}, [("Easy", {"e": 0.0}), ("Worst", {"e": 100.0})])) == {}
    distance = claim("e", 14.2, unit=None, metric="test_error", direction="lower")
    assert kinds(impossible({"e": distance}, [("Far", {"e": 250.0})])) == {}, "a squared distance"
    share = claim("a", 0.97, unit=None)
    assert kinds(impossible({"a": share}, [("Seed 1", {"a": 97.2})])) == {}, "another unit"
    assert kinds(impossible({"a": share}, [("Seed 1", {"a": 1.02})])) != {}


def test_steps():
    assert step([0.1, 0.3, 0.7]) == pytest.approx(0.2)
    assert step([0.5, 0.5]) is None
    assert step([0.1, 0.1 + 2**0.5 / 10, 0.1 + 3**0.5 / 10, 0.9]) is None
