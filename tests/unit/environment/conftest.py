"""A cache of downloads for all tests of environments, and a check that a package index is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from wanted import wanting

from repro_pipeline.environment.interpreter import OWN
from repro_pipeline.environment.lock import lock_info, resolve
from repro_pipeline.environment.model import EnvironmentLock
from repro_pipeline.errors import BuildError


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has resolved `six`; tests that need it skip where no package index is reached."""
    cache = tmp_path_factory.mktemp("environments")
    try:
        resolve(wanting("six==1.17.0"), python=OWN, cache=cache)
    except BuildError as error:
        if "cannot be reached" in str(error):
            pytest.skip(f"no package index: {error}")
        raise
    return cache


@pytest.fixture(scope="session")
def six(downloads: Path) -> tuple[str, EnvironmentLock]:
    """The lock of a small package."""
    requirements = wanting("six==1.17.0")
    text = resolve(requirements, python=OWN, cache=downloads)
    return text, lock_info(text, requirements=requirements, python=OWN)
