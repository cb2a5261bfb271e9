"""Fixtures that every suite shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.docker_engine import Engine

# No verdict depends on how fast the machine is; in CI the drawn examples are the same each time.
settings.register_profile(
    "repro",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repro")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real papers with right values; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("REPRO_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not folder.is_dir():
        pytest.skip(f"no corpus of real papers at {folder} (set REPRO_CORPUS)")
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh project, made by the command itself, with it as the working folder."""
    from repro_pipeline.cli import main

    root = tmp_path / "project"
    assert main(["init", str(root)]) == 0
    monkeypatch.chdir(root)
    monkeypatch.setenv("REPRO_PROJECT", str(root))
    monkeypatch.setenv("DAGSTER_HOME", str(root / ".repro" / "dagster"))
    return root


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[Engine]:
    """A Docker engine with a base image; tests that need it skip where there can be none."""
    from tests.docker_engine import running_engine

    with running_engine() as engine:
        yield engine
