"""Fixtures for suites that materialise assets: real stages, ledger, store and sandbox, without Dagster's
own database. The suites of e2e/ run with it.
"""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from repro_pipeline.project import Project
from resources.opening import open_project


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache of built environments for all projects."""
    return tmp_path_factory.mktemp("environments")


@pytest.fixture(autouse=True)
def light_instance(project: Path, environments: Path, monkeypatch: pytest.MonkeyPatch):
    """Dagster's events are kept in memory, and environments are shared between projects."""
    (project / ".repro" / "environments").symlink_to(environments)
    with dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setattr("repro_pipeline.commands.opening.instance_of", lambda _: instance)
        yield


@pytest.fixture
def opened(project: Path) -> Project:
    """The fresh project, opened."""
    return open_project(project)
