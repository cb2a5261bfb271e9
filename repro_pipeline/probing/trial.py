"""Make the changed runs of a paper, and repeat some of those that a submission claims: in one batch."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from repro_pipeline.claims.model import Claim
from repro_pipeline.experiment.campaign import Setting, plan, run_planned
from repro_pipeline.experiment.runs import PlannedRun
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.findings import Finding
from repro_pipeline.forensics.claimed import same
from repro_pipeline.forensics.settings import single_settings
from repro_pipeline.forensics.submitted import Submission
from repro_pipeline.ledger.runs import Purpose, Run, RunSet
from repro_pipeline.probing.changes import (
    Changed,
    Ground,
    Way,
    config_variants,
    extreme_variants,
    fit_variants,
    mutants,
    repeated,
    with_runs,
)
from repro_pipeline.probing.spoilt import halved_variants, spoilt_variants
from repro_pipeline.stages import Ended
from repro_pipeline.wording import counted, duration

_LONG = 120.0
"""Seconds of a run beyond which it is not changed and run again without being asked."""
_REPEATED = 3
"""So many claimed seeds of an experiment are run again."""
_PASSED_OVER = 8
"""So many seeds between the claimed ones are run too."""
_SINGLE = 3


@dataclass(frozen=True)
class Tried:
    """What changed and repeated runs gave."""

    changes: tuple[Changed, ...]
    again: Mapping[tuple[str, int], Run]
    """Claimed runs, run again, by experiment and seed."""
    passed_over: tuple[Run, ...]
    """Runs with seeds between the claimed ones."""
    repeats: bool
    """Whether re-runs of claimed runs that were repeated once more gave the same bits."""
    left_out: tuple[Finding, ...]


def try_changes(
    ground: Ground, texts: Mapping[str, str], claims: Sequence[Claim], said: Submission | None
) -> Tried:
    """Every changed run, in one shuffled batch; a second one for settings that were refused.

    `texts` are those of the code; `said` is what a submission claims of its own runs.
    """
    ground, left_out = _without_long(ground)
    changes = _changes(ground, texts, claims)
    claimed, over = _claimed_runs(ground.setting, said), _passed_over(ground.setting, said)
    order = [*(c.planned for c in changes), *claimed, *over]
    random.Random(ground.stage.project.secret).shuffle(order)
    runs = _run(ground, order)
    left_out += _unmade(order, runs)
    made = with_runs(changes, runs)
    if singles := _singles(ground, made):
        runs |= _run(ground, [c.planned for c in singles])
        made += with_runs(singles, runs)
    known = [(one, runs[one.identity.run_key]) for one in claimed if one.identity.run_key in runs]
    return Tried(
        changes=made,
        again={(run.experiment, one.identity.seed): run for one, run in known},
        passed_over=tuple(runs[p.identity.run_key] for p in over if p.identity.run_key in runs),
        repeats=_repeats(ground, known, said),
        left_out=left_out,
    )


def runs_of(made: RunSet | Ended) -> tuple[Run, ...]:
    """The runs that were made, however that ended."""
    return (made.value if isinstance(made, Ended) else made).runs


def _without_long(ground: Ground) -> tuple[Ground, tuple[Finding, ...]]:
    """The ground without the runs that take long, and what is to be said of that."""
    bases = ground.bases
    short = {name: run for name, run in bases.items() if run.counted.seconds <= _LONG}
    if len(short) == len(bases):
        return ground, ()
    longest = duration(max(run.counted.seconds for run in bases.values()))
    said = f"Runs that take {longest} were not run again with changed inputs."
    return replace(ground, bases=short), (_left_out(said),)


def _unmade(order: Sequence[PlannedRun], runs: Mapping[str, Run]) -> tuple[Finding, ...]:
    """What is to be said of a batch of which not all was made."""
    if len(runs) == len({one.identity.run_key for one in order}):
        return ()
    said = f"{len(runs)} of {counted(len(order), 'changed run')} were made: the budget ended."
    return (_left_out(said),)


def _left_out(said: str) -> Finding:
    return Finding(kind="probes_left_out", evidence=said, severity="unverified")


def _changes(
    ground: Ground, texts: Mapping[str, str], claims: Sequence[Claim]
) -> tuple[Changed, ...]:
    return (
        *config_variants(ground),
        *extreme_variants(ground),
        *spoilt_variants(ground),
        *halved_variants(ground),
        *fit_variants(ground),
        *mutants(ground, texts, claims),
    )


def _singles(ground: Ground, made: Sequence[Changed]) -> tuple[Changed, ...]:
    """One setting at a time, of the experiments that failed with whatever other settings."""
    config = [c for c in made if c.way is Way.CONFIG and c.run is not None]
    refused = {c.experiment for c in config} - {c.experiment for c in config if c.values}
    bases = {name: run for name, run in ground.bases.items() if name in refused}
    of = replace(ground, bases=bases)
    return tuple(config_variants(of, lambda config: single_settings(config, _SINGLE)))


def _run(ground: Ground, planned: Sequence[PlannedRun]) -> dict[str, Run]:
    """The runs that were made of those planned, by run key."""
    if not planned:
        return {}
    return {r.run_key: r for r in runs_of(run_planned(ground.stage, planned, ground.setting))}


def _repeats(
    ground: Ground, known: Sequence[tuple[PlannedRun, Run]], said: Submission | None
) -> bool:
    """Whether the code repeats itself where its values are not the claimed ones.

    Values with few digits may repeat by chance, so those in question are run once more.
    """
    told = {(run.experiment, run.seed): run.values for run in (said.runs if said else ())}
    odd = [
        (run, repeated(one, 2))
        for one, run in known
        if any(
            not same(value, run.values[claim])
            for claim, value in told[run.experiment, run.seed].items()
            if claim in run.values
        )
    ]
    again = _run(ground, [planned for _, planned in odd])
    pairs = [(run, again.get(planned.identity.run_key)) for run, planned in odd]
    return all(two is None or not two.values or one.values == two.values for one, two in pairs)


def _claimed_runs(setting: Setting, said: Submission | None) -> list[PlannedRun]:
    """Some of the claimed runs, to be run again with their seeds."""
    return [
        planned
        for experiment in setting.implementation.experiments
        for planned in plan(
            setting, [experiment], _claimed_seeds(experiment, said)[:_REPEATED], Purpose.PROBE
        )
    ]


def _passed_over(setting: Setting, said: Submission | None) -> list[PlannedRun]:
    """Runs with seeds below the largest claimed one that are not among the claimed."""
    planned: list[PlannedRun] = []
    for experiment in setting.implementation.experiments:
        claimed = _claimed_seeds(experiment, said)
        if len(claimed) < 2:
            continue
        free = [seed for seed in range(min(max(claimed), 1000)) if seed not in claimed]
        planned += plan(setting, [experiment], free[:_PASSED_OVER], Purpose.PROBE)
    return planned


def _claimed_seeds(experiment: Experiment, said: Submission | None) -> list[int]:
    runs = said.runs if said else ()
    return [
        run.seed
        for run in runs
        if run.experiment == experiment.id and run.values and run.seed < 2**32
    ]
