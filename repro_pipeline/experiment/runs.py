"""Execute runs: skip what the ledger holds, run the rest in the sandbox, record every attempt."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from repro_pipeline.bundle.task import OutputMapping
from repro_pipeline.experiment.command import fill_command
from repro_pipeline.experiment.halts import Halts, is_structural, tries
from repro_pipeline.experiment.judged import judged
from repro_pipeline.experiment.sealed import (
    NOTHING_SEALED,
    SealedClaim,
    SealedLabels,
)
from repro_pipeline.experiment.spec import Experiment, RunIdentity
from repro_pipeline.experiment.tail import Tail
from repro_pipeline.forensics.record import FOLDER, HOOK, collect, prepare, variables
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import AttemptFinished, AttemptStarted, RunsPlanned
from repro_pipeline.ledger.projections import runs as project_runs
from repro_pipeline.ledger.runs import Attempt, Purpose, Run
from repro_pipeline.ports import ArtifactStore, Ledger, Runner, Slots
from repro_pipeline.sandbox.policy import (
    Limits,
    Mount,
    RunOutcome,
    SandboxPolicy,
    default_environment,
)
from repro_pipeline.status import Reason, Status
from repro_pipeline.wording import counted

_CONFIG = Path("/config.json")
NAME = "name"
"""The file beside a running run's folders that says which it is."""


@dataclass(frozen=True)
class PlannedRun:
    """A run that is to be there: its experiment, its identity, and what its code is given."""

    experiment: Experiment
    identity: RunIdentity
    data: Mapping[str, Mount] | None = None
    """Other input files than the paper's, by name: a probe's."""
    mode: str = ""
    """What the hook in the run is to do beside writing it down: a probe's."""


@dataclass(frozen=True)
class Laboratory:
    """Where runs happen and are written down."""

    paper: str
    ledger: Ledger
    store: ArtifactStore
    runner: Runner
    slots: Slots
    python: Path
    """The environment's interpreter."""
    mounts: tuple[Mount, ...]
    """What the interpreter needs."""
    image: str | None
    """The image that holds the interpreter, where runs happen in one."""
    data: Mapping[str, Mount]
    """The input files by name."""
    stamps: Mapping[str, tuple[int, ...]]
    """Their `stamps`, taken before they were verified: a run counts only while these stand."""
    limits: Limits
    workers: int
    scratch: Path
    """A folder for working copies; emptied run by run."""
    actor: str
    outputs: tuple[OutputMapping, ...] = ()
    sealed: SealedLabels = NOTHING_SEALED
    say: Callable[[str], None] = lambda line: None
    """Is told which runs end how, and now and then what one prints."""


def plan_runs(
    experiments: Iterable[Experiment],
    seeds: Sequence[int | None],
    purpose: Purpose,
    *,
    code_tree: str,
    command: tuple[str, ...],
    environment: str,
    data_manifest: str,
    outputs: Sequence[OutputMapping],
    sealed: Sequence[SealedClaim] = (),
) -> tuple[PlannedRun, ...]:
    """Every experiment with every seed, seeds innermost."""
    return tuple(
        PlannedRun(
            experiment=experiment,
            identity=RunIdentity(
                code_tree=code_tree,
                command=command,
                config=experiment.config,
                seed=seed,
                environment=environment,
                data_manifest=data_manifest,
                reads=_reads(experiment, outputs, sealed),
                purpose=purpose,
            ),
        )
        for experiment in experiments
        for seed in seeds
    )


def _reads(
    experiment: Experiment, outputs: Sequence[OutputMapping], sealed: Sequence[SealedClaim]
) -> str:
    """What is read of the experiment's runs: without it, a mended mapping would find old values."""
    mappings = [m.model_dump(mode="json") for m in outputs if m.claim in experiment.claims]
    computed = [s.model_dump(mode="json") for s in sealed if s.claim in experiment.claims]
    content = {"claims": sorted(experiment.claims), "outputs": mappings}
    return digest({**content, "sealed": computed} if computed else content)


def execute_runs(
    planned: Sequence[PlannedRun], lab: Laboratory, *, stage: str, deadline: float | None = None
) -> tuple[Run, ...]:
    """Execute what has not succeeded yet, and return every planned run with all its attempts.

    A failing run is recorded and hinders no other, but for an experiment whose first runs fail alike
    by what its code writes: those never tried are recorded as not run (see `halts`). Runs that were
    tried least come first. After `deadline` (on the monotonic clock) no run is started; one that never
    was is left out of the result. On an interrupt the running ones are ended and recorded as
    cancelled, and the interrupt goes on.
    """
    lab.runner.enforcement()  # raises before anything is planned where no run could start
    for left in lab.scratch.glob("run-*"):  # of a worker that was killed; the paper's lock is held
        shutil.rmtree(left, ignore_errors=True)
    done = {run.run_key: run for run in project_runs(lab.ledger.events(lab.paper))}
    halts, open_runs = Halts(), []
    for run in planned:
        known = done.get(run.identity.run_key)
        if known and known.counted.started and not is_structural(known.counted):
            halts.take(run, known.counted)
        if not _succeeded(known):
            open_runs.append(run)
    open_runs.sort(key=lambda run: tries(done.get(run.identity.run_key)))
    lab.ledger.append(
        lab.paper,
        RunsPlanned(
            stage=stage,
            planned=tuple(run.identity.run_key for run in planned),
            to_run=len(open_runs),
        ),
        actor=lab.actor,
    )
    if open_runs:
        lab.say(f"{stage}: {len(open_runs)} runs to make, of {len(planned)}")
    attempts = {key: len(run.attempts) for key, run in done.items()}
    until = _Until(deadline, threading.Event())

    def number(run: PlannedRun) -> int:
        return attempts.get(run.identity.run_key, 0) + 1

    with ThreadPoolExecutor(max_workers=lab.workers) as pool:
        while open_runs:
            futures = [
                pool.submit(_attempt, run, number(run), lab, until, halts) for run in open_runs
            ]
            _wait_for_all(futures, lab.runner, until)
            open_runs = halts.released()
    never = [
        (run, why) for run, why in halts.not_run() if not tries(done.get(run.identity.run_key))
    ]
    _record_not_run([(run, number(run), why) for run, why in never], lab)
    return standing_runs(planned, lab.ledger, lab.paper)


def standing_runs(planned: Iterable[PlannedRun], ledger: Ledger, paper: str) -> tuple[Run, ...]:
    """The planned runs as the ledger holds them, with all their attempts; without those never tried."""
    done = {run.run_key: run for run in project_runs(ledger.events(paper))}
    return tuple(done[run.identity.run_key] for run in planned if run.identity.run_key in done)


def _succeeded(run: Run | None) -> bool:
    return run is not None and run.counted.status is Status.OK


@dataclass(frozen=True)
class _Until:
    """When no further run is started: after a deadline, or once everything is to stop."""

    deadline: float | None
    stop: threading.Event

    @property
    def over(self) -> bool:
        late = self.deadline is not None and time.monotonic() > self.deadline
        return late or self.stop.is_set()


def _wait_for_all(futures: list[Future], runner: Runner, until: _Until) -> None:
    """Wait with the interrupt deliverable; on any error end what runs and cancel what waits."""
    waiting = set(futures)
    try:
        while waiting:
            finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
    except BaseException:
        until.stop.set()
        for future in futures:
            future.cancel()
        while not all(future.done() for future in futures):
            runner.cancel_all()  # again: a run may have been about to start
            wait(futures, timeout=0.2)
        raise


def _record_not_run(runs: Iterable[tuple[PlannedRun, int, Reason]], lab: Laboratory) -> None:
    """Write down attempts that were not begun, by run and number; say so once for each reason."""
    said: Counter[tuple[str, str]] = Counter()
    for run, number, reason in runs:
        common = _begin(run, number, lab)
        _end(common, run, lab, seconds=0.0, status=Status.CANCELLED, reason=reason)
        said[run.experiment.id, reason.sentence] += 1
    for (experiment, sentence), count in said.items():
        lab.say(f"{experiment} | {counted(count, 'run')} left out. {sentence}")


def _attempt(run: PlannedRun, number: int, lab: Laboratory, until: _Until, halts: Halts) -> None:
    """One attempt at a run, in one of the host's places; none once all is over, or while its experiment
    is halted."""
    if halts.puts_aside(run):
        return
    with lab.slots.hold(lambda: until.over) as gpus:
        if gpus is not None and not halts.puts_aside(run):
            halts.take(run, _attempt_with(gpus, run, number, lab, until))


def _begin(run: PlannedRun, number: int, lab: Laboratory) -> dict[str, Any]:
    """Write down the start of an attempt; what its end has in common with it."""
    identity, experiment = run.identity, run.experiment
    common = {
        "run_key": identity.run_key,
        "number": number,
        "experiment": experiment.id,
        "purpose": identity.purpose,
        "seed": identity.seed,
        "started_at": datetime.now(UTC),
        "runner": lab.runner.name,
    }
    lab.ledger.append(
        lab.paper,
        AttemptStarted(
            **common,
            experiment_kind=experiment.kind,
            code_tree=identity.code_tree,
            environment=identity.environment,
            data_manifest=identity.data_manifest,
            command=identity.command,
            config=identity.config,
        ),
        actor=lab.actor,
    )
    return common


def _end(common: dict[str, Any], run: PlannedRun, lab: Laboratory, **ended: Any) -> Attempt:
    """Write down the end of an attempt."""
    attempt = Attempt(**common, kind=run.experiment.kind, **ended)
    lab.ledger.append(lab.paper, AttemptFinished(attempt=attempt), actor=lab.actor)
    return attempt


def _attempt_with(
    gpus: tuple[int, ...], run: PlannedRun, number: int, lab: Laboratory, until: _Until
) -> Attempt:
    clock = time.monotonic()
    common = _begin(run, number, lab)
    lab.scratch.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="run-", dir=lab.scratch))

    def finish(**ended: Any) -> Attempt:
        seconds = round(time.monotonic() - clock, 3)
        attempt = _end(common, run, lab, seconds=seconds, **ended)
        why = f": {attempt.reason.sentence}" if attempt.reason else ""
        lab.say(f"{_name(run)} | {attempt.status}, {seconds:.1f} s{why}")
        return attempt

    try:
        return finish(**_run_in(place, gpus, run, lab, until))
    except Exception as error:
        sentence = f"{type(error).__name__}: {error}"
        finish(status=Status.FAILED, reason=Reason(code="internal_error", sentence=sentence))
        raise
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _run_in(
    place: Path, gpus: tuple[int, ...], run: PlannedRun, lab: Laboratory, until: _Until
) -> dict:
    """Run once in the folder `place`; the end of it as fields of an Attempt."""
    workdir, out, log = place / "work", place / "out", place / "log"
    lab.store.get_tree(run.identity.code_tree, workdir)
    if until.stop.is_set():
        reason = Reason(code="interrupted", sentence="It was interrupted before it started.")
        return {"status": Status.CANCELLED, "reason": reason}
    out.mkdir()
    config = place / "config.json"
    config.touch()
    inputs = lab.data if run.data is None else run.data
    policy = SandboxPolicy(
        mounts=(*lab.mounts, *inputs.values(), HOOK, Mount(source=config, target=_CONFIG)),
        image=lab.image,
        limits=lab.limits.model_copy(
            update={"wall_clock": min(lab.limits.wall_clock, run.experiment.timeout)}
        ),
    )

    def inside(path: Path) -> str:
        return lab.runner.inside(path, policy, workdir=workdir, out=out)

    programs = f"{Path(inside(lab.python)).parent}:{default_environment('', '')['PATH']}"
    prepare(workdir, run.mode)
    recorded = variables(inside(HOOK.source), inside(workdir / FOLDER))
    environment = {"PATH": programs, **recorded}
    policy = policy.model_copy(update={"environment": environment, "gpus": gpus})
    data = {name: inside(mount.source) for name, mount in inputs.items()}
    settings = run.identity.config | ({"data": data} if data else {})
    config.write_text(json.dumps(settings, sort_keys=True), encoding="utf-8")
    command = fill_command(
        run.identity.command,
        {
            "python": inside(lab.python),
            "config": inside(config),
            "seed": str(run.identity.seed),
            "out": inside(out),
            "data": data,
        },
        contract=not lab.outputs,
    )
    started_ns = _file_clock(out)
    (place / NAME).write_text(_name(run), encoding="utf-8")
    tail = Tail(_name(run), lab.say)
    outcome = lab.runner.run(command, policy, workdir=workdir, out=out, log=log, on_output=tail)
    record = collect(workdir)
    return {
        **_measured(outcome),
        "record": lab.store.put(record) if record else None,
        **judged(run, outcome, out, log, started_ns, lab),
    }


def _name(run: PlannedRun) -> str:
    """What people who watch call a run."""
    seed = "" if run.identity.seed is None else f", seed {run.identity.seed}"
    return f"{run.experiment.id}{seed}"


def _measured(outcome: RunOutcome) -> dict:
    return {
        "exit_code": outcome.exit_code,
        "cpu_seconds": outcome.cpu_seconds,
        "peak_memory_bytes": outcome.peak_memory_bytes,
        "written_bytes": outcome.output_bytes,
        "limits": {name: str(level) for name, level in outcome.enforcement.items()},
    }


def _file_clock(folder: Path) -> int:
    """The time that a file written now is stamped with."""
    with tempfile.NamedTemporaryFile(dir=folder) as stream:
        return Path(stream.name).stat().st_mtime_ns
