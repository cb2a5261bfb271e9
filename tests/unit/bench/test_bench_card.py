"""A card refuses numbers without what they were measured under; statements are conditional."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from repro_pipeline.bench.card import Card
from repro_pipeline.bench.measures import DEFINITIONS, TrialMeasures
from repro_pipeline.bench.model import PublishedNumber
from repro_pipeline.bench.pages import as_html, as_markdown, compared, shown
from repro_pipeline.bench.plan import Contestant
from repro_pipeline.bench.suite import open_suite
from repro_pipeline.bench.tally import card_of
from repro_pipeline.bench.trial import Cost, TrialRow
from repro_pipeline.config import Role, Roles
from repro_pipeline.errors import UserError
from repro_pipeline.status import Reason, Status
from tests.bench_suites import make_suite, truth
from tests.unit.bench.test_bench_plan import plan

TASKS = tuple(f"task-{n}" for n in range(7))


def row(task: str, contestant: str, accuracy: float, repeat: int = 1, **changes) -> TrialRow:
    values = dict.fromkeys(DEFINITIONS) | {"verdict_accuracy": accuracy, "success": accuracy}
    base = {
        "task": task,
        "contestant": contestant,
        "repeat": repeat,
        "split": "development",
        "kind": "exact",
        "models": {},
        "status": Status.OK,
        "reason": None,
        "graded": True,
        "measures": TrialMeasures(values=values, claims=()),
        "cost": Cost(tokens_in=10, tokens_out=5, seconds=60),
    }
    return TrialRow(**{**base, **changes})


@pytest.fixture
def suite(tmp_path):
    return open_suite(make_suite(tmp_path, dict.fromkeys(TASKS, truth())))


def made(suite, rows, **changes) -> Card:
    roles = Roles(coder=Role(model="openai/one"))
    names = (
        Contestant(name="trivial", agent="trivial"),
        Contestant(name="loop", agent="loop", models=roles, cutoff="2019-12"),
    )
    return card_of(plan(tasks=TASKS, contestants=names, repeats=2, **changes), rows, suite)


def both(good: float = 1.0) -> list[TrialRow]:
    return [row(t, "trivial", 0.0) for t in TASKS] + [row(t, "loop", good) for t in TASKS]


def test_a_card_without_a_baseline_cannot_be_made(suite):
    with pytest.raises(UserError, match="no baseline"):
        made(suite, [row(t, "loop", 1.0) for t in TASKS])


def test_a_card_of_nothing_cannot_be_made(suite):
    with pytest.raises(UserError, match="no trial"):
        made(suite, [])


@pytest.mark.parametrize(
    "without", ["conditions", "definitions", "statistics", "baselines", "version", "report"]
)
def test_numbers_without_their_conditions_are_refused(suite, without):
    whole = made(suite, both()).model_dump(mode="json")
    del whole[without]
    with pytest.raises(ValidationError):
        Card.model_validate(whole)


def test_a_number_without_definition_is_refused(suite):
    whole = made(suite, both()).model_dump(mode="json")
    del whole["definitions"]["verdict_accuracy"]
    with pytest.raises(ValidationError, match="has no definition"):
        Card.model_validate(whole)


def test_a_clear_difference_is_said_under_its_conditions(suite):
    (one,) = [c for c in made(suite, both()).comparisons if c.measure == "verdict_accuracy"]
    assert one.adjusted_p == pytest.approx(2 / 2**7)
    assert one.statement.startswith("If tasks are like these 7 of tiny 1, with no model of ours in")
    assert "trivial is worse than loop in verdict accuracy by 1" in one.statement


def test_a_condition_stands_once_above_all_that_holds_under_it(suite):
    rows = [row(TASKS[0], "trivial", 0.0), row(TASKS[0], "loop", 1.0)]
    card = made(suite, rows)
    ((condition, results),) = compared(card)
    assert condition.startswith("If tasks are like this one of tiny 1, with no model of ours in")
    assert len(results) == len(card.comparisons) == 1
    for page in (as_html(card), as_markdown(card)):
        assert page.count("If tasks are like") == 1


def test_what_no_difference_could_show_is_said(suite):
    rows = [row(t, name, x) for t in TASKS[:5] for name, x in (("trivial", 0.0), ("loop", 1.0))]
    (one,) = made(suite, rows).comparisons
    assert one.adjusted_p == pytest.approx(2 / 2**5) and one.tests == 1
    assert "nothing can be shown of verdict accuracy (-1)" in one.statement


def test_no_difference_is_not_called_one(suite):
    rows = both()[:7] + [row(t, "loop", float(n % 2)) for n, t in enumerate(TASKS)]
    (one,) = [c for c in made(suite, rows).comparisons if c.measure == "verdict_accuracy"]
    assert "no difference in verdict accuracy" in one.statement


def test_tasks_weigh_the_same_whatever_their_repeats(suite):
    rows = [*both(0.0), row("task-0", "loop", 1.0, repeat=2)]
    card = made(suite, rows)
    assert card.number("loop", "verdict_accuracy").value == pytest.approx(0.5 / 7)
    passes = {p.k: p for p in card.passes if p.contestant == "loop"}
    assert passes[2].at == 1.0 and passes[2].all == 0.0 and passes[2].tasks == 1
    assert passes[1].at == pytest.approx(0.5 / 7)


def test_what_is_not_scored_is_no_zero_and_is_told(suite):
    def gap(task: str, value: float | None, **changes) -> TrialRow:
        one = row(task, "loop", 1.0, **changes)
        values = {**one.measures.values, "performance_gap_executed": value}
        return one.model_copy(update={"measures": TrialMeasures(values=values, claims=())})

    rows = [row(t, "trivial", 0.0) for t in TASKS]
    rows += [gap("task-0", 0.4), gap("task-0", None, repeat=2), gap("task-1", None)]
    card = made(suite, rows)
    number = card.number("loop", "performance_gap_executed")
    assert (number.value, number.tasks, number.trials, number.of_trials) == (0.4, 1, 1, 3)
    assert shown(card, "loop", "performance_gap_executed") == "0.40 (1/3)"
    assert shown(card, "loop", "ablation_sign") == "–"
    assert card.number("loop", "align_paper") is None
    assert shown(card, "loop", "align_paper") == "not scored"
    assert card.conditions.judge == "none: align scores are not scored"
    assert "| align paper | not scored | not scored |" in as_markdown(card)
    assert "not scored" in as_html(card)


def test_what_a_program_says_of_itself_is_marked_and_silence_is_no_zero(suite):
    names = tuple(Contestant(name=n, agent="command:x") for n in ("silent", "says"))
    names += (Contestant(name="trivial", agent="trivial"),)
    costs = {"silent": Cost(told_by="nobody"), "says": Cost(told_by="agent", usd=0.0)}
    rows = [row(TASKS[0], name, 0.0, cost=cost) for name, cost in costs.items()]
    rows += [row(TASKS[0], "trivial", 0.0, cost=Cost(told_by="nobody"))]
    card = card_of(plan(tasks=TASKS, contestants=names), rows, suite)
    assert card.number("silent", "tokens") is None
    assert shown(card, "says", "tokens") == "0 †"
    assert shown(card, "says", "usd") == "0.00 †"
    assert shown(card, "trivial", "tokens") == "0"


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf")])
def test_a_cost_that_is_none_is_refused(usd):
    with pytest.raises(ValidationError):
        Cost(told_by="agent", usd=usd)


def test_publication_stands_against_the_cutoff(suite):
    assert [d.when for d in made(suite, both()).dated] == ["published after the cut-off"]


def test_pages_hold_failures_and_escape_what_agents_say(suite):
    said = Reason(code="x", sentence="<script>alert(1)</script>")
    bad = row("task-0", "loop", 0.0, repeat=2, status=Status.FAILED, reason=said)
    card = made(suite, [*both(), bad])
    assert "<script>" not in as_html(card) and "&lt;script&gt;" in as_html(card)
    assert "<script>" not in as_markdown(card)
    assert card.ended == 15 and card.planned == 28
    assert "15 of 28 planned trials have ended" in as_html(card)


def test_a_foreign_number_needs_source_and_conditions():
    whole = {
        "who": "Others",
        "measure": "pass@1",
        "value": 0.2,
        "source": "Table 1",
        "conditions": "x",
    }
    assert PublishedNumber(**whole)
    for name in ("source", "conditions"):
        with pytest.raises(ValidationError):
            PublishedNumber(**{**whole, name: " "})
