"""What the models that wrote the code knew: what they were shown, and what they remember of the paper."""

from __future__ import annotations

from dataclasses import replace

from repro_pipeline.agent.memory_probe import STEP as MEMORY
from repro_pipeline.agent.memory_probe import probe_memory
from repro_pipeline.asking.ask import Desk
from repro_pipeline.asking.prompt import checked_text
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.chat import ChatRequest
from repro_pipeline.claims.blind_check import guard_for
from repro_pipeline.claims.blinding import secrets_for
from repro_pipeline.claims.chosen import STEP as CLAIMS
from repro_pipeline.claims.leaks import shown_text
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.findings import Probe
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Ended, Stage

WRITERS = ("planner", "coder")
"""Roles whose models decide what the code computes."""


def with_model_probes(
    stage: Stage,
    evidence: IntegrityEvidence | Ended,
    bundle: Bundle,
    paper: Paper,
    claims: ReportedClaims,
    implementation: Implementation,
) -> IntegrityEvidence | Ended:
    """The evidence with the probes `shown_text` and `memory`; as it is where the code was given."""
    if implementation.mode != "agent":
        return evidence
    found = (
        shown_text(_shown(stage), secrets_for(paper, claims)),
        *probe_memory(_desk(stage, bundle, paper, claims), paper, claims, WRITERS),
    )
    if isinstance(evidence, Ended):
        return replace(evidence, value=evidence.value and _with(evidence.value, found))
    return _with(evidence, found)


def _with(evidence: IntegrityEvidence, found: tuple[Probe, ...]) -> IntegrityEvidence:
    return evidence.model_copy(update={"probes": (*evidence.probes, *found)})


def _shown(stage: Stage) -> dict[str, str]:
    """What each question held of paper, references and given code; the reader of claims writes no code."""
    shown = {}
    for event in stage.events({"model_called"}):
        call = event.content
        if call.step not in {CLAIMS, MEMORY}:
            request = ChatRequest.model_validate_json(stage.project.store.get(call.request))
            shown[f"{request.name} ({event.seq})"] = checked_text(request.messages)
    return shown


def _desk(stage: Stage, bundle: Bundle, paper: Paper, claims: ReportedClaims) -> Desk:
    project = stage.project
    budget = project.config.budget.stricter(bundle.task.budget)
    guard = guard_for(paper, claims)
    return Desk.of(project, stage.paper, budget, guard=guard, actor=stage.actor)
