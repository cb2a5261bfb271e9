"""Launches that `repro run` made in its own process, which no daemon of Dagster's watches."""

from __future__ import annotations

import dagster as dg

from repro_pipeline.errors import UserError
from repro_pipeline.project import Project

BY_COMMAND = {"repro/launched_by": "command"}
"""The tag of such a launch."""
_OPEN = (
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def launch_lock(paper: str) -> str:
    """The name of the lock that a launch holds while it is at work on a paper."""
    return f"{paper}@launch"  # no paper's id holds an @


def end_dead_launches(instance: dg.DagsterInstance, project: Project) -> list[str]:
    """Mark launches whose process died as failed, and free their places in pools; return their ids.

    A launch holds its paper's lock until its end is recorded: one that is open while the lock is free
    is dead. Those of another host look so as well, so that hosts must not share a project's folder
    without its locks.
    """
    dead = []
    for run in instance.get_runs(dg.RunsFilter(statuses=list(_OPEN), tags=BY_COMMAND)):
        try:
            with project.locked(launch_lock(run.tags["dagster/partition"]), wait=False):
                instance.report_run_failed(run, "Its process ended without a word.")
                instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        except UserError:
            continue
        dead.append(run.run_id)
    return dead
