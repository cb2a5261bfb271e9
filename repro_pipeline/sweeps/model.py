"""What a sweep leaves of a paper."""

from __future__ import annotations

from typing import Literal

from repro_pipeline.environment.model import EnvironmentLock, Fingerprint
from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ledger.runs import Run
from repro_pipeline.scoring.model import ClaimVerdict


class PackageChange(Frozen):
    """A package that is another, or is there on one side alone."""

    name: str
    before: str | None
    after: str | None


class ClaimComparison(Frozen):
    """One claim, then and now."""

    claim: str
    before: str
    """The conclusion that stood: a verdict."""
    after: str
    same: bool
    """Whether the conclusion is the same."""
    difference: float | None
    """Mean now - mean before, in the claim's unit; None where one side has no value."""
    p: float | None
    """Of Welch's test that both samples have one mean; None where it does not apply."""
    adjusted_p: float | None
    """After Benjamini-Hochberg over the paper's claims."""
    because: Literal["same", "seed_noise", "dependencies", "host", "missing_runs", "unexplained"]
    sentence: str


class SweepResult(Frozen):
    """One paper in one sweep."""

    paper: str
    number: int
    fresh_dependencies: bool
    evidence: Sha256
    """Of the reproduction that it is held against."""
    rubric: Sha256
    seeds: tuple[int | None, ...]
    lock: EnvironmentLock
    fingerprint: Fingerprint
    packages: tuple[PackageChange, ...]
    """Against the environment of the reproduction."""
    runs: tuple[Run, ...]
    verdicts: tuple[ClaimVerdict, ...]
    comparisons: tuple[ClaimComparison, ...]
    sentence: str

    @property
    def changed(self) -> tuple[str, ...]:
        """The claims with another conclusion."""
        return tuple(one.claim for one in self.comparisons if not one.same)
