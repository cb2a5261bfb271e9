"""What it costs to start a command by each runner, against a plain subprocess and a bare `docker run`.

    python benchmarks/runners.py [--rounds 20]

Rounds are interleaved, so that a busy machine slows all alike. Printed are the median and the best
time in milliseconds, the median's difference and ratio to the plain subprocess, and the mean CPU
time of all processes that took part here, which a busy machine changes least (an engine's own is not
among them). The runners' first probe is not counted: it happens once per process. The engine is the
one that answers, or one that is started for this, as in the tests.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repro_pipeline.config import Docker
from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.sandbox.policy import SandboxPolicy
from resources.runners import RUNNERS, make_runner
from tests.docker_engine import Engine, running_engine

COMMAND = ["/bin/true"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, engine_if_any() as engine:
        starters = starters_here(Path(folder), engine)
        seconds = {name: [] for name in starters}
        used = dict.fromkeys(starters, 0.0)
        for _ in range(rounds):
            for name, start in starters.items():
                began, cpu = time.perf_counter(), cpu_seconds()
                start()
                seconds[name].append(time.perf_counter() - began)
                used[name] += (cpu_seconds() - cpu) / rounds
    base = statistics.median(seconds["subprocess"])
    print(f"{'start of':16}{'median ms':>10}{'best ms':>9}{'more ms':>9}{'ratio':>7}{'cpu ms':>8}")
    for name, values in seconds.items():
        median, best = statistics.median(values), min(values)
        times = f"{median * 1e3:10.1f}{best * 1e3:9.1f}{(median - base) * 1e3:9.1f}"
        print(f"{name:16}{times}{median / base:7.1f}{used[name] * 1e3:8.1f}")


def starters_here(folder: Path, engine: Engine | None) -> dict[str, Callable[[], None]]:
    """What can start a command on this machine, by name."""
    starters: dict[str, Callable[[], None]] = {"subprocess": plain, "bare bwrap": bare_bubblewrap}
    if engine is not None and shutil.which("docker"):
        starters["bare docker run"] = lambda: bare_docker(engine)
    for name in RUNNERS:
        try:
            starters[name] = by_runner(name, folder / name, engine)
        except SandboxUnavailable as error:
            print(f"{name}: {error}")
    return starters


@contextlib.contextmanager
def engine_if_any() -> Iterator[Engine | None]:
    """The engine of the tests; None, saying why, where there can be none."""
    with contextlib.ExitStack() as stack:
        try:
            engine = stack.enter_context(running_engine())
        except pytest.skip.Exception as reason:
            print(f"docker: {reason}")
            engine = None
        yield engine


def cpu_seconds() -> float:
    """User and system time of this process and of all that it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def plain() -> None:
    """A subprocess, and nothing else."""
    subprocess.run(COMMAND, check=True)


def bare_bubblewrap() -> None:
    """Bubblewrap without a supervisor, limits, or another user."""
    from repro_pipeline.sandbox.bubblewrap import find_binaries

    options = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    subprocess.run([find_binaries()[0], *options, *COMMAND], check=True)


def bare_docker(engine: Engine) -> None:
    """Docker's own command without any limit, but without network too: an engine may have none."""
    options = ["run", "--rm", "--network=none", engine.image]
    subprocess.run(["docker", "--host", engine.host, *options, *COMMAND], check=True)


def by_runner(name: str, folder: Path, engine: Engine | None) -> Callable[[], None]:
    """A runner that has been probed, in folders of its own."""
    for part in ("work", "out"):
        (folder / part).mkdir(parents=True)
    docker = Docker(host=engine.host, base=engine.image) if engine else Docker()
    runner, policy = make_runner(name, docker), SandboxPolicy()
    runner.enforcement()
    places = {"workdir": folder / "work", "out": folder / "out", "log": folder / "log"}
    return lambda: runner.run(COMMAND, policy, **places)


if __name__ == "__main__":
    main()
