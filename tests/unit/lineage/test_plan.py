"""What is tested first: expected movement × uncertainty ÷ cost, within the budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bundle.terms import AssumptionSource, Influence
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.lineage.plan import UNCERTAINTY, plan_tests

SECONDS = {"a": 10.0, "b": 30.0}


def assumed(name, *, influence="high", kind="model", alternatives=(1,), claims=("a",)):
    return Assumption(
        id=name,
        topic=name,
        statement="s",
        value=0,
        alternatives=alternatives,
        source=AssumptionSource(kind=kind),
        influence=Influence(influence),
        claims=claims,
        proposed_by="lineage",
    )


def order(assumptions, budget=1e9, **more):
    plan = plan_tests(assumptions, SECONDS, budget=budget, **more)
    return [test.assumption for test in plan.tests if test.planned]


def test_influence_uncertainty_and_cost_decide():
    assert order([assumed("low", influence="low"), assumed("high")]) == ["high", "low"]
    assert order([assumed("known", kind="paper"), assumed("guessed")]) == ["guessed", "known"]
    assert order([assumed("dear", claims=("b",)), assumed("cheap")]) == ["cheap", "dear"]


def test_an_assumption_about_no_claim_in_particular_costs_all_of_them():
    plan = plan_tests([assumed("all", claims=())], SECONDS, budget=100)
    assert plan.tests[0].cost == 40
    assert plan_tests([assumed("all", claims=())], {}, budget=100, default=7).tests[0].cost == 7


def test_what_does_not_fit_is_listed_with_its_reason():
    plan = plan_tests([assumed("dear", claims=("b",)), assumed("cheap")], SECONDS, budget=35)
    assert [(test.assumption, test.planned) for test in plan.tests] == [
        ("cheap", True),
        ("dear", False),
    ]
    assert plan.tests[1].why == "It costs 30 s, and 25 s are left."
    assert plan.cost == 10


def test_without_an_alternative_nothing_can_be_tested_and_that_is_said():
    plan = plan_tests(
        [assumed("low", alternatives=(), influence="low"), assumed("high", alternatives=())],
        SECONDS,
        budget=100,
    )
    assert (plan.tests, plan.untestable) == ((), ("high", "low"))


def test_what_was_tested_is_not_planned_again():
    assert order([assumed("done"), assumed("open")], tested={"done"}) == ["open"]


assumptions = st.lists(
    st.builds(
        assumed,
        st.from_regex(r"[a-z]{3}", fullmatch=True),
        influence=st.sampled_from(["low", "medium", "high"]),
        kind=st.sampled_from(list(UNCERTAINTY)),
        claims=st.sampled_from([(), ("a",), ("b",), ("a", "b")]),
    ),
    max_size=8,
    unique_by=lambda one: one.id,
)


@given(assumptions, st.floats(0, 200))
def test_the_budget_holds_and_nothing_is_lost(made, budget):
    plan = plan_tests(made, SECONDS, budget=budget)
    assert plan.cost <= budget
    assert plan.cost == pytest.approx(sum(test.cost for test in plan.tests if test.planned))
    assert sorted(test.assumption for test in plan.tests) == sorted(one.id for one in made)
    values = [test.value for test in plan.tests if test.planned]
    assert values == sorted(values, reverse=True)
