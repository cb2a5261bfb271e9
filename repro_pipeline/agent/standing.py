"""Where the agent's work stands, projected from the ledger: nothing else is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from repro_pipeline.agent.decisions import PointCheck
from repro_pipeline.frozen import Sha256
from repro_pipeline.ledger.events import AgentStepped, Event
from repro_pipeline.status import Status

DECIDING = "decide"
"""What a step is called in which the planner came to no decision."""
SUMMARISING = "summarise"
"""What a step is called in which the paper is summed up."""


@dataclass
class Standing:
    """What the steps of a session come to so far."""

    steps: int = 0
    tree: Sha256 | None = None
    """The code after the last step."""
    summary: Sha256 | None = None
    """The reader's summary of the paper, in the store."""
    points: dict[str, PointCheck] = field(default_factory=dict)
    compared: Sha256 | None = None
    """The code that the points were last compared with."""
    assumed: dict[str, str] = field(default_factory=dict)
    tests: Mapping[str, Any] | None = None
    """Of the last run of the unit tests: passed, failed, and the code that was tested."""
    sample: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per experiment the last small run: ok, a line, its values by seed, the code that ran."""
    full: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """The same of full runs."""
    in_full: int = 0
    """How many experiments were run in full so far, each as often as it was."""
    looked_up: Mapping[str, Any] | None = None
    """The last look-up: where, and its text in the store."""
    failure: AgentStepped | None = None
    """The last step that failed, until its kind succeeds."""
    recurrences: int = 0
    """How often in a row that kind of step failed in that same way."""
    failures: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """(kind, signature) → sentence and count of all failures so far."""
    recent: tuple[str, ...] = ()
    """The last steps, a line each."""
    refused: int = 0
    """How often in a row a stop was refused, because something was still open."""
    ended: str | None = None
    """Why the session ended; None while it goes on, and again when it was begun anew."""


def kind_of(step: AgentStepped) -> str:
    """What a step did: the action that was decided."""
    return step.decision.get("do", {}).get("action", DECIDING)


def standing_of(events: Iterable[Event], session: Sha256) -> Standing:
    """The standing of a session, from the events of its paper."""
    standing = Standing()
    for event in events:
        if event.kind == "agent_started" and event.payload["session"] == session:
            if standing.ended:  # someone wants it to try again: old failures do not count
                standing.recurrences, standing.failure, standing.refused = 0, None, 0
            standing.ended = None
        elif event.kind == "agent_stepped" and event.payload["session"] == session:
            _add(standing, event.content)
    return standing


RECENT = 10


def _add(standing: Standing, step: AgentStepped) -> None:
    kind, facts = kind_of(step), step.facts
    standing.steps = step.step + 1
    standing.tree = step.code_tree
    standing.ended = facts.get("ended")
    line = f"{step.step}. {kind}{_about(step)}: {step.status}. {step.said}"
    standing.recent = (*standing.recent, line)[-RECENT:]
    standing.summary = facts.get("summary", standing.summary)
    standing.refused = standing.refused + 1 if facts.get("refused") else 0
    standing.looked_up = facts.get("looked_up", standing.looked_up)
    if "points" in facts:
        standing.points = {one["point"]: PointCheck(**one) for one in facts["points"]}
        standing.compared = step.code_tree
    standing.assumed |= facts.get("assumed", {})
    if "tests" in facts:
        standing.tests = {**facts["tests"], "tree": step.code_tree}
    for name, place in (("sample", standing.sample), ("full", standing.full)):
        for experiment, found in facts.get(name, {}).items():
            place[experiment] = {**found, "tree": step.code_tree}
    standing.in_full += len(facts.get("full", ()))
    _count_failure(standing, step, kind)


def _count_failure(standing: Standing, step: AgentStepped, kind: str) -> None:
    standing.recurrences = recurrences_with(standing, step)
    if step.status is Status.OK:
        standing.failure = standing.failure if standing.recurrences else None
        return
    standing.failure = step
    signature = signature_of(step)
    _, count = standing.failures.get((kind, signature), ("", 0))
    standing.failures[kind, signature] = (step.said, count + 1)


def recurrences_with(standing: Standing, step: AgentStepped) -> int:
    """How often in a row the last failure stands after this step.

    It recurs while steps of its kind fail with its signature; the success of that kind ends it.
    """
    last = standing.failure
    same_kind = last is not None and kind_of(last) == kind_of(step)
    if step.status is Status.OK:
        return 0 if same_kind else standing.recurrences
    same = same_kind and signature_of(last) == signature_of(step)
    return standing.recurrences + 1 if same else 1


def signature_of(step: AgentStepped) -> str:
    """What a failure is recognised by."""
    if step.reason is None:
        return str(step.status)
    return step.reason.signature or step.reason.code


def _about(step: AgentStepped) -> str:
    do = step.decision.get("do", {})
    about = (
        do.get("task") or do.get("where") or do.get("id") or ", ".join(do.get("experiments", ()))
    )
    return f" ({about[:160]})" if about else ""
