"""Real parts for the end-to-end suites: the command as a process, a browser."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def repro(project: Path) -> Iterator[Callable[..., subprocess.Popen]]:
    """Start `repro` as a process of its own in the project; what is left of it is ended."""
    started: list[subprocess.Popen] = []

    def start(*arguments: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-m", "repro_pipeline.cli", *arguments],
            cwd=project,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots are kept: $REPRO_CI_ARTIFACTS, else a temporary folder."""
    folder = os.environ.get("REPRO_CI_ARTIFACTS")
    path = Path(folder) if folder else tmp_path_factory.mktemp("artifacts")
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("no Chromium on this host (Debian: apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[object]:
    """Chromium, without a window."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        yield browser
        browser.close()
