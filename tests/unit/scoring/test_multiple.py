"""False-discovery control: the procedures, the p-values they work on, and what becomes of a headline."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scoring_cases import claim, seeded

from repro_pipeline import statistics as s
from repro_pipeline.scoring.multiple import adjusted, control
from repro_pipeline.scoring.rubric import FalseDiscoveryRule, MetricParityRule
from repro_pipeline.scoring.verdict import judge_claim
from repro_pipeline.status import Verdict

METHODS = {"benjamini_hochberg": "bh", "benjamini_yekutieli": "by"}
procedures = st.sampled_from(sorted(METHODS))
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=40)
values = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=10)


@given(p_values, procedures)
def test_adjustment_agrees_with_scipy(ps, procedure):
    wanted = stats.false_discovery_control(ps, method=METHODS[procedure])
    assert adjusted(ps, procedure) == pytest.approx(list(wanted), abs=1e-12)


def test_adjustment_by_hand():
    # m = 4: 4 * 0.01 / 1, 4 * 0.02 / 2 = 0.04, 4 * 0.04 / 3, 0.5; times 1 + 1/2 + 1/3 + 1/4.
    assert adjusted([0.04, 0.01, 0.5, 0.02], "benjamini_hochberg") == pytest.approx(
        [0.16 / 3, 0.04, 0.5, 0.04]
    )
    factor = 25 / 12
    assert adjusted([0.04, 0.01, 0.5, 0.02], "benjamini_yekutieli") == pytest.approx(
        [0.16 / 3 * factor, 0.04 * factor, 1.0, 0.04 * factor]
    )


@given(p_values, procedures, st.randoms(use_true_random=False))
def test_adjustment_keeps_order_and_never_helps(ps, procedure, random):
    found = adjusted(ps, procedure)
    assert all(
        after >= before or math.isclose(after, before)
        for before, after in zip(ps, found, strict=True)
    )
    assert [found[i] for i in sorted(range(len(ps)), key=ps.__getitem__)] == sorted(found)
    order = list(range(len(ps)))
    random.shuffle(order)
    assert adjusted([ps[i] for i in order], procedure) == [found[i] for i in order]


@given(values, st.floats(-150, 150))
def test_p_of_a_mean_agrees_with_scipys_t_test(sample, bound):
    assume(s.sample_sd(sample) > 1e-3)
    wanted = stats.ttest_1samp(sample, bound, alternative="greater").pvalue
    assert s.t_confidence(sample, bound) == pytest.approx(wanted, abs=1e-9)


@given(values, st.sampled_from([0.9, 0.95]))
def test_p_values_and_intervals_are_of_one_piece(sample, level):
    """The ends of every interval are the bounds whose p-values are its tails."""
    assume(s.sample_sd(sample) > 1e-3)
    tail = (1 - level) / 2
    runs = max(1, len(sample) // 2)
    for interval, confidence, within in (
        (s.t_interval(sample, level), lambda b: s.t_confidence(sample, b), 1e-6),
        (
            s.prediction_interval(sample, level),
            lambda b: s.t_confidence(sample, b, further=True),
            1e-6,
        ),
        (s.sd_interval(sample, level), lambda b: s.sd_confidence(sample, b), 1e-6),
        (s.median_interval(sample, level), lambda b: s.median_confidence(sample, b), 1e-3),
        *(
            (
                s.best_interval(sample, level, runs=runs, higher=higher),
                lambda b, higher=higher: s.best_confidence(sample, b, runs=runs, higher=higher),
                1e-3,
            )
            for higher in (True, False)
        ),
    ):
        assert confidence(interval[0]) == pytest.approx(tail, abs=within)
        assert confidence(interval[1]) == pytest.approx(1 - tail, abs=within)


@given(
    st.lists(st.floats(80, 120).map(lambda x: round(x, 2)), min_size=2, max_size=8),
    st.sampled_from(["mean", "median", "best", "sd", "single"]),
    st.sampled_from([0.01, 1.0, 30.0]),
)
@settings(max_examples=200)
def test_a_verdict_is_its_p_value_at_five_per_cent(sample, statistic, quantum):
    of = claim(value=100.0, quantum=quantum, statistic=statistic, direction="higher")
    verdict = judge_claim(of, seeded(*sample), len(sample), MetricParityRule())
    if verdict.deterministic:
        assert verdict.p_equivalence is verdict.p_difference is None
        return
    ps = verdict.p_equivalence, verdict.p_difference
    assume(all(abs(p - 0.05) > 2e-3 for p in ps))  # draws decide the last digits of a bootstrap
    assert (verdict.verdict is Verdict.REPRODUCED) == (ps[0] < 0.05)
    assert (verdict.verdict is Verdict.NOT_REPRODUCED) == (ps[1] < 0.05 < ps[0])


def verdicts_of(samples, **of_claim):
    rule = MetricParityRule()
    found = {}
    for number, sample in enumerate(samples):
        of = claim(f"claim-{number}", value=20.0, quantum=1e-6, **of_claim)
        found[of.id] = judge_claim(of, seeded(*sample), 5, rule, same_outputs=True)
    return found


NEAR = (20.0, 20.01, 19.99, 20.02, 19.98)
BARELY = (20.0, 21.4, 18.8, 20.55, 19.3)  # TOST p a little below 5 %
OUT = (30.0, 30.1, 29.9, 30.2, 29.8)


def test_a_lone_doubtful_verdict_among_many_does_not_stand():
    found = verdicts_of([BARELY] + [()] * 9)
    assert 0.03 < found["claim-0"].p_equivalence < 0.05
    assert found["claim-0"].verdict is Verdict.REPRODUCED
    after, said = control(found, FalseDiscoveryRule())
    assert after["claim-0"].verdict is Verdict.REPRODUCED
    assert after["claim-0"].stands is False
    assert "does not stand" in after["claim-0"].reason
    # Claims without a value are in the family: ten times the smallest p.
    assert said.family == 10
    assert said.reproduced == 0
    wanted = 10 * found["claim-0"].p_equivalence
    assert after["claim-0"].adjusted_p_equivalence == pytest.approx(wanted)


def test_clear_verdicts_stand_and_deterministic_ones_lend_no_strength():
    fixed = (20.0,) * 5
    found = verdicts_of([NEAR, OUT, BARELY, ()] + [fixed] * 50)
    after, said = control(found, FalseDiscoveryRule())
    assert after["claim-0"].stands and after["claim-1"].stands
    assert after["claim-2"].stands is False
    assert all(after[f"claim-{n}"].stands for n in range(4, 54))
    assert said.family == 4
    assert (said.reproduced, said.not_reproduced) == (51, 1)
    assert "52 stand" in said.sentence


def test_without_control_nothing_changes():
    found = verdicts_of([BARELY, ()])
    after, said = control(found, FalseDiscoveryRule(procedure="none"))
    assert after == found
    assert said.reproduced == 1


@given(st.lists(st.sampled_from([NEAR, BARELY, OUT, (), (20.0,) * 5]), max_size=12))
def test_control_never_changes_a_verdict_and_yekutieli_is_the_stricter(samples):
    found = verdicts_of(samples)
    kept = {}
    for procedure in METHODS:
        after, _ = control(found, FalseDiscoveryRule(procedure=procedure))
        assert {k: v.verdict for k, v in after.items()} == {k: v.verdict for k, v in found.items()}
        kept[procedure] = {name for name, verdict in after.items() if verdict.stands}
    assert kept["benjamini_yekutieli"] <= kept["benjamini_hochberg"]


@pytest.mark.parametrize("procedure", sorted(METHODS))
def test_few_of_the_standing_verdicts_are_false(procedure):
    """Claims of one paper share their runs; 18 of 20 truths lie on the zone's border."""
    rng = np.random.default_rng(5)
    truth = np.array([21.0] * 18 + [20.0] * 2)
    shares = {"none": [], procedure: []}
    for _ in range(120):
        common = rng.standard_normal((5, 1))
        runs = truth + 0.25 * (0.7 * common + 0.7 * rng.standard_normal((5, 20)))
        found = verdicts_of(runs.T.tolist())
        for name, of in shares.items():
            after, _ = control(found, FalseDiscoveryRule(procedure=name))
            standing = [
                int(claim.split("-")[1])
                for claim, one in after.items()
                if one.verdict is Verdict.REPRODUCED and one.stands is not False
            ]
            of.append(sum(n < 18 for n in standing) / max(len(standing), 1))
    assert np.mean(shares["none"]) > 0.12  # what the control is for
    assert np.mean(shares[procedure]) < 0.05
