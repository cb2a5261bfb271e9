"""Runs every experiment again with every seed, and holds the values against those on record.

Usage: python reproduce.py [SEED...]       without seeds: those on record

This file stands alone: it needs Python 3.8 and nothing else, and travels with exported reproductions,
where its name is `reproduce.py`. It reads environment/runs.json, runs the code in a fresh copy of
code/ for each run, WITHOUT a sandbox, and leaves results/again/EXPERIMENT/SEED/. Exit status: 0 where
every run gave its values, 1 where one did not, 2 where something is missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(arguments: list) -> int:
    """Run all; return the exit status."""
    plan = json.loads((HERE / "environment" / "runs.json").read_text(encoding="utf-8"))
    try:
        seeds = [int(word) for word in arguments] or plan["seeds"]
    except ValueError:
        print("usage: reproduce.sh [SEED...], each an integer", file=sys.stderr)
        return 2
    data, missing = inputs(plan)
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return 2
    failed = 0
    for experiment in plan["experiments"]:
        for seed in seeds:
            place = "unseeded" if seed is None else str(seed)
            out = HERE / "results" / "again" / experiment["id"] / place
            lines, well = told(plan, experiment, seed, data, out)
            failed += not well
            for line in lines:
                print(f"{experiment['id']}, {place}: {line}", flush=True)
    print(f"{failed} runs FAILED." if failed else "Every run ended well.")
    return 1 if failed else 0


def inputs(plan: dict) -> tuple:
    """Place of each input by name, and a sentence for each that is not there as it should be."""
    places, missing = {}, []
    for one in plan["data"]:
        path = HERE / "data" / one["file"]
        places[one["name"]] = str(path)
        if not path.is_file():
            why = "is private and was not exported" if one["private"] else "is missing"
            missing.append(
                f"The input '{one['name']}' {why}: put the file with sha256 {one['sha256']} at {path}."
            )
        elif sha256(path) != one["sha256"]:
            missing.append(f"{path} is not the input that was used: its sha256 is {sha256(path)}.")
    return places, missing


def sha256(path: Path) -> str:
    """Digest of a file."""
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            hashed.update(block)
    return hashed.hexdigest()


def told(plan: dict, experiment: dict, seed: object, data: dict, out: Path) -> tuple:
    """Run once; a line per claim, or why there is none, and whether the run ended well."""
    why = run(plan, experiment, seed, data, out)
    if why:
        return [f"FAILED, {why}; see {out}.log"], False
    if plan["reads"] != "metrics.json":
        return [f"done; its values are read otherwise ({plan['reads']})"], True
    try:
        content = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
        found = {one["claim"]: one["value"] for one in content["metrics"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"FAILED, it left no readable metrics.json ({error})"], False
    recorded = plan["values"].get(experiment["id"], {}).get(str(seed), {})
    lines = [said(claim, found.get(claim), recorded.get(claim)) for claim in experiment["claims"]]
    return lines, all(found.get(claim) is not None for claim in experiment["claims"])


def run(plan: dict, experiment: dict, seed: object, data: dict, out: Path) -> str:
    """Run once in a fresh copy of the code; a reason where it failed."""
    shutil.rmtree(str(out), ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as place:
        work, config = Path(place) / "work", Path(place) / "config.json"
        shutil.copytree(str(HERE / "code"), str(work), symlinks=True)
        settings = dict(experiment["config"], **({"data": data} if data else {}))
        config.write_text(json.dumps(settings, sort_keys=True), encoding="utf-8")
        names = {"python": sys.executable, "config": config, "seed": seed, "out": out}
        names.update((f"data.{name}", path) for name, path in data.items())
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        with Path(f"{out}.log").open("wb") as log:
            try:
                done = subprocess.run(
                    [filled(word, names) for word in plan["command"]],
                    cwd=str(work),
                    env=dict(os.environ, PATH=programs, **plan["variables"]),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=experiment["timeout"],
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"it took longer than {experiment['timeout']:g} s"
            except OSError as error:
                return f"it cannot be started: {error}"
    return f"exit status {done.returncode}" if done.returncode else ""


def filled(word: str, names: dict) -> str:
    """A word of the command with its places filled in."""
    for name, value in names.items():
        word = word.replace("{" + name + "}", str(value))
    return word


def said(claim: str, value: object, before: object) -> str:
    """A claim's value beside the one on record of the same seed."""
    if value is None:
        return f"{claim}: FAILED, no value"
    if before is None:
        return f"{claim}: {value!r}, none on record for this seed"
    return f"{claim}: {value!r}, " + ("as recorded" if value == before else f"recorded {before!r}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
