"""What the planner can decide: a closed set of actions. And what the reader and the judge answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repro_pipeline.bundle.terms import ClaimId, Influence
from repro_pipeline.frozen import Frozen, Slug

Short = Annotated[str, StringConstraints(max_length=300)]
Text = Annotated[str, StringConstraints(max_length=4000)]
Part = Literal["data", "method", "experiment"]


class LookUp(Frozen):
    """Look for something in a cited work, or in a section of the paper."""

    action: Literal["look_up"]
    where: Short
    """The name of a reference's file, or the title of a section."""
    words: Short = ""
    """What to look for; empty: the beginning."""


class Choice(Frozen):
    """Something that the paper leaves unsaid, with what was chosen."""

    id: Slug
    topic: Short
    statement: Text
    value: str | int | float | bool | None = None
    alternatives: Annotated[tuple[str | int | float | bool, ...], Field(max_length=6)] = ()
    influence: Influence = Influence.MEDIUM
    claims: Annotated[tuple[ClaimId, ...], Field(max_length=200)] = ()
    """The claims that it may move; empty: all."""


class Assume(Frozen):
    """Write down what the paper leaves unsaid."""

    action: Literal["assume"]
    choices: Annotated[tuple[Choice, ...], Field(min_length=1, max_length=12)]


class ChangeCode(Frozen):
    """Order a change of the code."""

    action: Literal["change_code"]
    part: Part
    task: Text
    """What is to be there afterwards, tests included."""
    points: Annotated[tuple[Short, ...], Field(max_length=20)] = ()
    """Ids of the paper's points that it is about."""


class RunTests(Frozen):
    """Run the unit tests."""

    action: Literal["run_tests"]


class RunSample(Frozen):
    """Run experiments small, as `sample` in experiment.yaml has it; all where none is named."""

    action: Literal["run_sample"]
    experiments: Annotated[tuple[Slug, ...], Field(max_length=200)] = ()


class RunExperiments(Frozen):
    """Run experiments in full, once, with a development seed."""

    action: Literal["run_experiments"]
    experiments: Annotated[tuple[Slug, ...], Field(min_length=1, max_length=200)]


class Compare(Frozen):
    """Have the paper's points compared with the code, one by one."""

    action: Literal["compare"]


class Stop(Frozen):
    """Stop: the code is complete, or nothing more can be done."""

    action: Literal["stop"]
    complete: bool
    reason: Text


Action = Annotated[
    LookUp | Assume | ChangeCode | RunTests | RunSample | RunExperiments | Compare | Stop,
    Field(discriminator="action"),
]


class Decision(Frozen):
    """What is to be done next, and why."""

    why: Text
    do: Action


class Point(Frozen):
    """One thing that the paper says of how it was done."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,49}$")]
    part: Part
    statement: Text
    quote: Text = ""
    """The paper's words for it."""

    @property
    def in_words(self) -> str:
        """The point with the paper's words for it, as coder and judge are shown it."""
        return f"{self.id}: {self.statement}" + (f' ("{self.quote}")' if self.quote else "")


class Summary(Frozen):
    """What the paper says of data, method and experiments, point by point, and what it leaves unsaid."""

    points: Annotated[tuple[Point, ...], Field(min_length=1, max_length=60)]
    unsaid: Annotated[tuple[Text, ...], Field(max_length=20)] = ()


class PointCheck(Frozen):
    """How the code stands to one point."""

    point: Short
    verdict: Literal["match", "mismatch", "absent", "unclear"]
    where: Short = ""
    note: Annotated[str, StringConstraints(max_length=600)] = ""


class Comparison(Frozen):
    """The points of a paper, compared with the code."""

    points: Annotated[tuple[PointCheck, ...], Field(max_length=60)]
