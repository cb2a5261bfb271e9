"""What a number means and what is assumed, in the terms of `task.yaml`: later rooms add to them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repro_pipeline.frozen import Frozen, Slug

ClaimId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]


class Direction(StrEnum):
    """Which way is better."""

    LOWER = "lower"
    HIGHER = "higher"
    MATCH = "match"


class Statistic(StrEnum):
    """What a reported value is of its runs."""

    MEAN = "mean"
    MEDIAN = "median"
    SD = "sd"
    BEST = "best"
    SINGLE = "single"


class ClaimTerms(Frozen):
    """What a number means, before it is read: who says it of what, and which way is better."""

    id: ClaimId
    metric: str
    dataset: str | None = None
    method: str | None = None
    unit: str | None = None
    direction: Direction = Direction.MATCH
    statistic: Statistic = Statistic.MEAN
    over: str | None = None
    """What the statistic is over: seeds, draws, folds."""
    n_runs: Annotated[int, Field(ge=1)] | None = None
    """How many runs the paper averaged, where it says so."""
    key: bool = False


class Influence(StrEnum):
    """How far an assumption is expected to move the claims."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class AssumptionSource(Frozen):
    """Where an assumption comes from, in the order of trust of the design."""

    kind: Literal[
        "paper", "reference", "reference_code", "framework_default", "convention", "model", "human"
    ]
    reference: str | None = None
    """The key of the reference in the bibliography."""
    file: str | None = None
    """In the bundle's `references/`, or commit:file of a code reference."""
    line: Annotated[int, Field(ge=1)] | None = None
    quote: Annotated[str, StringConstraints(pattern=r"\S")] | None = None
    """The words that say it; they must stand in the file, or in the paper where it is the source."""
    note: str | None = None


class AssumptionGiven(Frozen):
    """An assumption as a person, lineage or a model proposes it."""

    id: Slug
    topic: str
    statement: str
    value: str | int | float | bool | None = None
    alternatives: tuple[str | int | float | bool, ...] = ()
    source: AssumptionSource
    influence: Influence = Influence.MEDIUM
    claims: tuple[ClaimId, ...] = ()
    """The claims that it may move; empty: all."""
    sensitivity: str | None = None
    """The experiment that runs with an alternative."""
