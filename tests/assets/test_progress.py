"""What is at work is shown: by `repro status` from outside, and run by run, with what is left."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import DagsterEvent

from repro_pipeline.background import Work, at_work, folder_of, launches
from repro_pipeline.cli import main
from repro_pipeline.commands import opening
from repro_pipeline.definitions import build_definitions
from repro_pipeline.progress import Tally
from repro_pipeline.project import Project
from resources.launches import BY_COMMAND
from tests.bundles import make_bundle


def status(capsys: pytest.CaptureFixture) -> str:
    capsys.readouterr()
    assert main(["status"]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_status_shows_the_launch_at_work_not_the_outcome_before(project, opened: Project, capsys):
    make_bundle(
        project / "papers" / "tiny", behaviour="slow", settings={"sleep": 3}, seeds=[1, 2, 3]
    )
    assert main(["run", "tiny", "--stage", "data_manifest"]) == 0
    assert "tiny data_manifest ok" in status(capsys)
    launch = subprocess.Popen(
        [sys.executable, "-m", "repro_pipeline.cli", "run", "tiny", "--stage", "baseline"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with launch:
        said = []
        while launch.poll() is None:
            if launches(opened.state):
                said.append(status(capsys))
            time.sleep(0.2)
    assert launch.returncode == 0
    assert all("tiny data_manifest ok" not in one for one in said if "queued" not in one)
    assert any(re.search(r"tiny baseline running, [12] of 3, about .* left", one) for one in said)
    assert "tiny baseline ok" in status(capsys)


def test_status_shows_what_waits(project, opened: Project, capsys):
    make_bundle(project / "papers" / "tiny")
    with at_work(opened.state, Work(command=("run", "tiny"), papers=("tiny",))):
        assert "tiny - running" in status(capsys)
        file = folder_of(opened.state) / "tiny.json"
        file.write_text(file.read_text().replace("running", "waiting"))
        assert "tiny - queued" in status(capsys)
    assert "tiny - not run" in status(capsys)


def test_status_says_of_a_launch_at_work_what_failed_already(project, opened: Project, capsys):
    make_bundle(project / "papers" / "tiny", behaviour="exit")
    with at_work(opened.state, Work(command=("run", "tiny"), papers=("tiny",))):
        assert main(["run", "tiny"]) == 2
        assert "running baseline failed; `repro logs -f tiny`" in status(capsys)


def test_status_shows_what_dagster_has_in_hand(project, opened: Project, capsys):
    """Runs of the UI, of schedules and of sensors; those of commands are known by their processes."""
    make_bundle(project / "papers" / "tiny")
    instance = opening.instance_of(opened)
    job = build_definitions(project).resolve_job_def("sweep_paper")

    def run(event: dg.DagsterEventType, tags: dict[str, str]) -> None:
        made = instance.create_run_for_job(job, tags=tags)
        instance.report_dagster_event(DagsterEvent(event.value, job.name), made.run_id)

    tiny = {"dagster/partition": "tiny"}
    run(dg.DagsterEventType.RUN_START, {**tiny, **BY_COMMAND})
    run(dg.DagsterEventType.RUN_SUCCESS, tiny)
    assert "tiny - not run" in status(capsys)
    run(dg.DagsterEventType.RUN_STARTING, tiny)
    assert "tiny - starting sweep_paper of tiny; `repro logs -f tiny`" in status(capsys)
    run(dg.DagsterEventType.RUN_START, tiny)  # what is at work is said before what is to be
    assert "tiny - running sweep_paper of tiny" in status(capsys)
    run(dg.DagsterEventType.RUN_START, {})
    assert "Dagster's job sweep_paper is running." in status(capsys)


def test_runs_are_counted_and_probes_named(project: Path, opened: Project, capfd):
    make_bundle(project / "papers" / "tiny", seeds=[1, 2, 3])
    assert main(["run", "tiny"]) == 0
    told = capfd.readouterr().err
    assert re.search(r"noisy, seed \d: [\d.]+ s \(2 of 3, about .* left\)", told)
    assert "(3 of 3)" in told and "noisy, seed 1, repeated: " in told
    probes = [
        line.split(" s (")[0].rpartition(":")[0] for line in told.splitlines() if "probe" in line
    ]
    assert probes and "probe: other noise" in " ".join(probes) and len(set(probes)) == len(probes)

    # A plan that stands is not written anew: a run of a later launch is counted in it nevertheless.
    events = list(opened.ledger.events("tiny"))
    ends = sorted(
        (e for e in events if e.kind == "attempt_finished"),
        key=lambda e: e.content.attempt.seed,  # runs at the same time end in any order
    )
    starts = [e for e in events if e.kind == "attempt_started"]
    tally = Tally()
    for event in events:
        tally.take(event)
    assert tally.plan is None
    tally.take(starts[0])
    assert tally.plan is not None and (tally.ended, tally.of) == (3, 3)
    assert tally.name(ends[0].content.attempt) == "noisy, seed 1"
