"""Run code as a plain process: no sandbox, only by explicit choice.

Enforced: a clean environment, the limits on open files and the size of a file. Watched: wall clock,
memory and processes of all descendants (hard where a control group can be had), bytes written to
the working and output folders. All descendants are ended with the run, daemons included.

Not enforced: everything else. The code runs as the user who started it, reads and writes all that
this user can, reaches the network, and sees the host's own paths; mounts are not read-only.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from repro_pipeline.sandbox.gpu import chosen_gpus, gpu_variables
from repro_pipeline.sandbox.launch import Job, Launcher, check_folders
from repro_pipeline.sandbox.policy import (
    LIMIT_NAMES,
    Enforcement,
    Limits,
    RunOutcome,
    SandboxPolicy,
    default_environment,
    refuse_below,
    refuse_image,
)


class UnsafeLocalRunner:
    """Runs commands as plain processes; see the module for how little that enforces."""

    name = "unsafe_local"

    def __init__(self) -> None:
        self._launcher = Launcher()
        self._held: dict[str, Enforcement] = {}

    def enforcement(self) -> dict[str, Enforcement]:
        """What holds on this host: tried once."""
        if not self._held:
            with tempfile.TemporaryDirectory() as folder:
                places = {name: Path(folder, name) for name in ("workdir", "out", "log")}
                places["workdir"].mkdir()
                places["out"].mkdir()
                policy = SandboxPolicy(limits=Limits(cpus=1))
                job = _job(["/bin/sh", "-c", ":"], policy, expected={}, **places)
                outcome = self._launcher.run(job, None)
            nothing = dict.fromkeys(LIMIT_NAMES, Enforcement.UNAVAILABLE)
            self._held = nothing | outcome.enforcement
        return dict(self._held)

    def inside(self, path: Path, policy: SandboxPolicy, *, workdir: Path, out: Path) -> str:
        """The path itself: a plain process sees the host."""
        return str(path.absolute())

    def cancel_all(self) -> None:
        """End the runs that are under way."""
        self._launcher.cancel_all()

    def run(
        self,
        command: Sequence[str],
        policy: SandboxPolicy,
        *,
        workdir: Path,
        out: Path,
        log: Path,
        on_output: Callable[[bytes], None] | None = None,
    ) -> RunOutcome:
        """Run a command as a plain process, to its end."""
        check_folders(workdir, out, log)
        held = self.enforcement()
        refuse_image(policy, self.name)
        refuse_below(policy.minimum, held)
        job = _job(command, policy, workdir=workdir, out=out, log=log, expected=held)
        outcome = self._launcher.run(job, on_output)
        return outcome.model_copy(update={"enforcement": {**held, **outcome.enforcement}})


def _job(
    command: Sequence[str],
    policy: SandboxPolicy,
    *,
    workdir: Path,
    out: Path,
    log: Path,
    expected: dict[str, Enforcement],
) -> Job:
    gpus = gpu_variables(chosen_gpus(policy.gpus), alone=False)
    scratch = Path(tempfile.mkdtemp(prefix="repro-scratch-"))
    variables = {**default_environment(str(scratch), str(scratch)), **gpus, **policy.environment}
    return Job(
        argv=tuple(command),
        environment=variables,
        limits=policy.limits,
        log=log.absolute(),
        writable=(workdir.absolute(), out.absolute()),
        isolate=False,
        cwd=workdir.absolute(),
        temporary=(scratch,),
        expected=expected,
    )
