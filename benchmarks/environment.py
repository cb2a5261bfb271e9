"""An environment from a warm cache, against `pip install` into a fresh venv with pip's cache warm.

    python benchmarks/environment.py [--rounds 3] [PACKAGE ...]

Both sides install the same lock with its hashes, and both compile bytecode (pip of all files, the
pipeline of all but packages' tests). Rounds are interleaved; medians and their ratios are printed.
The first round, which fetches what is not cached, is shown apart and not counted.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from repro_pipeline.environment.build import build, remove_environment
from repro_pipeline.environment.fingerprint import installed_packages, site_packages
from repro_pipeline.environment.interpreter import OWN
from repro_pipeline.environment.lock import lock_info, resolve
from repro_pipeline.environment.model import EnvironmentLock, Requirements

PACKAGES = ("numpy", "pandas", "scikit-learn")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("packages", nargs="*", default=PACKAGES)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), tuple(given.packages), given.rounds)


def compare(folder: Path, packages: tuple[str, ...], rounds: int) -> None:
    cache, lock_file = folder / "environments", folder / "requirements.lock"
    wanted = Requirements(kind="requirements", file="requirements.txt", lines=packages)
    text = resolve(wanted, python=OWN, cache=cache)
    lock = lock_info(text, requirements=wanted, python=OWN)
    lock_file.write_text(text)
    sides: dict[str, Callable[[], dict[str, str]]] = {
        "pip install, fresh venv": lambda: by_pip(folder, lock_file),
        "build, new environment": lambda: by_build(text, lock, cache, keep=False),
        "build, standing environment": lambda: by_build(text, lock, cache, keep=True),
    }
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds + 1):
        installed = []
        for name, side in sides.items():
            start = time.perf_counter()
            installed.append(side())
            seconds[name].append(time.perf_counter() - start)
        if any(one != installed[0] for one in installed):
            raise SystemExit(f"the sides did not install the same packages: {installed}")
    print(f"{', '.join(packages)}: {len(installed[0])} packages, {rounds} rounds")
    print(f"{'':<28} {'first':>8} {'median':>8} {'range':>15}   pip takes")
    base = statistics.median(seconds["pip install, fresh venv"][1:])
    for name, (first, *rest) in seconds.items():
        middle, spread = statistics.median(rest), f"{min(rest):.2f}-{max(rest):.2f}"
        print(f"{name:<28} {first:7.2f}s {middle:7.2f}s {spread:>14}s {base / middle:8.1f} x")


def by_pip(folder: Path, lock_file: Path) -> dict[str, str]:
    """A fresh venv with the lock's packages; what it holds beside pip itself."""
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
    python = venv / "bin" / "python"
    options = ["--quiet", "--require-hashes", "--cache-dir", folder / "pip", "-r", lock_file]
    subprocess.run([python, "-m", "pip", "install", *options], check=True)
    found = installed_packages(site_packages(python))
    return {name: found[name] for name in found if name not in {"pip", "setuptools"}}


def by_build(text: str, lock: EnvironmentLock, cache: Path, *, keep: bool) -> dict[str, str]:
    """The environment of the lock; anew where what stands is not kept."""
    if not keep:
        for marker in cache.glob("*/environment.json"):
            remove_environment(marker.parent)
    return build(text, lock=lock, cache=cache).fingerprint.packages


if __name__ == "__main__":
    main()
