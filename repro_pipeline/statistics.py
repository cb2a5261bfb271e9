"""What a handful of runs says: statistics over seeds, and intervals that hold at n = 3, 5, 10.

Every function is pure, gives the same result in any order of the values, and treats values that are
equal to the last bit as having no spread at all. Values are finite and smaller than 1e150 in size.

The mean has Student's interval. The median, the best and the standard deviation have the interval of
a studentised parametric bootstrap: the pivot's distribution is that of normal samples, so it is
exact for normal values at any n. The percentile and BCa bootstraps resample the values themselves;
with so few they cover far less than they promise (docs/scoring.md has the numbers).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

Interval = tuple[float, float]
Key = TypeVar("Key", bound=Hashable)

_DRAWS = 100_000
_SAME_NUMBER = Fraction(1, 10**12)
"""Relative: closer than this, a float is the fraction k/q."""
_MOST_NUMBERS = 5_000_000
MOST_SEEDS = 10_000
"""Where more seeds than this would be needed, no practical number is."""


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; the value itself where all are equal. Raises ValueError for none."""
    if not values:
        raise ValueError("the mean of no values")
    if constant(values):
        return values[0]
    return math.fsum(values) / len(values)


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two. Raises ValueError for none."""
    if not values:
        raise ValueError("the median of no values")
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else mean(ordered[half - 1 : half + 1])


def sample_sd(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1); None for fewer than two values."""
    if len(values) < 2:
        return None
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def best_of(values: Sequence[float], runs: int, *, higher: bool) -> float:
    """The best of `runs` runs to be expected: the mean of the best over all subsets of that size.

    With `runs` = n it is the best value itself. So a larger n makes the estimate better, not higher.
    Raises ValueError unless 1 <= runs <= n.
    """
    if not 1 <= runs <= len(values):
        raise ValueError(f"the best of {runs} runs cannot be told from {len(values)}")
    if constant(values):
        return values[0]
    ordered = sorted(values, reverse=not higher)
    return math.fsum(w * v for w, v in zip(_best_weights(len(values), runs), ordered, strict=True))


def constant(values: Sequence[float]) -> bool:
    """Whether all values are equal to the last bit."""
    return all(value == values[0] for value in values)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def t_interval(values: Sequence[float], level: float) -> Interval | None:
    """Mean ± t(n-1) sd / sqrt(n); None for fewer than two values."""
    return _around_mean(values, level, math.sqrt(1 / len(values))) if len(values) > 1 else None


def prediction_interval(values: Sequence[float], level: float = 0.95) -> Interval | None:
    """Where one further run should fall: mean ± t(n-1) sd sqrt(1 + 1/n) (CORE-Bench, section 3.3).

    None for fewer than two values.
    """
    return _around_mean(values, level, math.sqrt(1 + 1 / len(values))) if len(values) > 1 else None


def median_interval(values: Sequence[float], level: float) -> Interval | None:
    """Studentised bootstrap interval of the median; None for fewer than two values."""
    if len(values) < 2:
        return None
    return _from_pivot(values, median(values), _median_pivot(len(values), level))


def best_interval(
    values: Sequence[float], level: float, *, runs: int, higher: bool
) -> Interval | None:
    """Studentised bootstrap interval of the expected best of `runs`; None for fewer than two values."""
    if len(values) < 2:
        return None
    low, high = _best_pivot(len(values), runs, level)
    pivot = (low, high) if higher else (-high, -low)
    return _from_pivot(values, best_of(values, runs, higher=higher), pivot)


def sd_interval(values: Sequence[float], level: float) -> Interval | None:
    """The interval of the standard deviation by chi-square(n-1); None for fewer than two values.

    It is the limit of the parametric bootstrap, and as sensitive to heavy tails as that.
    """
    from scipy.special import chdtri

    sd = sample_sd(values)
    if sd is None:
        return None
    degrees = len(values) - 1
    tail = (1 - level) / 2
    # chdtri inverts the upper tail, so the smaller probability gives the larger quantile.
    return (
        sd * math.sqrt(degrees / float(chdtri(degrees, tail))),
        sd * math.sqrt(degrees / float(chdtri(degrees, 1 - tail))),
    )


def t_confidence(values: Sequence[float], bound: float, *, further: bool = False) -> float:
    """The one-sided p-value of 'the mean is at most the bound', by Student's t.

    As a function of the bound it rises from 0 to 1, and its quantiles are the ends of `t_interval`
    (of `prediction_interval`, with `further`: then it speaks of one further run). Needs two values.
    """
    from scipy.special import stdtr

    n = len(values)
    scale = sample_sd(values) * math.sqrt(1 / n + (1 if further else 0))
    return _limit(bound, mean(values), scale, lambda z: float(stdtr(n - 1, z)))


def median_confidence(values: Sequence[float], bound: float) -> float:
    """Like `t_confidence`, of the median: its quantiles are the ends of `median_interval`."""
    pivot = _median_draws(len(values))
    return _limit(bound, median(values), sample_sd(values), lambda z: _share_above(pivot, -z))


def best_confidence(values: Sequence[float], bound: float, *, runs: int, higher: bool) -> float:
    """Like `t_confidence`, of the expected best of `runs`: its quantiles end `best_interval`."""
    pivot = _best_draws(len(values), runs)
    estimate = best_of(values, runs, higher=higher)

    def share(z: float) -> float:
        return _share_above(pivot, -z) if higher else 1 - _share_above(pivot, z)

    return _limit(bound, estimate, sample_sd(values), share)


def sd_confidence(values: Sequence[float], bound: float) -> float:
    """Like `t_confidence`, of the standard deviation: its quantiles are the ends of `sd_interval`."""
    from scipy.special import chdtrc

    degrees = len(values) - 1
    return float(chdtrc(degrees, degrees * (sample_sd(values) / bound) ** 2)) if bound > 0 else 0.0


def grain(value: float, scale: float = 1.0) -> float:
    """The coarsest step on which a value can lie: scale / q, where value / scale is k/q in lowest terms.

    A share of n rows, a mean of such, or a rounded number lies on a grid of steps scale / n with n a
    multiple of q, so its true grain is at most this, whatever n is. A value with all its digits has a
    grain of next to nothing. `scale` is 100 for per cent.
    """
    exact = abs(Fraction(value) / Fraction(scale))
    rest, (p, q), (p_before, q_before) = exact, (1, 0), (0, 1)
    while True:  # the convergents of the continued fraction: the last one is the value itself
        whole = math.floor(rest)
        (p, p_before), (q, q_before) = (whole * p + p_before, p), (whole * q + q_before, q)
        if abs(Fraction(p, q) - exact) <= _SAME_NUMBER * exact:
            return float(Fraction(scale) / q)
        rest = 1 / (rest - whole)


def tied_shift(runs: int, level: float) -> float:
    """How many grains the mean may lie off a value that all runs have in common, on either side.

    A mean d grains off needs runs that move by a grain with a chance of at least d (larger moves are
    left out). Seen none among n, that chance is at most 1 - a^(1/n) at confidence 1 - a: the exact
    binomial limit (Clopper & Pearson 1934), a = (1 - level) / 2 for each side.
    """
    return 1 - ((1 - level) / 2) ** (1 / runs)


def tied_confidence(
    value: float, step: float, runs: int, bound: float, *, further: bool = False
) -> float:
    """Like `t_confidence`, where all runs gave `value`, known to a grain of `step`.

    Its quantiles are the value -+ `tied_shift` grains; with `further`, one grain more: a further run
    moves by one.
    """
    off = max(0.0, abs(bound - value) / step - further)
    chance = min(0.5, max(0.0, 1 - off) ** runs)
    return 1 - chance if bound > value else chance


def paired_differences(full: Mapping[Key, float], variant: Mapping[Key, float]) -> dict[Key, float]:
    """variant - full for every seed that both have, in the order of `full`."""
    return {seed: variant[seed] - full[seed] for seed in full if seed in variant}


def seeds_to_reach(half_width: Callable[[int], float], distance: float, n: int) -> int | None:
    """The least number of seeds in all, above `n`, whose half-width is at most `distance`.

    `half_width` must not grow with its argument. None where MOST_SEEDS are too few.
    """
    low, high = n, MOST_SEEDS
    if high <= low or half_width(high) > distance:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(middle) <= distance else (middle, high)
    return high


def _around_mean(values: Sequence[float], level: float, factor: float) -> Interval:
    half = t_quantile((1 + level) / 2, len(values) - 1) * sample_sd(values) * factor
    return mean(values) - half, mean(values) + half


def _from_pivot(values: Sequence[float], estimate: float, pivot: Interval) -> Interval:
    """The values of the parameter for which (estimate - parameter) / sd lies within the pivot."""
    sd = sample_sd(values)
    return estimate - pivot[1] * sd, estimate - pivot[0] * sd


def _best_weights(n: int, runs: int) -> list[float]:
    """The weight of each of n ordered values in the mean best over all subsets of size `runs`."""
    subsets = math.comb(n, runs)
    return [math.comb(place, runs - 1) / subsets for place in range(n)]


def _limit(bound: float, estimate: float, scale: float, share: Callable[[float], float]) -> float:
    """The share at the standardised bound; a step at the estimate where there is no spread."""
    if scale > 0:
        return share((bound - estimate) / scale)
    return 0.5 if bound == estimate else float(bound > estimate)


@lru_cache(maxsize=256)
def _median_pivot(n: int, level: float) -> Interval:
    return _quantiles(_median_draws(n), level)


@lru_cache(maxsize=256)
def _best_pivot(n: int, runs: int, level: float) -> Interval:
    return _quantiles(_best_draws(n, runs), level)


@lru_cache(maxsize=16)
def _median_draws(n: int) -> np.ndarray:
    """Draws of (median - truth) / sd for normal samples, in order."""
    import numpy as np

    samples, sd = _normal_samples(n)
    return np.sort(np.median(samples, axis=1) / sd)


@lru_cache(maxsize=16)
def _best_draws(n: int, runs: int) -> np.ndarray:
    """Draws of (best - truth) / sd for normal samples, in order; the best is the largest."""
    import numpy as np

    samples, sd = _normal_samples(n)
    best = np.sort(samples, axis=1) @ np.array(_best_weights(n, runs))
    return np.sort((best - _normal_best(runs)) / sd)


def _share_above(ordered: np.ndarray, value: float) -> float:
    """The share of draws beyond a value; never 0 or 1, which no number of draws can show."""
    import numpy as np

    beyond = len(ordered) - int(np.searchsorted(ordered, value))
    return min(max(beyond, 1), len(ordered)) / (len(ordered) + 1)


def _normal_samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal samples (draws × n) and their standard deviations; the seed is n."""
    import numpy as np

    draws = max(1000, min(_DRAWS, _MOST_NUMBERS // n))
    samples = np.random.default_rng(n).standard_normal((draws, n))
    return samples, samples.std(axis=1, ddof=1)


def _normal_best(runs: int) -> float:
    """The expected largest of `runs` standard normal values."""
    import numpy as np
    from scipy.integrate import trapezoid
    from scipy.special import ndtr

    grid = np.linspace(-9, 9, 20_001)
    density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    return float(trapezoid(grid * runs * density * ndtr(grid) ** (runs - 1), x=grid))


def _quantiles(pivot: np.ndarray, level: float) -> Interval:
    import numpy as np

    low, high = np.quantile(pivot, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
