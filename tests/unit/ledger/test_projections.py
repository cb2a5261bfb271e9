"""The tables say what the events say: nothing dropped, nothing mixed, the same by any route."""

from statistics import mean, variance

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_examples import (
    NOON,
    assumption,
    attempt_pair,
    chained,
    chains,
    correction,
    model_call,
    stage,
    warning,
)

from repro_pipeline.frozen import digest
from repro_pipeline.ledger import projections
from repro_pipeline.ledger.events import CellPosition, ReviewDecided, ReviewSampled
from repro_pipeline.ledger.projections import State, advance
from repro_pipeline.ledger.tables import tables, write_tables
from repro_pipeline.status import Reason, Status

VIEWS = [
    getattr(projections, name)
    for name in (
        *("attempts", "runs", "experiments", "assumptions"),
        *("stages", "scores", "reviews", "decisions", "warnings"),
        *("model_calls", "corrections", "timeline"),
    )
]
BROKEN = Reason(code="exception:ValueError", sentence="ValueError: bad")


@settings(max_examples=60, deadline=None)
@given(st.data(), chains)
def test_step_by_step_is_the_same_as_all_at_once(data, events):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=3)))
    state = State()
    for start, end in zip([0, *cuts], [*cuts, len(events)], strict=True):
        before = {view.__name__: view(state) for view in VIEWS}
        further = advance(state, events[start:end])
        assert before == {view.__name__: view(state) for view in VIEWS}
        state = further
    assert state == advance(State(), events)
    assert state.seq == len(events)
    for view in VIEWS:
        assert view(state) == view(events)


@settings(max_examples=60, deadline=None)
@given(chains)
def test_no_attempt_is_ever_dropped(events):
    seen = {
        (event.content.run_key, event.content.number)
        if event.kind == "attempt_started"
        else (event.content.attempt.run_key, event.content.attempt.number)
        for event in events
        if event.kind.startswith("attempt")
    }
    assert {(a.run_key, a.number) for a in projections.attempts(events)} == seen
    in_runs = [(a.run_key, a.number) for run in projections.runs(events) for a in run.attempts]
    assert sorted(in_runs) == sorted(seen)


def test_an_attempt_without_an_end_is_lost_and_its_retry_counts():
    lost, _ = attempt_pair(number=1)
    events = chained([lost, *attempt_pair(number=2, values={"error": 4.0})])
    (run,) = projections.runs(events)
    assert [(a.status, a.reason and a.reason.code, a.seconds) for a in run.attempts] == [
        (Status.CANCELLED, "worker_lost", 0),
        (Status.OK, None, 2.0),
    ]
    assert run.values == {"error": 4.0}
    (row,) = projections.experiments(events)
    assert (row.reruns, row.failed, row.n, row.mean) == (1, 0, 1, 4.0)


def test_an_experiment_sums_up_its_seeds():
    values = [3.1, 3.4, 3.9]
    pairs = [attempt_pair(seed=s, values={"error": v, "zeta": 1.0}) for s, v in enumerate(values)]
    failing = attempt_pair(seed=3, status=Status.FAILED, reason=BROKEN)
    events = chained([event for pair in [*pairs, failing] for event in pair])
    (row,) = projections.experiments(events, "error")
    assert row.claim == "error"
    assert row.mean == pytest.approx(mean(values))
    assert row.variance == pytest.approx(variance(values))
    assert (row.n, row.seeds, row.failed, row.failure) == (3, (0, 1, 2, 3), 1, BROKEN)
    assert row.seconds == 8.0
    (other,) = projections.experiments(events, "zeta")
    assert (other.claim, other.mean, other.variance) == ("zeta", 1.0, 0.0)
    (by_name,) = projections.experiments(events)
    assert by_name.claim == "error"


def test_a_single_seed_has_no_variance_and_no_value_has_no_mean():
    (row,) = projections.experiments(chained([*attempt_pair()]))
    assert (row.n, row.variance) == (1, None)
    failing = attempt_pair(status=Status.FAILED, reason=BROKEN)
    (row,) = projections.experiments(chained([*failing]))
    assert (row.n, row.mean, row.claim, row.failed) == (0, None, None, 1)


def test_other_code_and_other_purposes_are_never_mixed():
    pairs = [
        attempt_pair(code="one"),
        attempt_pair(code="two", values={"error": 9.0}),
        attempt_pair(purpose="dev", values={"error": 7.0}),
        attempt_pair(experiment="waveform"),
    ]
    rows = projections.experiments(chained([event for pair in pairs for event in pair]))
    assert [row.mean for row in rows] == [3.5, 9.0, 7.0, 3.5]
    assert rows[0].code_tree == digest("one")


def test_assumptions_stand_as_last_written_and_are_named_where_they_bear():
    events = chained(
        [
            assumption("trees", 100),
            assumption("trees", 50),
            assumption("depth", 3, claims=("accuracy",)),
            assumption("split", 1, claims=("error",)),
            *attempt_pair(values={"error": 1.0}),
        ]
    )
    rows = {row.assumption.id: row for row in projections.assumptions(events)}
    assert (rows["trees"].assumption.value, rows["trees"].earlier) == (50, 1)
    assert rows["depth"].earlier == 0
    (experiment,) = projections.experiments(events)
    assert experiment.assumptions == ("split", "trees")


def sample(claim: str, scores: str = "s1") -> ReviewSampled:
    return ReviewSampled(claim=claim, scores=digest(scores), rate=0.5, why="sampled")


def decision(claim: str, what: str, who: str = "ada", scores: str = "s1") -> ReviewDecided:
    return ReviewDecided(
        claim=claim,
        scores=digest(scores),
        reviewer=who,
        decision=what,
        reason="looked",
        blind=True,
    )


@pytest.mark.parametrize(
    ("decisions", "status"),
    [
        ([], "waiting"),
        ([decision("error", "confirmed")], "confirmed"),
        ([decision("error", "confirmed"), decision("error", "overturned", "emil")], "unclear"),
        ([decision("error", "overturned")], "overturned"),
        ([decision("error", "confirmed", scores="s0")], "waiting"),
    ],
)
def test_review_status_is_that_of_the_scores_sampled_last(decisions, status):
    pair = attempt_pair(values={"error": 1.0, "other": 2.0})
    events = chained([*pair, sample("error", "s0"), sample("error"), *decisions])
    assert projections.reviews(events)[-1].status == status
    (row,) = projections.experiments(events)
    assert row.review == status


def test_review_status_is_that_of_scores_that_came_back():
    pair = attempt_pair(values={"error": 1.0})
    decided = decision("error", "confirmed", scores="s0")
    first = [*pair, stage("scores", "one", content="s0"), sample("error", "s0"), decided]
    then = [*first, stage("scores", "two", content="s1"), sample("error", "s1")]
    back = [*then, stage("scores", "three", content="s0"), sample("error", "s0")]
    for contents, status in (
        (first, "confirmed"),
        (then, "waiting"),
        (back, "confirmed"),
    ):
        events = chained(list({content.key: content for content in contents}.values()))
        (row,) = projections.experiments(events)
        assert row.review == status


def test_an_experiment_without_a_sampled_claim_is_not_sampled():
    (row,) = projections.experiments(chained([*attempt_pair(), sample("elsewhere")]))
    assert row.review == "not_sampled"


def test_the_last_row_of_each_stage_stands():
    events = chained(
        [stage("parse", "l1", Status.FAILED), stage("score", "l1"), stage("parse", "l2")]
    )
    assert [(row.stage, row.launch) for row in projections.stages(events)] == [
        ("parse", "l2"),
        ("score", "l1"),
    ]


def test_calls_of_models_keep_their_cost_and_an_unknown_price_is_no_zero():
    calls = [model_call(), model_call(ordinal=1, usd=None), model_call("coder", usd=0.0)]
    events = chained([calls[0], warning("between"), *calls[1:]])
    rows = projections.model_calls(events)
    assert [(row.role, row.ordinal, row.usd) for row in rows] == [
        ("planner", 0, 0.25),
        ("planner", 1, None),
        ("coder", 0, 0.0),
    ]
    assert [(row.seq, row.actor, row.at) for row in rows] == [
        (event.seq, event.actor, event.at) for event in events if event.kind == "model_called"
    ]
    frame = tables(events)["model_calls"]
    assert (frame["usd"].sum(), frame["usd"].isna().sum()) == (0.25, 1)
    assert frame["tokens_in"].sum() == 3000


@pytest.mark.parametrize("changes", [{"usd": None}, {"priced": False}, {"tokens_in": -1}])
def test_a_price_that_is_not_known_is_said_and_never_made_up(changes):
    with pytest.raises(ValueError):
        type(model_call())(**model_call().model_dump() | changes)


def test_the_last_correction_of_a_cell_stands_and_the_others_stay_to_be_read():
    one, other = (CellPosition(table=1, row=row, column=1) for row in (1, 2))
    first = correction(one, "3.9")
    events = chained([first, correction(other, "7.1"), correction(one, "3.6")])
    again = correction(one, "3.9", replaces=events[-1].hash)
    assert again.key not in {event.key for event in events}
    rows = projections.corrections(chained([*(event.content for event in events), again]))
    assert [(row.after, row.stands) for row in rows] == [
        ("3.9", False),
        ("7.1", True),
        ("3.6", False),
        ("3.9", True),
    ]


def test_every_event_has_its_time_its_actor_and_its_cost():
    events = chained([*attempt_pair(seconds=2.5), stage("parse", "l1"), model_call(), warning("x")])
    rows = projections.timeline(events)
    assert [(row.kind, row.seconds, row.usd) for row in rows] == [
        ("attempt_started", None, None),
        ("attempt_finished", 2.5, None),
        ("stage_finished", 1.5, None),
        ("model_called", 1.25, 0.25),
        ("warning_recorded", None, None),
    ]
    assert {row.actor for row in rows} == {"code:0.1.0"}
    assert rows[0].at == NOON
    assert [row.hash for row in rows] == [event.hash for event in events]


@settings(max_examples=25, deadline=None)
@given(chains)
def test_tables_come_back_from_parquet(tmp_path_factory, events):
    folder = tmp_path_factory.mktemp("tables")
    frames = tables(events, main="a")
    paths = write_tables(frames, folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(pd.read_parquet(folder / f"{name}.parquet"), frame)
    rows = projections.experiments(events, "a")
    assert [None if pd.isna(v) else v for v in frames["experiments"]["mean"]] == [
        row.mean for row in rows
    ]
    assert len(frames["attempts"]) == len(projections.attempts(events))


def test_columns_have_one_type_whatever_the_rows():
    empty, full = tables([]), tables(chained([*attempt_pair(), warning("x")]))
    for name in empty:
        assert list(empty[name].dtypes) == list(full[name].dtypes)
        assert list(empty[name].columns) == list(full[name].columns)
    assert {"mean": "Float64", "n": "Int64", "code_tree": "string"}.items() <= {
        column: str(kind) for column, kind in full["experiments"].dtypes.items()
    }.items()
