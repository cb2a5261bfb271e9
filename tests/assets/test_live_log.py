"""A run is watched while it runs: in Dagster's log, and by `repro log --follow` beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from repro_pipeline.cli import main
from repro_pipeline.project import Project
from tests.bundles import make_bundle


def test_runs_are_seen_while_they_run_and_use_is_recorded(project: Path, opened: Project):
    make_bundle(project / "papers" / "tiny", behaviour="slow", settings={"sleep": 4}, seeds=[1, 2])
    launch = subprocess.Popen(
        [sys.executable, "-m", "repro_pipeline.cli", "run", "tiny", "--stage", "baseline"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with launch:
        seen = ""
        while launch.poll() is None and "seed 1" not in seen:
            watching = [sys.executable, "-m", "repro_pipeline.cli", "log", "tiny", "--follow"]
            seen += subprocess.run(watching, capture_output=True, text=True, check=True).stdout
    assert launch.returncode == 0
    assert "noisy, seed 1 | seed 1 slow" in seen and "noisy, seed 2 | seed 2 slow" in seen
    attempts = [e.content.attempt for e in opened.ledger.events("tiny", kinds={"attempt_finished"})]
    for attempt in attempts:
        assert attempt.written_bytes > 0 and attempt.cpu_seconds > 0
        assert attempt.peak_memory_bytes > 1 << 20 and attempt.seconds > 0


def test_dagsters_log_has_lines_of_runs(project: Path, opened: Project, monkeypatch):
    from assets import stage as module

    said: list[str] = []
    real = module.Stage
    monkeypatch.setattr(
        module, "Stage", lambda *given, **named: real(*given, **{**named, "say": said.append})
    )
    make_bundle(project / "papers" / "tiny", seeds=[1])
    assert main(["run", "tiny", "--stage", "baseline"]) == 0
    assert [line for line in said if "noisy, seed 1 | seed 1 well" in line], json.dumps(said)
