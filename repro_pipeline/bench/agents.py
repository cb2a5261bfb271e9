"""The agents that a bench compares, by their names on the command line.

`loop` is the pipeline's own; its ablations leave one part out each. `at-once` and `trivial` are the
baselines. `command:TEMPLATE` is anybody's program.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field, StringConstraints

from repro_pipeline.agent.decisions import (
    ChangeCode,
    Compare,
    Decision,
    RunSample,
    RunTests,
    Stop,
    Text,
)
from repro_pipeline.agent.loop import PaperReproAgent
from repro_pipeline.agent.memory_probe import probe_memory
from repro_pipeline.agent.mode import packages_for_agent
from repro_pipeline.agent.standing import Standing
from repro_pipeline.agent.state import claims_text
from repro_pipeline.agent.write import Ground, write_code
from repro_pipeline.asking.ask import Desk, ask
from repro_pipeline.asking.prompt import Block, Values
from repro_pipeline.bench.given import ReadTask, read_task
from repro_pipeline.bench.trial import DETAILS, Assignment, Produced
from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.chat import Malformed
from repro_pipeline.claims.blind_check import guard_for
from repro_pipeline.environment.make import make_environment
from repro_pipeline.environment.manifest import make_manifest
from repro_pipeline.errors import UserError
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.frozen import Frozen
from repro_pipeline.ledger.events import AssumptionRecorded
from repro_pipeline.lineage.ledger import assumptions_of
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.lineage.rank import rank_references, read_references
from repro_pipeline.stages import Ended, Stage
from repro_pipeline.status import Status

Answered = Annotated[str, StringConstraints(max_length=200_000)]


@dataclass(frozen=True)
class LoopAgent:
    """The pipeline's own loop of models, whole or with one part left out."""

    lineage: bool = True
    loop: type[PaperReproAgent] = PaperReproAgent
    without: str = "nothing"

    def conditions(self) -> dict[str, str]:
        """What the loop works with."""
        return {
            "tools": "reads the blinded paper and its references; writes files; runs tests, small and "
            "full experiments in the sandbox",
            "left out": self.without,
            "network": "none",
        }

    def reproduce(self, assignment: Assignment) -> Produced:
        """Let the models work within the budget, and leave the code as it stands at the end."""
        project, paper = assignment.project, assignment.task
        stage = Stage("implementation", paper, project, launch="bench")
        if not self.lineage:
            shutil.rmtree(project.bundle(paper) / "references", ignore_errors=True)
        read = _read(assignment)
        _probe(stage, read, assignment)
        known = _assumptions(stage, read) if self.lineage else AssumptionLedger(assumptions=())
        environment = make_environment(
            None,
            None,
            store=project.store,
            cache=project.state / "environments",
            also=packages_for_agent(stage, read.bundle),
            images=project.images,
        )
        data = make_manifest(read.bundle.task.data, read.folder, project.state / "data")
        ground = Ground(read.bundle, read.paper, read.claims, data, environment, known)
        made = write_code(stage, ground, loop=self.loop)
        value = made.value if isinstance(made, Ended) else made
        if value is not None:
            assignment.out.rmdir()
            project.store.get_tree(value.code_tree, assignment.out)
        if isinstance(made, Ended):
            return Produced(status=made.status, reason=made.reason)
        return Produced(status=Status.OK)


@dataclass(frozen=True)
class WithoutTests(PaperReproAgent):
    """The loop without unit tests and sample runs: code is ordered, compared with the paper, left."""

    def open_now(self, standing: Standing, made: Implementation | str) -> tuple[str, ...]:
        """What is still to be done, tests and samples left out."""
        if isinstance(made, str):
            return super().open_now(standing, made)
        found = [f"No experiment covers: {', '.join(made.uncovered)}."] if made.uncovered else []
        if standing.compared is None:
            found.append("The paper's points were not yet compared with the code.")
        return tuple(found)

    def planner_values(self, standing: Standing) -> Values:
        """The planner is told that nothing is tried here."""
        values = super().planner_values(standing)
        advice = values["advice"]
        said = "Here neither unit tests nor sample runs can be made: order code, compare, stop."
        return {**values, "advice": replace(advice, text=f"{said}\n{advice.text}")}

    def decide(self, standing: Standing) -> Decision:
        """The planner's decision; one that tries something is a failed step."""
        decision = super().decide(standing)
        if isinstance(decision.do, RunTests | RunSample):
            raise Malformed("neither unit tests nor sample runs can be made here.")
        return decision


@dataclass(frozen=True)
class WithoutPlanner(PaperReproAgent):
    """The loop in a fixed order, without a model that plans: code, tests, sample, comparison, stop.

    After a failure the coder is ordered to mend what failed, which the order shows it.
    """

    def decide(self, standing: Standing) -> Decision:
        """The next action, by what is open."""
        made = self.code_as_it_stands()
        still = self.open_now(standing, made)
        return Decision(why="fixed order", do=_next(standing, made, still))


def _next(standing: Standing, made: Implementation | str, still: tuple[str, ...]):
    if isinstance(made, str) or made.uncovered:
        task = f"Write the whole of it: data, method, experiments, unit tests. {' '.join(still)}"
        return ChangeCode(action="change_code", part="experiment", task=task[:4000])
    if standing.failure is not None or (standing.tests and standing.tests["failed"]):
        return ChangeCode(action="change_code", part="method", task="Mend what failed last.")
    if any("unit test" in one and "did not run" in one for one in still):
        return RunTests(action="run_tests")
    if any("sample" in one for one in still):
        return RunSample(action="run_sample")
    if standing.compared is None:
        return Compare(action="compare")
    if still:
        return ChangeCode(action="change_code", part="method", task=" ".join(still)[:4000])
    return Stop(action="stop", complete=True, reason="nothing is open")


class Written(Frozen):
    """One file of an answer."""

    path: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,150}$")]
    content: Answered


class Chosen(Frozen):
    """Something that the paper leaves unsaid, with what was chosen."""

    statement: Text
    value: str | int | float | bool | None = None


class AtOnce(Frozen):
    """Plan, analysis and code in one answer."""

    plan: Text
    details: Annotated[tuple[Chosen, ...], Field(max_length=30)] = ()
    files: Annotated[tuple[Written, ...], Field(min_length=1, max_length=40)]


@dataclass(frozen=True)
class AtOnceAgent:
    """One question: what a model writes without ever running anything."""

    def conditions(self) -> dict[str, str]:
        """What it works with."""
        return {"tools": "none: one answer, and one more where it is malformed", "network": "none"}

    def reproduce(self, assignment: Assignment) -> Produced:
        """Ask once, and leave the files."""
        read = _read(assignment)
        stage = Stage("implementation", assignment.task, assignment.project, launch="bench")
        _probe(stage, read, assignment)
        material = read.material()
        desk = _desk(stage, read, assignment)
        answer = ask(
            replace(desk, account=replace(desk.account, deadline=_deadline(assignment))),
            step="implementation/at-once",
            role="coder",
            prompt="at-once",
            values={
                "paper": Block("paper", material.paper.text, "source"),
                "claims": Block("claims", claims_text(material, 12_000), "source"),
                "references": tuple(
                    Block(name, text, "source") for name, text in material.references.items()
                )
                or "There are no references at hand.",
                "environment": Block(
                    "environment",
                    f"Packages: {', '.join(packages_for_agent(stage, read.bundle))}, with what they "
                    f"need. Input files: {'; '.join(material.data) or 'none'}.",
                    "own",
                ),
            },
            answer_model=AtOnce,
            check=_stays_inside,
        )
        for file in answer.files:
            path = assignment.out / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.content, encoding="utf-8")
        said = [one.model_dump(mode="json") for one in answer.details]
        (assignment.out / DETAILS).write_text(json.dumps(said), encoding="utf-8")
        return Produced(status=Status.OK)


def _stays_inside(answer: AtOnce) -> str | None:
    paths = [file.path for file in answer.files]
    bad = [path for path in paths if ".." in PurePosixPath(path).parts]
    if bad:
        return f"the path '{bad[0]}' leaves the folder"
    if any(paths.count(path) > 1 for path in paths):
        return "a path stands twice"
    missing = "experiment.yaml" not in paths
    return "there is no experiment.yaml" if missing else None


@dataclass(frozen=True)
class TrivialAgent:
    """Predicts a typical value for each claim, and runs nothing: what is earned without work."""

    typical: Callable[[], Mapping[str, float]]
    """Gives unit → the median reported value of the suite's development tasks."""

    def conditions(self) -> dict[str, str]:
        """What it works with."""
        return {"tools": "none: it names typical values, and leaves no code", "network": "none"}

    def reproduce(self, assignment: Assignment) -> Produced:
        """Name the unit's typical value for every claim."""
        read = _read(assignment)
        typical = self.typical()
        anything = typical.get("", 1.0)
        return Produced(
            status=Status.OK,
            predicted={
                claim.id: typical.get(claim.unit or "", anything) for claim in read.claims.claims
            },
        )


def _read(assignment: Assignment) -> ReadTask:
    folder = assignment.project.bundle(assignment.task)
    return read_task(open_bundle(folder, paper=assignment.task), folder)


def _desk(stage: Stage, read: ReadTask, assignment: Assignment) -> Desk:
    return Desk.of(
        stage.project,
        stage.paper,
        assignment.budget,
        guard=guard_for(read.paper, read.claims),
        actor=stage.actor,
    )


def _deadline(assignment: Assignment) -> float | None:
    """As the loop has it: its share of the wall clock, from now."""
    most = assignment.budget.wall_clock
    share = assignment.project.config.agent.share
    return None if most is None else time.monotonic() + most * share


def _probe(stage: Stage, read: ReadTask, assignment: Assignment) -> None:
    """Ask each writing model what it remembers of the paper, before it sees any of it."""
    probe_memory(_desk(stage, read, assignment), read.paper, read.claims, ("coder", "planner"))


def _assumptions(stage: Stage, read: ReadTask) -> AssumptionLedger:
    """What rules and references fill in of what the paper leaves unsaid, written to the ledger."""
    texts = read_references(read.folder, read.bundle.references)
    lineage = rank_references(read.paper, texts)
    ledger = assumptions_of(read.bundle.task, texts, lineage, read.paper, {})
    for one in ledger.assumptions:
        stage.record(AssumptionRecorded(assumption=one))
    return ledger


def need_models(agent: str) -> UserError:
    """The error for an agent that asks models, and was given none."""
    return UserError(
        f"the agent '{agent}' asks models, and none is named.",
        hint="Give --models, or name a coder under `models` in repro.yaml.",
    )
