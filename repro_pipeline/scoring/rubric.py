"""`rubric.yaml`: the thresholds by which evidence becomes scores; versioned by its content."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repro_pipeline.frozen import Frozen
from repro_pipeline.quantities import Fraction, Share

Weight = Annotated[float, Field(ge=0)]


class EnvironmentParityRule(Frozen):
    """Two runs of one configuration and seed differ relatively by less than the threshold."""

    threshold: Fraction = 1e-3
    critical: bool = True
    weight: Weight = 1.0


class MetricParityRule(Frozen):
    """Reproduced and reported values are equivalent within the threshold (relative)."""

    threshold: Fraction = 0.05
    eps: Literal["printed"] | Annotated[float, Field(gt=0)] = "printed"
    """The least denominator: `printed` is half a unit of the last printed digit."""
    critical: bool = True
    key_claims_only: bool = True
    weight: Weight = 1.0


class AblationRule(Frozen):
    """The share of ablations with the paper's sign is at least the threshold."""

    threshold: Share = 0.8
    critical: bool = False
    weight: Weight = 1.0


class LeakageRule(Frozen):
    """No evaluation data in training, no label read, no reported value shown."""

    critical: bool = True
    weight: Weight = 1.0


class Dimensions(Frozen):
    """The four dimensions."""

    environment_parity: EnvironmentParityRule = EnvironmentParityRule()
    metric_parity: MetricParityRule = MetricParityRule()
    ablation_faithful: AblationRule = AblationRule()
    no_leakage: LeakageRule = LeakageRule()


class FalseDiscoveryRule(Frozen):
    """What is asked of all verdicts together: the expected share of wrong ones among the decided."""

    procedure: Literal["benjamini_hochberg", "benjamini_yekutieli", "none"] = "benjamini_hochberg"
    """docs/scoring.md says why Benjamini-Hochberg, and when Benjamini-Yekutieli."""
    level: Fraction = 0.05


class ReviewRates(Frozen):
    """The share of claims that a person reviews."""

    early: Share = 0.25
    stable: Share = 0.12
    anomaly: Share = 0.5


class ReviewRule(Frozen):
    """How claims are sampled for review, and how they are shown."""

    phase: Literal["early", "stable"] = "early"
    """Where it begins; 'early' becomes 'stable' by `stable_after` and `stable_kappa`."""
    rates: ReviewRates = ReviewRates()
    seed: int = 7
    double_blind: bool = True
    """Reviewers see neither scores nor who made what, nor each other's decisions."""
    stable_after: Annotated[int, Field(ge=1)] = 50
    """Claims that at least two people reviewed."""
    stable_kappa: Annotated[float, Field(ge=-1, le=1)] = 0.8
    """The least agreement over them: see `scoring.agreement`."""


class Rubric(Frozen):
    """The whole of `rubric.yaml`."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    dimensions: Dimensions = Dimensions()
    false_discovery: FalseDiscoveryRule = FalseDiscoveryRule()
    review: ReviewRule = ReviewRule()
