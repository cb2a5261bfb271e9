"""Where a bench finds projects and its suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from repro_pipeline.bundle.folder import TASK_NAME
from repro_pipeline.config import CONFIG_NAME
from repro_pipeline.errors import UserError
from repro_pipeline.places import resolved
from repro_pipeline.project import Project

OpenProject = Callable[[Path], Project]
"""Opens a project's folder: the adapters behind the ports are the caller's affair."""


SUITE_NAME = "suite.yaml"
WORK, JUDGING, GRADING = "project", "judging", "grading"
"""The projects of a trial: the agent's, the judge's, and the grader's, which asks no model."""


def suite_link(results: Path) -> Path:
    """Where a folder of results points to its suite."""
    return results / "suite"


def outside(path: Path, option: str) -> Path:
    """The folder that an option names, from the root. Raises UserError where it lies in a suite or a
    paper's folder: what is written there would belong to them."""
    found = resolved(path, where=option)
    for place in (found, *found.parents):
        for name, what in ((SUITE_NAME, "a suite"), (TASK_NAME, "a paper's folder")):
            if (place / name).is_file():
                raise UserError(
                    f"lies in {what}, {place}, whose content it would change.",
                    where=f"{option} {path}",
                    hint="Name a folder elsewhere.",
                )
    return found


def kept_in(path: Path, option: str, tasks: Iterable[str]) -> Path:
    """A folder for the tasks' projects, made where it is missing; those that a bench left are made anew.

    Raises UserError where it lies in a suite or a paper's folder, or holds something else under a
    task's name.
    """
    found = outside(path, option)
    for place in (found / task for task in tasks):
        if place.exists() and not _left_by_a_bench(place):
            raise UserError(
                f"holds '{place.name}' already, which no bench has left, and would be replaced.",
                where=f"{option} {path}",
                hint="Name another folder, or remove that one.",
            )
    try:
        found.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot be made: {error.strerror}.", where=f"{option} {path}") from None
    return found


def _left_by_a_bench(place: Path) -> bool:
    """Whether a folder is a project that a bench made: those of people have a workspace beside it."""
    return (place / CONFIG_NAME).is_file() and not (place / "workspace.yaml").exists()
