"""Launches whose process died, and of which nobody else would ever say so."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import DagsterEvent

from resources.launches import (
    ALL_PAPERS,
    BY_COMMAND,
    end_dead_launches,
    end_orphaned_launches,
    end_run,
    launch_lock,
)
from resources.opening import open_project


@dg.job
def work() -> None:
    """Nothing."""


@pytest.fixture
def instance(tmp_path: Path):
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        yield instance


def _hang_up(server: socket.socket) -> None:
    server.accept()[0].close()


def started(instance: dg.DagsterInstance, pid: int, **tags: str) -> str:
    """A launch that a process began."""
    run = instance.create_run_for_job(work, tags=tags)
    kind = dg.DagsterEventType.RUN_START.value
    instance.report_dagster_event(DagsterEvent(kind, "work", pid=pid, message="began"), run.run_id)
    assert instance.get_run_by_id(run.run_id).status is dg.DagsterRunStatus.STARTED
    return run.run_id


def test_a_launch_that_died_with_its_server_is_ended_and_no_other(instance, tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead = {".dagster/grpc_info": json.dumps({"host": "localhost", "socket": str(tmp_path / "no")})}
    lost = started(instance, gone.pid, **dead)
    at_work = started(instance, os.getpid(), **dead)  # its server alone died
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "here"))
        server.listen()
        here = json.dumps({"host": "localhost", "socket": str(tmp_path / "here")})
        watched = started(instance, gone.pid, **{".dagster/grpc_info": here})
        assert end_orphaned_launches(instance) == [lost]
    assert instance.get_run_by_id(lost).status is dg.DagsterRunStatus.FAILURE
    for run_id in (at_work, watched):
        assert instance.get_run_by_id(run_id).status is dg.DagsterRunStatus.STARTED


def test_what_cannot_be_asked_to_end_is_said_with_the_way_to_end_it(instance, tmp_path):
    """Dagster asks the server that began a launch; the worker of one that died with it is at work still."""
    dead = {".dagster/grpc_info": json.dumps({"host": "localhost", "socket": str(tmp_path / "no")})}
    at_work = started(instance, os.getpid(), **dead)
    assert f"`kill -INT {os.getpid()}`" in end_run(instance, at_work)
    assert instance.get_run_by_id(at_work).status is dg.DagsterRunStatus.STARTED
    gone = subprocess.Popen(["true"])
    gone.wait()
    lost = started(instance, gone.pid, **dead)
    assert end_run(instance, lost) is None
    assert instance.get_run_by_id(lost).status is dg.DagsterRunStatus.CANCELED
    with socket.socket(socket.AF_UNIX) as server:  # takes the question and gives no answer
        server.bind(str(tmp_path / "here"))
        server.listen()
        here = json.dumps({"host": "localhost", "socket": str(tmp_path / "here")})
        mute = started(instance, gone.pid, **{".dagster/grpc_info": here})
        threading.Thread(target=_hang_up, args=(server,), daemon=True).start()
        assert "cannot be asked to end" in end_run(instance, mute)


def test_commands_that_were_killed_are_ended_once_their_lock_is_free(instance, project):
    opened = open_project(project)
    scoring = started(instance, 0, **BY_COMMAND)
    paper = started(instance, 0, **BY_COMMAND, **{"dagster/partition": "tiny"})
    with opened.locked(ALL_PAPERS), opened.locked(launch_lock("tiny")):
        assert end_dead_launches(instance, opened) == []
    assert set(end_dead_launches(instance, opened)) == {scoring, paper}
    assert end_dead_launches(instance, opened) == []
