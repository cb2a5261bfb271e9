"""A step of a pipeline as a container under a sandbox policy, its metrics streamed by Dagster Pipes.

    @dg.asset(required_resource_keys={"steps"})
    def trained(context):
        policy = SandboxPolicy(image="sha256:…", limits=Limits(wall_clock=600, memory=2 << 30))
        return context.resources.steps.run(
            context=context, policy=policy, command=["python3", "train.py"], work=Path("code")
        ).get_materialize_result()

The step's code says `from dagster_pipes import open_dagster_pipes`; that package is mounted. Unlike
dagster-docker's client, which this one extends, the container is one of `DockerRunner`: all limits of
the policy hold, and it is removed however it ends. What a step reports is its own word: evidence is
what the pipeline reads from a run's files itself.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import dagster_pipes
from dagster._core.pipes.context import PipesMessageHandler
from dagster._core.pipes.utils import extract_message_or_forward_to_stdout
from dagster_docker import PipesDockerClient
from dagster_pipes import PipesDefaultMessageWriter, PipesExtras, PipesParams

from repro_pipeline.sandbox.outputs import printable
from repro_pipeline.sandbox.policy import Mount, SandboxPolicy
from repro_pipeline.status import Status
from resources.docker_runner import DockerRunner

_PACKAGE = Mount(
    source=Path(dagster_pipes.__file__).parent, target=Path("/opt/pipes/dagster_pipes")
)
_LONGEST = 1 << 20  # bytes of a line: what is longer is no message


class SandboxedPipesClient(PipesDockerClient):
    """Runs a step in a container of a runner, and hands on what it reports."""

    def __init__(self, runner: DockerRunner, **more: Any) -> None:
        super().__init__(message_reader=_Lines(), **more)
        self._runner = runner

    def run(  # ty: ignore[invalid-method-override]
        self,
        *,
        context: dg.OpExecutionContext | dg.AssetExecutionContext,
        policy: SandboxPolicy,
        command: Sequence[str],
        work: Path | None = None,
        out: Path | None = None,
        extras: PipesExtras | None = None,
    ) -> dg.PipesClientCompletedInvocation:
        """Run a command to its end, in a copy of `work`; what it leaves in /out goes to `out`.

        `out` is an empty folder. Raises dagster.Failure with the reason where it does not end well,
        and SandboxUnavailable where the policy cannot be held.
        """
        with (
            tempfile.TemporaryDirectory(prefix="repro-step-") as folder,
            dg.open_pipes_session(
                context=context,
                context_injector=self.context_injector,
                message_reader=self.message_reader,
                extras=extras,
            ) as session,
        ):
            workdir = Path(folder, "work")
            if work is None:
                workdir.mkdir()
            else:
                shutil.copytree(work, workdir, symlinks=True)
            results = out or Path(folder, "out")
            results.mkdir(exist_ok=True)
            outcome = self._runner.run(
                command,
                _with_pipes(policy, session.get_bootstrap_env_vars()),
                workdir=workdir,
                out=results,
                log=Path(folder, "log"),
                on_output=self.message_reader.feed,
            )
            self.message_reader.end()
            if outcome.status is not Status.OK:
                raise dg.Failure(f"the step's container: {outcome.reason}")
        return dg.PipesClientCompletedInvocation(session)


def _with_pipes(policy: SandboxPolicy, variables: dict[str, str]) -> SandboxPolicy:
    """The policy with the package that speaks to Dagster, and the session's variables."""
    found = {"PYTHONPATH": str(_PACKAGE.target.parent), **policy.environment, **variables}
    mounts = (*policy.mounts, _PACKAGE)
    return policy.model_copy(update={"mounts": mounts, "environment": found})


class _Lines(dg.PipesMessageReader):
    """Messages out of what a step prints; all else it prints goes to the run's own output."""

    _handler: PipesMessageHandler | None = None
    _rest = b""

    @contextmanager
    def read_messages(self, handler: PipesMessageHandler) -> Iterator[PipesParams]:
        self._handler, self._rest = handler, b""
        try:
            yield {PipesDefaultMessageWriter.STDIO_KEY: PipesDefaultMessageWriter.STDERR}
        finally:
            self._handler = None

    def feed(self, piece: bytes) -> None:
        """Take the next piece of output."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > _LONGEST:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            extract_message_or_forward_to_stdout(self._handler, printable(line) + "\n")

    def end(self) -> None:
        """Take what was printed last, without a line's end."""
        if self._rest:
            self.feed(b"\n")

    def no_messages_debug_text(self) -> str:
        return "Attempted to read messages from the output of the step's container."
