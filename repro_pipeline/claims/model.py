"""Claims: the numbers of a paper that are to be reproduced, and the pairs that form its ablations."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repro_pipeline.frozen import Frozen
from repro_pipeline.paper.address import Address
from repro_pipeline.paper.model import Provenance

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


class Claim(ClaimTerms):
    """One reported number, with all that is needed to judge a reproduced one."""

    value: float | None
    """The reported value in `unit`; None for a claim without a number."""
    quantum: float | None = None
    """One unit of the last printed digit of the value."""
    uncertainty: float | None = None
    uncertainty_kind: Literal["sd", "se", "ci", "unstated"] | None = None
    address: Address
    text: str = ""
    """The number as printed."""
    provenance: Provenance | None = None


class PairKind(StrEnum):
    """An ablation counts in the rubric; a comparison between methods is shown beside it."""

    ABLATION = "ablation"
    COMPARISON = "comparison"


class ClaimPair(Frozen):
    """Two claims whose difference the paper asserts: `variant` against `full`."""

    id: ClaimId
    kind: PairKind
    full: ClaimId
    variant: ClaimId
    expected_sign: Literal[-1, 1] | None
    """Sign of variant - full; None where the pair is excluded."""
    expected_difference: float | None = None
    """variant - full, in the claims' unit."""
    excluded: str | None = None
    """Why the pair takes no part in the ratio: the printed difference lies within rounding."""


class ReportedClaims(Frozen):
    """All claims of a paper, frozen before anything is implemented."""

    claims: tuple[Claim, ...]
    pairs: tuple[ClaimPair, ...] = ()
    main: ClaimId
    proposed_by: str
    """Who chose the claims: `task.yaml`, or a model's name."""

    def claim(self, claim_id: str) -> Claim:
        """The claim of that id. Raises KeyError."""
        return {claim.id: claim for claim in self.claims}[claim_id]

    @property
    def key_claims(self) -> tuple[Claim, ...]:
        """The key claims; all claims where none is marked."""
        return tuple(claim for claim in self.claims if claim.key) or self.claims
