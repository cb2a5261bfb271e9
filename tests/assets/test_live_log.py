"""A run is watched while it runs: in Dagster's log, and by `repro log --follow` beside it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from repro_pipeline.cli import main
from repro_pipeline.commands import opening
from repro_pipeline.project import Project
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of
from resources.launches import BY_COMMAND
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
    assert "baseline: 1 runs to make, of 1" in said
    assert [line for line in said if re.fullmatch(r"noisy, seed 1 \| ok, [\d.]+ s", line)]


def test_a_stage_that_ended_badly_says_what_to_do_and_marks_its_launch(
    project: Path, opened: Project
):
    """The launch is a good one, for Dagster; whoever looks at it there must learn otherwise."""
    make_bundle(project / "papers" / "bad", behaviour="exit")
    assert main(["run", "bad"]) == 2
    instance = opening.instance_of(opened)
    (run,) = instance.get_runs()
    ends = {name: stage for name, stage in run.tags.items() if name.startswith("repro/")}
    assert ends == {
        **BY_COMMAND,
        "repro/failed": "baseline",
    }  # nothing of the stages that it blocks
    checks = {
        entry.dagster_event.asset_check_evaluation_data.asset_key.path[0]: (
            entry.dagster_event.asset_check_evaluation_data
        )
        for entry in instance.all_logs(run.run_id, dg.DagsterEventType.ASSET_CHECK_EVALUATION)
        if entry.dagster_event.asset_check_evaluation_data.check_name == "stage_ok"
    }
    assert "`repro log bad` shows what" in checks["baseline"].description
    assert "the estimator diverged" in checks["baseline"].metadata["reason"].value
    assert checks["paper_bundle"].description is None


def test_the_table_of_verdicts_is_for_people(project: Path, opened: Project):
    make_bundle(project / "papers" / "tiny", noise=0.05)
    assert main(["run", "tiny"]) == 0
    instance = opening.instance_of(opened)
    (made,) = instance.fetch_materializations(dg.AssetKey("scores"), limit=1).records
    shown = made.asset_materialization.metadata
    assert list(shown)[:3] == ["status", "reason", "headline"] and list(shown)[-1] == "ledger head"
    row = shown["verdicts"].records[0].data
    columns = [column.name for column in shown["verdicts"].schema.columns]
    assert columns[:3] == ["claim", "verdict", "reported"]
    (claim,) = (
        verdict
        for verdict in output_of(opened, latest(opened, "tiny", "scores"), Scores).verdicts
        if verdict.claim == row["claim"]
    )
    assert row["reproduced"] == pytest.approx(claim.value, rel=1e-5)
    assert len(str(row["reproduced"])) < len(str(claim.value))
