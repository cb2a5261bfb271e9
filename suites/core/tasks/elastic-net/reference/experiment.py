"""One run: median test error of lasso, elastic net and ridge on a simulated linear model."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge, lasso_path

BETA = {"example-1": [3, 1.5, 0, 0, 2, 0, 0, 0], "example-2": [0.85] * 8}
DISTANCE = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
ROOT = np.linalg.cholesky(0.5**DISTANCE)
RIDGES = np.geomspace(1e-2, 1e3, 30)


def draw(beta: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Predictors with correlation 0.5^|i-j|, and responses with noise of standard deviation 3."""
    x = rng.standard_normal((size, 8)) @ ROOT.T
    return x, x @ beta + 3 * rng.standard_normal(size)


def lassos(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Lasso coefficients for 60 penalties down from the least that leaves none."""
    penalties = np.abs(x.T @ y).max() / len(y) * np.geomspace(1, 1e-3, 60)
    return lasso_path(x, y, alphas=penalties)[1].T


def fits(x: np.ndarray, y: np.ndarray, scale: np.ndarray) -> dict[str, np.ndarray]:
    """Method → coefficients of all its candidates, on centred data with unit-variance predictors."""
    z = x / scale
    found = {"lasso": lassos(z, y)}
    elastic = []
    for ridge in (0.01, 0.1, 1, 10, 100):
        # Zou and Hastie solve a lasso on augmented data, then undo the double shrinkage.
        rows = np.vstack([z, np.sqrt(ridge) * np.eye(8)]) / np.sqrt(1 + ridge)
        naive = lassos(rows, np.concatenate([y, np.zeros(8)]))
        elastic.append(naive * np.sqrt(1 + ridge))
    found["elastic"] = np.vstack(elastic)
    found["ridge"] = np.stack([Ridge(one, fit_intercept=False).fit(z, y).coef_ for one in RIDGES])
    return {name: one / scale for name, one in found.items()}


def values(config: dict, seed: int) -> dict[str, float]:
    """Claim → median excess test error over the data sets."""
    beta = np.array(BETA[config["model"]], dtype=float)
    errors: dict[str, list[float]] = {"lasso": [], "elastic": [], "ridge": []}
    for child in np.random.SeedSequence(seed).spawn(config["sets"]):
        rng = np.random.default_rng(child)
        (x, y), (x_val, y_val), (x_test, y_test) = (draw(beta, size, rng) for size in (20, 20, 200))
        middle, level = x.mean(axis=0), y.mean()
        for name, candidates in fits(x - middle, y - level, x.std(axis=0)).items():
            wrong = ((x_val - middle) @ candidates.T + level - y_val[:, None]) ** 2
            chosen = candidates[np.argmin(wrong.mean(axis=0))]
            predicted = (x_test - middle) @ chosen + level
            target = x_test @ beta if config["excess"] else y_test
            errors[name].append(float(np.mean((predicted - target) ** 2)))
    return {f"{name}-{config['model'][-1]}": np.median(one) for name, one in errors.items()}


def main() -> None:
    """Command line of one run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    found = values(json.loads(options.config.read_text(encoding="utf-8")), options.seed)
    metrics = [{"claim": claim, "value": float(value)} for claim, value in found.items()]
    (options.out / "metrics.json").write_text(json.dumps({"metrics": metrics}), encoding="utf-8")


if __name__ == "__main__":
    main()
