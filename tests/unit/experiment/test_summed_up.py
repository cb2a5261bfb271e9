"""A set of runs is ok only if every planned run counts; else it says how many do not, and why."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bundle.task import Budget
from repro_pipeline.experiment.campaign import summed_up
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.runs import Attempt, ExperimentKind, Purpose, Run, RunSet
from repro_pipeline.stages import Ended
from repro_pipeline.status import Reason, Status


def run(seed, *statuses, sentence="It failed.", code="c"):
    common = {
        "run_key": digest(["run", seed]),
        "experiment": "base",
        "kind": ExperimentKind.BASELINE,
        "purpose": Purpose.EVAL,
        "seed": seed,
    }
    attempts = tuple(
        Attempt(
            **common,
            number=number,
            status=status,
            reason=None if status is Status.OK else Reason(code=code, sentence=sentence),
            values={"a": float(number)} if status is Status.OK else {},
            started_at=datetime(2020, 1, 1, tzinfo=UTC),
            seconds=1,
        )
        for number, status in enumerate(statuses, 1)
    )
    return Run(**common, attempts=attempts)


OK, FAILED, LATE, ENDED = Status.OK, Status.FAILED, Status.TIMED_OUT, Status.CANCELLED


def test_when_every_planned_run_counts_nothing_is_said():
    runs = RunSet(runs=(run(1, OK), run(2, FAILED, OK)), planned=2)
    assert summed_up(runs) is runs


@pytest.mark.parametrize(
    ("runs", "planned", "status", "sentence"),
    [
        (
            (run(1, OK), run(2, FAILED)),
            2,
            Status.PARTIAL,
            "1 of 2 runs failed: base with seed 2: It failed.",
        ),
        ((run(1, FAILED), run(2, FAILED)), 2, Status.FAILED, None),
        ((run(1, LATE), run(2, LATE)), 2, Status.TIMED_OUT, None),
        ((run(1, LATE), run(2, FAILED)), 2, Status.FAILED, None),
        ((run(1, FAILED, LATE),), 1, Status.TIMED_OUT, None),
        (
            (run(1, OK),),
            3,
            Status.PARTIAL,
            "2 of 3 runs were not made: the budget was exhausted.",
        ),
        ((), 3, Status.BUDGET_EXHAUSTED, None),
        (
            (run(None, FAILED),),
            1,
            Status.FAILED,
            "1 of 1 run failed: base: It failed.",
        ),
        (
            (run(1, FAILED, sentence="Rare."), run(2, FAILED), run(3, FAILED), run(4, OK)),
            4,
            Status.PARTIAL,
            "3 of 4 runs failed: base with seed 2: It failed. (and 1 other reason)",
        ),
    ],
)
def test_what_does_not_count_is_counted_and_told(runs, planned, status, sentence):
    ended = summed_up(RunSet(runs=runs, planned=planned))
    assert isinstance(ended, Ended)
    assert ended.status is status
    assert ended.value.runs == runs
    assert sentence in (ended.reason.sentence, None)


def test_the_code_is_of_the_reason_that_is_told():
    rare = run(1, LATE, sentence="It ran out of time.", code="timed_out")
    ended = summed_up(RunSet(runs=(rare, run(2, FAILED), run(3, FAILED)), planned=3))
    assert (ended.reason.code, "It failed." in ended.reason.sentence) == ("c", True)


def test_the_first_attempt_that_is_ok_counts_and_else_the_latest():
    assert run(1, FAILED, OK, OK).values == {"a": 2.0}
    assert run(1, FAILED, LATE).counted.number == 2
    assert run(1, FAILED, LATE).values == {}


AMOUNTS = st.none() | st.integers(1, 1000)
BUDGETS = st.builds(
    Budget,
    usd=AMOUNTS,
    tokens=AMOUNTS,
    wall_clock=AMOUNTS,
    experiments=st.none() | st.integers(0, 5),
    steps=AMOUNTS,
)


@given(BUDGETS, BUDGETS)
def test_of_two_budgets_the_stricter_holds_limit_by_limit(one, other):
    found = one.stricter(other)
    assert found == other.stricter(one)
    for name in Budget.model_fields:
        given = {getattr(one, name), getattr(other, name)} - {None}
        assert getattr(found, name) == (min(given) if given else None)
