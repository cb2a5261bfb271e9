"""`rubric.yaml`: the thresholds by which evidence becomes scores; versioned by its content."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repro_pipeline.frozen import Frozen

Rate = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0)]


class EnvironmentParityRule(Frozen):
    """Two runs of one configuration and seed differ relatively by less than the threshold."""

    threshold: Annotated[float, Field(gt=0)] = 1e-3
    critical: bool = True
    weight: Weight = 1.0


class MetricParityRule(Frozen):
    """Reproduced and reported values are equivalent within the threshold (relative)."""

    threshold: Annotated[float, Field(gt=0)] = 0.05
    eps: Literal["printed"] | Annotated[float, Field(gt=0)] = "printed"
    """The least denominator: `printed` is half a unit of the last printed digit."""
    critical: bool = True
    key_claims_only: bool = True
    weight: Weight = 1.0


class AblationRule(Frozen):
    """The share of ablations with the paper's sign is at least the threshold."""

    threshold: Rate = 0.8
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


class ReviewRates(Frozen):
    """The share of claims that a person reviews."""

    early: Rate = 0.25
    stable: Rate = 0.12
    anomaly: Rate = 0.5


class ReviewRule(Frozen):
    """How claims are sampled for review. 'early' becomes 'stable' after 50 reviews, kappa >= 0.8."""

    phase: Literal["early", "stable"] = "early"
    rates: ReviewRates = ReviewRates()
    seed: int = 7


class Rubric(Frozen):
    """The whole of `rubric.yaml`."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    dimensions: Dimensions = Dimensions()
    review: ReviewRule = ReviewRule()
