"""What the events of a chain amount to: one fold over them, and the tables seen in its state.

runs(events)                            # from all events
state = advance(state, new_events)      # or step by step
runs(state)                             # the same rows
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import wraps
from statistics import fmean, variance
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

from repro_pipeline.frozen import digest
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.events import (
    AssumptionRecorded,
    AttemptFinished,
    AttemptStarted,
    CellCorrected,
    Event,
    ModelCalled,
    ReviewDecided,
    ReviewSampled,
    Scored,
    ScoresChanged,
    StageFinished,
    WarningRecorded,
)
from repro_pipeline.ledger.rows import (
    AssumptionRow,
    CorrectionRow,
    DecisionRow,
    EventRow,
    ExperimentRow,
    ModelCallRow,
    ReviewRow,
    ReviewStatus,
)
from repro_pipeline.ledger.runs import Attempt, Run
from repro_pipeline.status import Reason, Status

LOST = Reason(code="worker_lost", sentence="It has no end: its worker was killed, or still runs.")
"""The reason of an attempt that was started and not ended."""
_REVIEW_ORDER = get_args(ReviewStatus)


@dataclass(frozen=True)
class State:
    """What the events up to number `seq` amount to; made by `advance` alone."""

    seq: int = 0
    started: dict[tuple[str, int], AttemptStarted] = field(default_factory=dict)
    finished: dict[tuple[str, int], Attempt] = field(default_factory=dict)
    attempts: dict[tuple[str, int], None] = field(default_factory=dict)
    """Run key and number of every attempt, in the order of their first event."""
    assumptions: dict[str, tuple[Assumption, int]] = field(default_factory=dict)
    stages: dict[str, StageFinished] = field(default_factory=dict)
    scores: dict[str, Scored] = field(default_factory=dict)
    score_changes: dict[str, ScoresChanged] = field(default_factory=dict)
    sampled: dict[tuple[str, str], ReviewSampled] = field(default_factory=dict)
    decided: dict[tuple[str, str], tuple[DecisionRow, ...]] = field(default_factory=dict)
    calls: dict[str, ModelCallRow] = field(default_factory=dict)
    corrected: dict[str, tuple[CorrectionRow, ...]] = field(default_factory=dict)
    """By source and cell, in order."""
    warnings: dict[str, WarningRecorded] = field(default_factory=dict)
    events: dict[int, EventRow] = field(default_factory=dict)


Row = TypeVar("Row")
Options = ParamSpec("Options")


def advance(state: State, events: Iterable[Event]) -> State:
    """The state after further events of the chain, in order; the given one stays as it is."""
    new = replace(
        state, **{name: dict(value) for name, value in vars(state).items() if name != "seq"}
    )
    seq = state.seq
    for event in events:
        _apply(new, event)
        seq = event.seq
    return replace(new, seq=seq)


def _projection(
    view: Callable[Concatenate[State, Options], tuple[Row, ...]],
) -> Callable[Concatenate[State | Iterable[Event], Options], tuple[Row, ...]]:
    @wraps(view)
    def of(
        source: State | Iterable[Event], *args: Options.args, **kwargs: Options.kwargs
    ) -> tuple[Row, ...]:
        state = source if isinstance(source, State) else advance(State(), source)
        return view(state, *args, **kwargs)

    return of


@_projection
def attempts(state: State) -> tuple[Attempt, ...]:
    """Every attempt in the order of its start; one without an end is `cancelled`, `worker_lost`."""
    return tuple(state.finished.get(key) or _lost(state.started[key]) for key in state.attempts)


@_projection
def runs(state: State) -> tuple[Run, ...]:
    """Every run with its attempts by number, in the order of its first start."""
    by_run: dict[str, list[Attempt]] = {}
    for attempt in attempts(state):
        by_run.setdefault(attempt.run_key, []).append(attempt)
    return tuple(_run(sorted(of_run, key=lambda a: a.number)) for of_run in by_run.values())


@_projection
def experiments(state: State, main: str | None = None) -> tuple[ExperimentRow, ...]:
    """One row per experiment, code, configuration, environment, data and purpose.

    `main` is the id of the paper's main claim. Runs whose start the ledger does not hold take no
    part: their code is not known.
    """
    starts = {started.run_key: started for started in state.started.values()}
    groups: dict[tuple, list[Run]] = {}
    for run in runs(state):
        if started := starts.get(run.run_key):
            groups.setdefault(_setting(started), []).append(run)
    reviewed = _latest_reviews(state)
    return tuple(
        _experiment(setting, of_setting, state, main, reviewed)
        for setting, of_setting in groups.items()
    )


@_projection
def assumptions(state: State) -> tuple[AssumptionRow, ...]:
    """Each assumption as last written down."""
    return tuple(
        AssumptionRow(assumption=last, earlier=count - 1)
        for last, count in state.assumptions.values()
    )


@_projection
def stages(state: State) -> tuple[StageFinished, ...]:
    """The last row of each stage, in the order of their first."""
    return tuple(state.stages.values())


@_projection
def scores(state: State) -> tuple[Scored, ...]:
    """Every scoring, in order."""
    return tuple(state.scores.values())


@_projection
def score_changes(state: State) -> tuple[ScoresChanged, ...]:
    """Every comparison of scores with those before, in order."""
    return tuple(state.score_changes.values())


@_projection
def reviews(state: State) -> tuple[ReviewRow, ...]:
    """Every claim that was drawn for review, with the decisions so far."""
    return tuple(_review(state, sample) for sample in state.sampled.values())


@_projection
def decisions(state: State) -> tuple[DecisionRow, ...]:
    """Every decision of a person on a claim, in order."""
    made = (decision for of_claim in state.decided.values() for decision in of_claim)
    return tuple(sorted(made, key=lambda decision: decision.seq))


@_projection
def model_calls(state: State) -> tuple[ModelCallRow, ...]:
    """Every answer of a language model, in order."""
    return tuple(state.calls.values())


@_projection
def corrections(state: State) -> tuple[CorrectionRow, ...]:
    """Every correction of a cell of the paper's tables, in order."""
    made = (row for of_cell in state.corrected.values() for row in of_cell)
    return tuple(sorted(made, key=lambda row: row.seq))


@_projection
def timeline(state: State) -> tuple[EventRow, ...]:
    """Every event with its time, its actor and its cost, in order."""
    return tuple(state.events.values())


@_projection
def warnings(state: State) -> tuple[WarningRecorded, ...]:
    """Every warning, in order."""
    return tuple(state.warnings.values())


def _apply(state: State, event: Event) -> None:
    payload = event.content
    state.events[event.seq] = _event_row(event)
    match payload:
        case AttemptStarted():
            key = (payload.run_key, payload.number)
            state.started[key] = payload
            state.attempts.setdefault(key)
        case AttemptFinished(attempt=attempt):
            key = (attempt.run_key, attempt.number)
            state.finished[key] = attempt
            state.attempts.setdefault(key)
        case AssumptionRecorded(assumption=assumption):
            _, count = state.assumptions.get(assumption.id, (None, 0))
            state.assumptions[assumption.id] = (assumption, count + 1)
        case StageFinished():
            state.stages[payload.stage] = payload
        case Scored():
            state.scores[payload.key] = payload
        case ScoresChanged():
            state.score_changes[payload.key] = payload
        case ReviewSampled():
            state.sampled[payload.claim, payload.scores] = payload
        case ReviewDecided():
            key = (payload.claim, payload.scores)
            decision = DecisionRow(**_recorded(event))
            state.decided[key] = (*state.decided.get(key, ()), decision)
        case ModelCalled():
            state.calls[payload.key] = ModelCallRow(**_recorded(event))
        case CellCorrected():
            cell = digest([payload.source, payload.address.model_dump(mode="json")])
            earlier = (_superseded(row) for row in state.corrected.get(cell, ()))
            row = CorrectionRow(**_recorded(event), stands=True)
            state.corrected[cell] = (*earlier, row)
        case WarningRecorded():
            state.warnings[payload.key] = payload


def _recorded(event: Event) -> dict[str, Any]:
    """The payload's fields, with the event's number, time and actor."""
    fields = dict(event.content)
    return fields | {"seq": event.seq, "at": event.at, "actor": event.actor}


def _superseded(row: CorrectionRow) -> CorrectionRow:
    return row.model_copy(update={"stands": False})


def _event_row(event: Event) -> EventRow:
    costs = event.payload.get("attempt", event.payload)
    return EventRow(
        seq=event.seq,
        kind=event.kind,
        key=event.key,
        at=event.at,
        actor=event.actor,
        seconds=costs.get("seconds"),
        usd=costs.get("usd"),
        hash=event.hash,
    )


def _review(state: State, sample: ReviewSampled) -> ReviewRow:
    made = state.decided.get((sample.claim, sample.decided_on or sample.scores), ())
    return ReviewRow(
        claim=sample.claim,
        scores=sample.scores,
        rate=sample.rate,
        why=sample.why,
        status=_review_status(made),
        decisions=made,
        decided_on=sample.decided_on,
    )


def _review_status(made: tuple[DecisionRow, ...]) -> ReviewStatus:
    kinds = {decision.decision for decision in made}
    return "waiting" if not kinds else kinds.pop() if len(kinds) == 1 else "unclear"


def _lost(started: AttemptStarted) -> Attempt:
    return Attempt(
        run_key=started.run_key,
        number=started.number,
        experiment=started.experiment,
        kind=started.experiment_kind,
        purpose=started.purpose,
        seed=started.seed,
        status=Status.CANCELLED,
        reason=LOST,
        started_at=started.started_at,
        seconds=0,
    )


def _run(of_run: list[Attempt]) -> Run:
    first = of_run[0]
    return Run(
        run_key=first.run_key,
        experiment=first.experiment,
        kind=first.kind,
        purpose=first.purpose,
        seed=first.seed,
        attempts=tuple(of_run),
    )


def _setting(started: AttemptStarted) -> tuple:
    configuration = digest({"command": started.command, "config": started.config})
    return (
        *(started.experiment, started.experiment_kind, started.purpose, started.code_tree),
        *(configuration, started.environment, started.data_manifest),
    )


def _experiment(
    setting: tuple,
    of_setting: list[Run],
    state: State,
    main: str | None,
    reviewed: dict[str, ReviewStatus],
) -> ExperimentRow:
    experiment, kind, purpose, code_tree, configuration, environment, data_manifest = setting
    claims = {claim for run in of_setting for claim in run.values}
    claim = main if main in claims else min(claims, default=None)
    values = [run.values[claim] for run in of_setting if claim in run.values]
    failures = [run.counted for run in of_setting if run.counted.status is not Status.OK]
    return ExperimentRow(
        experiment=experiment,
        kind=kind,
        purpose=purpose,
        assumptions=tuple(
            name
            for name, (assumption, _) in sorted(state.assumptions.items())
            if not assumption.claims or not claims or claims & set(assumption.claims)
        ),
        code_tree=code_tree,
        configuration=configuration,
        environment=environment,
        data_manifest=data_manifest,
        seeds=tuple(run.seed for run in of_setting),
        n=len(values),
        claim=claim,
        mean=fmean(values) if values else None,
        variance=variance(values) if len(values) > 1 else None,
        seconds=sum(attempt.seconds for run in of_setting for attempt in run.attempts),
        failed=len(failures),
        failure=failures[-1].reason if failures else None,
        reruns=sum(max(a.number for a in run.attempts) - 1 for run in of_setting),
        review=max(
            (reviewed.get(name, "not_sampled") for name in claims),
            key=_REVIEW_ORDER.index,
            default="not_sampled",
        ),
    )


def _latest_reviews(state: State) -> dict[str, ReviewStatus]:
    """Status per claim under the scores that stand; else under those that it was last sampled from.

    Scores that come back after others are sampled once, at their first coming.
    """
    scored = state.stages.get("scores")
    standing = scored.output if scored else None
    rows = sorted(reviews(state), key=lambda row: row.scores == standing)
    return {row.claim: row.status for row in rows}
