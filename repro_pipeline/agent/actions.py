"""What each of the planner's actions does, and what the ledger is told of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from repro_pipeline.agent.coder import CodingTool, Order
from repro_pipeline.agent.decisions import (
    Assume,
    ChangeCode,
    Compare,
    Comparison,
    Decision,
    LookUp,
    RunExperiments,
    RunSample,
    RunTests,
    Summary,
)
from repro_pipeline.agent.material import Material
from repro_pipeline.agent.standing import Standing
from repro_pipeline.agent.trials import Trials
from repro_pipeline.agent.workspace import Change, Workspace
from repro_pipeline.asking.ask import Desk, ask
from repro_pipeline.asking.budget import BudgetExceeded
from repro_pipeline.asking.prompt import Block
from repro_pipeline.bundle.terms import AssumptionSource
from repro_pipeline.chat import ChatError
from repro_pipeline.errors import UserError
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.events import AssumptionRecorded, PatchApplied
from repro_pipeline.ledger.runs import RunSet
from repro_pipeline.status import Reason, Status

OUTPUT = 3000
"""Characters of a failed run's output that the next order shows to the coder."""
COMPARED = 60_000
"""Characters of the code that is compared with the paper."""


@dataclass(frozen=True)
class Outcome:
    """What came of an action."""

    status: Status
    said: str
    reason: Reason | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def failed(cls, error: UserError, **facts: Any) -> Outcome:
        """The outcome that an error is."""
        return cls(Status.FAILED, str(error)[:600], Reason.of(error), facts)


@dataclass(frozen=True)
class Tools:
    """What actions work with."""

    desk: Desk
    material: Material
    workspace: Workspace
    trials: Trials
    coder: CodingTool
    session: str


def perform(
    tools: Tools, decision: Decision, step: int, standing: Standing, summary: Summary, advice: str
) -> Outcome:
    """Do what was decided; `stop` is the loop's own affair."""
    match decision.do:
        case LookUp() as wanted:
            return _look_up(tools, wanted)
        case Assume() as wanted:
            return _assume(tools, wanted)
        case ChangeCode() as wanted:
            return _change_code(tools, wanted, step, standing, summary, advice)
        case RunTests():
            return _run_tests(tools)
        case RunSample(experiments=wanted):
            return _run(tools, "sample", wanted)
        case RunExperiments(experiments=wanted):
            return _run_in_full(tools, wanted, standing)
        case Compare():
            return _compare(tools, step, summary)
    raise TypeError(f"no action: {decision.do!r}")


def _look_up(tools: Tools, wanted: LookUp) -> Outcome:
    material = tools.material
    text = material.reference(wanted.where, wanted.words)
    text = text or material.section(wanted.where, wanted.words)
    if text is None:
        known = ", ".join([*material.references, *(part.title for part in material.paper.parts)])
        error = UserError(f"there is no '{wanted.where}'.", hint=f"There are: {known[:400]}.")
        return Outcome.failed(error)
    stored = tools.desk.store.put(text.encode())
    facts = {"looked_up": {"where": wanted.where, "text": stored}}
    return Outcome(Status.OK, f"{len(text)} characters of '{wanted.where}' were read.", facts=facts)


def _assume(tools: Tools, wanted: Assume) -> Outcome:
    known = {claim.id for claim in tools.material.claims}
    named = (claim for choice in wanted.choices for claim in choice.claims)
    strangers = [claim for claim in named if claim not in known]
    if strangers:
        return Outcome.failed(UserError(f"there is no claim '{strangers[0]}'."))
    model = tools.desk.model_of("planner")
    assumed = {}
    for choice in wanted.choices:
        assumption = Assumption(
            **choice.model_dump(),
            source=AssumptionSource(kind="model", note=model),
            proposed_by=f"model:{model}",
        )
        tools.desk.record(AssumptionRecorded(assumption=assumption), actor=f"model:{model}")
        assumed[choice.id] = f"{choice.statement} Value: {choice.value}."[:400]
    said = f"Assumed: {', '.join(f'{name}: {line}' for name, line in assumed.items())}"
    return Outcome(Status.OK, said[:600], facts={"assumed": assumed})


def _change_code(
    tools: Tools, wanted: ChangeCode, step: int, standing: Standing, summary: Summary, advice: str
) -> Outcome:
    points = [
        point.in_words
        for point in summary.points
        if point.id in wanted.points or (not wanted.points and point.part == wanted.part)
    ]
    failure = standing.failure.facts.get("output", "") if standing.failure else ""
    name = f"implementation/{step}"
    chosen = (f"{choice}: {line}" for choice, line in standing.assumed.items())
    assumed = (*tools.material.assumptions, *chosen)
    order = Order(name, wanted, tuple(points), assumed, failure=failure, advice=advice)
    before = _contents(tools.workspace)
    now = dict(before)
    paths: list[str] = []

    def keep(change: Change) -> None:
        content = _content(tools.workspace, change.path)
        if content == now.get(change.path):
            return  # written anew with what stood there
        now[change.path] = content
        tools.desk.record(
            PatchApplied(
                session=tools.session,
                step=step,
                number=len(paths),
                path=change.path,
                patch=tools.desk.store.put(change.patch.encode()),
            ),
            actor=f"model:{tools.desk.model_of('coder')}",
        )
        paths.append(change.path)

    report = tools.coder.change(order, tools.workspace, keep)
    changed = [path for path in dict.fromkeys(paths) if now[path] != before.get(path)]
    facts = {"changed": changed}
    said = f"{len(changed)} files changed. {report.said}"[:600]
    if report.done:
        return Outcome(Status.OK, said, facts=facts)
    code = "order_not_done" if changed else "nothing_changed"
    return Outcome(Status.FAILED, said, Reason(code=code, sentence=said), facts)


def _contents(workspace: Workspace) -> dict[str, str | None]:
    return {path: _content(workspace, path) for path in workspace.files()}


def _content(workspace: Workspace, path: str) -> str | None:
    """A digest of what a file of the workspace holds; None where there is none."""
    file = workspace.folder / path
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _run_tests(tools: Tools) -> Outcome:
    found = tools.trials.tests(tools.workspace)
    facts = {"tests": {"passed": found.passed, "failed": list(found.failed[:50])}}
    if found.trial.ok:
        return Outcome(Status.OK, f"{found.passed} unit tests passed.", facts=facts)
    if not found.failed:
        facts["tests"]["failed"] = ["(the tests could not be run)"]
    facts["output"] = found.trial.output[:OUTPUT]
    return Outcome(Status.FAILED, found.trial.said[:400], found.trial.reason, facts)


def _run_in_full(tools: Tools, wanted: tuple[str, ...], standing: Standing) -> Outcome:
    """Run experiments in full, as long as the budget of experiments lasts."""
    most = tools.desk.account.limits.experiments
    if most is not None and standing.in_full + len(wanted) > most:
        return Outcome.failed(
            BudgetExceeded("experiments", most=most, spent=standing.in_full, wanted=len(wanted))
        )
    return _run(tools, "full", wanted)


def _run(tools: Tools, how: str, wanted: tuple[str, ...]) -> Outcome:
    """Run experiments on the sample or in full; the first failure stands for the step's."""
    try:
        _, made = tools.trials.load(tools.workspace)
        known = {experiment.id for experiment in made.experiments}
        strangers = [name for name in wanted if name not in known]
        if strangers:
            listed = ", ".join(sorted(known))
            raise UserError(
                f"there is no experiment '{strangers[0]}'.", hint=f"There are: {listed}."
            )
        runs = getattr(tools.trials, how)(tools.workspace, wanted)
    except UserError as error:
        return Outcome.failed(error)
    return _of_runs(tools, how, runs)


def _of_runs(tools: Tools, how: str, runs: RunSet) -> Outcome:
    found: dict[str, dict[str, Any]] = {}
    output = ""
    for run in runs.runs:
        line, log = tools.trials.described(run)
        entry = found.setdefault(run.experiment, {"ok": True, "line": line, "values": {}})
        if run.counted.status is not Status.OK:
            entry |= {"ok": False, "line": line}
            output = output or f"{line}\n{log}"
        entry["values"][str(run.seed)] = tools.trials.shown_values(run)
    facts: dict[str, Any] = {how: found}
    bad = [name for name, entry in found.items() if not entry["ok"]]
    unmade = runs.planned - len(runs.runs)
    if not bad and not unmade:
        return Outcome(Status.OK, f"{len(runs.runs)} runs ended well.", facts=facts)
    if not bad:
        said = f"{unmade} of {runs.planned} runs were not made: the budget was exhausted."
        return Outcome(
            Status.BUDGET_EXHAUSTED, said, Reason(code="budget_exhausted", sentence=said), facts
        )
    reason = tools.trials.hidden(runs.failed[0].counted.reason)
    said = f"{len(bad)} of {len(found)} experiments fail: {', '.join(bad[:8])}. {reason.sentence}"
    return Outcome(Status.FAILED, said[:500], reason, {**facts, "output": output[:OUTPUT]})


def _compare(tools: Tools, step: int, summary: Summary) -> Outcome:
    texts, room = [], COMPARED
    for path in tools.workspace.files():
        text = tools.workspace.read(path)
        if len(text) <= room:
            texts.append(Block(path, text, "own"))
            room -= len(text)
        else:
            texts.append(Block(path, "[too long to be shown]", "own"))
    points = "\n".join(point.in_words for point in summary.points)
    known = {point.id for point in summary.points}
    answer = ask(
        tools.desk,
        step=f"implementation/{step}",
        role="judge",
        prompt="compare",
        values={"points": Block("points", points, "own"), "files": tuple(texts) or "No files."},
        answer_model=Comparison,
        check=lambda made: _all_points(made, known),
    )
    checks = [check.model_dump(mode="json") for check in answer.points if check.point in known]
    open_ones = [check for check in checks if check["verdict"] in {"mismatch", "absent"}]
    said = f"{len(checks)} points compared: {len(open_ones)} do not match."
    return Outcome(Status.OK, said, facts={"points": checks})


def _all_points(made: Comparison, known: set[str]) -> str | None:
    missing = known - {check.point for check in made.points}
    return f"the points {', '.join(sorted(missing)[:10])} are missing" if missing else None


def is_of_answer(error: ChatError) -> bool:
    """Whether a failure of a model is of its answer: others end the launch, and can be gone on with."""
    return error.code in {
        "model_malformed",
        "model_refused",
        "model_empty",
        "model_cut_off",
        "context_exceeded",
        "model_rejected_request",
    }
