"""What the pipeline costs beyond the experiment: `repro run` against the bare script, same runs.

    python benchmarks/overhead.py [--draws N]
    python benchmarks/overhead.py --hook PAIRS [--draws N] [--project DIR]

Reproduces the bundled example in a fresh project with its environment already built, then executes
the very same list of runs (configurations, seeds, repetitions) as bare processes, as many at a time.
Prints wall-clock and CPU seconds with their ratios, and those of a second run that finds nothing to
do. `--draws` replaces the example's draws per seed (10): with fewer, each run is shorter and the
ratio harder to hold.

`--hook` measures what every run is watched by (`repro_pipeline/forensics/hook`) alone: the script with
and without it, in turn, by CPU seconds, which other work on the machine disturbs least; the least of
all pairs counts. `--project` has the environment already (one that ran the example).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repro_pipeline.environment.build import host_python
from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.forensics.record import FOLDER, HOOK, prepare, variables
from repro_pipeline.project import Project
from repro_pipeline.sandbox.policy import THREADS
from repro_pipeline.stages import latest, output_of
from resources.opening import open_project

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "random-forests-2001"
PAPER = EXAMPLE.name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int)
    parser.add_argument("--hook", type=int, metavar="PAIRS")
    parser.add_argument("--project", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = options.project or with_environment(Path(folder) / "project", options.draws)
        if options.hook:
            hook(open_project(root), options.hook, options.draws, Path(folder))
        else:
            whole(root, Path(folder))


def with_environment(root: Path, draws: int | None) -> Path:
    """A project with the example, and what it needs already built."""
    repro(root.parent, "init", str(root))
    bundle = root / "papers" / PAPER
    shutil.copytree(EXAMPLE, bundle)
    for path in (bundle / "code" / "configs").glob("*.json"):
        path.write_text(json.dumps(drawn(json.loads(path.read_text()), draws)))
    repro(root, "run", PAPER, "--stage", "environment")
    return root


def drawn(config: dict, draws: int | None) -> dict:
    """A configuration with another number of draws, if any is asked for."""
    return {**config, "n_draws": draws or config["n_draws"]}


def whole(root: Path, folder: Path) -> None:
    """The command against the bare runs."""
    pipeline = timed(lambda: repro(root, "run", PAPER))
    again = timed(lambda: repro(root, "run", PAPER))
    project = open_project(root)
    runs = [e.content for e in project.ledger.events(PAPER, kinds={"attempt_started"})]
    bare = timed(lambda: run_bare(project, runs, folder))
    print(f"{len(runs)} runs, {project.workers} at a time; wall clock and CPU")
    for name, (seconds, cpu) in (
        ("bare script", bare),
        ("repro run", pipeline),
        ("repro run again", again),
    ):
        print(
            f"{name:16} {seconds:7.1f} s {cpu:7.1f} s   {seconds / bare[0]:.2f} x and "
            f"{cpu / bare[1]:.2f} x the bare script"
        )


def hook(project: Project, pairs: int, draws: int | None, folder: Path) -> None:
    """The script with and without what watches it."""
    config = drawn(json.loads((EXAMPLE / "code" / "configs" / "twonorm.json").read_text()), draws)
    found: dict[str, list[float]] = {"bare": [], "watched": []}
    for pair in range(pairs):
        for name, times in found.items():
            code, out = folder / f"code-{name}-{pair}", folder / f"out-{name}-{pair}"
            shutil.copytree(EXAMPLE / "code", code)
            out.mkdir()
            watched = {}
            if name == "watched":
                prepare(code, "")
                watched = dict(variables(str(HOOK.source), str(code / FOLDER)))
            times.append(timed(lambda: bare_run(project, config, 1, code, out, watched))[1])  # noqa: B023
    least = {name: min(times) for name, times in found.items()}
    print(f"{config['n_draws']} draws, {pairs} pairs; CPU seconds of a run, the least of each")
    print(f"bare script      {least['bare']:7.2f} s")
    print(f"with the hook    {least['watched']:7.2f} s   {least['watched'] / least['bare']:.2f} x")


def repro(folder: Path, *arguments: str) -> None:
    """The command, silent unless it fails to run at all."""
    command = [sys.executable, "-m", "repro_pipeline.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def run_bare(project: Project, runs: list, folder: Path) -> None:
    """The same configurations and seeds with the same interpreter, nothing around them."""
    code = project.bundle(PAPER) / "code"

    def run(numbered: tuple[int, object]) -> None:
        number, started = numbered
        out = folder / f"bare-{number}"
        out.mkdir()
        bare_run(project, started.config, started.seed, code, out, {})

    with ThreadPoolExecutor(project.workers) as pool:
        list(pool.map(run, enumerate(runs)))


def bare_run(
    project: Project, config: dict, seed: int, code: Path, out: Path, watched: dict
) -> None:
    """The script in a process with the environment's interpreter."""
    built = output_of(project, latest(project, PAPER, "environment"), BuiltEnvironment)
    python = host_python(built, project.state / "environments")
    one_thread = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONDONTWRITEBYTECODE": "1"}
    (out / "config.json").write_text(json.dumps(config))
    command = [python, "experiment.py", "--config", out / "config.json"]
    command += ["--seed", str(seed), "--out", out]
    environment = one_thread | watched
    subprocess.run(command, cwd=code, check=True, capture_output=True, env=environment)


def timed(work) -> tuple[float, float]:
    """Wall-clock seconds of a call, and CPU seconds of the processes that it waited for."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu


if __name__ == "__main__":
    main()
