"""One run: least squares and least angle regression on the standardised diabetes data; no randomness."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lars_path


def values(config: dict) -> dict[str, float]:
    """Claim → value."""
    x, y = load_diabetes(return_X_y=True)
    if not config["unit_length"]:
        x = x * np.sqrt(len(x))
    y = y - y.mean()
    full = np.linalg.lstsq(x, y, rcond=None)[0]
    noise = np.sum((y - x @ full) ** 2) / (len(y) - x.shape[1] - 1)
    _, order, path = lars_path(x, y, method="lar")
    cp = [np.sum((y - x @ b) ** 2) / noise - len(y) + 2 * k for k, b in enumerate(path.T)]
    found = {f"ols-{n + 1}": full[n] for n in range(6)}
    found |= {f"entry-{place + 1}": int(variable) + 1 for place, variable in enumerate(order[:4])}
    return {**found, "cp-step": int(np.argmin(cp))}


def main() -> None:
    """Command line of one run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    found = values(json.loads(options.config.read_text(encoding="utf-8")))
    metrics = [{"claim": claim, "value": float(value)} for claim, value in found.items()]
    (options.out / "metrics.json").write_text(json.dumps({"metrics": metrics}), encoding="utf-8")


if __name__ == "__main__":
    main()
