"""From a code folder to an environment in which its code runs, sandboxed where this host can."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from repro_pipeline.bundle.task import TaskCode
from repro_pipeline.environment.build import environment_mounts, host_python
from repro_pipeline.environment.image import place_of
from repro_pipeline.environment.interpreter import OWN
from repro_pipeline.environment.make import Rules, make_environment
from repro_pipeline.environment.parity import grade_environment
from repro_pipeline.errors import BuildError, SandboxUnavailable
from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner
from repro_pipeline.sandbox.image import ContainerImage
from repro_pipeline.sandbox.policy import SandboxPolicy
from repro_pipeline.status import Status


class Shelf(dict):
    """A store in memory."""

    def put(self, content: bytes) -> None:
        self["lock"] = content


def test_the_lock_is_kept_and_the_environment_graded(downloads: Path, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("six==1.17.0\n")
    store = Shelf()
    given = TaskCode(python=OWN)
    built = make_environment(tmp_path, given, store=store, cache=downloads)
    assert store["lock"].startswith(b"six==1.17.0")
    assert built.lock.python_named
    assert built.fingerprint.variables["PYTHONHASHSEED"] == "0"
    grade = grade_environment(built)
    assert grade.grade == "medium" and len(grade.lacks) == 1, grade
    assert host_python(built, downloads).exists()


def test_a_python_that_is_not_here_is_named_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("six\n")
    with pytest.raises(BuildError, match=r"no Python 3\.4 on this host\. Installed: .*\d"):
        make_environment(tmp_path, TaskCode(python="3.4"), store=Shelf(), cache=tmp_path / "cache")


class FakeImages:
    """Stands for an engine that has built the lock with Python 3.4."""

    base = "fake"

    def __init__(self, **packages: str) -> None:
        self.packages = packages

    def build(self, lock_text: str, *, python: str) -> ContainerImage:
        assert python == "3.4"
        return ContainerImage(id="sha256:1", base="fake", base_id="sha256:0")

    def ask(self, image: ContainerImage, command: Sequence[str]) -> str:
        host = dict.fromkeys(("implementation", "platform", "libc", "machine"), "fake")
        told = {"packages": self.packages, "numpy": None}
        return f"{json.dumps({'python': '3.4.10', **host})}\n{json.dumps(told)}\n"


def test_an_environment_in_an_image_needs_no_python_of_this_host(
    downloads: Path, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text("six==1.16.0\nattrs==21.1.0\n")
    how = {"store": Shelf(), "cache": downloads}
    given = TaskCode(python="3.4")
    same = FakeImages(six="1.16.0", attrs="21.1.0")
    for _ in range(2):
        built = make_environment(tmp_path, given, **how, images=same)
        assert (built.lock.python, built.fingerprint.python) == ("3.4", "3.4.10")
        assert [(one.kind, one.package) for one in built.findings] == [("yanked", "attrs")]
        assert place_of(built, downloads) == ("sha256:1", Path("/env/bin/python"), ())
    with pytest.raises(BuildError, match=r"other packages than the lock's \(six\)"):
        make_environment(tmp_path, given, **how, images=FakeImages(attrs="21.1.0", six="9"))
    with pytest.raises(BuildError, match="in an image alone"):
        place_of(built.model_copy(update={"image": None}), downloads)


def test_code_runs_in_it_inside_the_sandbox(downloads: Path, tmp_path: Path) -> None:
    try:
        runner = BubblewrapRunner()
        runner.enforcement()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    work, out, log = tmp_path / "work", tmp_path / "out", tmp_path / "log"
    work.mkdir()
    out.mkdir()
    (work / "requirements.txt").write_text("six==1.17.0\n")
    built = make_environment(work, None, store=Shelf(), cache=downloads)
    program = "import six, sys; print(six.__file__, sys.version)\nopen(six.__file__, 'a')"
    ended = runner.run(
        ["/env/bin/python", "-c", program],
        SandboxPolicy(mounts=environment_mounts(built, downloads)),
        workdir=work,
        out=out,
        log=log,
    )
    said = log.read_text()
    assert said.startswith(f"/env/lib/python{OWN}/site-packages/six.py {OWN}"), said
    assert ended.status is Status.FAILED
    assert "Permission denied" in said or "Read-only file system" in said


def test_a_withdrawn_version_is_found_when_it_is_installed_and_when_it_stands(
    downloads: Path, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text("attrs==21.1.0\n")
    for _ in range(2):
        built = make_environment(tmp_path, None, store=Shelf(), cache=downloads)
        assert [(one.kind, one.package) for one in built.findings] == [("yanked", "attrs")]
    with pytest.raises(BuildError, match=r"attrs 21\.1\.0 was withdrawn"):
        make_environment(
            tmp_path, None, store=Shelf(), cache=downloads, rules=Rules(block=("yanked",))
        )


def test_packages_are_those_of_a_day(downloads: Path, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("six\n")
    rules = Rules(as_of=date(2021, 1, 1))
    built = make_environment(
        tmp_path, TaskCode(python=OWN), store=Shelf(), cache=downloads, rules=rules
    )
    assert built.fingerprint.packages["six"] == "1.15.0"
    assert built.lock.as_of == date(2021, 1, 1)
    assert "resolved here as of 2021-01-01" in " ".join(grade_environment(built).lacks)


def test_a_given_lock_is_of_its_own_day(downloads: Path, tmp_path: Path, six) -> None:
    (tmp_path / "requirements.lock").write_text(six[0])
    rules = Rules(as_of=date(2015, 1, 1))
    built = make_environment(
        tmp_path, TaskCode(python=OWN), store=Shelf(), cache=downloads, rules=rules
    )
    assert built.lock.as_of is None and built.fingerprint.packages["six"] == "1.17.0"


def test_an_excluded_package_is_not_installed(downloads: Path, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("six==1.17.0\n")
    rules = Rules(excluded=("pip:Six",))
    with pytest.raises(BuildError, match="the package 'six' is excluded"):
        make_environment(tmp_path, None, store=Shelf(), cache=tmp_path / "none", rules=rules)
    assert not list((tmp_path / "none").glob("*/venv"))


@pytest.mark.parametrize(
    "line", ["--index-url https://else.test/simple", "six @ git+https://else.test/six", "-e ./six"]
)
def test_packages_that_the_task_names_are_plain_requirements(tmp_path: Path, line: str) -> None:
    with pytest.raises(BuildError, match=r"^packages:2: "):
        make_environment(None, None, store=Shelf(), cache=tmp_path, also=["six", line])
