"""A tiny paper bundle whose code misbehaves on demand: standard library only, a run takes 50 ms."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

PAPER = """# A tiny study of two estimators

## Experiments

We estimate the mean of a noisy source with two methods, following [1].

Table 1: Error (%) of each method.

| Source | Plain | Shrunk |
|--------|-------|--------|
| Noisy  | 10.0  | 20.0   |
| Calm   | 5.0   | n/a    |

## References

[1] A. Author. A method of estimation. 1999.
"""

CODE = '''"""A noisy measurement of two quantities."""
import argparse, json, os, pathlib, random, shutil, sys, time

parser = argparse.ArgumentParser()
for name in ("--config", "--seed", "--out"):
    parser.add_argument(name, required=True)
options = parser.parse_args()
config = json.loads(pathlib.Path(options.config).read_text())
rng = random.Random(int(options.seed))
out = pathlib.Path(options.out)
behaviour = config.get("behaviour", "well")
print("seed", options.seed, behaviour)
if behaviour == "exit":
    raise ValueError("the estimator diverged")
if behaviour == "hang" and int(options.seed) >= config.get("from_seed", 0):
    time.sleep(600)
if behaviour == "slow":
    time.sleep(config["sleep"])
if behaviour == "silent":
    sys.exit(0)
if behaviour == "stale":
    shutil.copy2("old.json", out / "metrics.json")
    os.utime(out / "metrics.json", (1_000_000_000, 1_000_000_000))
    sys.exit(0)
if behaviour == "text":
    (out / "metrics.json").write_text("")
    sys.exit(0)
values = {
    "noisy-plain": 10 * config["scale"] + rng.gauss(0, config["noise"]),
    "noisy-shrunk": 20 * config["scale"] + rng.gauss(0, config["noise"]),
}
if config.get("one_method"):
    method = "noisy-plain" if config["scale"] == 1 else "noisy-shrunk"
    values = {method: values[method]}
if behaviour == "nan":
    values["noisy-plain"] = float("nan")
if behaviour == "stranger":
    values["no-such-claim"] = 1.0
if behaviour == "half":
    del values["noisy-shrunk"]
metrics = [{"claim": claim, "value": value} for claim, value in values.items()]
(out / "metrics.json").write_text(json.dumps({"metrics": metrics}))
'''


def task(**changes) -> dict:
    """The task of the tiny bundle, with top-level keys changed; None takes a key away."""
    base = {
        "schema": 1,
        "claims": [
            _claim("noisy-plain", "Plain", key=True),
            _claim("noisy-shrunk", "Shrunk"),
        ],
        "ablations": [{"id": "shrinking-hurts", "full": "noisy-plain", "variant": "noisy-shrunk"}],
        "seeds": [1, 2, 3],
    }
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


def _claim(claim: str, column: str, **more) -> dict:
    address = {"table": "Table 1", "row": ["Noisy"], "column": [column]}
    return {
        "id": claim,
        "metric": "error",
        "dataset": "noisy",
        "unit": "percent",
        "direction": "lower",
        "reported": address,
        **more,
    }


def make_bundle(
    folder: Path,
    *,
    paper: str = PAPER,
    task_text: str | None = None,
    behaviour: str = "well",
    timeout: float = 30,
    noise: float = 0.01,
    scale: float = 1.0,
    experiments: list[dict] | None = None,
    settings: dict | None = None,
    covers: tuple[str, ...] = ("noisy-plain", "noisy-shrunk"),
    **changes,
) -> Path:
    """Write the bundle into `folder` and return it."""
    code = folder / "code"
    code.mkdir(parents=True)
    (folder / "paper.md").write_text(paper)
    (folder / "task.yaml").write_text(task_text or yaml.safe_dump(task(**changes), sort_keys=False))
    (code / "experiment.py").write_text(CODE)
    (code / "old.json").write_text('{"metrics": [{"claim": "noisy-plain", "value": 10.0}]}')
    config = {"scale": scale, "noise": noise, "behaviour": behaviour, **(settings or {})}
    (code / "config.json").write_text(json.dumps(config))
    main = {
        "id": "noisy",
        "claims": list(covers),
        "config": "config.json",
        "timeout": timeout,
    }
    spec = {
        "schema": 1,
        "entry": ["python", "experiment.py"],
        "experiments": [main, *(experiments or [])],
    }
    (code / "experiment.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    return folder
