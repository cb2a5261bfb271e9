"""Claims: the numbers of a paper that are to be reproduced, and the pairs that form its ablations."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from repro_pipeline.bundle.terms import ClaimId, ClaimTerms
from repro_pipeline.frozen import Frozen
from repro_pipeline.paper.address import Address
from repro_pipeline.paper.model import Provenance


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
