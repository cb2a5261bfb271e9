"""Any command-line agent, in the sandbox: it is given the blinded folder, and leaves a submission.

The template is a command line with the places `{given}`, `{out}` and `{python}`. A word that is a file or
folder of this machine is mounted, read-only, at /agent. Nothing else of this machine is there, and no
network, unless hosts are allowed by name: then an egress proxy passes on what goes to them, and
records it.
"""

from __future__ import annotations

import shlex
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.bench.trial import Assignment, Produced
from repro_pipeline.environment.image import place_of
from repro_pipeline.environment.make import make_environment
from repro_pipeline.errors import UserError
from repro_pipeline.ledger.events import EgressAsked
from repro_pipeline.sandbox import relay
from repro_pipeline.sandbox.egress import EgressRequest
from repro_pipeline.sandbox.outputs import safe_outputs
from repro_pipeline.sandbox.policy import (
    Enforcement,
    Mount,
    RunOutcome,
    SandboxPolicy,
    default_environment,
)
from repro_pipeline.stages import Stage
from repro_pipeline.status import Reason, Status

GIVEN, AGENT = Path("/given"), Path("/agent")
_RELAY, _DOOR = Path("/relay.py"), Path("/egress")
_LARGEST = 64 << 20
"""Bytes of a submission that are taken."""
_SAID = 400

OpenDoor = Callable[[Callable[[EgressRequest], None]], AbstractContextManager[Path]]
"""Opens the way out, given what is told of every request: a context whose value is a proxy's socket."""


@dataclass(frozen=True)
class CommandAgent:
    """A command line of somebody's agent."""

    template: str
    suite: Path
    """The suite's folder: no part of it may be mounted."""
    allow: tuple[str, ...] = ()
    """Hosts that it may ask."""
    open_door: OpenDoor | None = None
    variables: Mapping[str, str] | None = None
    """Of its environment, beside the usual ones."""

    def conditions(self) -> dict[str, str]:
        """What it works with."""
        network = f"to {', '.join(self.allow)} only, by a proxy" if self.allow else "none"
        return {
            "tools": "whatever it does inside the sandbox",
            "network": network,
            "command": self.template,
        }

    def reproduce(self, assignment: Assignment) -> Produced:
        """Run the command in the sandbox, and take the regular files that it leaves in its output."""
        place = assignment.out.with_name("command")
        shutil.rmtree(place, ignore_errors=True)
        for name in ("work", "out"):
            (place / name).mkdir(parents=True)
        stage, run = _stage(assignment), uuid.uuid4().hex

        def tell(request: EgressRequest) -> None:
            stage.record(EgressAsked(download=run, request=request))

        with self.open_door(tell) if self.open_door else nullcontext() as door:
            outcome = self._run(assignment, place, door)
        for path in safe_outputs(place / "out", _LARGEST):
            target = assignment.out / path.relative_to(place / "out")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        if outcome.status is Status.OK:
            return Produced(status=Status.OK)
        said = (place / "log").read_bytes()[-_SAID:].decode("utf-8", errors="replace")
        reason = Reason(
            code="command_failed", sentence=f"The agent's command: {outcome.reason} {said}"
        )
        return Produced(status=outcome.status, reason=reason)

    def _run(self, assignment: Assignment, place: Path, door: Path | None) -> RunOutcome:
        project = assignment.project
        cache = project.state / "environments"
        built = make_environment(
            None,
            None,
            store=project.store,
            cache=cache,
            also=project.config.agent.packages,
            images=project.images,
        )
        found = place_of(built, cache)
        words, own = self._words()
        mounts = [
            *found.mounts,
            Mount(source=assignment.given, target=GIVEN),
            *own,
        ]
        if door is not None:
            mounts.append(Mount(source=Path(relay.__file__), target=_RELAY))
            mounts.append(Mount(source=door, target=_DOOR))
        limits = project.config.limits
        longest = assignment.budget.wall_clock or limits.wall_clock
        policy = SandboxPolicy(
            mounts=tuple(mounts),
            image=found.image,
            limits=limits.model_copy(update={"wall_clock": longest}),
            minimum={"network": Enforcement.HARD, "filesystem": Enforcement.HARD},
        )
        folders = {"workdir": place / "work", "out": place / "out"}
        python = project.runner.inside(found.python, policy, **folders)
        out = project.runner.inside(place / "out", policy, **folders)
        places = {"{given}": str(GIVEN), "{out}": out, "{python}": python}
        command = [_filled(word, places) for word in words]
        if door is not None:
            command = [python, "-I", "-S", str(_RELAY), str(_DOOR), *command]
        programs = f"{Path(python).parent}:{default_environment('', '')['PATH']}"
        policy = policy.model_copy(
            update={"environment": {"PATH": programs, **(self.variables or {})}}
        )
        return project.runner.run(command, policy, **folders, log=place / "log")

    def _words(self) -> tuple[list[str], list[Mount]]:
        """The template's words as the sandbox sees them, and the mounts that they ask for."""
        words, mounts = [], []
        for number, word in enumerate(split(self.template)):
            path = Path(word)
            if "{" in word or not path.exists() or _of_system(path):
                words.append(word)
                continue
            source = path.resolve()
            suite = self.suite.resolve()
            if source.is_relative_to(suite) or suite.is_relative_to(source):
                raise UserError(
                    "an agent's program must lie outside the suite, whose answers it would see.",
                    where=f"command: {word}",
                )
            target = AGENT / str(number) / source.name
            mounts.append(Mount(source=source, target=target))
            words.append(str(target))
        return words, mounts


def _stage(assignment: Assignment) -> Stage:
    return Stage("implementation", assignment.task, assignment.project, launch="bench")


def split(template: str) -> list[str]:
    """The words of a template. Raises UserError for none, or for quotes that do not end."""
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise UserError(f"is no command line: {error}.", where=f"command:{template}") from None
    if not words:
        raise UserError("there is no command.", where="--agent command:")
    return words


def _filled(word: str, places: Mapping[str, str]) -> str:
    for place, value in places.items():
        word = word.replace(place, value)
    return word


def _of_system(path: Path) -> bool:
    """Whether the sandbox has it anyway."""
    known: Sequence[str] = ("/usr", "/bin", "/lib", "/lib64", "/sbin")
    return path.is_absolute() and any(path.is_relative_to(one) for one in known)
