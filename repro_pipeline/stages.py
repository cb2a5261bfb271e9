"""How a stage runs: reuse what stands, else work; whatever happens, leave a row in the ledger.

A stage is a function of earlier stages' outputs. Its row says how it ended and why, and where its
output lies; the row is written also when it failed, so that nothing is skipped silently.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

import repro_pipeline
from repro_pipeline.alarm import OutOfTime, at_most
from repro_pipeline.errors import UserError
from repro_pipeline.frozen import canonical_json, digest
from repro_pipeline.ledger.events import Event, Payload, StageFinished, WarningRecorded
from repro_pipeline.project import Project
from repro_pipeline.status import Reason, Status

_INTERRUPTED = Reason(code="interrupted", sentence="It was interrupted; run it again to go on.")

Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class Ended:
    """A stage's output, where it ended otherwise than well."""

    value: BaseModel | None
    status: Status
    reason: Reason


@dataclass(frozen=True)
class Row:
    """How a stage stands: its event, and whether it stood already."""

    event: StageFinished
    reused: bool
    transient: bool = False
    """It failed, and may succeed in a while though nobody mends anything."""

    @property
    def usable(self) -> bool:
        """Whether a later stage can read its output."""
        return self.event.output is not None


@dataclass(frozen=True)
class Stage:
    """What a stage's work is given beside its inputs."""

    name: str
    paper: str
    project: Project
    launch: str
    say: Callable[[str], None] = lambda line: None
    """Is told what may interest someone who watches."""
    review_phase: Literal["early", "stable"] | None = None
    """The phase of sampling for review, where a launch asked for it once for all of its papers."""

    @property
    def actor(self) -> str:
        """Who acts, for the ledger."""
        return f"code:repro-pipeline/{repro_pipeline.__version__}"

    def record(self, payload: Payload) -> None:
        """Append an event to the paper's chain."""
        self.project.ledger.append(self.paper, payload, actor=self.actor)

    def events(self, kinds: Collection[str]) -> Iterator[Event]:
        """The paper's events of some kinds, in order."""
        return self.project.ledger.events(self.paper, kinds=kinds)

    def warn(self, code: str, sentence: str) -> None:
        """Record that something was done in a weaker way, or needs a look."""
        self.record(WarningRecorded(code=code, sentence=sentence, stage=self.name))

    @cached_property
    def bundle_folder(self):
        """The paper's folder."""
        return self.project.bundle(self.paper)


@dataclass(frozen=True)
class Work:
    """What a stage is to do, and what it rests on."""

    depends_on: Any
    """All that the output depends on, as JSON."""
    do: Callable[[], BaseModel | Ended]
    blocked_by: Mapping[str, Row | None]
    """The earlier stages that it needs and that left nothing."""


def run_stage(
    stage: Stage, *, version: str, prepare: Callable[[], Work], reuse: bool = True
) -> Row:
    """Run one stage of one paper, unless its last row is good and rests on the same inputs.

    `prepare` reads the inputs. A UserError of it or of the work becomes a row with its sentence, as
    does the end of its time. Any other exception, an interrupt included, becomes a row as well, and is
    raised again.
    """
    clock = time.monotonic()

    def finish(
        status: Status, reason: Reason | None, inputs: str, value: BaseModel | None = None
    ) -> Row:
        output = None
        if value is not None:
            output = stage.project.store.put(
                canonical_json(value.model_dump(mode="json", by_alias=True))
            )
        event = StageFinished(
            stage=stage.name,
            inputs=inputs,
            status=status,
            reason=reason,
            output=output,
            code_version=version,
            launch=stage.launch,
            seconds=round(time.monotonic() - clock, 3),
        )
        stage.record(event)
        return Row(event, reused=False)

    inputs = digest({"version": version, "depends_on": None})
    with stage.project.locked(stage.paper):
        try:
            with at_most(stage.project.config.timeout_of(stage.name)):
                work = prepare()
                inputs = digest({"version": version, "depends_on": work.depends_on})
                standing = latest(stage.project, stage.paper, stage.name)
                if reuse and standing and _stands(standing, inputs, stage.project):
                    return Row(standing, reused=True)
                if work.blocked_by:
                    return finish(Status.BLOCKED, _blocked(work.blocked_by), inputs)
                result = work.do()
                if isinstance(result, Ended):
                    return finish(result.status, result.reason, inputs, result.value)
                return finish(Status.OK, None, inputs, result)
        except UserError as error:
            return replace(
                finish(Status.FAILED, Reason.of(error), inputs), transient=error.transient
            )
        except OutOfTime:
            return finish(Status.TIMED_OUT, out_of_time(stage), inputs)
        except Exception as error:
            sentence = f"{type(error).__name__}: {error}"
            finish(Status.FAILED, Reason(code="internal_error", sentence=sentence), inputs)
            raise
        except BaseException:
            finish(Status.CANCELLED, _INTERRUPTED, inputs)
            raise


def out_of_time(stage: Stage) -> Reason:
    """Why a stage ended whose time was over."""
    seconds = stage.project.config.timeout_of(stage.name)
    sentence = (
        f"It was ended after {seconds:g} seconds, the longest time of this stage. "
        f"Give it more: `timeouts: {{{stage.name}: …}}` in repro.yaml."
    )
    return Reason(code="timed_out", sentence=sentence)


def latest(project: Project, paper: str, name: str) -> StageFinished | None:
    """The last row of a stage; None where it never ran."""
    return latest_of(project, paper, [name])[name]


def latest_of(
    project: Project, paper: str, names: Iterable[str]
) -> dict[str, StageFinished | None]:
    """The last row of each of some stages, from one reading of the chain."""
    last: dict[str, Event | None] = dict.fromkeys(names)
    for event in project.ledger.events(paper, kinds={"stage_finished"}):
        if event.payload["stage"] in last:
            last[event.payload["stage"]] = event
    return {name: event.content if event else None for name, event in last.items()}


def output_of(project: Project, row: StageFinished, model: type[Output]) -> Output:
    """A stage's output. Raises IntegrityError when the store lost or altered it."""
    return model.model_validate_json(project.store.get(row.output))


def _stands(row: StageFinished, inputs: str, project: Project) -> bool:
    """Whether a row is good and rests on these inputs. Raises IntegrityError for altered output."""
    if row.status not in {Status.OK, Status.NOT_APPLICABLE} or row.inputs != inputs:
        return False
    if row.output is None or row.output not in project.store:
        return row.output is None
    project.store.get(row.output)
    return True


def _blocked(rows: Mapping[str, Row | None]) -> Reason:
    """The reason of a blocked stage: the stages at the root of it, each named once."""
    causes: dict[str, None] = {}
    for name, row in rows.items():
        if row is None:
            causes[f"{name} never ran."] = None
        elif row.event.status is Status.BLOCKED:
            causes[row.event.reason.sentence] = None
        else:
            why = f": {row.event.reason.sentence}" if row.event.reason else "."
            causes[f"{name} ended as {row.event.status}{why}"] = None
    return Reason(code="blocked", sentence=" ".join(causes))
