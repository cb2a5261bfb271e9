"""The same experiment again: the same conclusion, or the right reason why not."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from scoring_cases import claim, evidence

from repro_pipeline.scoring.observations import observe
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.scoring.score import judge_claims
from repro_pipeline.sweeps.compare import LEVEL, compare, summary
from repro_pipeline.sweeps.model import PackageChange

NUMPY = PackageChange(name="numpy", before="1.26.0", after="2.1.0")


def verdicts(*samples: tuple[float, ...]):
    """The verdicts of as many claims as there are samples; each is reported as 3.9."""
    names = [f"c{number}" for number in range(len(samples))]
    seeds = range(1, 1 + max(map(len, samples)))
    values = {
        seed: {
            name: sample[seed - 1]
            for name, sample in zip(names, samples, strict=True)
            if seed <= len(sample)
        }
        for seed in seeds
    }
    case = evidence([claim(name, quantum=0.001) for name in names], values)
    return tuple(judge_claims(case, Rubric(), observe(case)).values())


NEAR, FAR = (3.90, 3.92, 3.88, 3.91, 3.89), (4.90, 4.92, 4.88, 4.91, 4.89)
EDGE = (4.00, 4.05, 4.02, 4.10, 4.06)
EDGE_AGAIN = (4.03, 4.07, 4.09, 4.13, 4.06)


def test_the_same_values_come_to_the_same_conclusion():
    (one,) = compare(verdicts(NEAR), verdicts((3.91, 3.89, 3.90, 3.92, 3.87)))
    assert one.same and one.because == "same" and one.adjusted_p > LEVEL
    assert one.sentence.startswith("Reproduced, as before.")


def test_moved_values_are_laid_to_packages_then_host_and_else_to_nothing():
    before, after = verdicts(NEAR), verdicts(FAR)
    (by_packages,) = compare(before, after, packages=[NUMPY], host=["cpu"])
    assert by_packages.because == "dependencies" and "numpy 1.26.0 → 2.1.0" in by_packages.sentence
    (by_host,) = compare(before, after, host=["cpu"])
    assert by_host.because == "host" and "cpu" in by_host.sentence
    (unexplained,) = compare(before, after)
    assert unexplained.because == "unexplained" and not unexplained.same


def test_a_changed_conclusion_without_a_difference_is_seed_noise():
    before, after = verdicts(EDGE), verdicts(EDGE_AGAIN)
    assert before[0].verdict != after[0].verdict
    (one,) = compare(before, after, packages=[NUMPY])
    assert one.because == "seed_noise" and not one.same and one.adjusted_p > LEVEL


def test_values_that_moved_within_the_tolerance_are_said_too():
    close = (3.95, 3.951, 3.949, 3.95, 3.95)
    (one,) = compare(verdicts(NEAR), verdicts(close), packages=[NUMPY])
    assert one.same and one.because == "dependencies"
    assert "1 value moved all the same" in summary([one])


def test_missing_runs_are_no_conclusion():
    (one,) = compare(verdicts(NEAR), _nothing())
    assert one.because == "missing_runs" and one.after == "not_run" and one.p is None


def _nothing():
    case = evidence([claim("c0", quantum=0.001)], {s: {} for s in (1, 2, 3)})
    return tuple(judge_claims(case, Rubric(), observe(case)).values())


def test_deterministic_values_need_no_chance():
    fixed = (3.9,) * 3
    (same,) = compare(verdicts(fixed), verdicts(fixed))
    assert same.same and same.p == 1.0
    (moved,) = compare(verdicts(fixed), verdicts((4.9,) * 3), packages=[NUMPY])
    assert moved.p == 0.0 and moved.because == "dependencies"


@given(st.integers(0, 2**31), st.integers(2, 6))
def test_swapping_then_and_now_changes_no_p(seed: int, n: int):
    rng = random.Random(seed)
    one = tuple(rng.gauss(3.9, 0.1) for _ in range(n))
    other = tuple(rng.gauss(4.0, 0.1) for _ in range(n))
    (there,), (back,) = (
        compare(verdicts(one), verdicts(other)),
        compare(verdicts(other), verdicts(one)),
    )
    assert there.p == back.p and there.difference == -back.difference


def test_many_claims_of_one_truth_seldom_differ_by_chance():
    rng = random.Random(7)
    draw = lambda: tuple(rng.gauss(3.9, 0.05) for _ in range(5))  # noqa: E731
    alarms = 0
    for _ in range(60):
        before, after = (
            verdicts(*(draw() for _ in range(20))),
            verdicts(*(draw() for _ in range(20))),
        )
        alarms += any(c.adjusted_p <= LEVEL for c in compare(before, after))
    assert alarms <= 8, "more than the 5 % of papers that may raise one by chance, by far"
