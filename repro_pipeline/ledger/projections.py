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
from typing import Concatenate, Literal, ParamSpec, TypeVar

from repro_pipeline.experiment.model import Attempt, Run
from repro_pipeline.experiment.spec import ExperimentKind, Purpose
from repro_pipeline.frozen import Frozen, Sha256, digest
from repro_pipeline.ledger.events import (
    AssumptionRecorded,
    AttemptFinished,
    AttemptStarted,
    Event,
    Payload,
    ReviewDecided,
    ReviewSampled,
    Scored,
    StageFinished,
    WarningRecorded,
)
from repro_pipeline.lineage.model import Assumption
from repro_pipeline.status import Reason, Status

LOST = Reason(code="worker_lost", sentence="It has no end: its worker was killed, or still runs.")
"""The reason of an attempt that was started and not ended."""


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
    sampled: dict[tuple[str, str], ReviewSampled] = field(default_factory=dict)
    decided: dict[tuple[str, str], tuple[ReviewDecided, ...]] = field(default_factory=dict)
    warnings: dict[str, WarningRecorded] = field(default_factory=dict)


class AssumptionRow(Frozen):
    """An assumption as it stands."""

    assumption: Assumption
    earlier: int
    """How often it was written down before, with other content."""


class ReviewRow(Frozen):
    """A claim that was drawn for review, and what people decided."""

    claim: str
    scores: Sha256
    rate: float
    why: str
    decisions: tuple[ReviewDecided, ...] = ()

    @property
    def status(self) -> ReviewStatus:
        """The decision; `unclear` where reviewers differ."""
        made = {decision.decision for decision in self.decisions}
        return "waiting" if not made else made.pop() if len(made) == 1 else "unclear"


ReviewStatus = Literal["not_sampled", "confirmed", "unclear", "waiting", "overturned"]
"""From best to worst known; an experiment has the worst of its claims'."""
_REVIEW_ORDER = ("not_sampled", "confirmed", "unclear", "waiting", "overturned")


class ExperimentRow(Frozen):
    """An experiment under one code, configuration, environment, data and purpose."""

    experiment: str
    kind: ExperimentKind
    purpose: Purpose
    assumptions: tuple[str, ...]
    """Ids of those in force that may move a claim of the experiment."""
    code_tree: Sha256
    configuration: Sha256
    """Digest of command and configuration."""
    environment: Sha256
    data_manifest: Sha256
    seeds: tuple[int | None, ...]
    n: int
    """Seeds whose run gave a value of `claim`."""
    claim: str | None
    """The claim whose values are summed up: the main claim, else the experiment's first by name."""
    mean: float | None
    variance: float | None
    """Sample variance over the seeds; None for n < 2."""
    seconds: float
    """Wall-clock seconds of all attempts together."""
    failed: int
    """Runs of which no attempt is ok."""
    failure: Reason | None
    """The reason of the last of them."""
    reruns: int
    """Attempts beyond the first of each run."""
    review: ReviewStatus


Row = TypeVar("Row")
Options = ParamSpec("Options")


def advance(state: State, events: Iterable[Event]) -> State:
    """The state after further events of the chain, in order; the given one stays as it is."""
    new = replace(
        state, **{name: dict(value) for name, value in vars(state).items() if name != "seq"}
    )
    seq = state.seq
    for event in events:
        _apply(new, event.content)
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
def reviews(state: State) -> tuple[ReviewRow, ...]:
    """Every claim that was drawn for review, with the decisions so far."""
    return tuple(
        ReviewRow(
            claim=sample.claim,
            scores=sample.scores,
            rate=sample.rate,
            why=sample.why,
            decisions=state.decided.get(key, ()),
        )
        for key, sample in state.sampled.items()
    )


@_projection
def warnings(state: State) -> tuple[WarningRecorded, ...]:
    """Every warning, in order."""
    return tuple(state.warnings.values())


def _apply(state: State, payload: Payload) -> None:
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
        case ReviewSampled():
            state.sampled[payload.claim, payload.scores] = payload
        case ReviewDecided():
            key = (payload.claim, payload.scores)
            state.decided[key] = (*state.decided.get(key, ()), payload)
        case WarningRecorded():
            state.warnings[payload.key] = payload


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
    """Status per claim under the scores that it was last sampled from."""
    return {row.claim: row.status for row in reviews(state)}
