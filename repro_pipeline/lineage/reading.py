"""What a model finds where the rules found nothing: believed only with words that stand in the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from repro_pipeline.asking.ask import ask
from repro_pipeline.asking.prompt import Block
from repro_pipeline.bundle.task import Task
from repro_pipeline.chat import ChatError
from repro_pipeline.claims.blind_check import guard_for
from repro_pipeline.claims.blinding import blind_paper
from repro_pipeline.claims.chosen import reader_desk
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.frozen import Frozen
from repro_pipeline.lineage.assumptions import place_of
from repro_pipeline.lineage.gaps import Gap, Gaps, GapStatus, Span
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Stage

STEP = "assumption_ledger"
LONGEST_PAPER = 120_000
"""Characters of the paper that the model is shown."""


class Answer(Frozen):
    """A question that the paper answers, by the model."""

    item: str
    quote: Annotated[str, Field(min_length=8, max_length=600)]
    value: Annotated[str, Field(max_length=200)] = ""


class Answers(Frozen):
    """All that the model found."""

    answers: Annotated[tuple[Answer, ...], Field(max_length=80)] = ()


def read_gaps(stage: Stage, task: Task, paper: Paper, claims: ReportedClaims, gaps: Gaps) -> Gaps:
    """The gaps after a reader looked for them, where one stands in `repro.yaml` and may see the paper.

    It is shown the paper without its results, as what it says reaches those who write code. A model
    that cannot be asked leaves the gaps as the rules have them; that is recorded.
    """
    config = stage.project.config
    if config.models.reader is None or not config.send_to_models.paper or not gaps.missing:
        return gaps
    questions = "\n".join(f"{gap.item}: {gap.question}" for gap in gaps.missing)
    desk = replace(reader_desk(stage, task), guard=guard_for(paper, claims))
    shown = blind_paper(paper, claims).text[:LONGEST_PAPER]
    try:
        answers = ask(
            desk,
            step=STEP,
            role="reader",
            prompt="reader-gaps",
            values={
                "questions": Block("questions", questions, "own"),
                "paper": Block("paper", shown, "source"),
            },
            answer_model=Answers,
        )
    except ChatError as error:
        stage.warn("gaps_not_read", f"Gaps are by rules alone, as the reader failed: {error}")
        return gaps
    found, refused = accept(paper, gaps, answers, by=f"model:{desk.model_of('reader')}")
    for sentence in refused:
        stage.warn("answer_refused", sentence)
    return found


def accept(paper: Paper, gaps: Gaps, answers: Answers, *, by: str) -> tuple[Gaps, tuple[str, ...]]:
    """The gaps with what the model found, and why its other answers count for nothing."""
    open_items = {gap.item for gap in gaps.missing}
    stated: dict[str, Span] = {}
    refused = []
    for answer in answers.answers:
        section = place_of(answer.quote, paper)
        if answer.item not in open_items:
            refused.append(f"The reader answers '{answer.item}', which it was not asked.")
        elif section is None:
            refused.append(
                f"The reader's words for '{answer.item}' do not stand in the paper: '{answer.quote}'"
            )
        else:
            quote = " ".join(answer.quote.split())
            span = Span(section=section, text=quote, value=answer.value or None)
            stated.setdefault(answer.item, span)
    items = tuple(_stated(gap, stated.get(gap.item), by) for gap in gaps.items)
    return gaps.model_copy(update={"items": items}), tuple(refused)


def _stated(gap: Gap, span: Span | None, by: str) -> Gap:
    if span is None:
        return gap
    return gap.model_copy(
        update={"status": GapStatus.STATED, "spans": (span,), "why": f"Read by {by}."}
    )
