"""Ask a judge how far code does what a paper and its reference code say, and check what it quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from repro_pipeline.asking.prompt import Block
from repro_pipeline.asking.questions import Asks, shown
from repro_pipeline.errors import UserError
from repro_pipeline.evidence.alignment import (
    SCALES,
    Alignment,
    Checked,
    Judgement,
    KeyPoint,
    Level,
    LevelEvidence,
)
from repro_pipeline.evidence.spans import code_fault, text_fault
from repro_pipeline.frozen import Frozen

SAMPLES = 3
"""Judgements of each level, so that their agreement can be told."""
SHOWN = 120_000
"""Characters of code, or of the paper, in one question."""


class Points(Frozen):
    """The key points of a level."""

    points: tuple[KeyPoint, ...]


class Sample(Frozen):
    """One judgement of every key point."""

    judgements: Annotated[tuple[Judgement, ...], Field(max_length=10)]


def gather_alignment(
    ask: Asks,
    paper: str,
    code: Mapping[str, str],
    reference: Mapping[str, str] | None = None,
    *,
    samples: int = SAMPLES,
) -> Alignment:
    """The judge's answers at the three levels: at most 3 * (1 + samples) questions.

    `paper` is the paper's text as a model may see it, `code` the judged code, `reference` the
    authors' code where it is known and another one; without it two levels are not asked. A question
    without an answer, for want of a model or of budget, ends what is asked, and is said.
    """
    found, ended = [], None
    for level in Level:
        if level is not Level.PAPER and not reference:
            why = "There is no reference code beside the judged code."
            found.append(LevelEvidence(level=level, stopped=why))
        elif ended:
            found.append(LevelEvidence(level=level, wanted=samples, stopped=ended))
        else:
            one = _level(level, ask, paper, code, reference or {}, samples)
            ended = one.stopped
            found.append(one)
    return Alignment(levels=tuple(found))


def _level(
    level: Level,
    ask: Asks,
    paper: str,
    code: Mapping[str, str],
    reference: Mapping[str, str],
    samples: int,
) -> LevelEvidence:
    points: tuple[KeyPoint, ...] = ()
    judged: list[tuple[Checked, ...]] = []
    stopped = None
    about = paper[:SHOWN]
    text, left_out = shown(code, about, SHOWN)
    try:
        points = _points(level, ask, about, reference)
        statements = "\n".join(f"{n}. {p.statement}" for n, p in enumerate(points, start=1))
        for _ in range(samples):
            sample = ask(
                prompt="judge-align",
                values={
                    "count": str(len(points)),
                    "worth": str(SCALES[level].worth),
                    "points": Block("key points", statements, "own"),
                    "code": Block("code", text, "own"),
                },
                answer_model=Sample,
                check=lambda answer: sample_fault(answer, level),
            )
            judged.append(tuple(_checked(one, code) for one in sample.judgements))
    except UserError as error:
        stopped = f"Asking stopped: {error.what}"
    return LevelEvidence(
        level=level,
        points=points,
        samples=tuple(judged),
        wanted=samples,
        left_out=left_out,
        stopped=stopped,
    )


def _points(
    level: Level, ask: Asks, paper: str, reference: Mapping[str, str]
) -> tuple[KeyPoint, ...]:
    text, _ = shown(reference, paper, SHOWN)
    seen = {
        "paper": paper if level is not Level.CODE else "(not shown at this level)",
        "reference": text if level is not Level.PAPER else "(not shown at this level)",
    }
    answer = ask(
        prompt="judge-points",
        values={
            "count": str(SCALES[level].points),
            "paper": Block("paper", seen["paper"], "source"),
            "reference": Block("reference code", seen["reference"], "source"),
        },
        answer_model=Points,
        check=lambda answer: points_fault(answer, level, paper, reference),
    )
    return answer.points


def points_fault(
    answer: Points, level: Level, paper: str, reference: Mapping[str, str]
) -> str | None:
    """What is wrong with key points: their number, or a quote that does not stand in its source."""
    if len(answer.points) != SCALES[level].points:
        return f"there must be {SCALES[level].points} points, not {len(answer.points)}"
    for n, point in enumerate(answer.points, start=1):
        if level is not Level.CODE and (fault := text_fault(point.paper_quote, paper, "the paper")):
            return f"point {n}: {fault}"
        if level is not Level.PAPER:
            fault = "no reference" if point.reference is None else None
            if fault := fault or code_fault(point.reference, reference):
                return f"point {n}: {fault}"
    return None


def sample_fault(answer: Sample, level: Level) -> str | None:
    """What is wrong with a sample as a whole: points missing, twice, or above what they are worth."""
    scale = SCALES[level]
    if sorted(one.point for one in answer.judgements) != list(range(1, scale.points + 1)):
        return f"each of the points 1 to {scale.points} needs one judgement"
    above = [one.point for one in answer.judgements if one.points > scale.worth]
    return f"point {above[0]} has more than {scale.worth} points" if above else None


def _checked(judgement: Judgement, code: Mapping[str, str]) -> Checked:
    """A judgement that gives points needs a quote that stands in the code."""
    faults = [code_fault(span, code) for span in judgement.evidence]
    if judgement.points == 0 or None in faults:
        return Checked(judgement=judgement)
    return Checked(judgement=judgement, fault=next(iter(faults), "no lines of the code are given"))
