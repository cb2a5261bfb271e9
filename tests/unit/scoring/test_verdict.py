"""Verdicts: known cases by hand, and properties that no rubric or order of seeds may break."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_cases import CLOSE, claim, seeded

from repro_pipeline import statistics
from repro_pipeline.scoring.rubric import MetricParityRule
from repro_pipeline.scoring.verdict import judge_claim
from repro_pipeline.status import Verdict

RULE = MetricParityRule()
REPRODUCED, NOT_REPRODUCED = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED
INCONCLUSIVE, NOT_RUN = Verdict.INCONCLUSIVE, Verdict.NOT_RUN


def judge(values, *, planned=None, rule=RULE, seconds=None, more=None, **of_claim):
    given_claim = claim(**of_claim)
    planned = len(values) if planned is None else planned
    more = {"same_outputs": True, **(more or {})}
    return judge_claim(given_claim, values, planned, rule, seconds, **more)


def test_close_seeds_reproduce():
    verdict = judge(seeded(*CLOSE))
    assert verdict.verdict is REPRODUCED
    # t(4) = 2.131847, sd 0.028810, n 5; tolerance 5 % of 3.9 = 0.195
    half = 2.131847 * 0.0288097 / math.sqrt(5)
    assert verdict.interval90 == pytest.approx((3.904 - half, 3.904 + half), abs=1e-5)
    assert verdict.relative_error == pytest.approx(0.004 / 3.9)
    assert verdict.agrees_at_printed_precision
    assert "3.705 to 4.095" in verdict.reason


def test_far_seeds_do_not_reproduce():
    verdict = judge(seeded(24.1, 23.8, 24.4, 24.0, 23.9))
    assert verdict.verdict is NOT_REPRODUCED
    assert not verdict.better_than_reported
    assert verdict.seeds_to_decide is None


def test_wide_seeds_are_inconclusive_and_say_how_many_would_do():
    values = seeded(3.6, 4.3, 3.8, 4.1, 3.95)
    verdict = judge(values, seconds=60.0)
    assert verdict.verdict is INCONCLUSIVE
    sd = statistics.sample_sd(list(values.values()))
    distance = 4.095 - 3.95

    def half(n):
        return statistics.t_quantile(0.95, n - 1) * sd / math.sqrt(n)

    assert half(verdict.seeds_to_decide) <= distance < half(verdict.seeds_to_decide - 1)
    assert verdict.seconds_to_decide == (verdict.seeds_to_decide - 5) * 60
    assert f"About {verdict.seeds_to_decide} seeds" in verdict.reason


def test_on_the_border_no_number_of_seeds_decides():
    verdict = judge(seeded(4.0, 4.19, 4.095), value=3.9)
    assert verdict.verdict is INCONCLUSIVE
    assert verdict.seeds_to_decide is None


def test_no_value_is_not_run_and_says_why():
    verdict = judge({}, planned=5, more={"missing": ["seed 1 timed out"]})
    assert verdict.verdict is NOT_RUN
    assert verdict.n == 0
    assert "seed 1 timed out" in verdict.reason


def test_dropped_seeds_are_named():
    verdict = judge(seeded(*CLOSE[:3]), planned=5, more={"missing": ["seed 4 failed"]})
    assert verdict.verdict is REPRODUCED
    assert "2 of 5 planned seeds gave no value: seed 4 failed" in verdict.reason


def test_a_value_that_is_not_finite_is_no_value():
    verdict = judge(seeded(*CLOSE) | {9: math.nan, 10: math.inf, 11: 1e300})
    assert verdict.n == 5
    assert verdict.planned == 8
    assert {"9", "10", "11"}.isdisjoint(verdict.values)
    assert "seed 9 gave no usable number (nan)" in verdict.reason


def test_the_same_bits_are_deterministic_and_have_no_width():
    verdict = judge(seeded(4.0, 4.0, 4.0))
    assert verdict.deterministic
    assert verdict.interval90 == (4.0, 4.0)
    assert verdict.verdict is REPRODUCED
    assert "same bits" in verdict.reason
    assert judge(seeded(4.2, 4.2, 4.2)).verdict is NOT_REPRODUCED
    assert not judge(seeded(4.0, 4.0, math.nextafter(4.0, 5))).deterministic


def test_one_run_decides_only_by_its_printed_digits():
    # 17.24 rounds to 17.2; three digits, so agreement by chance is rare
    fine = judge({1: 17.24}, value=17.2)
    assert fine.verdict is REPRODUCED
    assert "spread is unknown" in fine.reason
    # 3.9 has two digits: half of all values within the tolerance would round to it
    assert judge({1: 3.9}, value=3.9).verdict is INCONCLUSIVE
    assert judge({1: 17.3}, value=17.2).verdict is INCONCLUSIVE
    far = judge({1: 30.0}, value=17.2)
    assert far.verdict is INCONCLUSIVE
    assert far.seeds_to_decide is None
    assert far.within_threshold is False


def test_repetitions_show_unseeded_code_to_be_deterministic():
    same = judge({None: 17.3}, value=17.2, more={"repeats": [17.3]})
    assert same.verdict is REPRODUCED
    assert same.deterministic
    assert same.n == 1
    assert judge({None: 30.0}, value=17.2, more={"repeats": [30.0]}).verdict is NOT_REPRODUCED
    other = judge({None: 17.3}, value=17.2, more={"repeats": [17.4]})
    assert other.verdict is INCONCLUSIVE
    # a repetition of the same seed says nothing of other seeds
    assert judge({1: 17.3}, value=17.2, more={"repeats": [17.3]}).verdict is INCONCLUSIVE


def test_agreement_at_printed_precision_widens_a_tolerance_finer_than_the_print():
    # .006 (quantum .001): 5 % is .0003, but every value from .0055 to .0065 prints as .006
    verdict = judge(seeded(0.0064, 0.0064), value=0.006, quantum=0.001)
    assert verdict.verdict is REPRODUCED
    assert verdict.relative_error == pytest.approx(0.0004 / 0.006)
    assert verdict.within_threshold
    assert judge(seeded(0.0066, 0.0066), value=0.006, quantum=0.001).verdict is NOT_REPRODUCED


def test_a_reported_zero_has_the_printed_precision():
    verdict = judge(seeded(0.04, 0.04), value=0.0)
    assert verdict.relative_error == pytest.approx(0.04 / 0.05)
    assert verdict.verdict is REPRODUCED
    assert judge(seeded(0.06, 0.06), value=0.0).verdict is NOT_REPRODUCED
    wide = MetricParityRule(eps=10.0)
    assert judge(seeded(0.4, 0.4), value=0.0, rule=wide).verdict is REPRODUCED


@pytest.mark.parametrize(
    ("direction", "value", "better"),
    [("lower", 2.0, True), ("lower", 6.0, False), ("higher", 6.0, True), ("match", 2.0, False)],
)
def test_better_than_reported_follows_the_direction(direction, value, better):
    verdict = judge(seeded(value, value), direction=direction)
    assert verdict.verdict is NOT_REPRODUCED
    assert verdict.better_than_reported is better
    assert ("better than reported" in verdict.reason) is better


def test_a_unit_error_is_named_and_never_corrected():
    verdict = judge({s: v / 100 for s, v in seeded(*CLOSE).items()})
    assert verdict.verdict is NOT_REPRODUCED
    assert verdict.unit_error == 100
    assert verdict.value == pytest.approx(0.03904)
    assert judge(seeded(3900.0, 3901.0)).unit_error == 0.001
    assert judge(seeded(*CLOSE)).unit_error is None
    assert judge(seeded(7.0, 7.0)).unit_error is None


@pytest.mark.parametrize(
    ("of_claim", "wanted"),
    [
        ({"statistic": "mean"}, 3.0),
        ({"statistic": "median"}, 2.0),
        ({"statistic": "sd"}, math.sqrt(7)),
        ({"statistic": "best", "direction": "lower"}, 1.0),
        ({"statistic": "best", "direction": "higher"}, 6.0),
        ({"statistic": "best", "direction": "higher", "n_runs": 2}, 14 / 3),
        ({"statistic": "single"}, 3.0),
        ({"statistic": "median", "over": "draws"}, 3.0),
        ({"statistic": "median", "over": "seeds"}, 2.0),
    ],
)
def test_the_claims_statistic_is_formed(of_claim, wanted):
    assert judge(seeded(1.0, 2.0, 6.0), **of_claim).value == pytest.approx(wanted)


def test_statistics_that_cannot_be_formed_say_so():
    assert "at least two seeds" in judge({1: 3.9}, statistic="sd").reason
    best = judge(seeded(*CLOSE), statistic="best", direction="match")
    assert best.verdict is INCONCLUSIVE
    assert "direction" in best.reason


def test_a_single_reported_run_is_compared_with_one_further_run():
    values = seeded(90.0, 92.0, 94.0, 91.0, 93.0)
    single = judge(values, value=91.0, statistic="single", direction="higher")
    mean = judge(values, value=91.0, direction="higher")
    half = 2.131847 * math.sqrt(2.5) * math.sqrt(1.2)
    assert single.interval90 == pytest.approx((92 - half, 92 + half), abs=1e-4)
    assert mean.verdict is REPRODUCED
    assert single.verdict is INCONCLUSIVE


def test_a_claim_without_a_number_is_not_judged_by_value():
    verdict = judge(seeded(*CLOSE), value=None, quantum=None)
    assert verdict.verdict is INCONCLUSIVE
    assert verdict.relative_error is None
    assert verdict.mean == pytest.approx(3.904)


def test_the_papers_own_uncertainty_is_beside_the_verdict():
    verdict = judge(seeded(*CLOSE), uncertainty=0.1, uncertainty_kind="se")
    assert verdict.reported_interval95 == pytest.approx((3.9 - 0.195996, 3.9 + 0.195996), abs=1e-5)
    assert "holds the value" in verdict.reason
    sd = judge(seeded(*CLOSE), uncertainty=0.1, uncertainty_kind="sd", n_runs=5)
    assert sd.reported_interval95[1] == pytest.approx(3.9 + 2.776445 * 0.1 / math.sqrt(5), abs=1e-5)
    assert (
        judge(seeded(*CLOSE), uncertainty=0.1, uncertainty_kind="unstated").reported_interval95
        is None
    )


def test_the_printed_value_may_lie_anywhere_in_its_rounding_for_the_prediction_interval():
    verdict = judge(seeded(3.94, 3.94, 3.94))
    assert verdict.prediction95 == (3.94, 3.94)
    assert verdict.reported_in_prediction95 is True
    assert judge(seeded(3.96, 3.96, 3.96)).reported_in_prediction95 is False


finite = st.floats(-100, 100, allow_nan=False)
tables = st.dictionaries(st.integers(0, 20), finite, min_size=1, max_size=7)
some_claims = st.fixed_dictionaries(
    {
        "value": st.floats(-50, 50).map(lambda v: round(v, 2)),
        "quantum": st.sampled_from([0.001, 0.01, 0.1, 1.0]),
        "statistic": st.sampled_from(["mean", "median", "sd", "best", "single"]),
        "direction": st.sampled_from(["lower", "higher", "match"]),
    }
)


tolerances = st.floats(0.001, 0.999)


@given(tables, some_claims, st.tuples(tolerances, tolerances).map(sorted))
def test_a_wider_threshold_takes_no_reproduction_back(values, of_claim, thresholds):
    narrow, wide = (
        judge(values, rule=MetricParityRule(threshold=one), **of_claim) for one in thresholds
    )
    if narrow.verdict is REPRODUCED:
        assert wide.verdict is REPRODUCED
    if wide.verdict is NOT_REPRODUCED:
        assert narrow.verdict is NOT_REPRODUCED


@given(tables, some_claims, st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_names_of_seeds_matter(values, of_claim, random):
    before = judge(values, **of_claim)
    shuffled = list(values.values())
    random.shuffle(shuffled)
    after = judge(dict(zip(values, shuffled, strict=True)), **of_claim)
    ignored = {"values"}
    assert before.model_dump(exclude=ignored) == after.model_dump(exclude=ignored)


def test_zero_has_no_sign():
    one, other = (judge(values, value=0.0) for values in ({1: -0.0, 2: 0.0}, {1: 0.0, 2: -0.0}))
    assert one == other
    assert "-0," not in one.reason
    assert one.model_dump_json() == other.model_dump_json()


@given(
    st.dictionaries(st.integers(0, 20), st.floats(), max_size=6),
    some_claims,
    st.sampled_from([0.0, 5e-324, 1e-300, 3.9]),
)
def test_nothing_that_is_not_finite_comes_out(values, of_claim, reported):
    verdict = judge(values, **{**of_claim, "value": reported})
    assert all(math.isfinite(v) for v in verdict.values.values())
    assert set(verdict.values) == {str(s) for s, v in values.items() if abs(v) <= 1e100}
    numbers = [verdict.mean, verdict.sd, verdict.value, verdict.relative_error]
    for interval in (verdict.interval90, verdict.interval95, verdict.prediction95):
        numbers += interval or ()
    assert all(math.isfinite(x) for x in numbers if x is not None)


@given(tables, some_claims)
def test_one_seed_less_is_never_hidden(values, of_claim):
    verdict = judge(values, planned=len(values) + 1, **of_claim)
    assert verdict.planned == verdict.n + 1
    assert "gave no value" in verdict.reason
