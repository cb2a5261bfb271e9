"""Causes: only what evidence speaks for, and never by nearness to the reported value."""

from __future__ import annotations

from scoring_cases import (
    all_failed,
    claim,
    evidence,
    experiment,
    partial,
    runs,
    trivial,
    unit_error,
)

from repro_pipeline.experiment.spec import ExperimentKind
from repro_pipeline.scoring.attribution import attribute
from repro_pipeline.scoring.model import Evidence
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.scoring.score import score

WRONG = {1: 5.00, 2: 5.02, 3: 4.98, 4: 5.01, 5: 4.99}


def causes(found: Evidence) -> list[tuple[str, str]]:
    scores = score(found, Rubric(), "0" * 64)
    return [(cause.claim, cause.cause) for cause in attribute(found, scores).causes]


def varied(changed: dict[int, float]) -> Evidence:
    """A claim of 3.9 that comes out as 5, and a sensitivity experiment with the same seeds."""
    base = evidence([claim()], {seed: {"error": value} for seed, value in WRONG.items()})
    other = experiment(
        ["error"],
        "other",
        kind=ExperimentKind.SENSITIVITY,
        of="main",
        change={"depth": 4},
        assumption="the-depth",
    )
    more = runs({seed: {"error": value} for seed, value in changed.items()}, experiment="other")
    return base.model_copy(
        update={"experiments": (*base.experiments, other), "runs": (*base.runs, *more)}
    )


def test_a_reproduced_claim_has_no_cause():
    assert causes(trivial()) == []


def test_a_claim_that_did_not_run_says_so_and_nothing_else():
    assert {cause for _, cause in causes(all_failed())} == {"not_run"}


def test_a_unit_factor_is_named():
    assert ("error", "unit") in causes(unit_error())


def test_an_assumption_is_a_cause_only_where_it_moves_the_claim_beyond_noise():
    moving = varied({seed: value + 0.5 for seed, value in WRONG.items()})
    assert causes(moving) == [("error", "assumption")]
    noise = {1: 0.3, 2: -0.3, 3: 0.2, 4: -0.2, 5: 0.01}
    still = varied({seed: value + noise[seed] for seed, value in WRONG.items()})
    assert causes(still) == [("error", "not_determinable")]


def test_moving_towards_the_reported_value_counts_no_more_than_moving_away():
    towards = varied({seed: value - 1.1 for seed, value in WRONG.items()})
    away = varied({seed: value + 1.1 for seed, value in WRONG.items()})
    assert causes(towards) == causes(away) == [("error", "assumption")]


def test_an_open_verdict_names_the_seeds_that_would_decide():
    found = partial()
    scores = score(found, Rubric(), "0" * 64)
    open_claims = {v.claim for v in scores.verdicts if v.seeds_to_decide}
    named = {c.claim for c in attribute(found, scores).causes if c.cause == "seed_variance"}
    assert named == open_claims
