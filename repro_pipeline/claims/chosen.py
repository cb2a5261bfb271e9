"""Whose claims count: a person's choice, else `task.yaml`, else a model's proposal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repro_pipeline.asking.ask import Desk, ask, no_guard
from repro_pipeline.asking.prompt import Block
from repro_pipeline.bundle.folder import TASK_NAME
from repro_pipeline.bundle.task import Task
from repro_pipeline.claims.extract import extract_claims, no_claims
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.claims.proposal import (
    MOST,
    MOST_KEY,
    Proposal,
    accept,
    fault_of,
    tables_listed,
)
from repro_pipeline.errors import BundleError
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import ClaimsChosen, Event
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Stage

STEP = "reported_claims"
_NAMED = {"claims", "ablations", "comparisons"}


@dataclass(frozen=True)
class Choice:
    """What a person chose last, and who."""

    content: ClaimsChosen
    actor: str
    event: str
    """The event's hash."""


def last_choice(events: Iterable[Event]) -> Choice | None:
    """A person's latest choice."""
    made = [event for event in events if event.kind == "claims_chosen"]
    return Choice(made[-1].content, made[-1].actor, made[-1].hash) if made else None


def base_of(task: Task) -> str:
    """Digest of what `task.yaml` says of claims: a choice made for other words of it is out of date."""
    return digest(task.model_dump(mode="json", include=_NAMED))


def what_claims_rest_on(stage: Stage, task: Task, paper: Paper) -> dict:
    """The task's claims and pairs, the document, a person's choice, and the model that proposes."""
    rests = {
        "task": task.model_dump(mode="json", include=_NAMED),
        "paper": paper.model_dump(mode="json"),
    }
    choice = last_choice(stage.events({"claims_chosen"}))
    reader = stage.project.config.models.of("reader")
    if choice is not None:
        rests["choice"] = choice.content.model_dump(mode="json")
    elif not task.claims and reader is not None:
        rests["reader"] = reader.model
    return rests


def claims_of(stage: Stage, task: Task, paper: Paper) -> ReportedClaims:
    """The claims of a paper, by whoever has the say.

    Raises BundleError where nobody names claims, AddressError where an address names no number, a
    ChatError where the model that is to propose them cannot.
    """
    choice = last_choice(stage.events({"claims_chosen"}))
    if choice is not None and choice.content.base == base_of(task):
        made = extract_claims(paper, choice.content.task)
        return made.model_copy(update={"proposed_by": choice.content.proposed_by})
    if choice is not None:
        stage.warn(
            "choice_out_of_date",
            f"The claims that {choice.actor} chose are not used: task.yaml names others since. "
            "Choose again with `repro claims`, if they are still meant.",
        )
    if not task.claims and stage.project.config.models.of("reader") is not None:
        return propose(stage, task, paper)
    if not task.claims and not (stage.bundle_folder / TASK_NAME).exists():
        raise no_claims(has_file=False)
    return extract_claims(paper, task)


def propose(stage: Stage, task: Task, paper: Paper) -> ReportedClaims:
    """Claims that the reader chooses among the cells of the paper's tables.

    Raises BundleError where there is no table to choose from, or none of it may be sent.
    """
    project = stage.project
    if not project.config.send_to_models.paper:
        raise BundleError(
            "the task names no claims, and the paper may not be shown to a model that would choose them.",
            where="repro.yaml: send_to_models.paper",
            hint="Name the claims in task.yaml, or allow it.",
        )
    tables, left = tables_listed(paper)
    if not tables:
        raise BundleError(
            "the task names no claims, and the paper has no table with numbers to choose from.",
            where="task.yaml",
            hint="Name the claims by a quote: reported: {quote: …}.",
        )
    if left:
        stage.warn("tables_not_listed", f"Too long to be chosen from: {', '.join(left)}.")
    desk = reader_desk(stage, task)
    proposal = ask(
        desk,
        step=STEP,
        role="reader",
        prompt="reader-claims",
        values={
            "most": str(MOST),
            "key": str(MOST_KEY),
            "paper": Block("title and abstract", f"{paper.title}\n\n{paper.abstract}", "source"),
            "tables": Block("tables", tables, "source"),
        },
        answer_model=Proposal,
        check=lambda answer: fault_of(paper, answer),
    )
    accepted = accept(paper, proposal)
    for sentence in accepted.rejected:
        stage.warn("claim_rejected", f"The proposed {sentence}")
    made = extract_claims(paper, accepted.task)
    return made.model_copy(update={"proposed_by": f"model:{desk.model_of('reader')}"})


def reader_desk(stage: Stage, task: Task) -> Desk:
    """Where the reader is asked. Nothing is hidden from it: it writes no code, and gives no value."""
    project = stage.project
    budget = project.config.budget.stricter(task.budget)
    return Desk.of(project, stage.paper, budget, guard=no_guard, actor=stage.actor)
