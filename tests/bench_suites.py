"""A tiny suite whose references need the standard library alone: two tasks, one of them held out."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.bundles import PAPER, task

REFERENCE = '''"""How often two noisy methods are wrong, in per cent of many cases."""
import argparse, json, pathlib, random


def error(threshold, cases, rng):
    wrong = 0
    for _ in range(cases):
        wrong += rng.random() < threshold
    return 100 * wrong / cases


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("--config", "--seed", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    config = json.loads(pathlib.Path(options.config).read_text())
    rng = random.Random(int(options.seed))
    values = {
        "noisy-plain": error(config["threshold"], config["cases"], rng),
        "noisy-shrunk": error(2 * config["threshold"], config["cases"], rng),
    }
    metrics = [{"claim": claim, "value": value} for claim, value in values.items()]
    (pathlib.Path(options.out) / "metrics.json").write_text(json.dumps({"metrics": metrics}))
'''
SPEC = {
    "schema": 1,
    "entry": ["python", "experiment.py"],
    "experiments": [
        {
            "id": "main",
            "claims": ["noisy-plain", "noisy-shrunk"],
            "config": "config.json",
            "timeout": 60,
        }
    ],
}
CASES = 60_000
CONFIG = {"threshold": 0.1, "cases": CASES}


def truth(**changes) -> dict:
    """The truth of a tiny task, with top-level keys changed; None takes a key away."""
    base = {
        "schema": 1,
        "kind": "stochastic",
        "split": "development",
        "difficulty": "easy",
        "published": "2020-01-01",
        "licence": "CC0",
        "citation": "A. Author. A tiny study of two estimators. 2020.",
        "compute": {"cpu_seconds": 1, "memory": "50 MiB"},
        "claims": [claim("noisy-plain", 10.0), claim("noisy-shrunk", 20.0)],
        "missing": [
            {"id": "cases", "question": "How many cases?", "about": r"\bcases\b", "right": [CASES]}
        ],
        "ablations": [{"pair": "shrinking-hurts", "sign": 1}],
    }
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


def claim(name: str, mean: float, **changes) -> dict:
    """What is known of a claim."""
    sd = (mean * (100 - mean) / CASES) ** 0.5
    base = {"claim": name, "reported": "constructed", "mean": mean, "sd": sd, "n": 50}
    return {**base, "verdict": "reproduced", **changes}


def make_suite(folder: Path, truths: dict[str, dict] | None = None, code: str = REFERENCE) -> Path:
    """Write a suite of the given tasks (id → truth) into `folder` and return it."""
    truths = truths or {"seen": truth(), "unseen": truth(split="held_out")}
    for name, known in truths.items():
        bundle, reference = (folder / "tasks" / name / part for part in ("bundle", "reference"))
        bundle.mkdir(parents=True)
        reference.mkdir()
        (bundle / "paper.md").write_text(PAPER)
        (bundle / "task.yaml").write_text(yaml.safe_dump(task(seeds=None), sort_keys=False))
        (reference / "experiment.py").write_text(code)
        (reference / "experiment.yaml").write_text(yaml.safe_dump(SPEC))
        (reference / "config.json").write_text(json.dumps(CONFIG))
        (bundle.parent / "truth.yaml").write_text(yaml.safe_dump(known, sort_keys=False))
    suite = {
        "schema": 1,
        "name": "tiny",
        "version": "1",
        "title": "A tiny suite",
        "licence": "CC0",
        "tasks": list(truths),
        "packages": [],
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return folder
