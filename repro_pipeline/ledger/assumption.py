"""Assumptions as they stand in the ledger."""

from __future__ import annotations

from repro_pipeline.bundle.terms import AssumptionGiven, AssumptionSource
from repro_pipeline.frozen import Frozen, Sha256


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
