"""From the words of a command line to agents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median

from repro_pipeline.bench.agents import (
    AtOnceAgent,
    LoopAgent,
    TrivialAgent,
    WithoutPlanner,
    WithoutTests,
    need_models,
)
from repro_pipeline.bench.command_agent import CommandAgent, OpenDoor, split
from repro_pipeline.bench.given import read_task
from repro_pipeline.bench.model import Split
from repro_pipeline.bench.plan import Contestant, cast, slug
from repro_pipeline.bench.suite import Suite
from repro_pipeline.bench.trial import Agent
from repro_pipeline.choices import choices
from repro_pipeline.config import Roles
from repro_pipeline.errors import UserError

LOOPS = {
    "loop": LoopAgent(),
    "no-lineage": LoopAgent(lineage=False, without="lineage: references and what they fill in"),
    "no-tests": LoopAgent(loop=WithoutTests, without="unit tests and sample runs of the planner"),
    "no-planner": LoopAgent(loop=WithoutPlanner, without="the planner: a fixed order in its place"),
}
"""The pipeline's own loop, and its ablations."""
NAMES = (*LOOPS, "at-once", "trivial", "command:TEMPLATE")
COMMAND = "command:"


def contestants(
    agents: list[str], models: list[str], known: Roles, cutoffs: Mapping[str, str]
) -> tuple[Contestant, ...]:
    """Each agent with each cast of models; an agent that asks none of ours stands once.

    An agent may carry a name of its own, `NAME=command:TEMPLATE`. Raises UserError.
    """
    found: list[Contestant] = []
    for text in agents:
        name, agent = _named(text)
        if agent == "trivial" or agent.startswith(COMMAND):
            found.append(Contestant(name=name, agent=agent))
            continue
        casts = [(one, cast(one, known)) for one in models] or [("", known)]
        if casts[0][1].coder is None:
            raise need_models(agent)
        for said, roles in casts:
            suffix = f"-{slug(said)}" if len(casts) > 1 else ""
            found.append(
                Contestant(
                    name=f"{name}{suffix}"[:90],
                    agent=agent,
                    models=roles,
                    cutoff=_cutoff(roles, cutoffs),
                )
            )
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"'{twice[0]}' stands twice.", where="--agent")
    return tuple(found)


def make_agent(
    contestant: Contestant,
    suite: Suite,
    *,
    allow: tuple[str, ...] = (),
    open_door: OpenDoor | None = None,
) -> Agent:
    """The agent of a contestant. Raises UserError for a name that there is none of."""
    if contestant.agent in LOOPS:
        return LOOPS[contestant.agent]
    if contestant.agent == "at-once":
        return AtOnceAgent()
    if contestant.agent == "trivial":
        return TrivialAgent(lambda: typical_values(suite))
    template = contestant.agent.removeprefix(COMMAND)
    return CommandAgent(template, suite.folder, allow, open_door)


def typical_values(suite: Suite) -> dict[str, float]:
    """Unit → median reported value of the development tasks; "" is the median of those without."""
    by_unit: dict[str, list[float]] = {}
    for task in suite.tasks:
        if task.truth.split is not Split.DEVELOPMENT:
            continue
        for claim in read_task(task.bundle, task.bundle_folder).claims.claims:
            if claim.value is not None:
                by_unit.setdefault(claim.unit or "", []).append(claim.value)
    return {unit: median(values) for unit, values in by_unit.items()}


def _named(text: str) -> tuple[str, str]:
    """The contestant's name and the agent of a word of the command line. Raises UserError."""
    name, equals, rest = text.partition("=")
    if equals and (rest in (*LOOPS, "at-once", "trivial") or rest.startswith(COMMAND)):
        return slug(name), rest
    if text.startswith(COMMAND):
        words = split(text.removeprefix(COMMAND))
        last = next((w for w in words if w.endswith((".py", ".sh"))), words[0])
        return slug(f"command-{Path(last).stem}"), text
    if text in LOOPS or text in ("at-once", "trivial"):
        return text, text
    raise UserError(f"there is no agent '{text}'.", where="--agent", hint=choices(text, NAMES))


def _cutoff(roles: Roles, cutoffs: Mapping[str, str]) -> str | None:
    """The latest cut-off of a cast's models; None unless every one's is stated."""
    named = {one.model for name in Roles.model_fields if (one := getattr(roles, name))}
    stated = [cutoffs[name] for name in named if name in cutoffs]
    return max(stated) if len(stated) == len(named) else None
