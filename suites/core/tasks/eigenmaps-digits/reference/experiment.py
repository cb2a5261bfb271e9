"""One run: k-nearest-neighbour accuracy on two-dimensional embeddings of the digits."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier


def values(config: dict, seed: int) -> dict[str, float]:
    """Claim → accuracy in ten-fold cross-validation."""
    x, y = load_digits(return_X_y=True)
    embeddings = {
        "eigenmaps": SpectralEmbedding(n_neighbors=config["neighbours"], random_state=seed),
        "pca": PCA(2, svd_solver="full"),
    }
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    found = {}
    for name in config["embeddings"]:
        points = embeddings[name].fit_transform(x)
        for k in (10, 40, 160):
            scores = cross_val_score(KNeighborsClassifier(k), points, y, cv=folds)
            found[f"{name}-{k}"] = scores.mean()
    return found


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
