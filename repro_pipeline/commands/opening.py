"""What the subcommands share: the project of this folder, its papers, its Dagster instance."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro_pipeline.choices import choices, short
from repro_pipeline.errors import BundleError, UserError

if TYPE_CHECKING:
    from repro_pipeline.project import Project


def project_here(**how: Any) -> Project:
    """The project of this folder or of `REPRO_PROJECT`; `how` as of `open_project`.

    Raises UserError: there is none, or its configuration is wrong.
    """
    from resources.opening import locate_project, open_project

    start = os.environ.get("REPRO_PROJECT") or Path.cwd()
    return open_project(locate_project(Path(start)), **how)


def papers_of(project: Project) -> list[str]:
    """The ids of a project's papers, in order."""
    folders = project.papers.iterdir() if project.papers.is_dir() else ()
    return sorted(path.name for path in folders if path.is_dir() and not path.name.startswith("."))


def must_know(project: Project, papers: Iterable[str]) -> None:
    """Raises BundleError for a paper that has neither a folder in the project nor events."""
    from repro_pipeline.ledger.events import PROJECT_CHAIN

    known = sorted({*papers_of(project), *project.ledger.chains()} - {PROJECT_CHAIN})
    for paper in papers:
        if paper not in known:
            raise BundleError(f"there is no paper '{short(paper)}'.", hint=choices(paper, known))


@contextmanager
def alone(project: Project, lock: str, on: str) -> Iterator[None]:
    """Hold a launch's lock; say so where another launch is at work, and wait for its end."""
    with ExitStack() as held:
        try:
            held.enter_context(project.locked(lock, wait=False))
        except UserError:
            print(f"Another launch is at work on {on}; waiting for its end.", file=sys.stderr)
            held.enter_context(project.locked(lock))
        yield


def instance_of(project: Project):
    """Dagster's instance of a project. Its tables are made at first use, by one command at a time."""
    os.environ.update(dagster_environment(project))
    import dagster as dg

    with project.locked("_instance"):
        instance = dg.DagsterInstance.get()
        instance.get_runs_count()
        return instance


def dagster_environment(project: Project) -> dict[str, str]:
    """The environment in which Dagster finds the project's instance."""
    home = project.state / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    return {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "DAGSTER_DISABLE_TELEMETRY": "1",
        "REPRO_PROJECT": str(project.root),
    }
