"""What stays open beside the assumptions; references ranked by how much the paper rests on them."""

from __future__ import annotations

from repro_pipeline.bundle.terms import Influence
from repro_pipeline.frozen import Frozen, Slug
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.paper.literature import Brought


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
