"""Launches as Dagster's own records know them: what is under way, and how it is ended. And those whose
process died without Dagster's notice: those that a command made in its own process, and those whose worker
died together with the server that began it.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
from dagster._core.launcher import DefaultRunLauncher

from repro_pipeline.background import UnderWay
from repro_pipeline.errors import UserError
from repro_pipeline.project import Project

BY_COMMAND = {"repro/launched_by": "command"}
"""The tag of such a launch."""
ALL_PAPERS = "@launch"
"""The lock of a launch that is of no one paper."""
_SERVER = ".dagster/grpc_info"
"""The tag in which Dagster keeps which server began a launch."""
_OPEN = (
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


_STATES = {
    dg.DagsterRunStatus.QUEUED: "queued",
    dg.DagsterRunStatus.NOT_STARTED: "starting",
    dg.DagsterRunStatus.STARTING: "starting",
    dg.DagsterRunStatus.STARTED: "running",
    dg.DagsterRunStatus.CANCELING: "ending",
}
_PATIENCE = 45.0
"""Seconds for which an end is awaited: a step that is interrupted ends its sandboxes first."""


def open_runs(instance: dg.DagsterInstance) -> Iterator[UnderWay]:
    """What the UI, schedules and sensors launched and has not ended, by one query."""
    for record in instance.get_run_records(dg.RunsFilter(statuses=list(_STATES))):
        run = record.dagster_run
        paper = run.tags.get("dagster/partition")
        if not BY_COMMAND.items() <= run.tags.items():
            yield UnderWay(
                name=run.run_id,
                what=run.job_name,
                papers=(paper,) if paper else (),
                state=_STATES[run.status],
                since=record.create_timestamp,
                in_dagster=True,
            )


def end_run(instance: dg.DagsterInstance, run_id: str, patience: float = _PATIENCE) -> str | None:
    """End a launch of Dagster's and await it; None, or a sentence that says why it does not end.

    What is at work is asked to end through the server or the engine that began it.
    """
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished:
        return None
    if isinstance(instance.run_launcher, DefaultRunLauncher) and run.status in _OPEN:
        server = run.tags.get(_SERVER)
        if not (server and _answers(json.loads(server))):
            if worker := _worker_of(instance, run_id):
                return (
                    f"the server that began it is gone, and nobody else can ask its process to end: "
                    f"`kill -INT {worker}` on the host where it works does."
                )
            instance.report_run_canceled(run, message="Its process was gone already.")
            instance.event_log_storage.free_concurrency_slots_for_run(run_id)
            return None
    try:
        instance.run_coordinator.cancel_run(run_id)
    except Exception as error:  # each launcher raises what its engine's client does
        return f"it cannot be asked to end ({type(error).__name__}); `Terminate` in the UI may."
    deadline = time.monotonic() + patience
    while not instance.get_run_by_id(run_id).is_finished:
        if time.monotonic() > deadline:
            return "it was asked to end and has not yet; `repro status` shows when it has."
        time.sleep(0.2)
    return None


def launch_lock(paper: str) -> str:
    """The name of the lock that a launch holds while it is at work on a paper."""
    return f"{paper}@launch"  # no paper's id holds an @


def end_dead_launches(instance: dg.DagsterInstance, project: Project) -> list[str]:
    """Mark launches whose process died as failed, and free their places in pools; return their ids.

    A launch holds its paper's lock, or that of all papers, until its end is recorded: one that is open
    while the lock is free is dead. Those of another host look so as well, so that hosts must not share
    a project's folder without its locks.
    """
    dead = []
    for run in instance.get_runs(dg.RunsFilter(statuses=list(_OPEN), tags=BY_COMMAND)):
        paper = run.tags.get("dagster/partition")
        try:
            with project.locked(launch_lock(paper) if paper else ALL_PAPERS, wait=False):
                instance.report_run_failed(run, "Its process ended without a word.")
                instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        except UserError:
            continue
        dead.append(run.run_id)
    return dead


def end_orphaned_launches(instance: dg.DagsterInstance) -> list[str]:
    """Mark launches of the UI, of schedules and of sensors as failed whose worker died together with the
    server that began it, as by a reboot; return their ids.

    Dagster learns of a worker's death from that server alone. Without it the launch would stay open, and
    the paper's next one would wait for its end. To be called where the workers are: they are known by
    the numbers of their processes.
    """
    if not isinstance(instance.run_launcher, DefaultRunLauncher):
        return []
    dead = []
    for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
        server = run.tags.get(_SERVER)
        if server and not _answers(json.loads(server)) and not _worker_of(instance, run.run_id):
            instance.report_run_failed(run, "Its process and the server that began it died.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
            dead.append(run.run_id)
    return dead


def _answers(server: dict) -> bool:
    """Whether somebody listens where a server of code locations was."""
    local = "socket" in server
    place = server["socket"] if local else (server["host"], server["port"])
    with socket.socket(socket.AF_UNIX if local else socket.AF_INET) as line:
        line.settimeout(5)
        return line.connect_ex(place) == 0


def _worker_of(instance: dg.DagsterInstance, run_id: str) -> int | None:
    """The number of a launch's living process; one that began later was given its number anew."""
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.RUN_START):
        began = _began(entry.dagster_event.pid)
        if began is not None and began <= entry.timestamp:
            return entry.dagster_event.pid
    return None


def _began(pid: int | None) -> float | None:
    """When a living process began, in seconds since the epoch; None where there is none."""
    try:
        ticks = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
        boot = next(
            float(line.split()[1])
            for line in Path("/proc/stat").read_text().splitlines()
            if line.startswith("btime ")
        )
    except OSError:
        return None
    return boot + ticks / os.sysconf("SC_CLK_TCK")
