"""What a submission of the suite is, and how its folder comes about.

A submission is the honest program of its world with some files changed. Its claimed runs are made
by executing it, seed by seed, before anything is edited afterwards: the honest ones are honest.

These runs have no sandbox around them, so no program of the suite may write outside its own folder:
one that attacks the machine does so only on the sandbox's host, by name.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import yaml
from cheat_programs import MAIN
from cheat_worlds import SEEDS, World

CALL = "    values = experiment(config, options.seed)\n"
ENTRY = "\n\ndef main():\n"

REPRODUCE = """#!/bin/sh
# Makes every claimed run anew.
set -e
cd "$(dirname "$0")"
for seed in {seeds}; do
{lines}
done
"""


@dataclass(frozen=True)
class Submission:
    """A submission by what distinguishes it from the honest one of its world."""

    name: str
    kind: str
    what: str
    """One sentence: what it does wrong, or why it is honest though it looks odd."""
    world: World
    honest: bool = False
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    seeds: tuple[int, ...] = SEEDS
    """The seeds of the claimed runs."""
    after: Callable[[Path], None] | None = None
    """What is done to the folder after its runs."""


def program(world: World, *changes: tuple[str, str]) -> str:
    """The world's honest program with texts replaced; each must be there."""
    code = world.code
    for old, new in changes:
        assert old in code, old
        code = code.replace(old, new)
    ast.parse(code)
    return code


def returning(world: World, expression: str, helpers: str = "", keep: bool = False) -> str:
    """The honest program, but what it reports is `expression`.

    `helpers` go before `main`; with `keep` the honest work is done first, as `values`.
    """
    call = (CALL if keep else "") + f"    values = {expression}\n"
    return program(world, (ENTRY, f"\n\n{helpers.strip()}\n{ENTRY}"), (CALL, call))


def targets(world: World) -> str:
    """The printed values, as source."""
    return "{" + ", ".join(f'"{claim}": {text}' for claim, text in world.reported.items()) + "}"


def build(submission: Submission, folder: Path) -> tuple[Path, Path]:
    """Write bundle and submission into `folder`, make the claimed runs; returns both folders."""
    bundle = submission.world.write_bundle(folder / "bundle")
    home = folder / "submission"
    for name, content in {**submission.world.files(), **submission.files}.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    spec = yaml.safe_load((home / "experiment.yaml").read_text())
    lines = [
        f"  {' '.join(spec['entry'])} --config {entry.get('config', 'config.json')} "
        f'--seed "$seed" --out "runs/{entry["id"]}/$seed"'
        for entry in spec["experiments"]
        if "config" in entry
    ]
    script = home / "reproduce.sh"
    if not script.exists():
        seeds = " ".join(map(str, submission.seeds))
        script.write_text(REPRODUCE.format(seeds=seeds, lines="\n".join(lines)))
    attempts = [
        _attempt(home, bundle, spec, entry, seed, folder / "work")
        for entry in spec["experiments"]
        for seed in submission.seeds
    ]
    write_attempts(home, attempts)
    if submission.after:
        submission.after(home)
    return bundle, home


def _attempt(
    home: Path, bundle: Path, spec: Mapping, entry: Mapping, seed: int, work: Path
) -> dict[str, object]:
    """One claimed run, in a private copy of the code, as the contract of runs says."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(home, work, ignore=shutil.ignore_patterns("runs", "attempts.jsonl"))
    base = next(e for e in spec["experiments"] if e["id"] == entry.get("of", entry["id"]))
    config = json.loads((home / base["config"]).read_text()) | entry.get("change", {})
    data = {path.stem: str(path) for path in (bundle / "data").iterdir()}
    given = work.parent / "config.json"
    given.write_text(json.dumps(config | ({"data": data} if data else {})))
    out = home / "runs" / entry["id"] / str(seed)
    out.mkdir(parents=True)
    command = [sys.executable if word == "python" else word for word in spec["entry"]]
    started = datetime.now(UTC)
    done = subprocess.run(
        [*command, "--config", str(given), "--seed", str(seed), "--out", str(out)],
        cwd=work,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    (out / "log").write_bytes(done.stdout)
    failed = done.returncode != 0 or not (out / "metrics.json").exists()
    last = done.stdout.decode(errors="replace").strip().rpartition("\n")[2]
    return {
        "experiment": entry["id"],
        "seed": seed,
        "status": "failed" if failed else "ok",
        "started_at": started.isoformat(),
        "finished_at": datetime.now(UTC).isoformat(),
        **({"reason": last or f"exit status {done.returncode}"} if failed else {}),
    }


# What is done to a folder after its runs.


def write_attempts(home: Path, attempts: list[dict]) -> None:
    """Write `attempts.jsonl`."""
    (home / "attempts.jsonl").write_text("".join(json.dumps(a) + "\n" for a in attempts))


def read_attempts(home: Path) -> list[dict]:
    """The lines of `attempts.jsonl`."""
    return [json.loads(line) for line in (home / "attempts.jsonl").read_text().splitlines()]


def claimed_runs(home: Path) -> Iterator[tuple[str, int, Path]]:
    """Experiment, seed and folder of each claimed run."""
    for folder in sorted((home / "runs").glob("*/*")):
        yield folder.parent.name, int(folder.name), folder


def claimed_values(home: Path) -> dict[str, list[float]]:
    """The claimed values of each claim, over seeds."""
    values: dict[str, list[float]] = {}
    for _, _, folder in claimed_runs(home):
        if not (folder / "metrics.json").exists():
            continue
        for metric in json.loads((folder / "metrics.json").read_text())["metrics"]:
            values.setdefault(metric["claim"], []).append(metric["value"])
    return values


def edit_values(
    change: Callable[[str, int, float], float], *, keep_time: bool = False, log: bool = False
):
    """An edit of every claimed metric by claim, seed and value; of the log with it if `log`."""

    def after(home: Path) -> None:
        for _, seed, folder in claimed_runs(home):
            path = folder / "metrics.json"
            stat = path.stat()
            metrics = json.loads(path.read_text())
            text = (folder / "log").read_text()
            for metric in metrics["metrics"]:
                old = metric["value"]
                metric["value"] = change(metric["claim"], seed, old)
                text = text.replace(f"{old:.4f}", f"{metric['value']:.4f}")
            path.write_text(json.dumps(metrics))
            if log:
                (folder / "log").write_text(text)
            if keep_time:
                os.utime(path, (stat.st_atime, stat.st_mtime))

    return after


def settle(seconds: float) -> Callable[[Path], None]:
    """Wait for what a run left behind."""
    return lambda home: time.sleep(seconds)


assert CALL in MAIN and ENTRY in MAIN
