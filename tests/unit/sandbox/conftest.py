"""Runners, and folders to run in."""

from __future__ import annotations

from pathlib import Path

import pytest
from sandbox_bench import Bench

from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.ports import Runner
from resources.runners import make_runner


@pytest.fixture(scope="session")
def runners() -> dict[str, Runner]:
    return {name: make_runner(name) for name in ("bubblewrap", "unsafe_local")}


def _bench(runner: Runner, folder: Path) -> Bench:
    try:
        runner.enforcement()
    except SandboxUnavailable as error:
        if not error.hint:  # this host forbids nothing: the sandbox is broken
            raise
        pytest.skip(f"no sandbox can be made here: {error}")
    (folder / "work").mkdir()
    (folder / "out").mkdir()
    return Bench(runner, folder)


@pytest.fixture(params=["bubblewrap", "unsafe_local"])
def bench(request: pytest.FixtureRequest, runners: dict[str, Runner], tmp_path: Path) -> Bench:
    """Each runner in turn."""
    return _bench(runners[request.param], tmp_path)


@pytest.fixture
def sandbox(runners: dict[str, Runner], tmp_path: Path) -> Bench:
    """The sandboxing runner."""
    return _bench(runners["bubblewrap"], tmp_path)
