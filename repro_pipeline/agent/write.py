"""Mode `agent`: models write the code from the blinded paper, and what stands in the end is frozen."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repro_pipeline.agent.actions import Tools
from repro_pipeline.agent.coder import FILES_SHOWN, HISTORY, ModelCoder
from repro_pipeline.agent.loop import End, PaperReproAgent
from repro_pipeline.agent.material import Material, material_of
from repro_pipeline.agent.mode import packages_for_agent
from repro_pipeline.agent.state import MOST
from repro_pipeline.agent.submission import complete
from repro_pipeline.agent.trials import Trials, implementation_of
from repro_pipeline.agent.workspace import Workspace
from repro_pipeline.asking.ask import Desk
from repro_pipeline.asking.prompt import Block
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.bundle.task import Budget
from repro_pipeline.chat import tokens_of
from repro_pipeline.claims.blind_check import guard_for
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.errors import UserError
from repro_pipeline.experiment.campaign import Setting, small_setting, spent_before
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.load import load_experiments
from repro_pipeline.experiment.sealed import check_sealed
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import AgentStarted, ImplementationFrozen
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.paper.model import Paper
from repro_pipeline.project import Project
from repro_pipeline.stages import Ended, Stage
from repro_pipeline.status import Reason, Status

ROLES = ("reader", "planner", "coder", "judge")
VERSION = 1
"""Of the loop: a new one begins its sessions from nothing."""


@dataclass(frozen=True)
class Ground:
    """What an agent's work rests on."""

    bundle: Bundle
    paper: Paper
    claims: ReportedClaims
    data: DataManifest
    environment: BuiltEnvironment
    assumptions: AssumptionLedger


def write_code(
    stage: Stage, ground: Ground, *, loop: type[PaperReproAgent] = PaperReproAgent
) -> Implementation | Ended:
    """Let the agent work within the budget, and freeze what stands when it ends.

    Whatever ends it, code that can be run is frozen and scored; the stage's status says why it ended.
    Raises a ChatError where a model cannot be reached: the next launch goes on at that question.
    """
    project = stage.project
    check_sealed(ground.bundle.task, ground.data, stage.bundle_folder)
    material = material_of(
        ground.bundle,
        stage.bundle_folder,
        ground.paper,
        ground.claims,
        ground.assumptions,
        project.config.send_to_models,
    )
    budget = project.config.budget.stricter(ground.bundle.task.budget)
    desk = _desk(stage, ground, budget)
    session = _session(material, ground, desk)
    workspace = _workspace(project, stage.paper, session, material)
    trials = _trials(stage, ground, material, desk.account.deadline)
    packages = packages_for_agent(stage, ground.bundle)
    environment = _environment_in_words(ground, material, packages)
    coder = ModelCoder(desk, material, trials, environment)
    steps = budget.steps if budget.steps is not None else project.config.agent.steps
    _say_start(stage, desk, session, material, budget, steps)
    tools = Tools(desk, material, workspace, trials, coder, session)
    end = loop(tools, steps).work()
    return _freeze(stage, ground, trials, workspace, end)


def _desk(stage: Stage, ground: Ground, budget: Budget) -> Desk:
    project = stage.project
    deadline = None
    if budget.wall_clock is not None:
        left = budget.wall_clock - spent_before(stage)
        deadline = time.monotonic() + left * project.config.agent.share
    return Desk.of(
        project,
        stage.paper,
        budget,
        guard=guard_for(ground.paper, ground.claims),
        actor=stage.actor,
        deadline=deadline,
    )


def _session(material: Material, ground: Ground, desk: Desk) -> str:
    """Digest of all that the work rests on; budgets are no part of it, so they can be raised."""
    return digest(
        {
            "version": VERSION,
            "paper": material.paper.text,
            "claims": [claim.model_dump(mode="json") for claim in material.claims],
            "pairs": [pair.model_dump(mode="json") for pair in material.pairs],
            "assumptions": [*material.assumptions, *material.gaps],
            "references": dict(material.references),
            "code": dict(material.code),
            "data": digest(ground.data),
            "lock": ground.environment.lock.sha256,
            "models": {role: desk.model_of(role) for role in ROLES},
        }
    )


def _workspace(project: Project, paper: str, session: str, material: Material) -> Workspace:
    """The folder of a session, with the masked given code at its beginning.

    It is made anew: what an earlier launch left is brought back from the ledger's last step.
    """
    folder = project.state / "agent" / paper / session[:16]
    shutil.rmtree(folder, ignore_errors=True)
    workspace = Workspace(folder)
    for path, text in material.code.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return workspace


def _trials(stage: Stage, ground: Ground, material: Material, deadline: float | None) -> Trials:
    nothing = Implementation(mode="agent", code_tree="0" * 64, command=("python",), experiments=())
    setting = Setting(ground.bundle, nothing, ground.environment, ground.data)
    withhold = material.private or not material.logs
    return Trials(stage, setting, ground.claims, withhold, deadline)


def _environment_in_words(
    ground: Ground, material: Material, packages: Sequence[str]
) -> tuple[Block, ...]:
    """What programs find where they run. Versions are the machine's own: a replay may meet others."""
    wanted = ", ".join(packages) or "what the given code names"
    lines = [
        f"Installed, with what they need, and nothing else can be: {wanted}.",
        "There is no network. Data come by formula, from these packages, or from the input files.",
        "Input files: " + ("; ".join(material.data) or "none") + ".",
    ]
    if material.left_out:
        lines.append(f"Of the given code not shown: {', '.join(material.left_out[:20])}.")
    versions = sorted(ground.environment.fingerprint.packages.items())
    found = [f"Python {ground.environment.lock.python}", *(f"{name} {v}" for name, v in versions)]
    return (
        Block("environment", "\n".join(lines), "own"),
        Block("versions", ", ".join(found), "output"),
    )


def _say_start(
    stage: Stage, desk: Desk, session: str, material: Material, budget: Budget, steps: int
) -> None:
    limits = budget.model_dump(mode="json") | {"steps": steps}
    models = {role: desk.model_of(role) for role in ROLES}
    stage.record(
        AgentStarted(
            session=session,
            models=models,
            limits=limits,
            estimate=_estimate(desk, material, steps),
            launch=stage.launch,
        )
    )


def _estimate(desk: Desk, material: Material, steps: int) -> str:
    """What the work may take: from the bounds of the prompts, half of the steps with the coder."""
    answers = 1500
    reader = tokens_of(material.paper.text) + 2 * answers
    planner = sum(MOST.values()) // 3 + answers
    coder = 2 * ((FILES_SHOWN + HISTORY) // 6 + 4000 + 2 * answers)
    by_role = {"reader": reader, "planner": steps * planner, "coder": steps // 2 * coder}
    usd, unpriced = 0.0, []
    for role, tokens in by_role.items():
        price = desk.chat.info(role).price
        if price is None:
            unpriced.append(role)
        else:
            usd += (0.8 * price.input + 0.2 * price.output) * tokens / 1e6
    money = f"about US$ {usd:.2f}" if not unpriced else "price unknown: only tokens are counted"
    return f"About {sum(by_role.values()):,} tokens for all {steps} steps, {money}."


def _freeze(
    stage: Stage, ground: Ground, trials: Trials, workspace: Workspace, end: End
) -> Implementation | Ended:
    """Freeze the code with its script and its lock, after a small run of it from a clean checkout."""
    project = stage.project
    try:
        spec, made = trials.load(workspace)
    except UserError as error:
        why = f"{end.reason.sentence} " if end.reason else ""
        sentence = f"{why}What stands cannot be run: {error}".replace(str(workspace.folder), "")
        code = end.reason.code if end.reason else error.code
        status = Status.FAILED if end.status in {Status.OK, Status.PARTIAL} else end.status
        return Ended(None, status, Reason(code=code, sentence=sentence))
    whole = workspace.folder.with_name(workspace.folder.name + ".whole")
    shutil.rmtree(whole, ignore_errors=True)
    project.store.get_tree(made.code_tree, whole)
    complete(whole, spec, made, project.store.get(ground.environment.lock.sha256))
    tree = project.store.put_tree(whole)
    spec, experiments = load_experiments(whole, ground.claims)
    shutil.rmtree(whole, ignore_errors=True)
    made = implementation_of(spec, experiments, ground.claims, tree)
    if made.uncovered:
        stage.warn("claims_not_covered", f"No experiment covers: {', '.join(made.uncovered)}.")
    fault = _clean_run(trials, made)
    stage.record(ImplementationFrozen(code_tree=tree, mode="agent", claims=digest(ground.claims)))
    if end.reason is None and fault is None:
        return made
    return Ended(made, end.status if end.reason else Status.PARTIAL, end.reason or fault)


def _clean_run(trials: Trials, made: Implementation) -> Reason | None:
    """Run the frozen code's baselines small; why that failed, if it did."""
    small = small_setting(replace(trials.setting, implementation=made)).implementation.experiments
    runs = trials.runs(made, small, seeds=1)
    return trials.hidden(runs.failed[0].counted.reason) if runs.failed else None
