"""Bring data by a command of the code: sandboxed, with a proxy as its only way out, and then checked.

Of what the command leaves, only files that the task names as data are taken, each under the path
that the task gives it, none over a file that is there, none with another digest than the task says.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro_pipeline.bundle.folder import lies_inside
from repro_pipeline.bundle.task import Task
from repro_pipeline.environment.image import place_of
from repro_pipeline.environment.manifest import file_digest
from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.errors import BundleError
from repro_pipeline.ledger.events import DownloadFinished, EgressAsked
from repro_pipeline.ledger.redact import redact_log
from repro_pipeline.ports import ArtifactStore, Egress, OpenEgress
from repro_pipeline.sandbox import relay
from repro_pipeline.sandbox.egress import MOST_REQUESTS, EgressRules
from repro_pipeline.sandbox.outputs import refused_outputs, safe_outputs
from repro_pipeline.sandbox.policy import Enforcement, Mount, RunOutcome, SandboxPolicy
from repro_pipeline.stages import Stage
from repro_pipeline.status import Reason, Status

_RELAY, _DOOR = Path("/relay.py"), Path("/egress")


@dataclass(frozen=True)
class Step:
    """What a download step is run with."""

    task: Task
    code: Path
    environment: BuiltEnvironment
    cache: Path
    """Of environments."""
    excluded: tuple[str, ...]


def missing_files(task: Task, bundle: Path) -> dict[str, str | None]:
    """The data files that the task names and the bundle lacks, with the digests they must have.

    Raises BundleError for one that would lie outside the bundle, and, in a task with sealed labels, for
    one without a digest: labels would not be sealed from code that brings them, or hides them in a file.
    """
    sealed = any(item.sealed_labels for item in task.data)
    named: dict[str | None, str | None] = {}
    for item in task.data:
        rows = {file: None for file in item.roles.values() if file != "all"}
        named |= {item.path: item.sha256, item.sealed_labels: None, **rows}
    lacking = {file: sha for file, sha in named.items() if file and not (bundle / file).exists()}
    for file, sha256 in lacking.items():
        if not lies_inside(bundle / file, bundle):
            raise BundleError("the data file lies outside the bundle.", where=file)
        if sealed and sha256 is None:
            raise BundleError(
                "is not taken from the code: there are sealed labels, and this file has no `sha256`.",
                where=file,
                hint="Put it there yourself; for the data themselves, `sha256` in task.yaml is enough.",
            )
    return lacking


def download(
    stage: Stage,
    step: Step,
    place: Path,
    open_egress: OpenEgress,
    on_output: Callable[[bytes], None] | None = None,
) -> DownloadFinished:
    """Run the step in the empty folder `place`, take its files, and record all that was asked.

    Raises SandboxUnavailable where the runner cannot keep the code from the network itself.
    """
    task, store, number = step.task, stage.project.store, uuid.uuid4().hex
    given, limits = task.download, stage.project.config.limits
    wanted = missing_files(task, stage.bundle_folder)
    rules = EgressRules(allow=given.allow, limit=given.limit, excluded=step.excluded)
    code_tree = store.put_tree(step.code)
    store.get_tree(code_tree, place / "work")
    (place / "out").mkdir()
    egress = open_egress(
        rules, lambda request: stage.record(EgressAsked(download=number, request=request))
    )
    with egress as door:
        outcome = _run(stage, step, place, door, on_output)
    files, faults = {}, list(_ended(outcome, egress, rules))
    if not faults:
        files, faults = _take(place / "out", wanted, stage.bundle_folder, limits.output)
    failed = outcome.status if outcome.status is not Status.OK else Status.FAILED
    finished = DownloadFinished(
        download=number,
        code_tree=code_tree,
        environment=step.environment.lock.sha256,
        command=given.command,
        rules=rules,
        status=failed if faults else Status.OK,
        reason=Reason(code="download_failed", sentence=" ".join(faults)) if faults else None,
        files=files,
        requests=egress.requests,
        bytes=egress.bytes,
        seconds=round(outcome.seconds, 3),
        log=_keep_log(place, store),
        runner=stage.project.runner.name,
        limits={name: str(level) for name, level in outcome.enforcement.items()},
    )
    stage.record(finished)
    return finished


def _run(
    stage: Stage,
    step: Step,
    place: Path,
    door: Path,
    on_output: Callable[[bytes], None] | None,
) -> RunOutcome:
    given, runner = step.task.download, stage.project.runner
    found = place_of(step.environment, step.cache)
    policy = SandboxPolicy(
        mounts=(
            *found.mounts,
            Mount(source=Path(relay.__file__), target=_RELAY),
            Mount(source=door, target=_DOOR),
        ),
        image=found.image,
        limits=stage.project.config.limits.model_copy(update={"wall_clock": given.timeout}),
        minimum={"network": Enforcement.HARD, "filesystem": Enforcement.HARD},
    )
    folders = {"workdir": place / "work", "out": place / "out"}

    def inside(path: Path) -> str:
        return runner.inside(path, policy, **folders)

    python = inside(found.python)
    words = [word.replace("{out}", inside(place / "out")) for word in given.command]
    if words[0] in {"python", "python3"}:
        words[0] = python
    command = [python, "-I", "-S", inside(Path(relay.__file__)), inside(door), *words]
    return runner.run(command, policy, **folders, log=place / "log", on_output=on_output)


def _ended(outcome: RunOutcome, egress: Egress, rules: EgressRules) -> Iterator[str]:
    """Why nothing is taken."""
    if egress.requests > MOST_REQUESTS:
        yield f"The download asked {egress.requests} times, and may do so {MOST_REQUESTS} times."
    if egress.spent:
        yield f"The download reached its limit of {rules.limit} bytes."
    if outcome.status is not Status.OK:
        yield f"The download: {outcome.reason}"


def _take(
    out: Path, wanted: dict[str, str | None], bundle: Path, limit: int
) -> tuple[dict[str, str], list[str]]:
    """Move the wanted files into the bundle, all or none; their digests, or what is wrong."""
    names = {file: str(PurePosixPath(file)) for file in wanted}
    left = {path.relative_to(out).as_posix(): path for path in safe_outputs(out, limit)}
    refused = {one.path.relative_to(out).as_posix(): one.why for one in refused_outputs(out, limit)}
    found, faults = {}, []
    for file, name in names.items():
        if name not in left:
            why = f" that can be taken: {refused[name]}" if name in refused else ""
            faults.append(f"It left no file '{file}'{why}.")
            continue
        found[file] = file_digest(left[name])
        if wanted[file] not in (None, found[file]):
            faults.append(
                f"'{file}' has the sha256 {found[file]}, and the task says {wanted[file]}."
            )
    if faults:
        return {}, faults
    placed: list[Path] = []
    for file in found:
        try:
            _place(left[names[file]], bundle / file)
        except OSError as error:
            for target in placed:
                target.unlink()
            return {}, [f"'{file}' cannot be put into the paper's folder: {error.strerror}."]
        placed.append(bundle / file)
    return found, []


def _place(source: Path, target: Path) -> None:
    """Copy a file to where there is none. Raises OSError, and leaves nothing then."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.partial")
    try:
        shutil.copyfile(source, fresh)
        os.link(fresh, target)  # fails where something came there meanwhile
    finally:
        fresh.unlink(missing_ok=True)


def _keep_log(place: Path, store: ArtifactStore) -> str:
    """Store the log without what looks like a secret."""
    with (place / "log").open("rb") as source, (place / "clean").open("wb") as target:
        redact_log(source, target)
    return store.put_file(place / "clean")
