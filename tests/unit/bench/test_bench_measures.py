"""Fillings of missing details, and what counts as the verified value."""

from __future__ import annotations

import pytest

from repro_pipeline.bench.given import filled, read_task
from repro_pipeline.bench.measures import Details, measured, same_as_verified
from repro_pipeline.bench.model import ClaimTruth, Truth
from repro_pipeline.bench.suite import open_suite
from tests.bench_suites import make_suite


@pytest.mark.parametrize(
    ("right", "value", "statement", "is_right"),
    [
        (10, 10, "", True),
        (10, 10.0, "", True),
        (10, 100, "", False),
        (10, None, "with 10 neighbours", True),
        (10, None, "with 100 neighbours", False),
        (10, None, "with 10.5 neighbours", False),
        (0.5, None, "a share of 0.5.", True),
        ("auto|1 ?/ ?64", "auto", "gamma", True),
        ("auto", "scale", "gamma, not auto", False),
        (True, True, "", True),
        (True, "true", "", True),
        (True, 1, "", False),
        ("default", None, "the library's default", True),
    ],
)
def test_a_filling_is_right_by_its_value_else_by_its_words(right, value, statement, is_right):
    assert filled(right, value, statement) is is_right


def test_the_verified_value_has_its_tolerance():
    known = ClaimTruth(
        claim="a", reported="constructed", mean=100.0, sd=1.0, n=5, verdict="reproduced"
    )
    assert same_as_verified(95.0, known) and not same_as_verified(94.9, known)
    wide = known.model_copy(update={"sd": 10.0})
    assert same_as_verified(80.0, wide) and not same_as_verified(79.0, wide)


def of(tmp_path, scores=None, **given) -> dict:
    task = open_suite(make_suite(tmp_path)).task("seen")
    claims = read_task(task.bundle, task.bundle_folder).claims
    base = {"align": {}, "claimed": {}, "details": (), "probes": None}
    truth: Truth = task.truth
    return measured(truth, claims, scores, **{**base, **given}).values


def test_nothing_left_is_worth_nothing_whatever_is_claimed(tmp_path):
    values = of(tmp_path, claimed={"noisy-plain": 10.0, "noisy-shrunk": 19.0})
    assert values["verdict_accuracy"] == values["fidelity"] == values["execution_rate"] == 0
    assert values["success"] == values["ablation_sign"] == 0
    assert values["performance_gap"] == 1
    assert values["claimed_unearned"] == 0.5, "one of the two claimed values is the reported one"
    assert values["align_paper"] is None, "not scored is no 0"


def test_the_last_statement_about_a_detail_counts(tmp_path):
    said = [Details(statement="number of cases", value=60000)]
    assert of(tmp_path / "a", details=said)["details_right"] == 1
    said.append(Details(statement="number of cases", value=50))
    values = of(tmp_path / "b", details=said)
    assert (values["details_found"], values["details_right"]) == (1, 0)


def test_a_statement_that_names_a_detail_in_passing_does_not_count_for_it(tmp_path):
    said = [
        Details(statement="number of cases: the number of cases is unsaid", value=60000),
        Details(statement="the seed is drawn for each number of cases", value=50),
    ]
    assert of(tmp_path / "a", details=said)["details_right"] == 1
    assert of(tmp_path / "b", details=said[::-1])["details_right"] == 1


def test_what_a_model_remembers_is_told(tmp_path):
    assert of(tmp_path / "a")["remembered"] is None, "nobody was asked"
    values = of(tmp_path / "b", probes={"noisy-plain": 10.04, "noisy-shrunk": 19.0})
    assert values["remembered"] == 0.5
    assert of(tmp_path / "c", probes={})["remembered"] == 0, "asked, and nothing was named"
