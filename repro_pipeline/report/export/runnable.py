"""The part that all exports share: code, inputs, lock, and the two scripts that run it all again."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from repro_pipeline.environment.image import dockerfile
from repro_pipeline.experiment.command import fill_command
from repro_pipeline.ledger.runs import ValueSource
from repro_pipeline.report.export.material import (
    Material,
    input_name,
    write_artifact,
    write_code,
    write_inputs,
)

SCRIPT, DRIVER = "reproduce.sh", "reproduce.py"
LOCK, PLAN = "environment/requirements.lock", "environment/runs.json"
DOCKERFILE = "environment/Dockerfile"
"""Where runs were made in an image."""


def write_runnable(material: Material, folder: Path, *, values: bool) -> None:
    """Write `code/`, `data/`, `environment/`, `reproduce.sh` and `reproduce.py` into a folder.

    With `values`, the recorded values go with it, for the scripts to compare with.
    """
    write_code(material, folder / "code")
    write_inputs(material, folder / "data")
    write_artifact(material.project, material.lock, folder / LOCK)
    built = material.report.evidence.environment
    if built.image is not None:
        lock = (folder / LOCK).read_text(encoding="utf-8")
        text = dockerfile(lock, base=built.image.base, python=built.lock.python)
        (folder / DOCKERFILE).write_text(text, encoding="utf-8")
    text = json.dumps(plan(material, values=values), indent=1, sort_keys=True)
    (folder / PLAN).write_text(text + "\n", encoding="utf-8")
    driver = (files("repro_pipeline.report.export") / "rerun.py").read_text("utf-8")
    (folder / DRIVER).write_text(driver, encoding="utf-8")
    (folder / SCRIPT).write_text(_script(material), encoding="utf-8")
    (folder / SCRIPT).chmod(0o755)


def plan(material: Material, *, values: bool) -> dict[str, Any]:
    """What `reproduce.py` reads: the command with its places, experiments, seeds, inputs, values."""
    evidence, made = material.report.evidence, material.implementation
    names = [entry.name for entry in material.inputs]
    places = {name: f"{{{name}}}" for name in ("python", "config", "seed", "out")}
    places |= {"data": {name: f"{{data.{name}}}" for name in names}}
    return {
        "paper": material.paper,
        "code_tree": evidence.code_tree,
        "lock": material.lock,
        "python": evidence.environment.fingerprint.python,
        "variables": dict(evidence.environment.fingerprint.variables),
        "command": fill_command(made.command, places, contract=not made.outputs),
        "experiments": [
            {
                "id": experiment.id,
                "kind": experiment.kind,
                "claims": list(experiment.claims),
                "config": experiment.config,
                "timeout": experiment.timeout,
            }
            for experiment in evidence.experiments
        ],
        "seeds": list(evidence.seeds) or [None],
        "data": [
            {
                "name": entry.name,
                "file": input_name(entry),
                "sha256": entry.sha256,
                "private": entry.private,
            }
            for entry in material.inputs
        ],
        "reads": _reads(material),
        "values": _values(material) if values else {},
    }


def _reads(material: Material) -> str:
    sources = {run.counted.value_source for run in material.runs}
    if material.implementation.outputs:
        return "from its own output, as task.yaml says"
    if ValueSource.RECOMPUTED in sources:
        return "computed from predictions and labels that are not exported"
    return "metrics.json"


def _values(material: Material) -> dict[str, dict[str, dict[str, float]]]:
    values: dict[str, dict[str, dict[str, float]]] = {}
    for run in material.runs:
        values.setdefault(run.experiment, {})[str(run.seed)] = run.values
    return values


def _script(material: Material) -> str:
    lock = material.report.evidence.environment.lock
    python = material.report.evidence.environment.fingerprint.python
    version = ".".join(python.split(".")[:2])
    image = material.report.evidence.environment.image
    contained = (
        f"\n# Runs were made in the image {image.id}, which {DOCKERFILE} makes upon {image.base}"
        f"\n# ({image.base_id})."
        if image
        else ""
    )
    hashes = "--require-hashes " if lock.hashed else ""
    options = f"--quiet --no-deps {hashes}-r {LOCK}"
    with_uv = f"uv pip install --python .venv/bin/python {options}" if lock.packages else ":"
    with_pip = f".venv/bin/python -m pip install {options}" if lock.packages else ":"
    return f"""#!/bin/sh
# Builds the environment from the lock and runs every experiment again: ./{SCRIPT} [SEED...]
# Code tree {material.report.evidence.code_tree}
# Lock {lock.sha256}, made for Python {python}{contained}
# The code runs WITHOUT a sandbox. Needed: Python {version}, and a package index.
set -eu
cd "$(dirname "$0")"
if command -v uv >/dev/null 2>&1; then
  [ -x .venv/bin/python ] || uv venv --quiet --python {version} .venv
  {with_uv}
else
  [ -x .venv/bin/python ] || python{version} -m venv .venv
  {with_pip}
fi
exec .venv/bin/python {DRIVER} "$@"
"""
