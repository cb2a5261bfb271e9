"""From a workspace to what is scored: the code with its script and its lock, frozen under its hash."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.spec import ExperimentSpec

SCRIPT = "reproduce.sh"
RESOLVED = "configs/resolved"
LOCK = "requirements.lock"


def complete(folder: Path, spec: ExperimentSpec, made: Implementation, lock: bytes) -> None:
    """Write `reproduce.sh`, the configurations that it names, and the lock into a code folder."""
    configs = folder / RESOLVED
    configs.mkdir(parents=True, exist_ok=True)
    for experiment in made.experiments:
        text = json.dumps(experiment.config, indent=1, sort_keys=True)
        (configs / f"{experiment.id}.json").write_text(text + "\n", encoding="utf-8")
    (folder / LOCK).write_bytes(lock)
    script = folder / SCRIPT
    script.write_text(_script(spec, made), encoding="utf-8")
    script.chmod(0o755)


def _script(spec: ExperimentSpec, made: Implementation) -> str:
    ids = " ".join(experiment.id for experiment in made.experiments)
    return f"""#!/bin/sh
# Runs every experiment with the seeds that are given: ./reproduce.sh 1 2 3
# Results: runs/EXPERIMENT/SEED/metrics.json. Packages: {LOCK}.
set -eu
cd "$(dirname "$0")"
[ "$#" -gt 0 ] || {{ echo "usage: $0 SEED..." >&2; exit 2; }}
for seed in "$@"; do
  for experiment in {ids}; do
    config="{RESOLVED}/$experiment.json" out="runs/$experiment/$seed"
    mkdir -p "$out"
    {_command(spec)}
  done
done
"""


def _command(spec: ExperimentSpec) -> str:
    places = {"{config}": '"$config"', "{seed}": '"$seed"', "{out}": '"$out"'}
    if not any(place in word for word in spec.entry for place in places):
        words = [shlex.quote(word) for word in spec.entry]
        return " ".join([*words, '--config "$config" --seed "$seed" --out "$out"'])
    words = []
    for word in spec.entry:
        quoted = shlex.quote(word)
        for place, value in places.items():  # braces are quoted, so the place stands within quotes
            quoted = quoted.replace(place, f"'{value}'")
        words.append(quoted)
    return " ".join(words)
