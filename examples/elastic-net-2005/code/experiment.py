"""One run: the median errors of four estimators over independent data sets of one linear model.

    python experiment.py --config configs/example-1.json --seed 0 --out DIR

writes DIR/metrics.json. All randomness comes from the seed; each data set has its own stream, so that
a changed setting of an estimator meets the same data.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from estimators import best, naive_path, ridge, standardise
from problems import PROBLEMS

METHODS = ("lasso", "elastic-net", "ridge", "naive")


@dataclass(frozen=True)
class Config:
    """The settings of one experiment; `configs/` holds one file per simulated model."""

    dataset: str
    """`example-1` to `example-4`."""
    n_datasets: int
    l2_grid: tuple[float, ...]
    """Ridge penalties that both elastic nets choose from."""
    n_fractions: int
    """Points of the L1 path, at equal fractions, that lasso and elastic nets choose from."""
    n_ridge: int
    """Penalties, from 1e-3 to 1e3 by equal factors, that ridge regression chooses from."""
    scale: str
    """Columns have unit `sum_of_squares`, or unit `variance`."""
    error: str
    """`model`: (b - beta)' V (b - beta); `test`: mean squared error on the test set less sigma^2."""
    sample: bool = False
    """Set by whoever starts the small first run; the sizes above then say how small."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "l2_grid", tuple(self.l2_grid))
        if self.dataset not in PROBLEMS:
            raise ValueError(f"dataset is {self.dataset!r}, must be one of {', '.join(PROBLEMS)}")
        if self.scale not in ("sum_of_squares", "variance"):
            raise ValueError(f"scale is {self.scale!r}, must be sum_of_squares or variance")
        if self.error not in ("model", "test"):
            raise ValueError(f"error is {self.error!r}, must be model or test")
        if not self.l2_grid or min(self.l2_grid) < 0:
            raise ValueError("l2_grid must hold penalties of at least 0")
        for name in ("n_datasets", "n_fractions", "n_ridge"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, must be at least 1")


def run_dataset(config: Config, seed: np.random.SeedSequence) -> dict[str, float]:
    """Method -> error, on one training, validation and test set."""
    problem = PROBLEMS[config.dataset]
    rng = np.random.default_rng(seed)
    train = problem.draw(problem.n_train, rng)
    validation = problem.draw(problem.n_validation, rng)
    test = problem.draw(problem.n_test, rng)

    scaled, factors = standardise(train, config.scale)
    fractions = np.linspace(0, 1, config.n_fractions)
    naive = {l2: naive_path(scaled, l2, fractions) / factors for l2 in config.l2_grid}
    candidates = {
        "lasso": [naive_path(scaled, 0.0, fractions) / factors],
        "elastic-net": [(1 + l2) * b for l2, b in naive.items()],
        "ridge": [ridge(scaled, np.geomspace(1e-3, 1e3, config.n_ridge)) / factors],
        "naive": list(naive.values()),
    }
    errors = {}
    for method in METHODS:
        b = best(candidates[method], train, validation)
        if config.error == "model":
            away = b - problem.beta
            errors[method] = float(away @ problem.covariance @ away)
        else:
            predicted = train.y.mean() + (test.x - train.x.mean(axis=0)) @ b
            errors[method] = float(((test.y - predicted) ** 2).mean() - problem.sigma**2)
    return errors


def run(config: Config, seed: int) -> dict:
    """The content of metrics.json: medians over the data sets."""
    seeds = np.random.SeedSequence(seed).spawn(config.n_datasets)
    errors = [run_dataset(config, s) for s in seeds]
    return {
        "metrics": [
            {
                "claim": f"{config.dataset}-{method}",
                "value": float(np.median([e[method] for e in errors])),
            }
            for method in METHODS
        ],
        "notes": f"medians over {config.n_datasets} data sets",
    }


def read_config(path: Path) -> Config:
    """Reads a configuration file. Raises ValueError on an unknown, missing or impossible setting."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings.pop("data", None)  # this experiment reads no data files
    unknown = sorted(set(settings) - {field.name for field in fields(Config)})
    if unknown:
        raise ValueError(f"unknown setting {', '.join(unknown)}")
    try:
        return Config(**settings)
    except TypeError as error:
        raise ValueError(str(error)) from error


def main() -> None:
    """Command line of one run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        config = read_config(arguments.config)
    except (OSError, ValueError) as error:
        parser.error(f"{arguments.config}: {error}")
    result = run(config, arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "metrics.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
