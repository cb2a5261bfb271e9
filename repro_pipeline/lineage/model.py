"""Assumptions and their sources; references ranked by how much the paper rests on them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repro_pipeline.claims.model import ClaimId
from repro_pipeline.frozen import Frozen, Sha256, Slug
from repro_pipeline.lineage.literature import Brought


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


class Candidate(Frozen):
    """What a source says of something that the paper leaves unsaid."""

    value: str | int | float | bool
    """Read from the source; its words, where no single value is to be read from them."""
    source: AssumptionSource


class Assumption(AssumptionGiven):
    """An assumption in the ledger."""

    proposed_by: str
    source_found: bool | None = None
    """Whether the quote stands in the named file, or in the paper; None where there is none of it."""
    candidates: tuple[Candidate, ...] = ()
    """All that was found by mining, the most trusted first: the chosen one, and what it stands against."""
    why: str = ""
    """Why this value was chosen, by mining or by a person."""
    replaces: Sha256 | None = None
    """Of a person's choice: digest of what `task.yaml` said of it then."""


class OpenGap(Frozen):
    """What the paper leaves unsaid and no assumption fills."""

    item: Slug
    """Of the checklist."""
    question: str
    influence: Influence


class RankedReference(Frozen):
    """A cited work, and why it matters for reproducing this paper."""

    key: str
    title: str | None
    score: float
    reasons: tuple[str, ...]
    local_file: str | None = None
    """The file of the bundle's `references/` that holds it."""


class Lineage(Frozen):
    """The references by rank, and what of them could be read."""

    ranked: tuple[RankedReference, ...]
    unread: tuple[str, ...] = ()
    """Keys of highly ranked references for which no text was at hand."""
    brought: tuple[Brought, ...] = ()
    """What came of looking for those, where `literature` stands in repro.yaml."""


class AssumptionLedger(Frozen):
    """The assumptions as they stood before anything was implemented."""

    assumptions: tuple[Assumption, ...]
    gaps: tuple[OpenGap, ...] = ()
    """What the checklist's rules find unsaid and no source says, the most influential first."""
    contradictions: tuple[str, ...] = ()
    """What the paper says in two ways, in sentences."""
    warnings: tuple[str, ...] = ()
