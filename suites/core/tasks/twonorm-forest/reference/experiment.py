"""One run: a random forest and its single trees on fresh draws of the two-norm problem."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier


def draw(size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two 20-dimensional normal classes with unit covariance and means of ±2/√20 in each component."""
    y = rng.integers(0, 2, size)
    return rng.standard_normal((size, 20)) + np.where(y, 1, -1)[:, None] * 2 / np.sqrt(20), y


def values(config: dict, seed: int) -> dict[str, float]:
    """Claim → mean test error over the draws, in per cent."""
    errors = []
    for child in np.random.SeedSequence(seed).spawn(config["draws"]):
        rng = np.random.default_rng(child)
        x, y = draw(config["train"], rng)
        x_test, y_test = draw(config["test"], rng)
        forest = RandomForestClassifier(
            n_estimators=config["trees"],
            max_features=config["inputs"],
            random_state=int(rng.integers(2**31)),
        ).fit(x, y)
        # Breiman's single tree is a tree of the forest: one bootstrap sample, unpruned.
        single = np.mean([np.mean(tree.predict(x_test) != y_test) for tree in forest.estimators_])
        errors.append((np.mean(forest.predict(x_test) != y_test), single))
    forest, tree = 100 * np.mean(errors, axis=0)
    return {"forest": forest, "tree": tree}


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
