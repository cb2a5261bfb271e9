"""Statistics over tasks: intervals, paired comparisons, corrections, pass@k."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from repro_pipeline.statistics import Interval, mean

DRAWS = 10_000
EXACT = 14
"""With at most as many tasks, every assignment of signs is looked at."""


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted by Holm's step-down method (1979): reject those at most the level."""
    m = len(p_values)
    order = sorted(range(m), key=p_values.__getitem__)
    result, least = [1.0] * m, 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (m - rank) * p_values[index]))
        result[index] = least
    return result


def bootstrap_interval(values: Sequence[float], level: float = 0.95) -> Interval | None:
    """The percentile bootstrap interval of the mean over tasks; None for fewer than three tasks.

    Tasks are drawn, not runs: what is asked is how the mean would be on other tasks of the kind. With
    few tasks it is narrower than it should be.
    """
    import numpy as np

    if len(values) < 3:
        return None
    rng = np.random.default_rng(0)
    drawn = rng.choice(np.asarray(values, dtype=float), (DRAWS, len(values)))
    low, high = np.quantile(drawn.mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def sign_flip(differences: Sequence[float]) -> float | None:
    """The two-sided p-value of the paired sign-flip test that differences are centred at 0.

    Exact up to EXACT tasks, else by DRAWS random assignments with the observed one counted. None where
    there is no difference to be tested. Raises ValueError for what is no number.
    """
    import numpy as np

    if not all(map(math.isfinite, differences)):
        raise ValueError("a difference is no finite number")
    values = np.array([one for one in differences if one != 0], dtype=float)
    if not len(values):
        return None
    if len(values) <= EXACT:
        signs = np.array(list(itertools.product((1, -1), repeat=len(values))))
        sums = np.abs(signs @ values)
        return float(np.mean(sums >= abs(values.sum()) * (1 - 1e-12)))
    signs = np.random.default_rng(0).choice((-1, 1), (DRAWS, len(values)))
    beyond = np.sum(np.abs(signs @ values) >= abs(values.sum()) * (1 - 1e-12))
    return float((beyond + 1) / (DRAWS + 1))


def paired(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """The differences one - other of the tasks that both have a value for."""
    return {task: one[task] - other[task] for task in one if task in other}


def pass_at(k: int, runs: int, good: int) -> float | None:
    """The unbiased estimate of the probability that at least one of k runs succeeds (Chen et al. 2021).

    1 - C(n - c, k) / C(n, k); None for k > n.
    """
    if k > runs:
        return None
    return 1 - math.comb(runs - good, k) / math.comb(runs, k)


def pass_all(k: int, runs: int, good: int) -> float | None:
    """The unbiased estimate of the probability that all of k runs succeed: C(c, k) / C(n, k)."""
    if k > runs:
        return None
    return math.comb(good, k) / math.comb(runs, k)


def mean_or_none(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are there."""
    there = [one for one in values if one is not None]
    return mean(there) if there else None
