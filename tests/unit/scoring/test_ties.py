"""Equal values of runs that differ are a tie, not a method without chance."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_cases import attempt, claim, evidence, pair, run, seeded

from repro_pipeline import statistics
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.runs import Purpose, ValueSource
from repro_pipeline.scoring.integrity import findings
from repro_pipeline.scoring.observations import observe
from repro_pipeline.scoring.rubric import MetricParityRule, Rubric
from repro_pipeline.scoring.score import judge_claims, score
from repro_pipeline.scoring.verdict import judge_claim
from repro_pipeline.status import Sign, Verdict

ACCURACY = {"value": 84.0, "unit": "percent", "direction": "higher"}


def left(outputs, value=80.0, *, source=ValueSource.RECOMPUTED, seeds=None, **more):
    """Runs that all gave one value, and left what `outputs` says of each."""
    made = tuple(
        run(attempt(seed, {"error": value}, value_source=source, outputs=files, **more))
        for seed, files in zip(seeds or range(len(outputs)), outputs, strict=True)
    )
    return evidence(
        [claim(**ACCURACY)], {seed: {"error": value} for seed in range(len(outputs))}
    ).model_copy(update={"runs": made})


def predictions(*names):
    return [{"predictions.csv": digest(name)} for name in names]


def judged(case):
    (verdict,) = judge_claims(case, Rubric(), observe(case)).values()
    return verdict


def test_a_tie_of_different_predictions_is_neither_deterministic_nor_reproduced():
    verdict = judged(left(predictions("a", "b", "c")))
    assert verdict.tied and not verdict.deterministic
    assert verdict.verdict is Verdict.INCONCLUSIVE
    low, high = verdict.interval90
    assert high - 80 == pytest.approx(80 - low) == pytest.approx(20 * (1 - 0.05 ** (1 / 3)))
    assert "same bits" not in verdict.reason and "same value" in verdict.reason
    assert str(score(left(predictions("a", "b", "c")), Rubric(), digest(1)).overall) != "pass"


def test_two_different_files_among_five_are_enough():
    verdict = judged(left(predictions("a", "a", "b", "a", "a"), 88.0))
    assert verdict.tied
    assert verdict.interval90[1] - 88 == pytest.approx(4 * (1 - 0.05 ** (1 / 5)))


def test_the_same_predictions_are_deterministic_whatever_else_is_left():
    files = [{**one, "time.txt": digest(n)} for n, one in enumerate(predictions("a", "a", "a"))]
    verdict = judged(left(files))
    assert verdict.deterministic and not verdict.tied
    assert verdict.interval90 == (80.0, 80.0)
    assert verdict.verdict is Verdict.REPRODUCED


SELF, PARSED = ValueSource.SELF_REPORTED, ValueSource.PARSED


@pytest.mark.parametrize(
    ("source", "outputs", "logs", "fixed"),
    [
        (SELF, [{"metrics.json": digest(1)}] * 2, "ab", True),
        (SELF, [{"metrics.json": digest(1), "x": digest(n)} for n in (1, 2)], "aa", False),
        (SELF, [{"metrics.json": digest(1)}, {}], "aa", False),
        (SELF, [{}, {}], "aa", False),
        (PARSED, [{}, {}], "aa", True),
        (PARSED, [{}, {}], "ab", False),
        (ValueSource.RECOMPUTED, [{"metrics.json": digest(1)}] * 2, "aa", False),
    ],
)
def test_what_a_run_left_tells_a_tie(source, outputs, logs, fixed):
    made = [
        run(attempt(n, {"error": 80.0}, value_source=source, outputs=files, log=digest(log)))
        for n, (files, log) in enumerate(zip(outputs, logs, strict=True))
    ]
    case = left(predictions("a", "b")).model_copy(update={"runs": tuple(made)})
    assert (judged(case).deterministic, judged(case).tied) == (fixed, not fixed)


@pytest.mark.parametrize(
    ("source", "files", "seedless", "fixed"),
    [
        (SELF, "metrics.json", "aa", True),
        (SELF, "metrics.json", "ab", False),
        (SELF, "metrics.json", [None, None], False),
        (PARSED, "results.csv", "aa", True),
        (PARSED, None, "aa", True),
        (SELF, None, "aa", False),
        (ValueSource.RECOMPUTED, "predictions.csv", "aa", False),
    ],
)
def test_files_that_differ_by_the_seed_alone_are_the_same(source, files, seedless, fixed):
    made = [
        run(
            attempt(
                seed,
                {"error": 80.0},
                value_source=source,
                outputs={files: digest(seed)} if files else {},
                log=digest(seed),
                seedless=digest(without) if without else None,
            )
        )
        for seed, without in enumerate(seedless)
    ]
    case = left(predictions("a", "b")).model_copy(update={"runs": tuple(made)})
    assert (judged(case).deterministic, judged(case).tied) == (fixed, not fixed)


@pytest.mark.parametrize(("other", "fixed"), [("a", True), ("b", False)])
def test_a_repetition_of_unseeded_code_must_leave_the_same(other, fixed):
    case = left(predictions("a"), seeds=[None])
    (again,) = left(predictions(other), seeds=[None], purpose=Purpose.PARITY).runs
    case = case.model_copy(update={"seeds": (), "integrity": IntegrityEvidence(parity=(again,))})
    verdict = judged(case)
    assert (verdict.n, verdict.deterministic, verdict.tied) == (1, fixed, not fixed)
    assert (verdict.interval90[0] == 80.0) is fixed


def test_integrity_does_not_call_a_tie_the_same_bits():
    case = left(predictions("a", "b", "c"))
    observed = observe(case)
    for moved in (True, False):
        given_case = case if moved else case.model_copy(update={"integrity": IntegrityEvidence()})
        _, found = findings(given_case, observed, judge_claims(given_case, Rubric(), observed))
        (one,) = (finding for finding in found if finding.kind == "constant")
        assert "same value" in one.evidence and "bits" not in one.evidence
        assert one.severity == ("info" if moved else "unverified")


def test_equal_differences_of_tied_claims_have_a_width():
    claims = [claim("full", 80.0, unit="percent"), claim("less", 75.0, unit="percent")]
    table = {seed: {"full": 80.0, "less": 75.0} for seed in (1, 2, 3)}
    case = evidence(claims, table, pairs=[pair("full", "less", -1)])
    made = tuple(
        run(attempt(seed, values, outputs={"predictions.csv": digest(seed)}))
        for seed, values in table.items()
    )
    (fixed,) = score(case, Rubric(), digest(1)).pairs
    (tied,) = score(case.model_copy(update={"runs": made}), Rubric(), digest(1)).pairs
    assert fixed.interval95 == (-5.0, -5.0)
    low, high = tied.interval95
    assert low < -5 < high
    assert tied.sign in {Sign.AGREE, Sign.UNDECIDED}


@given(st.integers(1, 3000), st.data(), st.sampled_from([1.0, 100.0]))
def test_the_grain_is_never_finer_than_a_shares_own(rows, data, scale):
    share = data.draw(st.integers(0, rows)) / rows
    step = statistics.grain(share * scale, scale)
    assert step >= scale / rows * (1 - 1e-9)
    assert step == pytest.approx(scale / Fraction(share).limit_denominator(rows).denominator)


@given(st.floats(-1e100, 1e100))
def test_every_value_has_a_grain(value):
    assert statistics.grain(value) > 0


@given(
    st.integers(1, 100),
    st.integers(2, 12),
    st.integers(1, 100),
    st.sampled_from(["mean", "median", "best", "single"]),
    st.booleans(),
)
def test_only_the_same_outputs_give_an_interval_without_width(right, seeds, reported, over, same):
    of = claim(**{**ACCURACY, "value": float(reported), "statistic": over, "n_runs": 2})
    verdict = judge_claim(
        of, seeded(*[float(right)] * seeds), seeds, MetricParityRule(), same_outputs=same
    )
    low, high = verdict.interval90
    assert (low == high) is same is verdict.deterministic
    assert verdict.tied is not same
    if (
        not same
        and verdict.verdict is Verdict.REPRODUCED
        and not verdict.agrees_at_printed_precision
    ):
        assert verdict.p_equivalence <= 0.05 + 1e-9
    if verdict.verdict is Verdict.NOT_REPRODUCED and not same:
        assert verdict.p_difference <= 0.05 + 1e-9


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
def test_a_tie_misses_its_mean_seldom(runs):
    """Runs that move by one grain with a chance of d: ties whose interval lacks the mean are rare."""
    rng = np.random.default_rng(runs)
    missed = Counter()
    for chance in np.linspace(0.05, 0.95, 19):
        ties = (rng.random((4000, runs)) >= chance).all(axis=1).mean()
        missed[chance] = ties * (chance > statistics.tied_shift(runs, 0.9))
    assert max(missed.values()) <= 0.06
