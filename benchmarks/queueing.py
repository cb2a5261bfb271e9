"""Many short experiments through the pipeline's queue, against `xargs -P` over plain processes.

    python benchmarks/queueing.py [--runs 50] [--seconds 0.2] [--rounds 3]

Each side executes the same program once per seed, as many at the same time as there are processors
(`xargs -P`, the project's workers). The program computes for about `--seconds` of one processor. The
pipeline's side is `execute_runs`: a private copy of the code, the sandbox, metrics that are checked,
log and outputs stored, two events in the ledger for each run. `sandbox` is the same queue of threads
with the sandbox alone, without ledger and store. Rounds are interleaved; printed are medians of the wall
clock and of the CPU time of all processes that took part, which a busy machine changes least, the
difference of the latter per run, and the ratios to xargs.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repro_pipeline.experiment.runs import Laboratory, execute_runs, plan_runs
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.runs import ExperimentKind, Purpose
from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner
from repro_pipeline.sandbox.policy import Limits, Mount, SandboxPolicy
from repro_pipeline.status import Status
from resources.artifact_store import FsspecArtifactStore
from resources.ledger_sql import SqlLedger
from resources.slots import make_slots

PROGRAM = """
import argparse, json, pathlib, time
parser = argparse.ArgumentParser()
for name in ("--config", "--seed", "--out"):
    parser.add_argument(name)
options = parser.parse_args()
end, total = time.process_time() + SECONDS, 0
while time.process_time() < end:
    total += 1
metrics = {"metrics": [{"claim": "c", "value": float(options.seed)}]}
pathlib.Path(options.out, "metrics.json").write_text(json.dumps(metrics))
"""
PYTHON = Path(sys.executable).resolve()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    workers = len(os.sched_getaffinity(0))
    sides: dict[str, Callable[[Path, int, int], None]] = {
        f"xargs -P {workers}": by_xargs,
        "sandbox": by_sandbox,
        "queue": by_queue,
    }
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    used: dict[str, list[float]] = {name: [] for name in sides}
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder, "code")
        code.mkdir()
        (code / "experiment.py").write_text(PROGRAM.replace("SECONDS", str(given.seconds)))
        (code / "config.json").write_text("{}")
        for number in range(given.rounds):
            for name, side in sides.items():
                place = Path(folder, f"{number}-{name.split()[0]}")
                place.mkdir()
                began, cpu = time.perf_counter(), cpu_seconds()
                side(place, given.runs, workers)
                seconds[name].append(time.perf_counter() - began)
                used[name].append(cpu_seconds() - cpu)
                shutil.rmtree(place)
    base, base_cpu = (statistics.median(found[f"xargs -P {workers}"]) for found in (seconds, used))
    print(
        f"{given.runs} runs of {given.seconds:g} s on {workers} processors, {given.rounds} rounds"
    )
    print(
        f"{'':14}{'wall s':>8}{'ratio':>7}{'range':>14}{'CPU s':>8}{'ratio':>7}{'more ms a run':>15}"
    )
    for name, values in seconds.items():
        median, cpu = statistics.median(values), statistics.median(used[name])
        spread = f"{min(values):.1f}-{max(values):.1f}"
        more = (cpu - base_cpu) / given.runs * 1e3
        wall = f"{median:8.1f}{median / base:7.2f}{spread:>14}"
        print(f"{name:14}{wall}{cpu:8.1f}{cpu / base_cpu:7.2f}{more:15.0f}")


def cpu_seconds() -> float:
    """User and system time of this process and of all that it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def by_xargs(place: Path, runs: int, workers: int) -> None:
    """Plain processes, each with an output folder of its own."""
    program = '"$0" ../code/experiment.py --config ../code/config.json'
    script = f'mkdir "$1" && exec {program} --seed "$1" --out "$1"'
    command = ["xargs", "-P", str(workers), "-n", "1", "sh", "-c", script, str(PYTHON)]
    seeds = "\n".join(map(str, range(runs)))
    subprocess.run(command, input=seeds, text=True, cwd=place, check=True)
    if len(list(place.glob("*/metrics.json"))) != runs:
        raise SystemExit("xargs lost a run")


def by_sandbox(place: Path, runs: int, workers: int) -> None:
    """The sandbox in as many threads."""
    runner = BubblewrapRunner()
    runner.enforcement()
    policy = SandboxPolicy(mounts=mounts())

    def one(seed: int) -> None:
        folders = {"workdir": place / f"{seed}-work", "out": place / f"{seed}-out"}
        shutil.copytree(place.parent / "code", folders["workdir"])
        folders["out"].mkdir()
        words = ["experiment.py", "--config", "config.json", "--seed", str(seed), "--out", "/out"]
        log = place / f"{seed}-log"
        outcome = runner.run([str(PYTHON), *words], policy, **folders, log=log)
        if outcome.status is not Status.OK:
            raise SystemExit(f"{outcome.reason} {log.read_text()}")

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, range(runs)))


def by_queue(place: Path, runs: int, workers: int) -> None:
    """The pipeline's own queue, with ledger and store."""
    store = FsspecArtifactStore(str(place / "store"))
    planned = plan_runs(
        [Experiment(id="e", kind=ExperimentKind.BASELINE, claims=("c",), config={}, timeout=60)],
        list(range(runs)),
        Purpose.EVAL,
        code_tree=store.put_tree(place.parent / "code"),
        command=("python", "experiment.py"),
        environment=digest("none"),
        data_manifest=digest("none"),
        outputs=(),
    )
    lab = Laboratory(
        paper="p",
        ledger=SqlLedger("sqlite:///ledger.sqlite", folder=place),
        store=store,
        runner=BubblewrapRunner(),
        slots=make_slots(None),
        python=PYTHON,
        mounts=mounts(),
        image=None,
        data={},
        stamps={},
        limits=Limits(),
        workers=workers,
        scratch=place / "scratch",
        actor="code:benchmark",
    )
    made = execute_runs(planned, lab, stage="baseline")
    if sum(run.counted.status is Status.OK for run in made) != runs:
        raise SystemExit(f"not all runs counted: {made[0].counted}")


def mounts() -> tuple[Mount, ...]:
    """What the interpreter needs in the sandbox."""
    base = Path(sys.base_prefix).resolve()
    return () if base.is_relative_to("/usr") else (Mount(source=base, target=base),)


if __name__ == "__main__":
    main()
