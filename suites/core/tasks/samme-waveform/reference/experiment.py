"""One run: SAMME and one pruned tree on fresh draws of the waveform problem."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

V1 = np.maximum(6 - np.abs(np.arange(1, 22) - 11), 0)
WAVES = np.stack([V1, np.roll(V1, 4), np.roll(V1, -4)])
PAIRS = np.array([(0, 1), (0, 2), (1, 2)])


def draw(size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Convex combinations of two of three triangular waves, with unit normal noise."""
    y = rng.integers(0, 3, size)
    u = rng.random((size, 1))
    first, second = WAVES[PAIRS[y, 0]], WAVES[PAIRS[y, 1]]
    return u * first + (1 - u) * second + rng.standard_normal((size, 21)), y


def values(config: dict, seed: int) -> dict[str, float]:
    """Claim → mean test error over the draws, in per cent."""
    errors = []
    for child in np.random.SeedSequence(seed).spawn(config["draws"]):
        rng = np.random.default_rng(child)
        x, y = draw(config["train"], rng)
        x_test, y_test = draw(config["test"], rng)
        state = int(rng.integers(2**31))
        weak = DecisionTreeClassifier(max_leaf_nodes=config["leaves"])
        boosted = AdaBoostClassifier(weak, n_estimators=config["rounds"], random_state=state)
        tree = GridSearchCV(
            DecisionTreeClassifier(random_state=state),
            {"ccp_alpha": [0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.03, 0.05]},
            cv=10,
        )
        models = boosted.fit(x, y), tree.fit(x, y)
        errors.append([np.mean(model.predict(x_test) != y_test) for model in models])
    boosted, tree = 100 * np.mean(errors, axis=0)
    return {"samme": boosted, "cart": tree}


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
