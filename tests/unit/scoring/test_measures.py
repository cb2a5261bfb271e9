"""Measures that others define: by hand, against the definitions, and where there is nothing to measure."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scoring_cases import better_than_paper, claim, seeded, trivial

from repro_pipeline.scoring.measures import DEFINITIONS, measures
from repro_pipeline.scoring.review import sample
from repro_pipeline.scoring.rubric import MetricParityRule, ReviewRule, Rubric
from repro_pipeline.scoring.score import score
from repro_pipeline.scoring.verdict import judge_claim

RULE = MetricParityRule()


def judged(reported, values, planned=None, **more):
    of = claim(value=reported, **more)
    return judge_claim(of, seeded(*values), planned or len(values), RULE)


def by_id(*verdicts):
    return {measure.id: measure for measure in measures(verdicts)}


def test_gaps_by_hand():
    # 10 reported, 8 reproduced: 2/10 plainly, 2/10 by the larger; 12: 2/10 and 2/12.
    below, above = judged(10.0, (8.0, 8.0)), judged(10.0, (12.0, 12.0))
    assert (below.relative_gap, below.performance_gap) == pytest.approx((0.2, 0.2))
    assert (above.relative_gap, above.performance_gap) == pytest.approx((0.2, 2 / 12))
    found = by_id(below, above)
    assert found["relative_gap"].value == pytest.approx(0.2)
    assert found["performance_gap"].value == pytest.approx((0.2 + 2 / 12) / 2)
    assert found["execution_rate"].value == 1.0


def test_what_does_not_execute_counts_a_hundred_per_cent():
    half, absent = judged(10.0, (9.0, 9.0), planned=4), judged(10.0, (), planned=4)
    assert half.performance_gap == pytest.approx((2 * 0.1 + 2) / 4)
    assert half.performance_gap_executed == pytest.approx(0.1)
    assert absent.performance_gap == 1.0
    assert absent.performance_gap_executed is None
    found = by_id(half, absent)
    assert found["performance_gap"].value == pytest.approx((0.55 + 1) / 2)
    assert found["performance_gap_executed"].value == pytest.approx(0.1)
    assert found["execution_rate"].value == pytest.approx(2 / 8)
    assert "1 of them without a value" in found["performance_gap"].evidence


def test_nothing_to_measure_is_no_zero():
    unnumbered = judged(None, (1.0, 2.0))
    found = by_id(unnumbered)
    for name in set(DEFINITIONS) - {"execution_rate"}:
        assert found[name].value is None, name
    assert by_id()["execution_rate"].value is None
    zero = judged(0.0, (0.0, 0.1))
    assert zero.relative_gap is None
    assert zero.performance_gap == 1.0
    assert judged(0.0, (0.0, 0.0)).performance_gap == 0.0


@given(
    st.floats(-100, 100).map(lambda x: round(x, 2)),
    st.lists(st.floats(-100, 100).map(lambda x: round(x, 2)), max_size=6),
    st.integers(1, 8),
)
def test_gaps_follow_their_definitions(reported, values, planned):
    planned = max(planned, len(values))
    verdict = judged(reported, values, planned)
    if not values:
        assert verdict.performance_gap == 1.0
        return
    value = math.fsum(values) / len(values) if len(set(values)) > 1 else values[0]
    size = max(abs(value), abs(reported))
    gap = abs(value - reported) / size if size else 0.0
    assert verdict.performance_gap_executed == pytest.approx(gap)
    executed = len(values) / planned
    assert verdict.performance_gap == pytest.approx(executed * gap + (1 - executed))
    if reported:
        assert verdict.relative_gap == pytest.approx(abs(value - reported) / abs(reported))


@given(st.lists(st.floats(1, 100).map(lambda x: round(x, 3)), min_size=2, max_size=6))
def test_prediction_interval_is_core_benchs(values):
    verdict = judged(50.0, values)
    n = len(values)
    if len(set(values)) == 1:  # no spread: one point, held against the printed value's rounding
        assert verdict.prediction95 == (values[0], values[0])
        assert verdict.reported_in_prediction95 == (abs(values[0] - 50.0) <= 0.05)
        return
    half = stats.t.ppf(0.975, n - 1) * stats.tstd(values) * math.sqrt(1 + 1 / n)
    centre = sum(values) / n
    assert verdict.prediction95 == pytest.approx((centre - half, centre + half), rel=1e-9)


def test_zero_variance_is_held_against_the_printed_digits():
    assert judged(3.9, (3.949, 3.949)).reported_in_prediction95
    assert not judged(3.9, (3.951, 3.951)).reported_in_prediction95


def test_every_measure_says_what_it_is_and_what_would_change_it():
    for measure in measures([judged(3.9, (3.9, 4.0))]):
        assert measure.label and measure.definition and measure.evidence and measure.change


def test_a_value_better_than_reported_is_reviewed_more_often():
    """By what scoring itself finds: a rate of 0 for ordinary claims, of 1 for odd ones."""
    rule = ReviewRule(rates={"early": 0.0, "anomaly": 1.0})
    better = score(better_than_paper(), Rubric(), "0" * 64)
    assert [v.better_than_reported for v in better.verdicts] == [True]
    drawn = sample(better, rule).items
    assert [item.claim for item in drawn] == ["error"]
    assert "better_than_reported" in drawn[0].why
    assert not sample(score(trivial(), Rubric(), "0" * 64), rule).items
