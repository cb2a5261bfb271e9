"""What may go: launches that later ones replace, and environments that no paper uses.

Nothing here is evidence. Dagster's launches hold pointers and summaries of what the ledger holds, and an
environment is built anew from its lock. A launch of Dagster's goes whole: cutting its event log would
corrupt what Dagster knows of partitions.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import dagster as dg

from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.ledger.events import PROJECT_CHAIN
from repro_pipeline.project import Project
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import latest, output_of

PAPER_TAG = "dagster/partition"
"""Dagster's tag for the partition of a launch."""
_ENDED = (
    dg.DagsterRunStatus.SUCCESS,
    dg.DagsterRunStatus.FAILURE,
    dg.DagsterRunStatus.CANCELED,
)


def superseded(runs: Iterable[dg.RunRecord], *, before: float) -> list[str]:
    """The launches, of `runs` in order from the newest, that may go; `before` is a time in seconds.

    Of each paper the latest launch that succeeded with every stage stays, with all after it: what Dagster
    knows of the paper's stages is known from them. So it is with launches of a job without a paper.
    """
    complete: set[str] = set()
    gone = []
    for record in runs:
        run = record.dagster_run
        subject = run.tags.get(PAPER_TAG, f"job {run.job_name}")
        old = record.end_time is not None and record.end_time < before
        if run.status in _ENDED and old and subject in complete:
            gone.append(run.run_id)
        if run.status is dg.DagsterRunStatus.SUCCESS and (_whole(run) or PAPER_TAG not in run.tags):
            complete.add(subject)
    return gone


def remove_launches(instance: dg.DagsterInstance, project: Project, run_ids: Iterable[str]) -> None:
    """Delete launches from Dagster's instance, with the files that its SQLite storage has of each."""
    for run_id in run_ids:
        instance.delete_run(run_id)
        for file in project.state.glob(f"dagster/**/{run_id}*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()


def unused_environments(project: Project, *, before: float) -> list[Path]:
    """Built environments that no paper's latest `environment` stage names and that are old."""
    cache = project.state / "environments"
    used = set(_environments(project))
    return sorted(
        folder
        for folder in (cache.iterdir() if cache.is_dir() else ())
        if (folder / "venv").is_dir()
        and folder.name not in used
        and folder.stat().st_mtime < before
    )


def _whole(run: dg.DagsterRun) -> bool:
    """Whether a launch had every stage in it."""
    chosen = run.asset_selection
    return chosen is None or {key.path[-1] for key in chosen} >= set(STAGES)


def _environments(project: Project) -> Iterator[str]:
    for paper in project.ledger.chains():
        row = latest(project, paper, "environment") if paper != PROJECT_CHAIN else None
        if row is not None and row.output is not None:
            yield Path(output_of(project, row, BuiltEnvironment).path).name
