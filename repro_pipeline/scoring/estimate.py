"""A claim's statistic over seeds, with its intervals: mean, median, best, sd, or one single run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from repro_pipeline import statistics
from repro_pipeline.bundle.terms import Direction, Statistic
from repro_pipeline.claims.model import Claim
from repro_pipeline.statistics import Interval


@dataclass(frozen=True)
class Estimate:
    """A claim's statistic with its intervals; `why_none` where it cannot be formed."""

    statistic: Statistic
    value: float | None = None
    interval90: Interval | None = None
    interval95: Interval | None = None
    prediction95: Interval | None = None
    half_width: Callable[[int], float] | None = None
    """Of the 90 % interval, for that many seeds."""
    confidence: Callable[[float], float] | None = None
    """The one-sided p-value of 'at most this'; its 5 % and 95 % quantiles are the 90 % interval."""
    why_none: str = ""


def estimate(claim: Claim, sample: tuple[float, ...], *, fixed: bool, tied: int = 0) -> Estimate:
    """The claim's statistic over a sample of finite values.

    `fixed` says there is no spread; `tied`, that so many runs gave the same value by what may be chance.
    """
    statistic = over_seeds(claim)
    n = len(sample)
    if not sample:
        return Estimate(statistic)
    if statistic is Statistic.SD and n < 2:
        return Estimate(statistic, why_none="a standard deviation needs at least two seeds")
    if statistic is Statistic.BEST and n > 1 and claim.direction is Direction.MATCH:
        return Estimate(statistic, why_none="the best cannot be told without a direction")
    value = _point(claim, statistic, sample)
    if fixed:
        point = (value, value)
        return Estimate(statistic, value, point, point, point)
    if tied:
        return _tied(claim, statistic, value, sample, tied)
    interval90 = _interval(claim, statistic, sample, 0.9)
    return Estimate(
        statistic,
        value,
        interval90,
        _interval(claim, statistic, sample, 0.95),
        statistics.prediction_interval(sample, 0.95),
        _half_width(statistic, sample, value, interval90),
        None if interval90 is None else _confidence(claim, statistic, sample),
    )


def tie_grain(claim: Claim, value: float) -> float:
    """The coarsest step on which a claim's value can lie, in the claim's unit."""
    return statistics.grain(value, 100.0 if claim.unit in {"percent", "%"} else 1.0)


def _tied(
    claim: Claim, statistic: Statistic, value: float, sample: tuple[float, ...], runs: int
) -> Estimate:
    """Equal values of runs that differ: the spread hides below the value's grain, and is not none."""
    step = tie_grain(claim, sample[0])
    further = statistic not in {Statistic.MEAN, Statistic.MEDIAN}

    def half(runs: int, level: float) -> float:
        return step * (statistics.tied_shift(runs, level) + further)

    narrow, wide = half(runs, 0.9), half(runs, 0.95)
    return Estimate(
        statistic,
        value,
        (value - narrow, value + narrow),
        (value - wide, value + wide),
        statistics.prediction_interval(sample, 0.95),
        lambda k: half(k, 0.9),
        lambda bound: statistics.tied_confidence(value, step, runs, bound, further=further),
    )


def over_seeds(claim: Claim) -> Statistic:
    """What is formed over seeds: a statistic over draws or folds is formed inside each run."""
    over = (claim.over or "seeds").lower()
    return claim.statistic if over in {"seeds", "seed", "runs", "run"} else Statistic.MEAN


def _point(claim: Claim, statistic: Statistic, sample: tuple[float, ...]) -> float:
    match statistic:
        case Statistic.MEDIAN:
            return statistics.median(sample)
        case Statistic.SD:
            return statistics.sample_sd(sample)
        case Statistic.BEST:
            return statistics.best_of(sample, _best_runs(claim, sample), higher=_higher(claim))
        case _:
            return statistics.mean(sample)


def _interval(
    claim: Claim, statistic: Statistic, sample: tuple[float, ...], level: float
) -> Interval | None:
    match statistic:
        case Statistic.MEDIAN:
            return statistics.median_interval(sample, level)
        case Statistic.SD:
            return statistics.sd_interval(sample, level)
        case Statistic.BEST:
            runs = _best_runs(claim, sample)
            return statistics.best_interval(sample, level, runs=runs, higher=_higher(claim))
        case Statistic.SINGLE:
            # The reported value is itself one draw: it is compared with one further run of ours.
            return statistics.prediction_interval(sample, level)
        case _:
            return statistics.t_interval(sample, level)


def _confidence(
    claim: Claim, statistic: Statistic, sample: tuple[float, ...]
) -> Callable[[float], float]:
    match statistic:
        case Statistic.MEDIAN:
            return lambda bound: statistics.median_confidence(sample, bound)
        case Statistic.SD:
            return lambda bound: statistics.sd_confidence(sample, bound)
        case Statistic.BEST:
            runs, higher = _best_runs(claim, sample), _higher(claim)
            return lambda bound: statistics.best_confidence(sample, bound, runs=runs, higher=higher)
        case _:
            further = statistic is Statistic.SINGLE
            return lambda bound: statistics.t_confidence(sample, bound, further=further)


def _half_width(
    statistic: Statistic, sample: tuple[float, ...], value: float, interval: Interval | None
) -> Callable[[int], float] | None:
    if interval is None:
        return None
    n, sd = len(sample), statistics.sample_sd(sample)
    if statistic is Statistic.MEAN:
        return lambda k: statistics.t_quantile(0.95, k - 1) * sd / math.sqrt(k)
    if statistic is Statistic.SINGLE:
        return lambda k: statistics.t_quantile(0.95, k - 1) * sd * math.sqrt(1 + 1 / k)
    wider = max(value - interval[0], interval[1] - value)
    return lambda k: wider * math.sqrt(n / k)


def _best_runs(claim: Claim, sample: tuple[float, ...]) -> int:
    return min(claim.n_runs or len(sample), len(sample))


def _higher(claim: Claim) -> bool:
    return claim.direction is Direction.HIGHER
