"""What scoring says: verdicts, dimensions, the review sample."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from repro_pipeline.findings import Finding
from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ledger.events import ReviewDecided
from repro_pipeline.ledger.runs import ValueSource
from repro_pipeline.status import Outcome, Sign, Verdict


class Measure(Frozen):
    """A number about the whole paper, with its definition: shown, and deciding nothing."""

    id: str
    label: str
    value: float | None
    """None: not scored, which is no 0."""
    evidence: str
    """What it was formed of, or why it was not scored."""
    definition: str
    """Formula and source."""
    change: str
    """What would change it."""


class FalseDiscovery(Frozen):
    """What control of the false-discovery rate leaves of the verdicts."""

    procedure: Literal["benjamini_yekutieli", "benjamini_hochberg", "none"]
    level: float
    family: int
    """Claims that share the error: those with a reported number, but for deterministic ones."""
    reproduced: int
    """Verdicts of that name that stand."""
    not_reproduced: int
    sentence: str


class ClaimVerdict(Frozen):
    """What is known of one claim, with the numbers that say so. All values in the claim's unit."""

    claim: str
    verdict: Verdict
    reason: str
    """The verdict's reason in a sentence."""
    reported: float | None
    n: int
    """Evaluation seeds whose run gave a value."""
    planned: int
    """Evaluation seeds that should have."""
    missing: tuple[str, ...] = ()
    """Why the planned seeds without a value have none, a reason each."""
    value: float | None
    """The claim's statistic over the seeds' values."""
    mean: float | None
    sd: float | None
    """Sample standard deviation over seeds; None for n < 2."""
    interval90: tuple[float, float] | None
    """The interval of `value` that the verdict rests on; of one further run for a single run."""
    interval95: tuple[float, float] | None
    tolerance: tuple[float, float] | None = None
    """The values that count as the reported one: the zone that the interval is held against."""
    prediction95: tuple[float, float] | None
    """CORE-Bench: mean ± t(n-1) sd sqrt(1 + 1/n)."""
    reported_in_prediction95: bool | None = None
    """Whether the printed value, anywhere within its rounding, lies in `prediction95`."""
    reported_interval95: tuple[float, float] | None = None
    """By the paper's own uncertainty, where it says of what kind that is."""
    relative_error: float | None
    """|value - reported| / max(|reported|, eps)."""
    within_threshold: bool | None
    """The point rule: relative error at most the threshold, or agreement at printed precision."""
    agrees_at_printed_precision: bool
    """The value rounds to the printed digits."""
    deterministic: bool
    """At least two seeds, or the repetitions of unseeded code, all gave the same bits: the same value,
    and the same predictions or other files."""
    tied: bool = False
    """They all gave the same value, but are not known to have left the same: it may be chance."""
    better_than_reported: bool
    """The value lies beyond the tolerance on the better side."""
    seeds_to_decide: int | None
    """How many seeds in all should decide an inconclusive verdict, at the observed value and
    spread; None where no practical number would, or where nothing is known of the spread."""
    seconds_to_decide: float | None
    """What the seeds still missing would cost, by the runs' own time."""
    unit_error: float | None = None
    """A factor (100, 1000, 1/100, …) that would explain the difference."""
    source: ValueSource | None
    values: dict[str, float]
    """Value per seed."""
    relative_gap: float | None = None
    """|value - reported| / |reported|, without any eps; None where 0 is reported."""
    performance_gap: float | None = None
    """AutoReproduce: |value - reported| / max(|value|, |reported|), a seed without a value counting
    100 %."""
    performance_gap_executed: float | None = None
    """The same over the seeds that gave a value; None where none did."""
    p_equivalence: float | None = None
    """Of the two one-sided tests for `reproduced`; None where no test applies."""
    p_difference: float | None = None
    """Of the test for `not_reproduced`: the smaller one of both sides."""
    adjusted_p_equivalence: float | None = None
    """After false-discovery control over all claims, by the rubric's procedure."""
    adjusted_p_difference: float | None = None
    stands: bool | None = None
    """Whether a decided verdict stands after that control; one without sampling error always does.
    None where nothing is decided or controlled."""


class PairResult(Frozen):
    """An ablation or comparison: what the paper asserts, and what the runs say."""

    pair: str
    kind: Literal["ablation", "comparison"]
    sign: Sign
    reason: str
    expected_difference: float | None
    difference: float | None
    """Mean over seeds of variant - full, paired by seed."""
    interval95: tuple[float, float] | None
    n: int
    differences: dict[str, float]
    """Difference per seed: the raw values are kept."""


class Check(Frozen):
    """One check of a dimension."""

    id: str
    outcome: Outcome
    sentence: str
    """What was checked, what was found, against which threshold."""


class DimensionScore(Frozen):
    """One dimension: what its checks make of it, and what would change it."""

    id: Literal["environment_parity", "metric_parity", "ablation_faithful", "no_leakage"]
    outcome: Outcome
    critical: bool
    value: float | None
    """The number held against the threshold, where there is one."""
    threshold: float | None
    sentence: str
    checks: tuple[Check, ...]


class IntegrityStatus(StrEnum):
    """Whether the values can be believed."""

    CLEAN = "clean"
    UNVERIFIED = "unverified"
    SUSPECT = "suspect"
    VIOLATION = "violation"


class Scores(Frozen):
    """All that a rubric makes of the evidence."""

    paper: str
    mode: Literal["code", "agent"]
    rubric: Sha256
    evidence: Sha256
    overall: Outcome
    headline: str
    """One sentence: reproduced / all claims, and what stands in the way."""
    verdicts: tuple[ClaimVerdict, ...]
    pairs: tuple[PairResult, ...]
    dimensions: tuple[DimensionScore, ...]
    integrity: IntegrityStatus
    findings: tuple[Finding, ...]
    score: float | None
    """Weighted share of passed dimensions among those that apply; never the verdict."""
    false_discovery: FalseDiscovery | None = None
    measures: tuple[Measure, ...] = ()


class ReviewItem(Frozen):
    """A claim that was drawn for review, and what people decided."""

    claim: str
    rate: float
    why: str
    decisions: tuple[ReviewDecided, ...] = ()
    """One per reviewer, in order."""

    @property
    def verdict(self) -> Verdict | None:
        """The reviewers' verdict: inconclusive where they differ, None before the first decision."""
        found = {REVIEWED[made.decision] for made in self.decisions}
        return found.pop() if len(found) == 1 else Verdict.INCONCLUSIVE if found else None


REVIEWED = {
    "confirmed": Verdict.REPRODUCED,
    "overturned": Verdict.NOT_REPRODUCED,
    "unclear": Verdict.INCONCLUSIVE,
}
"""What a decision on a claim means as its verdict."""


class ReviewQueue(Frozen):
    """The claims that a person should look at, drawn by the rubric's seed."""

    items: tuple[ReviewItem, ...]
    sampled_from: int
    seed: int
    phase: Literal["early", "stable"] = "early"
