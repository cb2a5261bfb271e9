"""What the pipeline costs beyond the experiment: `repro run` against the bare script, same runs.

    python benchmarks/overhead.py [--draws N]

Reproduces the bundled example in a fresh project with its environment already built, then executes
the very same list of runs (configurations, seeds, repetitions) as bare processes, as many at a time.
Prints both wall-clock times and their ratio, and the time of a second run that finds nothing to do.
`--draws` replaces the example's draws per seed (10): with fewer, each run is shorter and the ratio
harder to hold.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repro_pipeline.environment.build import host_python
from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.project import Project
from repro_pipeline.sandbox.policy import THREADS
from repro_pipeline.stages import latest, output_of
from resources.opening import open_project

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "random-forests-2001"
PAPER = EXAMPLE.name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        repro(root.parent, "init", str(root))
        bundle = root / "papers" / PAPER
        shutil.copytree(EXAMPLE, bundle)
        if options.draws:
            for path in (bundle / "code" / "configs").glob("*.json"):
                config = json.loads(path.read_text())
                path.write_text(json.dumps({**config, "n_draws": options.draws}))
        repro(root, "run", PAPER, "--stage", "environment")
        pipeline = timed(lambda: repro(root, "run", PAPER))
        again = timed(lambda: repro(root, "run", PAPER))
        project = open_project(root)
        runs = [e.content for e in project.ledger.events(PAPER, kinds={"attempt_started"})]
        bare = timed(lambda: run_bare(project, runs, Path(folder)))
    print(f"{len(runs)} runs, {project.workers} at a time")
    print(f"bare script      {bare:7.1f} s")
    print(f"repro run        {pipeline:7.1f} s   {pipeline / bare:.2f} x the bare script")
    print(f"repro run again  {again:7.1f} s   {again / pipeline:.3f} x the first")


def repro(folder: Path, *arguments: str) -> None:
    """The command, silent unless it fails to run at all."""
    command = [sys.executable, "-m", "repro_pipeline.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def run_bare(project: Project, runs: list, folder: Path) -> None:
    """The same configurations and seeds with the same interpreter, nothing around them."""
    built = output_of(project, latest(project, PAPER, "environment"), BuiltEnvironment)
    python = host_python(built, project.state / "environments")
    code = project.bundle(PAPER) / "code"
    one_thread = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(numbered: tuple[int, object]) -> None:
        number, started = numbered
        out = folder / f"bare-{number}"
        out.mkdir()
        (out / "config.json").write_text(json.dumps(started.config))
        command = [python, "experiment.py", "--config", out / "config.json"]
        command += ["--seed", str(started.seed), "--out", out]
        subprocess.run(command, cwd=code, check=True, capture_output=True, env=one_thread)

    with ThreadPoolExecutor(project.workers) as pool:
        list(pool.map(run, enumerate(runs)))


def timed(work) -> float:
    """Wall-clock seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
