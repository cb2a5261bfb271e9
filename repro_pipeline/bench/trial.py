"""One trial: an agent works on one task, the grader runs what it left, the truth says what that is worth.

The truth is read after the agent has ended. A trial leaves a row whatever its end.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import Field

from repro_pipeline.agent.actions import is_of_answer
from repro_pipeline.agent.submission import LOCK
from repro_pipeline.bench.given import read_task, write_given
from repro_pipeline.bench.judging import NO_CODE, Aligned, aligned
from repro_pipeline.bench.measures import Details, TrialMeasures, measured
from repro_pipeline.bench.model import Kind, Split
from repro_pipeline.bench.places import GRADING, JUDGING, WORK, OpenProject
from repro_pipeline.bench.plan import Contestant, Plan, TrialKey
from repro_pipeline.bench.suite import Suite
from repro_pipeline.bundle.task import Budget
from repro_pipeline.chat import ChatError
from repro_pipeline.config import Agent as AgentConfig
from repro_pipeline.config import Docker, ProjectConfig, Roles
from repro_pipeline.environment.make import make_environment
from repro_pipeline.errors import UserError
from repro_pipeline.experiment.load import SPEC_NAME
from repro_pipeline.frozen import Frozen
from repro_pipeline.ledger.events import Event
from repro_pipeline.project import Project
from repro_pipeline.scoring.model import Scores
from repro_pipeline.status import Reason, Status
from repro_pipeline.submission.folder import open_submission
from repro_pipeline.submission.grade import grade
from repro_pipeline.submission.place import make_folder

DETAILS = "details.json"
_LARGEST = 1 << 20


@dataclass(frozen=True)
class Assignment:
    """What an agent is handed. It holds no truth, and the paper of `given` no reported value."""

    task: str
    project: Project
    """The trial's own: its models, ledger, sandbox and packages; the bundle lies in its papers."""
    given: Path
    out: Path
    """Where a submission is to be left; it exists and is empty."""
    budget: Budget


class Produced(Frozen):
    """How an agent ended."""

    status: Status
    reason: Reason | None = None
    predicted: dict[str, float] = {}
    """Values that it names without leaving anything that computes them."""


class Agent(Protocol):
    """Whoever reproduces a paper: a loop of models, a program, or nobody at all."""

    def conditions(self) -> dict[str, str]:
        """What is to be known of it beside its models, for the card: network, tools, version."""

    def reproduce(self, assignment: Assignment) -> Produced:
        """Leave a submission in `assignment.out`. Raises UserError; a ChatError that is not of an
        answer ends the trial without a row, to be gone on with.
        """


class Cost(Frozen):
    """What a trial's agent used."""

    tokens_in: Annotated[int, Field(ge=0)] = 0
    tokens_out: Annotated[int, Field(ge=0)] = 0
    usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """None where no price is known, or nobody can tell."""
    questions: int = 0
    seconds: float = 0.0
    """Of the agent, its waiting for models included; the grading is not in it."""
    grading_seconds: float = 0.0
    told_by: str = "ledger"
    """`ledger`, `agent` where a command says so of itself, `nobody`."""


class TrialRow(Frozen):
    """All that one trial left."""

    task: str
    contestant: str
    repeat: int
    split: Split
    kind: Kind
    models: dict[str, str]
    """Role → model that answered."""
    status: Status
    reason: Reason | None
    graded: bool
    """Whether it left a submission that could be graded."""
    replayed: bool = False
    """Whether a recorded session answered for the models: its times say nothing then."""
    seeds: tuple[int, ...] = ()
    code_tree: str | None = None
    measures: TrialMeasures
    unscored: tuple[str, ...] = ()
    """Why align scores are missing that a judge was asked for."""
    cost: Cost
    judging: Cost | None = None
    """What the judge used; it is no cost of the agent."""

    @property
    def key(self) -> TrialKey:
        """Which trial it is of."""
        return TrialKey(task=self.task, contestant=self.contestant, repeat=self.repeat)


@dataclass(frozen=True)
class Bench:
    """Where trials happen."""

    suite: Suite
    plan: Plan
    folder: Path
    """Of the whole bench; each trial has its own in it."""
    environments: Path
    open_project: OpenProject
    docker: Docker
    """The engine and the base image, where the runner is `docker`."""
    runner: str = "bubblewrap"

    def place(self, key: TrialKey) -> Path:
        """A trial's folder."""
        return self.folder / "trials" / key.name

    def run(self, key: TrialKey, contestant: Contestant, agent: Agent) -> TrialRow:
        """Run a trial, or go on with one that was interrupted."""
        place = self.place(key)
        clock = time.monotonic()
        project = self._project(key, contestant)
        task = self.suite.task(key.task)
        given, out = place / "given", place / "submission"
        for folder in (given, out):
            shutil.rmtree(folder, ignore_errors=True)
        out.mkdir(parents=True)
        write_given(read_task(task.bundle, task.bundle_folder), self.suite.file.packages, given)
        produced = _worked(agent, Assignment(key.task, project, given, out, self.plan.budget))
        worked = time.monotonic() - clock
        self._lock(project, out)
        scores, graded_reason = self._grade(key, out)
        align, judging = self._judge(key, out, scores)
        events = list(project.ledger.events(key.task))
        truth = task.truth
        return TrialRow(
            **key.model_dump(),
            split=truth.split,
            kind=truth.kind,
            models=_models(events),
            status=produced.status,
            reason=produced.reason
            or graded_reason
            or (_without_values(scores) if scores else None),
            graded=scores is not None,
            measures=measured(
                truth,
                read_task(task.bundle, task.bundle_folder).claims,
                scores,
                align=align.values if align else {},
                claimed=_claimed(out) | produced.predicted,
                details=(*_details(out), *_assumed(events)),
                probes=_memory(events, project),
            ),
            unscored=align.unscored if align else (),
            cost=_cost(events, worked, time.monotonic() - clock - worked, out),
            judging=judging,
        )

    def _project(self, key: TrialKey, contestant: Contestant) -> Project:
        """The trial's project; one that is there already goes on, with what its models answered."""
        root = self.place(key) / WORK
        config = ProjectConfig(
            models=contestant.models or Roles(),
            agent=AgentConfig(packages=self.suite.file.packages, share=0.9),
            budget=self.plan.budget,
            limits=self.plan.limits,
            runner=self.runner,
            docker=self.docker,
            workers=self.plan.workers,
        )
        make_folder(root, config, self.environments)
        bundle = root / "papers" / key.task
        if not bundle.exists():
            shutil.copytree(self.suite.task(key.task).bundle_folder, bundle)
        return self.open_project(root)

    def _lock(self, project: Project, out: Path) -> None:
        """Have the submission run in the suite's environment, whatever it names: the same for all."""
        if not (out / SPEC_NAME).is_file():
            return
        built = make_environment(
            None,
            None,
            store=project.store,
            cache=project.state / "environments",
            also=self.suite.file.packages,
            images=project.images,
        )
        (out / LOCK).write_bytes(project.store.get(built.lock.sha256))

    def _grade(self, key: TrialKey, out: Path) -> tuple[Scores | None, Reason | None]:
        """The grader's scores, or why the submission could not be graded."""
        if not (out / SPEC_NAME).is_file():
            sentence = f"The agent left no {SPEC_NAME}: there is nothing to run."
            return None, Reason(code="nothing_left", sentence=sentence)
        root = self.place(key) / GRADING
        shutil.rmtree(root, ignore_errors=True)
        config = ProjectConfig(
            seeds=self.plan.seeds,
            limits=self.plan.limits,
            runner=self.runner,
            docker=self.docker,
            workers=self.plan.workers,
        )
        make_folder(root, config, self.environments)
        try:
            bundle = self.suite.task(key.task).bundle_folder
            graded = grade(self.open_project(root), key.task, bundle, out)
        except UserError as error:
            return None, Reason.of(error)
        return graded.scores, None

    def _judge(
        self, key: TrialKey, out: Path, scores: Scores | None
    ) -> tuple[Aligned | None, Cost | None]:
        """The align scores by the judge of all contestants, and what they cost; None without one."""
        if self.plan.judge is None:
            return None, None
        if scores is None:
            return NO_CODE, Cost()
        root = self.place(key) / JUDGING
        config = ProjectConfig(models=Roles(judge=self.plan.judge))
        make_folder(root, config, self.environments)
        project = self.open_project(root)
        clock = time.monotonic()
        found = aligned(project, self.suite.task(key.task), out, self.plan.budget)
        return found, _asked(
            list(project.ledger.events(key.task)), {"seconds": round(time.monotonic() - clock, 3)}
        )


def _without_values(scores: Scores) -> Reason | None:
    """Why nothing came of what was left, where nothing did."""
    if not scores.verdicts or any(one.value is not None for one in scores.verdicts):
        return None
    said = next((line for one in scores.verdicts for line in one.missing), "nothing ran")
    return Reason(code="no_values", sentence=f"The grader's runs gave no value: {said}.")


def _worked(agent: Agent, assignment: Assignment) -> Produced:
    try:
        return agent.reproduce(assignment)
    except ChatError as error:
        if not is_of_answer(error):
            raise
        return Produced(status=Status.FAILED, reason=Reason.of(error))
    except UserError as error:
        return Produced(status=Status.FAILED, reason=Reason.of(error))


def _models(events: Iterable[Event]) -> dict[str, str]:
    found: dict[str, str] = {}
    for event in events:
        if event.kind == "model_called":
            found[event.payload["role"]] = event.payload["model"]
    return found


def _cost(events: Iterable[Event], worked: float, graded: float, out: Path) -> Cost:
    seconds = {"seconds": round(worked, 3), "grading_seconds": round(graded, 3)}
    asked = _asked(events, seconds)
    return asked if asked.questions else _own_account(out, seconds)


def _asked(events: Iterable[Event], seconds: Mapping[str, float]) -> Cost:
    """What the questions of a ledger cost."""
    calls = [event.content for event in events if event.kind == "model_called"]
    priced = all(call.priced for call in calls)
    return Cost(
        tokens_in=sum(call.tokens_in for call in calls),
        tokens_out=sum(call.tokens_out for call in calls),
        usd=sum(call.usd for call in calls) if priced else None,
        questions=len(calls),
        **seconds,
    )


def _own_account(out: Path, seconds: Mapping[str, float]) -> Cost:
    """What a command says that it used, in `cost.json`: tokens_in, tokens_out, usd."""
    said = _json(out / "cost.json")
    if not isinstance(said, dict):
        return Cost(told_by="nobody", **seconds)
    known = {name: said[name] for name in ("tokens_in", "tokens_out", "usd") if name in said}
    try:
        return Cost(told_by="agent", **known, **seconds)
    except ValueError:
        return Cost(told_by="nobody", **seconds)


def _claimed(out: Path) -> dict[str, float]:
    """The values that a submission claims to have found: the mean of its own runs."""
    try:
        runs = open_submission(out).runs
    except UserError:
        return {}
    values: dict[str, list[float]] = {}
    for run in runs:
        for claim, value in run.values.items():
            values.setdefault(claim, []).append(value)
    return {claim: sum(found) / len(found) for claim, found in values.items()}


def _details(out: Path) -> Iterable[Details]:
    """What a submission says that it had to choose; lines that say nothing are passed over."""
    said = _json(out / DETAILS)
    for one in said if isinstance(said, list) else ():
        if not isinstance(one, dict) or not isinstance(one.get("statement"), str):
            continue
        value = one.get("value")
        known = value if isinstance(value, str | int | float | bool) else None
        yield Details(statement=one["statement"][:2000], value=known)


def _assumed(events: Iterable[Event]) -> Iterable[Details]:
    for event in events:
        if event.kind == "assumption_recorded":
            one = event.content.assumption
            yield Details(statement=f"{one.id} {one.topic}: {one.statement}", value=one.value)


def _memory(events: Iterable[Event], project: Project) -> Mapping[str, float] | None:
    """What the models named of the paper's values before they worked, by claim; None: not asked."""
    found: dict[str, float] | None = None
    for event in events:
        if event.kind != "model_called" or event.payload["step"] != "memory_probe":
            continue
        found = found or {}
        answer = json.loads(project.store.get(event.payload["answer"]))
        text = answer["text"]
        start, end = text.find("{"), text.rfind("}")
        try:
            said = json.loads(text[start : end + 1])["values"]
            found |= {
                one["claim"]: float(one["value"]) for one in said if one.get("value") is not None
            }
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _json(path: Path):
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
