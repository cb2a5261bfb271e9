"""From runs to the values of each claim: which experiment supplies it, and what is missing and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from repro_pipeline.evidence.model import Evidence
from repro_pipeline.experiment.spec import PREDICTIONS, Experiment
from repro_pipeline.ledger.runs import SUPPLYING, Attempt, Purpose, Run, ValueSource
from repro_pipeline.statistics import mean
from repro_pipeline.status import Status
from repro_pipeline.wording import plain

Seed = int | None

UNCOVERED = "no experiment covers the claim"
_WEAKEST_FIRST = (ValueSource.SELF_REPORTED, ValueSource.PARSED, ValueSource.RECOMPUTED)


@dataclass(frozen=True)
class Observation:
    """What the evaluation runs say of one claim."""

    experiments: tuple[str, ...]
    """The experiments that cover the claim; the first one supplies its values."""
    runs: tuple[Run, ...]
    """Its evaluation and sweep runs, failed ones included; one a seed."""
    values: Mapping[Seed, float]
    planned: int
    missing: tuple[str, ...]
    """Why the planned seeds without a value have none, a reason each."""
    repeats: tuple[float, ...]
    """Values of the repetitions of unseeded code."""
    seconds_per_seed: float | None
    """Mean time of a run that gave a value; one run may serve several claims."""
    source: ValueSource | None
    """The weakest source among the values."""
    same_outputs: bool = False
    """Whether all runs that gave a value, repetitions included, are known to have left the same."""


def observe(evidence: Evidence) -> dict[str, Observation]:
    """What was observed of every claim, in the claims' order.

    Evaluation and sweep runs are pooled; where a seed was run twice, the evaluation counts.
    """
    covering = _covering(evidence.experiments)
    pooled = _pool(evidence.runs)
    repeated = defaultdict(list)
    for run in evidence.integrity.parity:
        repeated[run.experiment].append(run)
    return {
        claim.id: _observation(
            claim.id, covering.get(claim.id, ()), pooled, repeated, evidence.seeds or (None,)
        )
        for claim in evidence.claims.claims
    }


def _covering(experiments: Iterable[Experiment]) -> dict[str, tuple[str, ...]]:
    """The ids of the experiments that supply each claim, baselines first."""
    covering = defaultdict(list)
    for kind in SUPPLYING:
        for experiment in experiments:
            if experiment.kind is kind:
                for claim in experiment.claims:
                    covering[claim].append(experiment.id)
    return {claim: tuple(ids) for claim, ids in covering.items()}


def _pool(runs: Iterable[Run]) -> dict[str, dict[Seed, Run]]:
    """The run of each seed of each experiment."""
    pooled: dict[str, dict[Seed, Run]] = defaultdict(dict)
    by_purpose = list(runs)
    for purpose in (Purpose.EVAL, Purpose.SWEEP):
        for run in by_purpose:
            if run.purpose is purpose:
                pooled[run.experiment].setdefault(run.seed, run)
    return pooled


def _observation(
    claim: str,
    experiments: tuple[str, ...],
    pooled: Mapping[str, Mapping[Seed, Run]],
    repeated: Mapping[str, list[Run]],
    planned: tuple[Seed, ...],
) -> Observation:
    if not experiments:
        return Observation((), (), {}, len(planned), (UNCOVERED,), (), None, None)
    supplier = experiments[0]
    runs = pooled.get(supplier, {})
    seeds = tuple(dict.fromkeys((*planned, *runs)))
    gave = {seed: run for seed, run in runs.items() if claim in run.values}
    sources = {run.counted.value_source for run in gave.values()}
    repeats = [
        run for run in repeated.get(supplier, ()) if run.seed is None and claim in run.values
    ]
    return Observation(
        experiments=experiments,
        runs=tuple(runs[seed] for seed in seeds if seed in runs),
        values={seed: gave[seed].values[claim] for seed in seeds if seed in gave},
        planned=len(seeds),
        missing=_missing({seed: runs.get(seed) for seed in seeds if seed not in gave}),
        repeats=tuple(run.values[claim] for run in repeats),
        seconds_per_seed=mean([run.counted.seconds for run in gave.values()]) if gave else None,
        source=next((source for source in _WEAKEST_FIRST if source in sources), None),
        same_outputs=_same_outputs([run.counted for run in (*gave.values(), *repeats)]),
    )


def _same_outputs(attempts: Sequence[Attempt]) -> bool:
    """Whether the runs left the same, to the last bit or but for the seed that each may have named."""
    return any(
        len(left) == 1 and None not in left
        for left in ({_left(one) for one in attempts}, {_seedless(one) for one in attempts})
    )


def _seedless(attempt: Attempt) -> str | None:
    computed = attempt.value_source is ValueSource.RECOMPUTED
    return None if computed or _left(attempt) is None else attempt.seedless


def _left(attempt: Attempt) -> frozenset | None:
    """What a run left, by digest: its predictions where its values are computed from them, else all
    its files; the log where it prints its values and leaves no file. None where that was not kept."""
    if attempt.value_source is ValueSource.RECOMPUTED:
        kept = [attempt.outputs[name] for name in PREDICTIONS if name in attempt.outputs][:1]
    elif not attempt.outputs and attempt.value_source is ValueSource.PARSED:
        kept = [attempt.log] if attempt.log else []
    else:
        kept = attempt.outputs.items()
    return frozenset(kept) or None


def _missing(absent: Mapping[Seed, Run | None]) -> tuple[str, ...]:
    """Why seeds gave no value, those of one reason together: `seeds 2, 4 timed out (…)`."""
    by_reason = defaultdict(list)
    for seed, run in absent.items():
        by_reason[_why(run)].append(seed)
    return tuple(f"{_seeds(seeds)} {reason}" for reason, seeds in by_reason.items())


def _seeds(seeds: list[Seed]) -> str:
    if seeds == [None]:
        return "the unseeded run"
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(str(seed) for seed in seeds)}"


def _why(run: Run | None) -> str:
    if run is None:
        return "not run"
    counted = run.counted
    if counted.status is Status.OK:
        return "left no value"
    reason = f" ({counted.reason.sentence.rstrip('.')})" if counted.reason else ", no reason given"
    return f"{plain(counted.status)}{reason}"
