"""Statistics over tasks: against definitions, enumeration and known values."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bench.compare import (
    bootstrap_interval,
    holm,
    pass_all,
    pass_at,
    sign_flip,
)

P = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_on_a_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(P)
def test_holm_never_lowers_keeps_order_and_lies_under_bonferroni(p_values):
    adjusted = holm(p_values)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True))
    assert all(
        a <= min(1, len(p_values) * p) + 1e-12 for a, p in zip(adjusted, p_values, strict=True)
    )
    assert [adjusted[i] for i in order] == sorted(adjusted)


@given(st.integers(1, 7), st.data())
def test_pass_at_and_pass_all_are_shares_of_all_draws(n, data):
    good, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    runs = [True] * good + [False] * (n - good)
    draws = list(itertools.combinations(runs, k))
    assert pass_at(k, n, good) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_all(k, n, good) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_more_draws_than_runs_say_nothing():
    assert pass_at(3, 2, 2) is None
    assert pass_all(3, 2, 2) is None


def test_sign_flip_by_hand():
    # Of the 8 assignments of signs to 1, 2, 3 only +++ and --- reach a sum of 6 in size.
    assert sign_flip([1, 2, 3]) == pytest.approx(2 / 8)
    assert sign_flip([1, -1]) == 1.0
    assert sign_flip([0.0, 0.0]) is None


def test_few_tasks_cannot_show_a_difference_however_large():
    assert sign_flip([100.0] * 5) > 0.05
    assert sign_flip([100.0] * 6) < 0.05


def test_the_interval_needs_three_tasks_and_holds_the_mean():
    assert bootstrap_interval([0.0, 1.0]) is None
    low, high = bootstrap_interval([0.0, 0.5, 1.0, 0.25])
    assert low < 0.4375 < high
    assert bootstrap_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)


def test_what_is_no_number_is_no_evidence():
    with pytest.raises(ValueError, match="no finite number"):
        sign_flip([float("nan"), *[1.0] * 6])
