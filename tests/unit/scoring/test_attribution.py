"""Causes: only what evidence speaks for, and never by nearness to the reported value."""

from __future__ import annotations

import pytest
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

from repro_pipeline.bundle.terms import AssumptionSource, Influence
from repro_pipeline.evidence.alignment import (
    Alignment,
    Checked,
    Judgement,
    KeyPoint,
    Level,
    LevelEvidence,
)
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.runs import ExperimentKind
from repro_pipeline.lineage.model import AssumptionLedger, OpenGap
from repro_pipeline.scoring.attribution import attribute
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


def ledger(**more) -> AssumptionLedger:
    return AssumptionLedger(assumptions=(), **more)


def gap(item: str) -> OpenGap:
    return OpenGap(item=item, question="?", influence=Influence.HIGH)


def with_ledger(found: Evidence, assumed: AssumptionLedger) -> list[tuple[str, str]]:
    scores = score(found, Rubric(), "0" * 64)
    return [(c.cause, str(c.strength)) for c in attribute(found, scores, assumed).causes]


def test_circumstances_come_after_what_was_measured_and_decide_nothing():
    said = ledger(
        gaps=(gap("split"), gap("library-versions"), gap("hardware")),
        contradictions=("The paper contradicts itself on batch-size: 'a' / 'b'",),
    )
    moving = varied({seed: value + 0.5 for seed, value in WRONG.items()})
    kinds = ["paper", "data", "environment"]
    assert with_ledger(moving, said) == [
        ("assumption", "measured"),
        *((kind, "circumstantial") for kind in kinds),
    ]
    nothing = evidence([claim()], {seed: {"error": value} for seed, value in WRONG.items()})
    assert with_ledger(nothing, said) == [
        *((kind, "circumstantial") for kind in kinds),
        ("not_determinable", "none"),
    ]
    assert with_ledger(nothing, ledger(gaps=(gap("hardware"),))) == [("not_determinable", "none")]


def test_the_widest_movement_comes_first():
    base = varied({seed: value + 0.5 for seed, value in WRONG.items()})
    other = experiment(
        ["error"],
        "wide",
        kind=ExperimentKind.SENSITIVITY,
        of="main",
        change={"depth": 5},
        assumption="the-width",
    )
    more = runs({seed: {"error": value - 2} for seed, value in WRONG.items()}, experiment="wide")
    both = base.model_copy(
        update={"experiments": (*base.experiments, other), "runs": (*base.runs, *more)}
    )
    scores = score(both, Rubric(), "0" * 64)
    told = [c.evidence for c in attribute(both, scores).causes]
    assert "the-width" in told[0]
    assert "the-depth" in told[1]


def test_what_is_influential_and_untested_is_named_as_the_next_experiment():
    found = evidence([claim()], {seed: {"error": value} for seed, value in WRONG.items()})
    untested = Assumption(
        id="tree-depth",
        topic="model",
        statement="s",
        source=AssumptionSource(kind="model"),
        influence=Influence.HIGH,
        proposed_by="lineage",
    )
    scores = score(found, Rubric(), "0" * 64)
    (cause,) = attribute(found, scores, AssumptionLedger(assumptions=(untested,))).causes
    assert cause.next_step.endswith("First: tree-depth.")


def alignment(*points: int) -> Alignment:
    judged = tuple(
        Checked(judgement=Judgement(point=1, evidence=(), reasoning="", points=p)) for p in points
    )
    level = LevelEvidence(
        level=Level.PAPER,
        points=(KeyPoint(statement="Trees are not pruned."),),
        samples=tuple((one,) for one in judged),
        wanted=len(points),
    )
    return Alignment(levels=(level,))


@pytest.mark.parametrize(
    ("points", "expected"), [((0, 0, 0), True), ((0, 5, 0), False), ((), False)]
)
def test_a_point_that_no_sample_of_the_judge_finds_in_the_code_is_a_cause(points, expected):
    found = evidence([claim()], {seed: {"error": value} for seed, value in WRONG.items()})
    integrity = found.integrity.model_copy(update={"alignment": alignment(*points)})
    named = {cause for _, cause in causes(found.model_copy(update={"integrity": integrity}))}
    assert ("implementation" in named) is expected
