"""All runs of one kind of experiment, for one paper: planned, executed, summed up in one sentence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repro_pipeline.alarm import OutOfTime
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.bundle.task import Budget
from repro_pipeline.environment.build import build
from repro_pipeline.environment.image import Place, environment_key, place_of
from repro_pipeline.environment.manifest import verify_manifest
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.judged import stamps
from repro_pipeline.experiment.load import sample_config
from repro_pipeline.experiment.runs import (
    Laboratory,
    PlannedRun,
    execute_runs,
    plan_runs,
    standing_runs,
)
from repro_pipeline.experiment.sealed import SealedLabels, read_labels, sealed_claims
from repro_pipeline.experiment.seeds import evaluation_seeds
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import EnvironmentBuilt
from repro_pipeline.ledger.runs import ExperimentKind, Purpose, Run, RunSet
from repro_pipeline.project import Project
from repro_pipeline.sandbox.policy import Mount
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import Ended, Stage, latest, out_of_time
from repro_pipeline.status import Reason, Status
from repro_pipeline.wording import counted

_ORDER = {kind: place for place, kind in enumerate(ExperimentKind)}
_DATA = Path("/data")


@dataclass(frozen=True)
class Setting:
    """What all runs of a paper share."""

    bundle: Bundle
    implementation: Implementation
    environment: BuiltEnvironment
    data: DataManifest


def seeds_of(
    project: Project, bundle: Bundle, implementation: Implementation
) -> tuple[int | None, ...]:
    """The evaluation seeds: the task's, else the grader's; (None,) for code that takes no seed."""
    if not implementation.seeded:
        return (None,)
    return bundle.task.seeds or evaluation_seeds(
        project.secret, implementation.code_tree, sweep=0, count=project.config.seeds
    )


def run_kind(stage: Stage, kinds: Collection[ExperimentKind], setting: Setting) -> RunSet | Ended:
    """Run every experiment of the given kinds with every evaluation seed.

    What was run before the stage's time was over stands.
    """
    experiments = [e for e in setting.implementation.experiments if e.kind in kinds]
    if not experiments:
        names = " or ".join(sorted(kinds))
        reason = Reason(
            code="none_declared", sentence=f"The implementation declares no {names} experiment."
        )
        return Ended(RunSet(), Status.NOT_APPLICABLE, reason)
    seeds = seeds_of(stage.project, setting.bundle, setting.implementation)
    planned = plan(setting, experiments, seeds, Purpose.EVAL)
    try:
        return run_planned(stage, planned, setting)
    except OutOfTime:
        verify_manifest(setting.data, stage.bundle_folder)
        runs = standing_runs(planned, stage.project.ledger, stage.paper)
        made = RunSet(runs=runs, planned=len(planned))
        return Ended(made, Status.TIMED_OUT, out_of_time(stage))


def plan(
    setting: Setting,
    experiments: Iterable[Experiment],
    seeds: Sequence[int | None],
    purpose: Purpose,
) -> tuple[PlannedRun, ...]:
    """Every experiment with every seed, under the paper's code, environment and data."""
    return plan_runs(
        experiments,
        seeds,
        purpose,
        code_tree=setting.implementation.code_tree,
        command=setting.implementation.command,
        environment=environment_key(setting.environment),
        data_manifest=digest(setting.data),
        outputs=setting.implementation.outputs,
        sealed=sealed_claims(setting.bundle.task),
    )


def small_setting(setting: Setting) -> Setting:
    """The setting with every baseline's configuration as the small first run has it.

    Without a declared sample there is no experiment in it.
    """
    made = setting.implementation
    small = [
        experiment.model_copy(update={"config": sample_config(experiment.config, made.sample)})
        for experiment in made.experiments
        if made.sample and experiment.kind is ExperimentKind.BASELINE
    ]
    return replace(setting, implementation=made.model_copy(update={"experiments": tuple(small)}))


def run_planned(stage: Stage, planned: Sequence[PlannedRun], setting: Setting) -> RunSet | Ended:
    """Execute planned runs within the budget, with the data verified before and after."""
    project, folder = stage.project, stage.bundle_folder
    budget = project.config.budget.stricter(setting.bundle.task.budget)
    affordable = _affordable(planned, setting.implementation, budget)
    lab = laboratory(stage, setting)  # with the data's stamps, before they are verified
    verify_manifest(setting.data, folder)
    runs = execute_runs(
        affordable,
        lab,
        stage=stage.name,
        deadline=time.monotonic() + budget.wall_clock - spent_before(stage)
        if budget.wall_clock
        else None,
    )
    verify_manifest(setting.data, folder)
    return summed_up(RunSet(runs=runs, planned=len(planned)))


def spent_before(stage: Stage) -> float:
    """Seconds that the launch's earlier stages took."""
    rows = [latest(stage.project, stage.paper, name) for name in STAGES]
    return sum(row.seconds for row in rows if row and row.launch == stage.launch)


def input_mounts(stage: Stage, setting: Setting) -> dict[str, Mount]:
    """The input files by name, as runs are given them; no sealed labels are among them."""
    return {
        entry.name: Mount(
            source=stage.bundle_folder / entry.file,
            target=_DATA / entry.name / Path(entry.file).name,
        )
        for entry in setting.data.entries
        if not entry.sealed
    }


def laboratory(stage: Stage, setting: Setting) -> Laboratory:
    """Where this paper's runs happen. Builds the environment anew where it is gone."""
    project = stage.project
    lock_text = project.store.get(setting.environment.lock.sha256).decode()
    image, python, mounts = _interpreter(stage, setting.environment, lock_text)
    data = input_mounts(stage, setting)
    return Laboratory(
        paper=stage.paper,
        ledger=project.ledger,
        store=project.store,
        runner=project.runner,
        slots=project.slots,
        python=python,
        mounts=mounts,
        image=image,
        data=data,
        stamps=stamps(data),
        limits=project.config.limits,
        workers=project.workers,
        scratch=project.state / "scratch" / stage.paper,
        actor=stage.actor,
        say=stage.say,
        outputs=setting.implementation.outputs,
        sealed=SealedLabels(
            claims=sealed_claims(setting.bundle.task),
            labels=read_labels(setting.data, stage.bundle_folder),
        ),
    )


def _interpreter(stage: Stage, environment: BuiltEnvironment, lock_text: str) -> Place:
    """The image of the runs, if any, their Python, and what it needs; made again where it is gone."""
    project, lock = stage.project, environment.lock
    cache = project.state / "environments"
    if project.images is not None:
        image = project.images.build(lock_text, python=lock.python)
        if environment.image is None or image.id != environment.image.id:
            seen = digest(environment.fingerprint)
            stage.record(EnvironmentBuilt(lock=lock.sha256, fingerprint=seen, image=image.id))
        return place_of(environment.model_copy(update={"image": image}), cache)
    return place_of(build(lock_text, lock=lock, cache=cache), cache)


def summed_up(runs: RunSet) -> RunSet | Ended:
    """A set of runs with the status that follows: ok only if every planned run counts."""
    bad, unmade = runs.failed, runs.planned - len(runs.runs)
    if not bad and not unmade:
        return runs
    halted = [run for run in bad if not run.counted.started]
    failed = [run for run in bad if run.counted.started]
    parts, code = [], "budget_exhausted"
    if bad:
        code, example = _commonest(failed or halted)
    if failed:
        parts.append(f"{len(failed)} of {counted(runs.planned, 'run')} failed: {example}")
    if halted:
        parts.append(
            f"{len(halted)} of {runs.planned} runs were not started, as the first ones of their "
            "experiment failed alike."
        )
    if unmade:
        parts.append(f"{unmade} of {runs.planned} runs were not made: the budget was exhausted.")
    good = len(runs.runs) - len(bad)
    status = (
        Status.PARTIAL if good else Status.BUDGET_EXHAUSTED if unmade else _worst(failed or halted)
    )
    return Ended(runs, status, Reason(code=code, sentence=" ".join(parts)))


def _affordable(
    planned: Sequence[PlannedRun], implementation: Implementation, budget: Budget
) -> tuple[PlannedRun, ...]:
    """The runs of the experiments that the budget allows, baselines first."""
    if budget.experiments is None:
        return tuple(planned)
    ordered = sorted(implementation.experiments, key=lambda experiment: _ORDER[experiment.kind])
    allowed = {experiment.id for experiment in ordered[: budget.experiments]}
    return tuple(run for run in planned if run.experiment.id in allowed)


def _commonest(failed: Sequence[Run]) -> tuple[str, str]:
    """The code of the commonest reason, and a run that it befell with its sentence."""
    sentences = Counter(run.counted.reason.sentence for run in failed)
    (sentence, _), *others = sentences.most_common()
    example = next(run for run in failed if run.counted.reason.sentence == sentence)
    seed = f" with seed {example.seed}" if example.seed is not None else ""
    more = f" (and {counted(len(others), 'other reason')})" if others else ""
    return example.counted.reason.code, f"{example.experiment}{seed}: {sentence}{more}"


def _worst(failed: Sequence[Run]) -> Status:
    statuses = {run.counted.status for run in failed}
    return statuses.pop() if len(statuses) == 1 else Status.FAILED
