"""Least angle regression, its lasso modification, and Cp along the path, on standardised data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import lars_path


@dataclass(frozen=True)
class Standardised:
    """Centred response (n,) and predictors (n, p) of mean 0 and unit sum of squares."""

    x: np.ndarray
    y: np.ndarray


def standardise(x: np.ndarray, y: np.ndarray) -> Standardised:
    """Efron et al. (2004), equation 1.1."""
    centred = x - x.mean(axis=0)
    return Standardised(centred / np.sqrt((centred**2).sum(axis=0)), y - y.mean())


@dataclass(frozen=True)
class Path:
    """A path from zero to least squares."""

    coefficients: np.ndarray
    """(steps + 1, p), the first row is zero."""

    @property
    def steps(self) -> int:
        """Pieces of the path."""
        return len(self.coefficients) - 1

    def entry_steps(self) -> np.ndarray:
        """(p,) step, counted from 1, in which each predictor first joins."""
        return np.argmax(self.coefficients != 0, axis=0)


def path(data: Standardised, method: str) -> Path:
    """`method` is `lar`, or `lasso`: a coefficient that reaches zero leaves the active set."""
    _, _, coefficients = lars_path(data.x, data.y, method=method)
    return Path(coefficients.T)


def least_squares(data: Standardised) -> np.ndarray:
    """(p,) coefficients."""
    return np.linalg.lstsq(data.x, data.y, rcond=None)[0]


def cp(data: Standardised, lars: Path, divisor: str) -> np.ndarray:
    """(steps + 1,) Cp = RSS_k / s^2 - n + 2 k, with s^2 from least squares on all predictors.

    Efron et al. (2004), equations 4.10 and 4.12: k steps of LARS spend about k degrees of freedom. The
    residual sum of squares is divided by n - p - 1 (`residual`), or by n (`cases`).
    """
    n, p = data.x.shape
    residual = data.y - data.x @ least_squares(data)
    variance = residual @ residual / (n - p - 1 if divisor == "residual" else n)
    rss = ((data.y - lars.coefficients @ data.x.T) ** 2).sum(axis=1)
    return rss / variance - n + 2 * np.arange(lars.steps + 1)
