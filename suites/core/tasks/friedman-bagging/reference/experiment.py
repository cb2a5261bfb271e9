"""One run: one regression tree and 25 bagged ones on fresh draws of Friedman's first problem."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.tree import DecisionTreeRegressor


def grown(
    x: np.ndarray, y: np.ndarray, held: np.ndarray, config: dict, rng
) -> DecisionTreeRegressor:
    """A tree on x, y, cut back along its pruning path by its error on the held-out rows."""
    state = int(rng.integers(2**31))
    alphas = DecisionTreeRegressor(random_state=state).cost_complexity_pruning_path(x, y).ccp_alphas
    wanted = np.unique(np.quantile(np.clip(alphas, 0, None), np.linspace(0, 1, config["cuts"])))
    trees = [DecisionTreeRegressor(random_state=state, ccp_alpha=a).fit(x, y) for a in wanted]
    x_held, y_held = held
    return min(trees, key=lambda tree: np.mean((tree.predict(x_held) - y_held) ** 2))


def values(config: dict, seed: int) -> dict[str, float]:
    """Claim → mean squared test error over the draws."""
    errors = []
    for child in np.random.SeedSequence(seed).spawn(config["draws"]):
        rng = np.random.default_rng(child)
        x, y = make_friedman1(config["train"], random_state=int(rng.integers(2**31)))
        y = y + config["noise"] * rng.standard_normal(len(y))
        x_test, y_test = make_friedman1(config["test"], random_state=int(rng.integers(2**31)))
        y_test = y_test + config["noise"] * rng.standard_normal(len(y_test))
        half = rng.permutation(len(y))
        fit, cut = half[: len(y) * 9 // 10], half[len(y) * 9 // 10 :]
        single = grown(x[fit], y[fit], (x[cut], y[cut]), config, rng).predict(x_test)
        bagged = []
        for _ in range(config["bags"]):
            rows = rng.integers(0, len(y), len(y))
            # The original set serves to cut the bagged tree back, as the paper says.
            bagged.append(grown(x[rows], y[rows], (x, y), config, rng).predict(x_test))
        errors.append([np.mean((one - y_test) ** 2) for one in (single, np.mean(bagged, axis=0))])
    single, bagged = np.mean(errors, axis=0)
    return {"single": single, "bagged": bagged}


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
