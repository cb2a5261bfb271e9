"""The result card as data: numbers that cannot stand without what they were measured under.

Its model refuses a number without definition, a comparison without its conditions, and a card without
a baseline.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from repro_pipeline.bench.model import PublishedNumber
from repro_pipeline.frozen import Frozen, Misfit, Sha256

NOT_MEASURED = "not measured here"


class TaskLine(Frozen):
    """A task, as the card lists it."""

    id: str
    split: str
    kind: str
    difficulty: str
    published: str
    reported_from: str
    """Whether the paper's values were re-read, recalled or constructed."""


class ContestantLine(Frozen):
    """A contestant with all that is to be known of it."""

    name: str
    agent: str
    models: dict[str, str]
    cutoff: str
    conditions: dict[str, str]


class Conditions(Frozen):
    """Under what all numbers of a card were measured."""

    suite: str
    suite_version: str
    suite_content: Sha256
    tasks: Annotated[tuple[TaskLine, ...], Field(min_length=1)]
    contestants: Annotated[tuple[ContestantLine, ...], Field(min_length=1)]
    repeats: int
    budget: dict[str, float]
    limits: dict[str, float | None]
    retries: str
    environment: str
    grader_seeds: int
    judge: str
    scoring_code: Sha256
    program: str
    replayed: int = 0
    """Trials in which recorded sessions answered for the models: their times say nothing."""


class Number(Frozen):
    """One number of the card."""

    contestant: str
    measure: str
    split: Literal["all", "development", "held_out"]
    value: float
    interval: tuple[float, float] | None
    tasks: int
    trials: int
    """Those that the measure could be formed for."""
    of_trials: int = 0
    """All that ended."""
    own_word: bool = False
    """Whether agents said so of themselves, unchecked."""


class Passes(Frozen):
    """pass@k and pass^k of a contestant."""

    contestant: str
    k: int
    at: float
    all: float
    tasks: int


class Comparison(Frozen):
    """Two contestants, held against each other task by task."""

    one: str
    other: str
    measure: str
    difference: float
    interval: tuple[float, float] | None
    p: float | None
    adjusted_p: float | None
    tasks: int
    tests: int
    """How many were made together: the family of the correction."""
    condition: str
    """Under which alone the result holds: `If …`."""
    result: str

    @property
    def statement(self) -> str:
        """In conditional form."""
        return f"{self.condition}: {self.result}"


class Dated(Frozen):
    """A contestant's tasks by their publication against its models' stated knowledge cut-off."""

    contestant: str
    when: Literal[
        "published before the cut-off", "published after the cut-off", "cut-off not stated"
    ]
    tasks: int
    verdict_accuracy: float | None
    remembered: float | None


class TrialLine(Frozen):
    """A trial in one line."""

    task: str
    contestant: str
    repeat: int
    status: str
    reason: str
    integrity: str
    success: bool
    verdict_accuracy: float
    flags: tuple[str, ...]
    unscored: tuple[str, ...] = ()
    """Why align scores are missing that a judge was asked for."""


class Imported(PublishedNumber):
    """Somebody else's number."""

    measured: Literal["not measured here"] = NOT_MEASURED


class Card(Frozen):
    """All of it."""

    report: str
    version: str
    conditions: Conditions
    baselines: Annotated[tuple[str, ...], Field(min_length=1)]
    definitions: Annotated[dict[str, str], Field(min_length=1)]
    statistics: Annotated[dict[str, str], Field(min_length=1)]
    planned: int
    ended: int
    numbers: tuple[Number, ...]
    passes: tuple[Passes, ...]
    comparisons: tuple[Comparison, ...]
    dated: tuple[Dated, ...]
    trials: tuple[TrialLine, ...]
    imported: tuple[Imported, ...] = ()

    @model_validator(mode="after")
    def _all_defined(self) -> Card:
        known = {one.name for one in self.conditions.contestants}
        for position, number in enumerate(self.numbers):
            if number.measure not in self.definitions:
                raise Misfit(
                    f"'{number.measure}' has no definition", "numbers", position, "measure"
                )
            if number.contestant not in known:
                raise Misfit(
                    f"the conditions of '{number.contestant}' are missing",
                    *("numbers", position, "contestant"),
                )
        missing = {"mean", "interval", "comparison", "correction", "pass@k"} - set(self.statistics)
        if missing:
            raise Misfit(f"the definition of {sorted(missing)[0]} is missing", "statistics")
        return self

    def number(self, contestant: str, measure: str, split: str = "all") -> Number | None:
        """A number of the card; None where it could not be formed."""
        return next(
            (
                one
                for one in self.numbers
                if (one.contestant, one.measure, one.split) == (contestant, measure, split)
            ),
            None,
        )
