"""What importing costs: the command's help, and the code location, against the interpreter alone.

python benchmarks/imports.py

Prints medians over several processes and their ratios, and which heavy packages each one loads.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 7
HEAVY = ("dagster", "pandas", "pyarrow", "scipy", "matplotlib", "sqlalchemy", "pydantic", "litellm")
CASES = {
    "interpreter": "pass",
    "repro --help": "from repro_pipeline.cli import _parser; _parser().format_help()",
    "import dagster": "import dagster",
    "code location": "import repro_pipeline.code_location",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        subprocess.run(
            [sys.executable, "-m", "repro_pipeline.cli", "init", root],
            check=True,
            capture_output=True,
        )
        floor = None
        for name, code in CASES.items():
            seconds = statistics.median(timed(code, root) for _ in range(REPEATS))
            floor = floor or seconds
            loaded = ", ".join(heavy(code, root)) or "none"
            print(
                f"{name:<15} {seconds:6.2f} s  {seconds / floor:6.1f} x  heavy packages: {loaded}"
            )


def timed(code: str, root: Path) -> float:
    """Wall-clock seconds of a process that runs `code`."""
    start = time.perf_counter()
    run(code, root)
    return time.perf_counter() - start


def heavy(code: str, root: Path) -> list[str]:
    """Which of HEAVY a process has loaded after `code`."""
    names = run(f"{code}\nimport sys; print(*sys.modules)", root).split()
    return [name for name in HEAVY if name in names]


def run(code: str, root: Path) -> str:
    """Run `code` in a fresh interpreter in the project `root`."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        check=True,
        text=True,
        capture_output=True,
        env={**os.environ, "REPRO_PROJECT": str(root)},
    )
    return done.stdout


if __name__ == "__main__":
    main()
