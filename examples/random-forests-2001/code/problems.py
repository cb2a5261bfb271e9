"""The four synthetic classification problems, drawn by formula.

Formulas: Breiman, "Bias, variance, and arcing classifiers" (1996), as noted in the bundle's
`references/bias-variance-arcing.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NORM_INPUTS = 20
WAVEFORM_INPUTS = 21


@dataclass(frozen=True)
class Sample:
    """Cases of one problem: `x` of shape (n, inputs), float32; `y` of shape (n,), 0 to classes-1."""

    x: np.ndarray
    y: np.ndarray
    classes: int


def draw(dataset: str, n: int, mean_scale: float, rng: np.random.Generator) -> Sample:
    """`n` cases, each of a class drawn with equal probability.

    The class means of the three normal problems have components of size a = mean_scale / sqrt(20);
    waveform has no such constant. Raises KeyError for an unknown data set.
    """
    classes, inputs_of = PROBLEMS[dataset]
    y = rng.integers(classes, size=n)
    x = inputs_of(y, mean_scale / np.sqrt(NORM_INPUTS), rng)
    # Trees split on float32; drawing in double and rounding once keeps that out of their way.
    return Sample(np.ascontiguousarray(x, dtype=np.float32), y, classes)


def base_waves() -> np.ndarray:
    """The three triangular waves, shape (3, 21): height 6, peaks at the inputs 11, 15 and 7."""
    inputs = np.arange(1, WAVEFORM_INPUTS + 1)
    return np.array([np.maximum(6 - np.abs(inputs - peak), 0) for peak in (11, 15, 7)], float)


def _waveform(y: np.ndarray, _a: float, rng: np.random.Generator) -> np.ndarray:
    """Each class mixes its own pair of waves, in a proportion drawn anew for each case."""
    pairs = np.array([[0, 1], [0, 2], [1, 2]])[y]
    waves = base_waves()
    u = rng.random((len(y), 1))
    mixed = u * waves[pairs[:, 0]] + (1 - u) * waves[pairs[:, 1]]
    return mixed + rng.standard_normal(mixed.shape)


def _twonorm(y: np.ndarray, a: float, rng: np.random.Generator) -> np.ndarray:
    """Unit normals about (a, ..., a) and (-a, ..., -a)."""
    return np.where(y == 0, a, -a)[:, None] + _noise(y, rng)


def _threenorm(y: np.ndarray, a: float, rng: np.random.Generator) -> np.ndarray:
    """Class 0: unit normal about (a, ..., a) or (-a, ..., -a); class 1: about (a, -a, a, ...)."""
    side = np.where(rng.random(len(y)) < 0.5, a, -a)[:, None]
    alternating = np.where(np.arange(NORM_INPUTS) % 2 == 0, a, -a)
    return np.where((y == 0)[:, None], side, alternating) + _noise(y, rng)


def _ringnorm(y: np.ndarray, a: float, rng: np.random.Generator) -> np.ndarray:
    """Class 0: normal about the origin with variance 4; class 1: unit normal about (a, ..., a)."""
    noise = _noise(y, rng)
    return np.where((y == 0)[:, None], 2 * noise, a + noise)


def _noise(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((len(y), NORM_INPUTS))


PROBLEMS = {
    "waveform": (3, _waveform),
    "twonorm": (2, _twonorm),
    "threenorm": (2, _threenorm),
    "ringnorm": (2, _ringnorm),
}
