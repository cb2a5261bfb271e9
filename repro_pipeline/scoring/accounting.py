"""Is every attempt accounted for? Dropped seeds, earlier evaluations, retries, logs, running times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from repro_pipeline.evidence.model import Evidence
from repro_pipeline.findings import Finding
from repro_pipeline.ledger.runs import Attempt, Purpose, Run
from repro_pipeline.scoring.observations import Observation
from repro_pipeline.statistics import mean
from repro_pipeline.status import Status
from repro_pipeline.wording import counted

_LEAST_CPU_SECONDS = 0.1
"""An interpreter that loads one numerical library takes longer."""
_IDLE_SHARE = 0.01
_IDLE_SECONDS = 60.0
_EVALUATION = {Purpose.EVAL, Purpose.SWEEP}


def findings(
    evidence: Evidence, observed: Mapping[str, Observation], attempts: Sequence[Attempt]
) -> Iterator[Finding]:
    """What is odd about the attempts, counted and uncounted."""
    yield from _absent_seeds(observed)
    yield from _several_suppliers(observed)
    yield from _retries(evidence.runs)
    yield from _earlier_evaluations(evidence, attempts)
    yield from _sudden_approach(evidence, observed, attempts)
    yield from _logs_and_times(evidence.runs)


def _absent_seeds(observed: Mapping[str, Observation]) -> Iterator[Finding]:
    """Planned seeds without a value where others have one: what they would say is unknown."""
    by_reason = defaultdict(list)
    for claim, one in observed.items():
        if one.values and one.missing:
            by_reason[one.missing].append(claim)
    for missing, claims in by_reason.items():
        yield Finding(
            kind="missing_seeds",
            evidence=f"Not every planned seed gave a value: {'; '.join(missing)}.",
            severity="unverified",
            claims=tuple(claims),
        )


def _several_suppliers(observed: Mapping[str, Observation]) -> Iterator[Finding]:
    for claim, one in observed.items():
        if len(one.experiments) > 1:
            yield Finding(
                kind="several_experiments",
                evidence=f"Covered by {', '.join(one.experiments)}; the first counts.",
                severity="unverified",
                claims=(claim,),
            )


def _retries(runs: Sequence[Run]) -> Iterator[Finding]:
    """Runs that needed more than one attempt, and runs with more than one result."""
    retried = [run for run in runs if _succeeded_late(run)]
    if retried:
        yield Finding(
            kind="retried",
            evidence=f"{counted(len(retried), 'run')} gave a value only at a later attempt: "
            f"{', '.join(_name(run) for run in retried[:5])}.",
            severity="info",
            claims=_claims(retried),
        )
    several = [run for run in runs if len(_results(run)) > 1]
    if several:
        yield Finding(
            kind="several_results",
            evidence="Attempts at the same run gave different values, of which the first counts: "
            f"{', '.join(_name(run) for run in several[:5])}.",
            severity="unverified",
            claims=_claims(several),
        )
    gaps = [run for run in runs if len({a.number for a in run.attempts}) < _highest(run)]
    if gaps:
        yield Finding(
            kind="missing_attempts",
            evidence="Attempts that were counted are not there: "
            f"{', '.join(_name(run) for run in gaps[:5])}.",
            severity="suspect",
            claims=_claims(gaps),
        )


def _earlier_evaluations(evidence: Evidence, attempts: Sequence[Attempt]) -> Iterator[Finding]:
    """Evaluation runs of other code or configuration than the one that is scored."""
    scored = {run.run_key for run in evidence.runs}
    others = [a for a in attempts if a.purpose in _EVALUATION and a.run_key not in scored]
    gave = [attempt for attempt in others if attempt.values]
    if gave:
        claims = {claim for attempt in gave for claim in attempt.values}
        yield Finding(
            kind="earlier_evaluation",
            evidence=f"{counted(len(gave), 'evaluation run')} of other code or configuration gave "
            "values before: this is not the first look.",
            severity="unverified",
            claims=tuple(sorted(claims)),
        )
    elif others:
        cancelled = sum(attempt.status is Status.CANCELLED for attempt in others)
        failed = len(others) - cancelled
        said = [counted(failed, "evaluation run") + " failed"] if failed else []
        said += [counted(cancelled, "evaluation run") + " cancelled"] if cancelled else []
        yield Finding(
            kind="earlier_failures" if failed else "earlier_cancelled",
            evidence=f"Of other code or configuration: {', '.join(said)}.",
            severity="info",
        )


def _sudden_approach(
    evidence: Evidence, observed: Mapping[str, Observation], attempts: Sequence[Attempt]
) -> Iterator[Finding]:
    """Trial runs of the main claim that all lay far off, and an evaluation that lies close."""
    main = evidence.claims.claim(evidence.claims.main)
    trials = [
        a.values[main.id] for a in attempts if a.purpose is Purpose.DEV and main.id in a.values
    ]
    values = list(observed[main.id].values.values())
    if not main.value or len(trials) < 2 or not values:
        return
    errors = [abs(trial - main.value) / abs(main.value) for trial in trials]
    reached = abs(mean(values) - main.value) / abs(main.value)
    if min(errors) > 0.2 and reached < 0.01:
        yield Finding(
            kind="sudden_approach",
            evidence=f"All {len(trials)} trial runs were more than 20 % off, "
            "the evaluation less than 1 %.",
            severity="info",
            claims=(main.id,),
        )


def _logs_and_times(runs: Sequence[Run]) -> Iterator[Finding]:
    counting = [run for run in runs if run.counted.status is Status.OK]
    silent = [run for run in counting if run.counted.log is None]
    if silent:
        yield Finding(
            kind="missing_log",
            evidence=f"{counted(len(silent), 'run')} left no log: {_example(silent)}.",
            severity="unverified",
            claims=_claims(silent),
        )
    timed = [run for run in counting if run.counted.cpu_seconds is not None]
    instant = [run for run in timed if run.counted.cpu_seconds < _LEAST_CPU_SECONDS]
    if instant:
        yield Finding(
            kind="implausible_time",
            evidence=f"{counted(len(instant), 'run')} took less than {_LEAST_CPU_SECONDS} s of "
            f"computing: {_example(instant)}.",
            severity="info",
            claims=_claims(instant),
        )
    idle = [run for run in timed if run not in instant and _idle(run.counted)]
    if idle:
        yield Finding(
            kind="idle_time",
            evidence=f"{counted(len(idle), 'run')} computed for less than {_IDLE_SHARE:.0%} of the "
            f"time: {_example(idle)}.",
            severity="unverified",
            claims=_claims(idle),
        )


def _example(runs: Sequence[Run]) -> str:
    """The run, or one of several."""
    return f"for example {_name(runs[0])}" if len(runs) > 1 else _name(runs[0])


def _succeeded_late(run: Run) -> bool:
    return run.counted.status is Status.OK and run.attempts[0].status is not Status.OK


def _results(run: Run) -> set[tuple[tuple[str, float], ...]]:
    return {tuple(sorted(a.values.items())) for a in run.attempts if a.status is Status.OK}


def _highest(run: Run) -> int:
    return max(attempt.number for attempt in run.attempts)


def _idle(attempt: Attempt) -> bool:
    return attempt.seconds > _IDLE_SECONDS and attempt.cpu_seconds < _IDLE_SHARE * attempt.seconds


def _name(run: Run) -> str:
    return run.experiment if run.seed is None else f"{run.experiment} seed {run.seed}"


def _claims(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(claim for run in runs for claim in run.values))
