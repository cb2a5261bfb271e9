"""CORE-Bench's answers: our prediction interval is theirs, and answers without spread hold themselves."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from scipy import stats

from repro_pipeline.claims.model import Claim
from repro_pipeline.paper.address import TextAddress
from repro_pipeline.scoring.rubric import MetricParityRule
from repro_pipeline.scoring.verdict import judge_claim
from repro_pipeline.statistics import prediction_interval


@pytest.fixture
def answers(corpus: Path) -> list[tuple[float, ...]]:
    """The numeric answers of all questions, one per run of the original code."""
    found = []
    for task in json.loads((corpus / "corebench/core_tasks.json").read_text(encoding="utf-8")):
        runs = task["results"]
        for question, first in runs[0].items():
            if isinstance(first, int | float):
                found.append(tuple(float(run[question]) for run in runs))
    return found


def test_the_interval_is_the_benchmarks(answers):
    spread = [values for values in answers if len(set(values)) > 1]
    assert len(spread) == 4
    for values in spread:
        n = len(values)
        half = stats.t.ppf(0.975, n - 1) * stats.tstd(values) * math.sqrt(1 + 1 / n)
        centre = math.fsum(values) / n
        assert prediction_interval(values) == pytest.approx((centre - half, centre + half))


def test_an_answer_without_spread_is_held_against_its_printed_digits(answers):
    """The benchmark wants such an answer to the last bit; a printed value is only so exact."""
    fixed = [values for values in answers if len(set(values)) == 1 and values[0]]
    assert len(fixed) > 20
    for values in fixed:
        assert prediction_interval(values) == (values[0], values[0])
        quantum = 10.0 ** (math.floor(math.log10(abs(values[0]))) - 2)  # three digits are printed
        printed = round(values[0] / quantum) * quantum
        for reported, inside in ((printed, True), (printed + 2 * quantum, False)):
            claim = Claim(
                id="answer",
                metric="answer",
                value=reported,
                quantum=quantum,
                address=TextAddress(quote="an answer"),
            )
            verdict = judge_claim(claim, dict(enumerate(values)), len(values), MetricParityRule())
            assert verdict.reported_in_prediction95 is inside, (values, reported)
