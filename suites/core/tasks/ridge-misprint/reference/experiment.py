"""One run: test error of ridge regression and least squares on many noisy predictors."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np


def values(config: dict, seed: int) -> dict[str, float]:
    """Claim → mean squared test error over the draws."""
    n, p, rng = config["train"], config["predictors"], np.random.default_rng(seed)
    errors: dict[str, list[float]] = {f"ridge-{one}": [] for one in config["penalties"]}
    for _ in range(config["draws"]):
        beta = rng.standard_normal(p) / np.sqrt(p)
        x, x_test = rng.standard_normal((n, p)), rng.standard_normal((config["test"], p))
        y = x @ beta + rng.standard_normal(n)
        y_test = x_test @ beta + rng.standard_normal(config["test"])
        for one in config["penalties"]:
            fitted = np.linalg.solve(x.T @ x + one * np.eye(p), x.T @ y)
            errors[f"ridge-{one}"].append(float(np.mean((x_test @ fitted - y_test) ** 2)))
    return {claim: np.mean(found) for claim, found in errors.items()}


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
