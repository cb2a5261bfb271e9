"""One run: the mean test errors of AdaBoost and Forest-RI over independent draws of one data set.

    python experiment.py --config configs/twonorm.json --seed 0 --out DIR

writes DIR/metrics.json. All randomness comes from the seed, and each draw has its own streams for
the data, each forest and the boosting, so that a changed setting of one leaves the others alone.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from ensembles import adaboost, random_forest
from problems import PROBLEMS, draw


@dataclass(frozen=True)
class Config:
    """The settings of one experiment; `configs/` holds one file per data set."""

    dataset: str
    n_train: int
    n_test: int
    n_draws: int
    n_trees: int
    n_rounds: int
    min_samples_leaf: int
    boosting: str
    """`resample`: weights are sampling probabilities; `reweight`: weights of the tree's splits."""
    mean_scale: float = 2.0
    """The class means of the normal problems have components of size mean_scale / sqrt(20)."""
    sample: bool = False
    """Set by whoever starts the small first run; the sizes above then say how small."""

    def __post_init__(self) -> None:
        if self.dataset not in PROBLEMS:
            raise ValueError(f"dataset is {self.dataset!r}, must be one of {', '.join(PROBLEMS)}")
        if self.boosting not in ("resample", "reweight"):
            raise ValueError(f"boosting is {self.boosting!r}, must be resample or reweight")
        for name in ("n_train", "n_test", "n_draws", "n_trees", "n_rounds", "min_samples_leaf"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, must be at least 1")


@dataclass(frozen=True)
class DrawResult:
    """Test errors of one draw as fractions, and what happened on the way."""

    adaboost: float
    selection: float
    single_input: float
    one_tree: float
    chose_single_input: bool
    restarts_without_error: int
    restarts_at_half: int


def run_draw(config: Config, seed: np.random.SeedSequence) -> DrawResult:
    """Draws a training and a test set, and fits AdaBoost and both forests on them."""
    data_rng, single_rng, several_rng, boost_rng = map(np.random.default_rng, seed.spawn(4))
    train = draw(config.dataset, config.n_train, config.mean_scale, data_rng)
    test = draw(config.dataset, config.n_test, config.mean_scale, data_rng)

    growth = {"n_trees": config.n_trees, "min_samples_leaf": config.min_samples_leaf}
    single = random_forest(train, test, n_inputs=1, rng=single_rng, **growth)
    inputs_per_node = math.floor(math.log2(train.x.shape[1]) + 1)
    several = random_forest(train, test, n_inputs=inputs_per_node, rng=several_rng, **growth)
    selected = single if single.out_of_bag <= several.out_of_bag else several

    boosted = adaboost(
        train,
        test,
        n_rounds=config.n_rounds,
        resample=config.boosting == "resample",
        min_samples_leaf=config.min_samples_leaf,
        rng=boost_rng,
    )
    return DrawResult(
        adaboost=boosted.test,
        selection=selected.test,
        single_input=single.test,
        one_tree=selected.mean_tree,
        chose_single_input=selected is single,
        restarts_without_error=boosted.restarts_without_error,
        restarts_at_half=boosted.restarts_at_half,
    )


def run(config: Config, seed: int) -> dict:
    """The content of metrics.json: means over the draws, in per cent."""
    draws = [run_draw(config, s) for s in np.random.SeedSequence(seed).spawn(config.n_draws)]

    def mean(name: str) -> float:
        return float(np.mean([getattr(draw, name) for draw in draws]))

    return {
        "metrics": [
            {"claim": f"{config.dataset}-{claim}", "value": 100 * mean(name)}
            for claim, name in (
                ("adaboost", "adaboost"),
                ("selection", "selection"),
                ("single-input", "single_input"),
                ("one-tree", "one_tree"),
            )
        ],
        "notes": (
            f"{config.n_draws} draws; the single-input forest was selected in "
            f"{sum(d.chose_single_input for d in draws)}; boosting restarted "
            f"{mean('restarts_without_error'):.1f} times a draw on a tree without error and "
            f"{mean('restarts_at_half'):.1f} times on one with error of at least 1/2"
        ),
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
