"""The statistics agree with scipy where it has them, and cover what they promise where it has not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from repro_pipeline import statistics as s

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 6))
samples = st.lists(numbers, min_size=2, max_size=12)
levels = st.sampled_from([0.5, 0.9, 0.95, 0.99])


def close(got, wanted, scale=1.0):
    return np.allclose(got, wanted, rtol=1e-9, atol=1e-9 * max(1.0, scale))


@given(samples)
def test_mean_median_and_sd_agree_with_numpy(values):
    scale = max(abs(v) for v in values)
    assert close(s.mean(values), np.mean(values), scale)
    assert close(s.median(values), np.median(values), scale)
    assert close(s.sample_sd(values), np.std(values, ddof=1), scale)


@given(samples, levels)
def test_t_interval_agrees_with_scipy(values, level):
    if s.constant(values):
        assert s.t_interval(values, level) == (values[0], values[0])
        return
    wanted = stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))
    assert close(s.t_interval(values, level), wanted, 100 * max(abs(v) for v in values))


@given(samples, levels)
def test_prediction_interval_agrees_with_scipy(values, level):
    if s.constant(values):
        assert s.prediction_interval(values, level) == (values[0], values[0])
        return
    n = len(values)
    scale = np.std(values, ddof=1) * math.sqrt(1 + 1 / n)
    wanted = stats.t.interval(level, n - 1, np.mean(values), scale)
    assert close(s.prediction_interval(values, level), wanted, 100 * max(abs(v) for v in values))


@given(samples, levels)
def test_sd_interval_agrees_with_scipy(values, level):
    n, sd = len(values), s.sample_sd(values)
    lower, upper = stats.chi2.interval(level, n - 1)
    wanted = (sd * math.sqrt((n - 1) / upper), sd * math.sqrt((n - 1) / lower))
    assert np.allclose(s.sd_interval(values, level), wanted, rtol=1e-9)


@given(samples, st.randoms(use_true_random=False))
def test_order_changes_no_bit(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    runs = max(1, len(values) // 2)
    for function in (
        s.mean,
        s.median,
        s.sample_sd,
        lambda v: s.t_interval(v, 0.9),
        s.prediction_interval,
        lambda v: s.median_interval(v, 0.9),
        lambda v: s.sd_interval(v, 0.9),
        lambda v: s.best_interval(v, 0.9, runs=runs, higher=True),
    ):
        assert function(values) == function(shuffled)


@given(numbers, st.integers(2, 9))
def test_equal_bits_have_no_spread(value, n):
    values = [value] * n
    point = (value, value)
    assert s.mean(values) == value
    assert s.sample_sd(values) == 0
    assert s.t_interval(values, 0.9) == point
    assert s.median_interval(values, 0.9) == point
    assert s.best_interval(values, 0.9, runs=n, higher=False) == point


def test_one_value_has_no_interval():
    assert s.sample_sd([3.9]) is None
    assert s.t_interval([3.9], 0.9) is None
    assert s.prediction_interval([3.9]) is None
    assert s.median_interval([3.9], 0.9) is None
    assert s.sd_interval([3.9], 0.9) is None
    assert s.best_interval([3.9], 0.9, runs=1, higher=True) is None


def test_values_by_hand():
    values = [3.8, 3.9, 4.0, 4.1, 4.2]
    assert s.mean(values) == pytest.approx(4.0)
    assert s.sample_sd(values) == pytest.approx(0.158114, abs=1e-6)
    # t(4) is 2.131847 at 95 %, 2.776445 at 97.5 %
    half = 2.131847 * 0.158114 / math.sqrt(5)
    assert s.t_interval(values, 0.9) == pytest.approx((4 - half, 4 + half), abs=1e-6)
    half = 2.776445 * 0.158114 * math.sqrt(1.2)
    assert s.prediction_interval(values) == pytest.approx((4 - half, 4 + half), abs=1e-6)


def test_the_best_of_fewer_runs_is_the_mean_over_subsets():
    values = [1.0, 2.0, 4.0]
    assert s.best_of(values, 3, higher=True) == 4
    assert s.best_of(values, 3, higher=False) == 1
    assert s.best_of(values, 2, higher=True) == pytest.approx((2 + 4 + 4) / 3)
    assert s.best_of(values, 2, higher=False) == pytest.approx((1 + 1 + 2) / 3)
    assert s.best_of(values, 1, higher=True) == pytest.approx(7 / 3)
    with pytest.raises(ValueError, match="best of 4"):
        s.best_of(values, 4, higher=True)


def test_the_expected_normal_best_is_the_textbook_one():
    assert s._normal_best(1) == pytest.approx(0, abs=1e-9)
    assert s._normal_best(2) == pytest.approx(1 / math.sqrt(math.pi), abs=1e-6)
    assert s._normal_best(5) == pytest.approx(1.16296, abs=1e-5)


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("statistic", ["median", "best", "lowest", "sd"])
def test_bootstrap_intervals_cover_90_percent_of_normal_samples(n, statistic):
    rng = np.random.default_rng(11)
    trials, hits = 2000, 0
    truth = {
        "median": 10.0,
        "best": 10 + s._normal_best(n),
        "lowest": 10 - s._normal_best(n),
        "sd": 1,
    }
    for _ in range(trials):
        values = list(10 + rng.standard_normal(n))
        low, high = {
            "median": lambda v: s.median_interval(v, 0.9),
            "best": lambda v: s.best_interval(v, 0.9, runs=n, higher=True),
            "lowest": lambda v: s.best_interval(v, 0.9, runs=n, higher=False),
            "sd": lambda v: s.sd_interval(v, 0.9),
        }[statistic](values)
        hits += low <= truth[statistic] <= high
    # three standard errors of a share of 0.9 in 2000 trials
    assert abs(hits / trials - 0.9) < 0.021


@given(st.dictionaries(st.integers(0, 9), numbers), st.dictionaries(st.integers(0, 9), numbers))
def test_differences_are_paired_by_seed(full, variant):
    differences = s.paired_differences(full, variant)
    assert set(differences) == set(full) & set(variant)
    assert all(d == variant[seed] - full[seed] for seed, d in differences.items())


@settings(max_examples=50)
@given(st.floats(0.01, 5), st.floats(0.01, 5), st.integers(2, 20))
def test_seeds_to_reach_is_the_least_number(sd, distance, n):
    def half_width(k):
        return s.t_quantile(0.95, k - 1) * sd / math.sqrt(k)

    needed = s.seeds_to_reach(half_width, distance, n)
    if needed is None:
        assert half_width(s.MOST_SEEDS) > distance
    else:
        assert needed > n
        assert half_width(needed) <= distance
        assert needed == n + 1 or half_width(needed - 1) > distance
