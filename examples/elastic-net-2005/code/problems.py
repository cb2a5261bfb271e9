"""The four simulated linear models, each with its sizes, coefficients and covariance by formula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """A linear model y = X beta + sigma e with normal predictors of mean 0."""

    beta: np.ndarray
    """(p,) coefficients."""
    covariance: np.ndarray
    """(p, p) covariance of the predictors."""
    sigma: float
    n_train: int
    n_validation: int
    n_test: int

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        """`n` independent cases."""
        x = rng.multivariate_normal(np.zeros(len(self.beta)), self.covariance, size=n)
        return Sample(x, x @ self.beta + self.sigma * rng.standard_normal(n))


@dataclass(frozen=True)
class Sample:
    """Cases: x is (n, p), y is (n,)."""

    x: np.ndarray
    y: np.ndarray


def _decaying(p: int) -> np.ndarray:
    """Correlation 0.5 to the power of the distance."""
    index = np.arange(p)
    return 0.5 ** np.abs(index[:, None] - index)


def _equal(p: int) -> np.ndarray:
    """Correlation 0.5 between any two."""
    return 0.5 * np.eye(p) + 0.5


def _grouped() -> np.ndarray:
    """Three groups of five near copies of one variable each, and 25 independent predictors."""
    covariance = np.eye(40)
    for group in range(3):
        members = slice(5 * group, 5 * group + 5)
        covariance[members, members] = 1 + 0.01 * np.eye(5)
    return covariance


PROBLEMS = {
    "example-1": Problem(np.array([3, 1.5, 0, 0, 2, 0, 0, 0]), _decaying(8), 3, 20, 20, 200),
    "example-2": Problem(np.full(8, 0.85), _decaying(8), 3, 20, 20, 200),
    "example-3": Problem(np.repeat([0.0, 2, 0, 2], 10), _equal(40), 15, 100, 100, 400),
    "example-4": Problem(np.repeat([3.0, 0], [15, 25]), _grouped(), 15, 50, 50, 400),
}
