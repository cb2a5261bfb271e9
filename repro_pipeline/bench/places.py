"""Where a bench finds projects and its suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from repro_pipeline.project import Project

OpenProject = Callable[[Path], Project]
"""Opens a project's folder: the adapters behind the ports are the caller's affair."""


WORK, JUDGING, GRADING = "project", "judging", "grading"
"""The projects of a trial: the agent's, the judge's, and the grader's, which asks no model."""


def suite_link(results: Path) -> Path:
    """Where a folder of results points to its suite."""
    return results / "suite"
