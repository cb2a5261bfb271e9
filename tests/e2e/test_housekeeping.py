"""What `repro housekeeping` removes from a real Dagster instance, and what it never does."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from repro_pipeline.cli import main
from repro_pipeline.commands.opening import instance_of
from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.stage_names import STAGES
from resources.opening import open_project
from tests.bundles import make_bundle


@pytest.fixture
def used(project: Path) -> Path:
    """A project with a paper that was launched three times, the last time in part."""
    make_bundle(project / "papers" / "tiny")
    for arguments in ([], [], ["--stage", "parsed_paper"]):
        assert main(["run", "tiny", *arguments]) == 0
    return project


def test_launches_that_later_ones_replace_go_and_nothing_that_counts(used: Path, capsys):
    project = open_project(used)
    instance = instance_of(project)
    partial, whole, first = (record.dagster_run.run_id for record in instance.get_run_records())
    before = list(project.ledger.stored("tiny"))
    environment = list((used / ".repro" / "environments").glob("*/venv"))
    loose = project.store.put(b"nothing refers to this")

    assert main(["housekeeping"]) == 0  # all is younger than 30 days
    assert main(["housekeeping", "--keep-days", "0", "--dry-run"]) == 0
    assert "1 launches" in capsys.readouterr().out
    assert len(instance.get_run_records()) == 3

    assert main(["housekeeping", "--keep-days", "0"]) == 0
    assert [r.dagster_run.run_id for r in instance.get_run_records()] == [partial, whole]
    assert not list((used / ".repro" / "dagster").rglob(f"{first}*"))
    for stage in STAGES:
        assert instance.get_materialized_partitions(dg.AssetKey(stage)) == {"tiny"}
    assert list(project.ledger.stored("tiny")) == before
    assert verify_chain("tiny", before) == ()
    assert list((used / ".repro" / "environments").glob("*/venv")) == environment
    assert loose not in project.store
    assert main(["store", "verify"]) == 0
    assert main(["run", "tiny"]) == 0
    assert "stood already" in capsys.readouterr().out


def test_an_environment_that_no_paper_uses_any_more_goes(used: Path):
    project = open_project(used)
    (kept,) = (used / ".repro" / "environments").glob("*/venv")
    old = used / ".repro" / "environments" / ("0" * 64)
    (old / "venv").mkdir(parents=True)
    assert main(["housekeeping", "--keep-days", "0"]) == 0
    assert not old.exists() and kept.exists()
    assert project.store.verify() == []


def test_a_launch_whose_process_died_is_ended_and_frees_its_place(used: Path):
    project = open_project(used)
    instance = instance_of(project)
    job = dg.job(name="reproduce_paper")(lambda: None)
    tags = {"dagster/partition": "tiny", "repro/launched_by": "command"}
    dead = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags=tags)
    instance.event_log_storage.set_concurrency_slots("runs", 1)
    assert instance.event_log_storage.claim_concurrency_slot("runs", dead.run_id, "x").is_claimed
    with project.locked("tiny@launch"):  # another launch is alive
        from resources.launches import end_dead_launches

        assert end_dead_launches(instance, project) == []
    assert main(["run", "tiny"]) == 0
    assert instance.get_run_by_id(dead.run_id).status is dg.DagsterRunStatus.FAILURE
    assert instance.event_log_storage.get_concurrency_info("runs").active_slot_count == 0
