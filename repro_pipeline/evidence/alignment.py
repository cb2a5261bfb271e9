"""What a judge says of how far code does what a paper, or reference code, says: evidence, no score."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from repro_pipeline.evidence.spans import CodeSpan
from repro_pipeline.frozen import Frozen


class Level(StrEnum):
    """What the key points are taken from."""

    PAPER = "paper"
    CODE = "code"
    """The reference code."""
    MIXED = "mixed"
    """Both."""


@dataclass(frozen=True)
class Scale:
    """How many key points a level has, and what each is worth."""

    points: int
    worth: int


SCALES = {Level.PAPER: Scale(5, 20), Level.CODE: Scale(4, 25), Level.MIXED: Scale(5, 20)}
"""As AutoReproduce has them (Zhao et al. 2025); each level sums to 100."""


class KeyPoint(Frozen):
    """Something that the code must do; the evidence comes first."""

    paper_quote: str = ""
    """Where the paper says it."""
    reference: CodeSpan | None = None
    """Where the reference code does it."""
    statement: Annotated[str, Field(min_length=1, max_length=2000)]


class Judgement(Frozen):
    """What one sample of the judge says of one key point; the evidence comes first."""

    point: Annotated[int, Field(ge=1)]
    evidence: Annotated[tuple[CodeSpan, ...], Field(max_length=6)]
    """Where the judged code does it."""
    reasoning: Annotated[str, Field(max_length=2000)]
    points: Annotated[int, Field(ge=0, le=25)]


class Checked(Frozen):
    """A judgement, and why it is void, where it is."""

    judgement: Judgement
    fault: str | None = None


class LevelEvidence(Frozen):
    """All that was asked and answered for one level."""

    level: Level
    points: tuple[KeyPoint, ...] = ()
    samples: tuple[tuple[Checked, ...], ...] = ()
    wanted: int = 0
    """Samples that were to be had."""
    left_out: tuple[str, ...] = ()
    """Files that the judge was not shown, for their length."""
    stopped: str | None = None
    """Why there is no answer, or why there are fewer samples than wanted."""


class Alignment(Frozen):
    """The judge's answers at every level."""

    levels: tuple[LevelEvidence, ...]
