"""Which assumptions are worth an experiment with their strongest alternative, and in which order.

The value of testing one is expected movement × uncertainty ÷ cost. Movement and uncertainty are rough
priors, by influence and by source, made before anything was measured: they order, they do not measure.
Nothing reported enters here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from repro_pipeline.bundle.terms import Influence
from repro_pipeline.frozen import Frozen
from repro_pipeline.ledger.assumption import Assumption

MOVEMENT = {Influence.HIGH: 1.0, Influence.MEDIUM: 0.4, Influence.LOW: 0.1}
"""Expected movement of a claim, relative to an assumption of high influence."""
UNCERTAINTY = {
    "paper": 0.05,
    "human": 0.2,
    "reference": 0.25,
    "reference_code": 0.35,
    "framework_default": 0.5,
    "convention": 0.6,
    "model": 0.8,
}
"""Prior probability that an assumption from such a source is not what the authors did."""
_DISAGREE = 1.5
"""By how much other values that were found raise it."""


class PlannedTest(Frozen):
    """An experiment that runs with an assumption's alternative."""

    assumption: str
    alternative: str | int | float | bool
    movement: float
    uncertainty: float
    cost: float
    """Seconds."""
    value: float
    """movement × uncertainty ÷ cost."""
    planned: bool
    why: str


class Plan(Frozen):
    """The tests by value, those within the budget first."""

    tests: tuple[PlannedTest, ...] = ()
    untestable: tuple[str, ...] = ()
    """Assumptions without an alternative, the most influential first."""
    cost: float = 0.0
    """Of the planned ones, in seconds."""


def plan_tests(
    assumptions: Sequence[Assumption],
    seconds: Mapping[str, float],
    *,
    budget: float,
    default: float = 60.0,
    tested: Collection[str] = (),
) -> Plan:
    """The tests worth most per second, greedily within `budget` seconds.

    `seconds` is what one experiment costs over all its seeds, by claim; an assumption that touches
    several claims costs the sum, one that names none the sum of all, and `default` where nothing is
    known. `tested` are assumptions that an experiment varies already.
    """
    left = [one for one in assumptions if one.id not in tested]
    tests = [_test(one, _cost(one, seconds, default)) for one in left if one.alternatives]
    tests.sort(key=lambda test: (-test.value, test.assumption))
    spent, planned = 0.0, []
    for test in tests:
        fits = spent + test.cost <= budget
        spent += test.cost if fits else 0.0
        rest = budget - spent
        why = test.why if fits else f"It costs {test.cost:.0f} s, and {rest:.0f} s are left."
        planned.append(test.model_copy(update={"planned": fits, "why": why}))
    order = list(MOVEMENT)
    bare = sorted(
        (one for one in left if not one.alternatives), key=lambda one: order.index(one.influence)
    )
    return Plan(
        tests=tuple(sorted(planned, key=lambda test: not test.planned)),
        untestable=tuple(one.id for one in bare),
        cost=spent,
    )


def _cost(one: Assumption, seconds: Mapping[str, float], default: float) -> float:
    touched = [seconds[claim] for claim in (one.claims or seconds) if claim in seconds]
    return sum(touched) or default


def _test(one: Assumption, cost: float) -> PlannedTest:
    movement = MOVEMENT[one.influence]
    uncertainty = min(
        UNCERTAINTY[one.source.kind] * (_DISAGREE if len(one.candidates) > 1 else 1.0), 1.0
    )
    return PlannedTest(
        assumption=one.id,
        alternative=one.alternatives[0],
        movement=movement,
        uncertainty=uncertainty,
        cost=cost,
        value=movement * uncertainty / cost,
        planned=False,
        why=f"{one.influence} influence, source: {one.source.kind.replace('_', ' ')}.",
    )
