"""Fixtures for suites that materialise assets."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro_pipeline.project import Project
from resources.opening import open_project


@pytest.fixture
def opened(project: Path) -> Project:
    """The fresh project, opened."""
    return open_project(project)
