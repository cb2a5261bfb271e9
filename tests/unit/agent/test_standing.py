"""The planner's state: projected from the ledger, and no larger after 10,000 events than after 10."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from repro_pipeline.agent.decisions import Point, PointCheck, Summary
from repro_pipeline.agent.judge import doubts, open_points
from repro_pipeline.agent.loop import SAME_FAILURE, advice_for
from repro_pipeline.agent.material import BlindClaim, BlindPair
from repro_pipeline.agent.standing import Standing, recurrences_with, standing_of
from repro_pipeline.agent.state import MOST, planner_values
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import AgentStarted, AgentStepped
from repro_pipeline.status import Reason, Status

SESSION, TREE = digest("session"), digest("tree")


def stepped(number: int, action: str, status: Status = Status.OK, signature="s", **facts):
    reason = None
    if status is not Status.OK:
        reason = Reason(code="exception:ValueError", sentence="It failed.", signature=signature)
    return AgentStepped(
        session=SESSION,
        step=number,
        decision={"why": "because " * 40, "do": {"action": action, "task": "write it " * 100}},
        status=status,
        reason=reason,
        said="It was done, at great length. " * 15,
        facts=facts,
        code_tree=TREE,
        seconds=1,
    )


def events(*payloads):
    return [
        SimpleNamespace(kind=p.kind, payload=p.model_dump(mode="json"), content=p) for p in payloads
    ]


def long_history(count: int) -> Standing:
    """A session with many steps of every kind, each with large facts."""
    made = []
    for n in range(count):
        run = {f"e{n}": {"ok": True, "line": f"e{n}: ok; " + "claim=1.2345, " * 30, "values": {}}}
        made += [
            stepped(4 * n, "run_sample", sample=run),
            stepped(4 * n + 1, "run_experiments", Status.FAILED, signature=f"s{n}", full=run),
            stepped(4 * n + 2, "assume", assumed={f"a{n}": "Something is assumed. " * 20}),
            stepped(4 * n + 3, "run_tests", tests={"passed": n, "failed": [f"t{n}"]}),
        ]
    return standing_of(events(*made), SESSION)


def values(standing: Standing, size: int) -> dict:
    claims = tuple(
        BlindClaim(id=f"c{n}", metric="error " * 30, dataset="d " * 100) for n in range(size)
    )
    pairs = tuple(
        BlindPair(id=f"p{n}", kind="ablation", full="c0", variant=f"c{n}") for n in range(1, size)
    )
    material = SimpleNamespace(
        claims=claims, pairs=pairs, assumptions=("given " * 100,) * size, gaps=("gap " * 90,) * size
    )
    points = tuple(
        Point(id=f"p{n}", part="data", statement="It is so. " * 30) for n in range(min(size, 60))
    )
    return planner_values(
        standing,
        material,
        Summary(points=points, unsaid=("unsaid " * 50,) * min(20, size)),
        "looked up " * size,
        [f"file{n}.py" for n in range(size)],
        ["open " * 50] * size,
        ["doubt " * 50] * size,
        "10 steps",
    )


def bytes_of(shown: dict) -> int:
    return sum(len(str(value).encode()) for value in shown.values())


def test_the_state_has_one_bound_for_10_and_for_10_000_events():
    bound = sum(MOST.values()) + 1500  # the blocks' own marks
    few, many = bytes_of(values(long_history(3), 30)), bytes_of(values(long_history(2500), 3000))
    assert few <= bound and many <= bound
    assert many > bound / 2  # the bound is used: what is shown was not simply dropped


def test_what_is_not_shown_is_counted():
    text = str(values(long_history(2500), 10)["work"])
    assert "of 5000 not shown" in text  # 2500 samples, 2500 full runs
    assert "of 2500 not shown" in text  # failures


def test_a_failure_recurs_only_while_its_kind_fails_in_the_same_way():
    fail = Status.FAILED
    history = [
        stepped(0, "run_sample", fail),
        stepped(1, "change_code"),
        stepped(2, "run_tests"),  # the success of another kind forgives nothing
    ]
    standing = standing_of(events(*history), SESSION)
    assert standing.recurrences == 1 and not advice_for(standing)
    assert recurrences_with(standing, stepped(3, "run_sample", fail)) == 2
    assert recurrences_with(standing, stepped(3, "run_sample", fail, signature="other")) == 1
    assert recurrences_with(standing, stepped(3, "run_tests", fail)) == 1
    assert recurrences_with(standing, stepped(3, "run_sample")) == 0
    standing = standing_of(events(*history, stepped(3, "run_sample", fail)), SESSION)
    assert "take a different way" in advice_for(standing)
    assert standing.recurrences == SAME_FAILURE - 1


def test_a_session_that_ended_begins_its_count_anew_when_someone_starts_it_again():
    started = AgentStarted(session=SESSION, models={}, limits={}, estimate="", launch="2")
    ended = stepped(0, "run_sample", Status.FAILED, ended="same_failure")
    assert standing_of(events(ended), SESSION).ended == "same_failure"
    again = standing_of(events(ended, started), SESSION)
    assert (again.ended, again.recurrences, again.steps) == (None, 0, 1)


def test_full_runs_are_counted_as_often_as_they_are_made():
    run = {"ok": True, "line": "", "values": {}}
    history = [stepped(n, "run_experiments", full={"a": run, "b": run}) for n in range(2)]
    assert standing_of(events(*history), SESSION).in_full == 4


def test_another_session_s_steps_do_not_count():
    other = stepped(0, "run_tests").model_copy(update={"session": digest("other")})
    assert standing_of(events(other), SESSION).steps == 0


# --- the blind judge ----------------------------------------------------------------------------

GOOD_TEST = {"tests/test_a.py": "def test_a():\n    assert 1 + 1 == 2\n"}


def experiment(name: str, kind="baseline", **more) -> Experiment:
    return Experiment(id=name, kind=kind, claims=("c",), config={}, timeout=60, **more)


def made(*experiments, uncovered=()) -> Implementation:
    return Implementation(
        mode="agent",
        code_tree=TREE,
        command=("python",),
        experiments=experiments or (experiment("e"),),
        uncovered=uncovered,
    )


def finished() -> Standing:
    run = {"ok": True, "line": "", "values": {"1": {"c": "1.5"}, "2": {"c": "1.6"}}, "tree": TREE}
    return Standing(
        tests={"passed": 3, "failed": [], "tree": TREE}, sample={"e": run}, compared=TREE, tree=TREE
    )


def test_nothing_is_open_once_all_is_there():
    assert open_points(finished(), TREE, made(), GOOD_TEST) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tests": None}, "did not run since the last change"),
        ({"tests": {"passed": 1, "failed": ["t"], "tree": TREE}}, "Unit tests fail: t"),
        ({"tests": {"passed": 0, "failed": [], "tree": TREE}}, "none passed"),
        ({"tests": {"passed": 1, "failed": [], "tree": digest("old")}}, "since the last change"),
        ({"sample": {}}, "Not run on the sample since the last change of the code: e"),
        ({"sample": {"e": {"ok": False, "values": {}, "tree": TREE}}}, "fail on the sample: e"),
        ({"compared": None}, "not yet compared"),
    ],
)
def test_what_is_open_is_said(change, said):
    standing = finished()
    for name, value in change.items():
        setattr(standing, name, value)
    (sentence,) = open_points(standing, TREE, made(), GOOD_TEST)
    assert said in sentence


def test_tests_that_assert_nothing_and_claims_without_experiments_are_open():
    idle = {"tests/test_a.py": "def test_a():\n    run()\n"}
    assert "assert nothing: tests/test_a.py" in open_points(finished(), TREE, made(), idle)[0]
    assert "no unit tests" in open_points(finished(), TREE, made(), {})[0]
    still = open_points(finished(), TREE, made(uncovered=("d",)), GOOD_TEST)
    assert still == ("No experiment covers the claims: d.",)


def test_values_that_nothing_moves_are_doubted():
    standing = finished()
    same = {"ok": True, "line": "", "tree": TREE}
    standing.sample = {
        "e": {**same, "values": {"1": {"c": "1.5"}, "2": {"c": "1.5"}}},
        "broken": {**same, "ok": False, "values": {"1": {}, "2": {}}},
        "idle": {**same, "values": {"1": {"d": "1.5"}, "2": {"d": "1.5"}}},
    }
    standing.points = {"p": PointCheck(point="p", verdict="mismatch", note="It shuffles.")}
    change = experiment("idle", "ablation", of="e", change={"x": 0})
    said = " ".join(doubts(standing, made(experiment("e"), change)))
    assert "Point p: mismatch. It shuffles." in said
    assert "e gives the same values whatever the seed" in said and "broken" not in said
    assert "In idle the change of x changes no value of e" in said
