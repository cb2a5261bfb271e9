"""Other hosts than the one at hand: ordinary users, closed namespaces, root without its rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
DRIVER = """
import sys
from pathlib import Path
from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner
from repro_pipeline.sandbox.policy import SandboxPolicy

folder, *command = sys.argv[1:]
places = {name: Path(folder, name) for name in ("workdir", "out", "log")}
places["workdir"].mkdir()
places["out"].mkdir()
try:
    outcome = BubblewrapRunner().run(command, SandboxPolicy(), **places)
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
print(outcome.status, *(f"{name}={level}" for name, level in outcome.enforcement.items()))
print(places["log"].read_text())
"""
ORDINARY = ("setpriv", "--reuid=65533", "--regid=65533", "--clear-groups", "--inh-caps=-all")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def folder():
    """A folder that every user can write: pytest's own are closed to others."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


def drive(folder: Path, *wrapper: str, command: tuple[str, ...]) -> str:
    """What a process says that runs a command in the sandbox, started through a wrapper."""
    libraries = sysconfig.get_path("purelib")
    done = subprocess.run(
        [*wrapper, python(), "-B", "-c", DRIVER, str(folder), *command],
        cwd="/",
        env={"PATH": "/usr/sbin:/usr/bin:/bin", "PYTHONPATH": f"{PROJECT}:{libraries}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def python() -> str:
    """A Python of this version that other users can run, with this project in their reach."""
    for needed in (PROJECT, Path(sysconfig.get_path("purelib"))):
        if not open_to_all(needed):
            pytest.skip(f"{needed} is closed to other users")
    version = f"python3.{sys.version_info.minor}"
    for candidate in (Path(sys.executable).resolve(), Path("/usr/bin", version)):
        if candidate.exists() and open_to_all(candidate):
            return str(candidate)
    pytest.skip(f"there is no {version} that other users can run")


def open_to_all(path: Path) -> bool:
    return all(place.stat().st_mode & 0o001 for place in (path, *path.parents))


@needs_root
def test_an_ordinary_user_is_sandboxed(folder: Path):
    script = "cat /etc/shadow; touch /usr/x; grep -c . /proc/net/dev; id -u; echo x > /out/x"
    said = drive(folder, *ORDINARY, command=("/bin/sh", "-c", script))
    assert said.startswith("ok"), said
    for held in ("network=hard", "filesystem=hard", "processes=hard", "scratch=hard"):
        assert held in said
    assert "memory=watched" in said or "memory=hard" in said
    assert "/etc/shadow: No such file" in said and "Read-only file system" in said
    assert said.strip().endswith("3\n1000"), "two lines of heading, and the loopback alone"
    assert (folder / "out" / "x").read_text() == "x\n"


@needs_root
def test_closed_user_namespaces_are_named_with_the_command_that_opens_them(folder: Path):
    closing = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    wrapper = ("unshare", "--user", "--map-root-user", "sh", "-c", closing, "sh")
    said = drive(folder, *ORDINARY, *wrapper, command=("/bin/true",))
    assert said.startswith("SandboxUnavailable: the sandbox could not be made"), said
    assert "sudo sysctl -w user.max_user_namespaces=15000" in said


@needs_root
def test_root_without_the_right_to_mount_is_told_so(folder: Path):
    """As in a container without privileges."""
    rights = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-all")
    said = drive(folder, *rights, command=("/bin/true",))
    assert said.startswith("SandboxUnavailable: the run could not be supervised: unshare"), said
    assert "root" in said


@needs_root
def test_root_of_a_namespace_of_its_own_is_sandboxed(folder: Path):
    """As in a rootless container, where root is an ordinary user of the host."""
    wrapper = ("unshare", "--user", "--map-root-user")
    said = drive(folder, *ORDINARY, *wrapper, command=("/bin/sh", "-c", "id -u; touch /usr/x"))
    assert "network=hard" in said, said
    assert "1000\ntouch: cannot touch '/usr/x': Read-only file system" in said
