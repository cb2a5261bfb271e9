"""The Python of an environment is one that fits, found on this host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from repro_pipeline.environment.interpreter import (
    OWN,
    _preference,
    find_interpreter,
    python_for,
    wanted_versions,
)
from repro_pipeline.errors import BuildError


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interpreters")


def test_by_default_it_is_the_pipelines_own_minor_version(cache: Path) -> None:
    found = find_interpreter(None, cache=cache)
    assert found.version.rsplit(".", 1)[0] == OWN
    said = subprocess.run(
        [found.executable, "-c", "import sys; print(sys.version.split()[0], sys.prefix)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == [found.version, str(found.prefix)], "it is no base Python"


def test_a_specifier_finds_one_that_it_admits(cache: Path) -> None:
    found = find_interpreter(f">={OWN},<4", cache=cache)
    assert Version(found.version) in wanted_versions(f">={OWN},<4")
    assert python_for(f"=={OWN}.*", cache=cache) == OWN
    assert python_for("3.8.18", cache=cache) == "3.8.18"
    assert python_for(None, cache=cache) == OWN


def test_one_that_is_not_here_is_refused_with_those_that_are(cache: Path) -> None:
    with pytest.raises(BuildError) as error:
        find_interpreter("2.6", cache=cache)
    assert error.value.hint.startswith("Installed: ")
    assert ".".join(map(str, sys.version_info[:3])) in error.value.hint


@pytest.mark.parametrize("wanted", ["", " ", "three", ">=3.x", "3.11 or so", "; rm"])
def test_what_is_no_version_is_refused(wanted: str, cache: Path) -> None:
    if not wanted.strip():
        assert python_for(wanted, cache=cache) == OWN
        return
    with pytest.raises(BuildError, match="is no Python version"):
        python_for(wanted, cache=cache)


@settings(deadline=None)
@given(st.integers(6, 14), st.integers(0, 30), st.integers(6, 14), st.integers(0, 30))
def test_two_numbers_name_all_releases_and_three_name_one(a: int, b: int, c: int, d: int) -> None:
    assert wanted_versions(f"3.{a}").contains(f"3.{c}.{d}") == (a == c)
    assert wanted_versions(f"3.{a}.{b}").contains(f"3.{c}.{d}") == ((a, b) == (c, d))


def test_reachable_comes_before_own_and_own_before_newer(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    own, newer = Version(f"{OWN}.1"), Version("4.0")
    reached, hidden = Path("/usr/bin/python"), tmp_path / "closed" / "python"
    assert _preference((own, reached)) > _preference((newer, reached))
    assert _preference((newer, reached)) > _preference((own, hidden))
