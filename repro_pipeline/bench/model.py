"""The files of a suite: `suite.yaml`, and a `truth.yaml` for each task.

What an agent is given (the bundle) and what is known of the task (the truth) never share a file.
"""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from repro_pipeline.bundle.task import Budget
from repro_pipeline.bundle.terms import ClaimId
from repro_pipeline.frozen import Frozen, Misfit, Slug
from repro_pipeline.quantities import Bytes
from repro_pipeline.status import Verdict

Words = Annotated[str, StringConstraints(pattern=r"\S")]
Known = Literal[Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE]


class Kind(StrEnum):
    """What makes a task worth having."""

    EXACT = "exact"
    STOCHASTIC = "stochastic"
    PARTIAL = "partial"
    """Some reported values are not reached by anything that the paper says."""
    UNSAID_PARAMETER = "unsaid_parameter"
    """Something that the paper does not say decides the values."""
    VERSION_TRAP = "version_trap"
    """A library's default changed since the paper."""
    CONTRADICTED = "contradicted"
    """A reported value is wrong."""


class Split(StrEnum):
    """Whether an agent's makers may look at the truth."""

    DEVELOPMENT = "development"
    HELD_OUT = "held_out"


class Reported(StrEnum):
    """Where a reported value was taken from."""

    REREAD = "reread"
    RECALLED = "recalled"
    CONSTRUCTED = "constructed"
    """The task's paper was written for the suite."""


class ClaimTruth(Frozen):
    """What the verified implementation gives for a claim, over `n` seeds, in the claim's unit."""

    claim: ClaimId
    reported: Reported
    mean: float
    sd: Annotated[float, Field(ge=0)]
    """Sample standard deviation over the seeds; 0 where every seed gives the same bits."""
    n: Annotated[int, Field(ge=2)]
    verdict: Known
    """Of the reported value, by these seeds and the standard rubric."""
    why: Words | None = None
    """Why the reported value is not reached; required unless the verdict is `reproduced`."""

    @model_validator(mode="after")
    def _says_why(self) -> ClaimTruth:
        if self.verdict != Verdict.REPRODUCED and self.why is None:
            raise Misfit(f"is missing, as the verdict is {self.verdict}", "why")
        return self


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"is no valid regular expression: {error}") from None
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]


class MissingDetail(Frozen):
    """Something that the paper leaves unsaid and that moves its values."""

    id: Slug
    question: Words
    about: Pattern
    """Found (in any case) in every statement that speaks of it."""
    right: Annotated[tuple[str | int | float | bool, ...], Field(min_length=1)]
    """The fillings that are right; a text is a pattern that the value or the statement must hold."""

    @field_validator("right")
    @classmethod
    def _patterns(cls, right: tuple) -> tuple:
        for one in right:
            if isinstance(one, str):
                _pattern(one)
        return right


class AblationTruth(Frozen):
    """The sign of variant - full, as the verified implementation has it."""

    pair: ClaimId
    sign: Literal[-1, 1]


class Compute(Frozen):
    """What one run of every experiment of the reference takes."""

    cpu_seconds: Annotated[float, Field(gt=0)]
    memory: Bytes
    gpu: bool = False


class Truth(Frozen):
    """The whole of `truth.yaml`."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    kind: Kind
    split: Split
    difficulty: Literal["easy", "medium", "hard"]
    published: date
    licence: Words
    citation: Words
    compute: Compute
    claims: Annotated[tuple[ClaimTruth, ...], Field(min_length=1)]
    missing: tuple[MissingDetail, ...] = ()
    ablations: tuple[AblationTruth, ...] = ()
    notes: str = ""

    @model_validator(mode="after")
    def _once_each(self) -> Truth:
        for field, key in (("claims", "claim"), ("missing", "id"), ("ablations", "pair")):
            seen = set()
            for position, one in enumerate(getattr(self, field)):
                name = getattr(one, key)
                if name in seen:
                    raise Misfit(f"'{name}' stands twice", field, position, key)
                seen.add(name)
        return self

    def of(self, claim: str) -> ClaimTruth:
        """What is known of a claim. Raises KeyError."""
        return {one.claim: one for one in self.claims}[claim]


class PublishedNumber(Frozen):
    """A number that others published: shown for comparison, and always as not measured here."""

    who: Words
    measure: Words
    value: float
    source: Words
    """Where it stands: a citation, with table or page."""
    conditions: Words
    """Of their measurement: tasks, models, budget, grading."""


class SuiteFile(Frozen):
    """The whole of `suite.yaml`."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    name: Slug
    version: Words
    title: Words
    licence: Words
    tasks: Annotated[tuple[Slug, ...], Field(min_length=1)]
    """Folders in `tasks/`."""
    packages: tuple[str, ...]
    """What every agent's code can import."""
    budget: Budget = Budget()
    """Of one trial, where the command line gives none."""
    published: tuple[PublishedNumber, ...] = ()

    @model_validator(mode="after")
    def _once_each(self) -> SuiteFile:
        for position, task in enumerate(self.tasks):
            if task in self.tasks[:position]:
                raise Misfit(f"'{task}' stands twice", "tasks", position)
        return self
