"""Lasso, ridge regression and both elastic nets, tuned on a validation set.

The naive elastic net minimises |y - Xb|^2 + l2 |b|^2 + l1 |b|_1. It is a lasso on the rows of X with
sqrt(l2) I below them (Zou & Hastie 2005, Lemma 1), so one run of LARS gives its whole path in l1.
The elastic net is the naive one times (1 + l2).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from problems import Sample
from sklearn.linear_model import lars_path


def standardise(sample: Sample, scale: str) -> tuple[Sample, np.ndarray]:
    """Centred x and y, x of unit sum of squares or unit variance; and the factors of x's columns."""
    x = sample.x - sample.x.mean(axis=0)
    norm = np.sqrt((x**2).sum(axis=0))
    factors = norm if scale == "sum_of_squares" else norm / np.sqrt(len(x))
    return Sample(x / factors, sample.y - sample.y.mean()), factors


def naive_path(sample: Sample, l2: float, fractions: np.ndarray) -> np.ndarray:
    """(len(fractions), p) coefficients at these fractions of the L1 norm of the path's end."""
    p = sample.x.shape[1]
    x = np.vstack([sample.x, np.sqrt(l2) * np.eye(p)])
    y = np.concatenate([sample.y, np.zeros(p)])
    _, _, path = lars_path(x, y, method="lasso")
    length = np.abs(path).sum(axis=0)
    return np.column_stack([np.interp(fractions * length[-1], length, b) for b in path])


def ridge(sample: Sample, penalties: np.ndarray) -> np.ndarray:
    """(len(penalties), p) coefficients of ridge regression."""
    u, d, v = np.linalg.svd(sample.x, full_matrices=False)
    shrink = d / (d**2 + penalties[:, None])
    return shrink * (u.T @ sample.y) @ v


def best(candidates: Iterable[np.ndarray], train: Sample, validation: Sample) -> np.ndarray:
    """The coefficients, on the scale of raw x, that predict the validation set best.

    `candidates` are arrays (k, p) for raw x; the intercept is what the training means give.
    """
    b = np.vstack(list(candidates))
    centred = validation.x - train.x.mean(axis=0)
    errors = ((validation.y - train.y.mean() - b @ centred.T) ** 2).mean(axis=1)
    return b[np.argmin(errors)]
