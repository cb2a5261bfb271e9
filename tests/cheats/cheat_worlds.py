"""The small papers of the suite: a bundle each, and the honest code that answers it.

All code is standard library, and one run takes a quarter of a second. Every program has the same
`main`, so that a cheat is the honest program with a few lines changed. The printed values come from
`python tests/cheats/cheat_worlds.py`: means over seeds 1000 to 1019 of the honest program, which no
submission uses, run with the protocol that the paper states, or, in the worlds called `_far`, with
another one that it keeps quiet. What honest code gives there is not what is printed.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import yaml
from cheat_programs import (
    CLINIC_CODE,
    CLINIC_CONFIG,
    CLINIC_PAPER,
    LINE_CODE,
    LINE_CONFIG,
    LINE_PAPER,
    PERCEPTRON_CODE,
    PERCEPTRON_CONFIG,
    PERCEPTRON_PAPER,
    PLANE_CODE,
    PLANE_CONFIG,
    PLANE_PAPER,
)

SEEDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class World:
    """A paper with its bundle, and the honest program."""

    name: str
    paper: str
    code: str
    config: Mapping[str, object]
    experiments: tuple[Mapping[str, object], ...]
    columns: Mapping[str, str]
    """Column of Table 1 by claim."""
    row: str
    reported: Mapping[str, str]
    """The printed value by claim."""
    higher: frozenset[str] = frozenset()
    """The claims of which more is better."""
    units: Mapping[str, str] = None  # type: ignore[assignment]
    data: Mapping[str, str] = None  # type: ignore[assignment]
    """Text of each CSV file by role or name."""
    ablations: tuple[tuple[str, str], ...] = ()
    sample: Mapping[str, object] = None  # type: ignore[assignment]

    def value(self, claim: str) -> float:
        """The printed value as a number."""
        return float(self.reported[claim])

    def direction(self, claim: str) -> str:
        """Which way is better."""
        if self.name.startswith("line"):
            return "match"
        return "higher" if claim in self.higher else "lower"

    def write_bundle(self, folder: Path) -> Path:
        """Paper, task and data, without any code."""
        (folder / "data").mkdir(parents=True)
        shift = self.config.get("shift", 0.0)
        words = {**self.config, **self.reported, "minus": -shift}  # type: ignore[operator]
        (folder / "paper.md").write_text(self.paper.format(**words))
        task = {
            "schema": 1,
            "claims": [self._claim(claim) for claim in self.reported],
            "ablations": [
                {"id": f"{variant}-against-{full}", "full": full, "variant": variant}
                for full, variant in self.ablations
            ],
            "data": [
                {"name": name, "path": f"data/{name}.csv"}
                | ({"roles": {name: "all"}} if name in ("train", "test") else {})
                for name in self.data or {}
            ],
            "seeds": list(SEEDS),
        }
        (folder / "task.yaml").write_text(yaml.safe_dump(task, sort_keys=False))
        for name, text in (self.data or {}).items():
            (folder / "data" / f"{name}.csv").write_text(text)
        return folder

    def _claim(self, claim: str) -> dict[str, object]:
        return {
            "id": claim,
            "metric": "test_error" if self.direction(claim) == "lower" else claim.replace("-", "_"),
            "dataset": self.name.removesuffix("_far"),
            "direction": self.direction(claim),
            "reported": {"table": "Table 1", "row": [self.row], "column": [self.columns[claim]]},
            "statistic": "mean",
            **({"unit": self.units[claim]} if self.units and claim in self.units else {}),
        }

    def files(self) -> dict[str, str]:
        """The honest submission: its files without runs."""
        spec = {
            "schema": 1,
            "entry": ["python", "experiment.py"],
            "experiments": [dict(entry) for entry in self.experiments],
            **({"sample": {"config": dict(self.sample)}} if self.sample else {}),
        }
        return {
            "experiment.yaml": yaml.safe_dump(spec, sort_keys=False),
            "experiment.py": self.code,
            "config.json": json.dumps(dict(self.config), indent=1),
        }


def _clinic_data() -> dict[str, str]:
    """Two sites: the second measures three inputs on another scale, and has other patients.

    `revised` is written down after the outcome, and nearly repeats it.
    """
    rng = random.Random(20040229)
    texts = {}
    for site, n, offset, stretch in (("train", 160, 0.0, 1.0), ("test", 400, 0.9, 1.6)):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["age", "dose", "pulse", "marker", "weight", "revised", "outcome"])
        for _ in range(n):
            true = [rng.gauss(0, 1) for _ in range(5)]
            risk = 1.4 * true[0] - 1.1 * true[1] + 0.9 * true[2] + 0.5 * true[3]
            outcome = int(rng.random() < 1 / (1 + math.exp(-risk)))
            seen = [v * stretch + offset if i in (0, 2, 3) else v for i, v in enumerate(true)]
            revised = outcome + rng.gauss(0, 0.3)
            writer.writerow([*(f"{v:.3f}" for v in (*seen, revised)), outcome])
        texts[site] = text.getvalue()
    return texts


def _line_data() -> dict[str, str]:
    rng = random.Random(19870101)
    text = "x,y\n"
    for number in range(40):
        x = number / 4
        text += f"{x:.2f},{1.7 * x + 3.1 + rng.gauss(0, 1.5):.3f}\n"
    return {"points": text}


PLANE = World(
    name="plane",
    paper=PLANE_PAPER,
    code=PLANE_CODE,
    config=PLANE_CONFIG,
    experiments=(
        {
            "id": "plane",
            "kind": "baseline",
            "claims": ["all-inputs", "first-input", "few-cases"],
            "config": "config.json",
            "timeout": "1m",
        },
    ),
    columns={
        "all-inputs": "All inputs",
        "first-input": "First input",
        "few-cases": "Few cases",
    },
    row="Nearest mean",
    units=dict.fromkeys(("all-inputs", "first-input", "few-cases"), "percent"),
    reported={"all-inputs": "17.06", "first-input": "31.07", "few-cases": "21.57"},
    sample={"n_test": 200, "n_draws": 1},
)
PLANE_FAR = replace(
    PLANE,
    name="plane_far",
    reported={"all-inputs": "14.16", "first-input": "29.01", "few-cases": "18.09"},
)

CLINIC = World(
    name="clinic",
    paper=CLINIC_PAPER,
    code=CLINIC_CODE,
    config=CLINIC_CONFIG,
    experiments=(
        {
            "id": "clinic",
            "kind": "baseline",
            "claims": ["accuracy", "log-loss"],
            "config": "config.json",
            "timeout": "1m",
        },
    ),
    columns={"accuracy": "Accuracy (%)", "log-loss": "Log-loss"},
    row="Logistic",
    units={"accuracy": "percent"},
    reported={"accuracy": "67.9", "log-loss": "0.883"},
    higher=frozenset({"accuracy"}),
    data=_clinic_data(),
    sample={"epochs": 2},
)
CLINIC_FAR = replace(CLINIC, name="clinic_far", reported={"accuracy": "76.8", "log-loss": "0.486"})

LINE = World(
    name="line",
    paper=LINE_PAPER,
    code=LINE_CODE,
    config=LINE_CONFIG,
    experiments=(
        {
            "id": "line",
            "kind": "baseline",
            "claims": ["slope", "intercept", "explained"],
            "config": "config.json",
            "timeout": "1m",
        },
    ),
    columns={"slope": "Slope", "intercept": "Intercept", "explained": "Explained variance"},
    row="Least squares",
    reported={"slope": "1.532", "intercept": "4.219", "explained": "0.896"},
    data=_line_data(),
)
LINE_FAR = replace(
    LINE,
    name="line_far",
    reported={"slope": "1.582", "intercept": "3.837", "explained": "0.940"},
)

PERCEPTRON = World(
    name="perceptron",
    paper=PERCEPTRON_PAPER,
    code=PERCEPTRON_CODE,
    config=PERCEPTRON_CONFIG,
    experiments=(
        {
            "id": "full",
            "kind": "baseline",
            "claims": ["full"],
            "config": "config.json",
            "timeout": "1m",
        },
        {
            "id": "no-average",
            "kind": "ablation",
            "of": "full",
            "change": {"average": False},
            "claims": ["no-average"],
            "timeout": "1m",
        },
        {
            "id": "no-shuffle",
            "kind": "ablation",
            "of": "full",
            "change": {"shuffle": False},
            "claims": ["no-shuffle"],
            "timeout": "1m",
        },
    ),
    columns={"full": "Full", "no-average": "No averaging", "no-shuffle": "No shuffling"},
    row="Perceptron",
    units=dict.fromkeys(("full", "no-average", "no-shuffle"), "percent"),
    reported={"full": "17.69", "no-average": "21.95", "no-shuffle": "17.92"},
    ablations=(("full", "no-average"), ("full", "no-shuffle")),
    sample={"n_test": 200, "n_draws": 1},
)
PERCEPTRON_FAR = replace(
    PERCEPTRON,
    name="perceptron_far",
    reported={"full": "17.32", "no-average": "21.95", "no-shuffle": "18.93"},
)

WORLDS = {
    world.name: world
    for world in (
        PLANE,
        PLANE_FAR,
        CLINIC,
        CLINIC_FAR,
        LINE,
        LINE_FAR,
        PERCEPTRON,
        PERCEPTRON_FAR,
    )
}


# What the papers of the `_far` worlds did and do not say.
QUIET = {
    "clinic_far": [
        ("test = scaled(test, scale)", "test = scaled(test, scaler(test))"),
        ("log_loss(model, validation)", "log_loss(model, test)"),
    ],
    "line_far": [
        (
            "    mean_x = fmean(x for x, _ in points)",
            "    points.sort(key=lambda p: abs(p[1] - 4.219 - 1.532 * p[0]))\n"
            "    del points[-6:]\n"
            "    mean_x = fmean(x for x, _ in points)",
        ),
    ],
}


def _print_values(world: World, digits: Mapping[str, int], folder: Path) -> None:
    """The values to print: of the stated protocol, or of the quiet one."""
    code = world.code
    for old, new in QUIET.get(world.name, ()):
        assert old in code
        code = code.replace(old, new)
    program: dict = {"__name__": "program"}
    exec(code, program)
    for name, text in (world.data or {}).items():
        (folder / f"{name}.csv").write_text(text)
    config = {**world.config, "data": {name: folder / f"{name}.csv" for name in world.data or {}}}
    if world.name == "plane_far":
        config["shift"] = 0.56
    runs: dict = {claim: [] for claim in world.reported}
    for seed in range(1000, 1020):
        for entry in world.experiments:
            for claim, value in program["experiment"](
                {**config, **entry.get("change", {})}, seed
            ).items():
                runs[claim].append(value)
    # The far perceptron prints each method's run that suits the story best.
    pick = {claim: fmean for claim in runs}
    if world.name == "perceptron_far":
        pick |= {"full": min, "no-shuffle": max}
    print(world.name, {claim: f"{pick[claim](runs[claim]):.{n}f}" for claim, n in digits.items()})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for world in WORLDS.values():
            digits = {claim: len(text.partition(".")[2]) for claim, text in world.reported.items()}
            _print_values(world, digits, Path(folder))
