"""A run ends with whoever started it: nothing is left, however its caller or supervisor ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from repro_pipeline.sandbox import cgroup

ROOT = Path(__file__).resolve().parents[3]
DRIVER = """
import sys
from pathlib import Path
from repro_pipeline.sandbox.choose import make_runner
from repro_pipeline.sandbox.policy import SandboxPolicy

name, folder, *command = sys.argv[1:]
places = {name: Path(folder, name) for name in ("workdir", "out", "log")}
places["workdir"].mkdir()
places["out"].mkdir()
try:
    outcome = make_runner(name).run(command, SandboxPolicy(), **places)
except Exception as error:
    print(type(error).__name__, error)
    sys.exit(1)
print(outcome.status, {name: str(level) for name, level in outcome.enforcement.items()})
"""
HOSTILE = "trap '' TERM INT HUP; setsid sleep {0} & (setsid sleep {0} &) ; sleep {0}"

each_runner = pytest.mark.parametrize("name", ["bubblewrap", "unsafe_local"])


def start(
    name: str, folder: Path, *command: str, wrapper: tuple[str, ...] = ()
) -> subprocess.Popen:
    """Start a process that runs a command by a runner."""
    return subprocess.Popen(
        [*wrapper, sys.executable, "-c", DRIVER, name, str(folder), *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )


def processes(word: str) -> list[int]:
    """The processes of this host with that word in their command, shells that named it aside."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words and words[0].endswith(b"sleep"):
            found.append(int(path.parent.name))
    return found


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def wait_until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


@pytest.fixture
def word() -> str:
    """A duration that no other test sleeps."""
    return f"{500 + os.getpid() % 1000}.{time.monotonic_ns() % 1_000_000}"


@each_runner
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_ends_with_its_caller(name: str, number: int, tmp_path: Path, word: str):
    caller = start(name, tmp_path, "/bin/sh", "-c", HOSTILE.format(word))
    wait_until(lambda: len(processes(word)) == 3)
    caller.send_signal(number)
    caller.wait(30)
    wait_until(lambda: processes(word) == [])
    wait_until(lambda: not list(Path("/tmp").glob("repro-scratch-*")))
    wait_until(lambda: (tmp_path / "out").stat().st_uid == os.geteuid())


def test_a_sandbox_ends_with_its_supervisor(tmp_path: Path, word: str):
    """The kernel ends it; the caller is told, and frees the control group."""
    caller = start("bubblewrap", tmp_path, "/bin/sh", "-c", HOSTILE.format(word))
    wait_until(lambda: len(processes(word)) == 3)
    (supervisor,) = children(caller.pid)
    os.kill(supervisor, signal.SIGKILL)
    said, _ = caller.communicate(timeout=30)
    assert "SandboxUnavailable the supervisor of the run ended without a report" in said
    assert processes(word) == []


def test_a_sandbox_ends_when_caller_and_supervisor_are_killed(tmp_path: Path, word: str):
    caller = start("bubblewrap", tmp_path, "/bin/sh", "-c", HOSTILE.format(word))
    wait_until(lambda: len(processes(word)) == 3)
    (supervisor,) = children(caller.pid)
    caller.kill()
    os.kill(supervisor, signal.SIGKILL)
    caller.wait(30)
    wait_until(lambda: processes(word) == [])


@pytest.fixture
def group(word: str):
    """A control group like those of runs, the process it is named after, and another in it."""
    sleepers = [subprocess.Popen(["/bin/sleep", word]) for _ in range(2)]
    made = cgroup.make_group(sleepers[0].pid, memory=1 << 28, processes=10, cpus=None)
    for folder in made.folders.values():
        (folder / "cgroup.procs").write_text(str(sleepers[1].pid))
    yield sleepers, made
    for sleeper in sleepers:
        sleeper.kill()
        sleeper.wait()
    made.remove()


def test_what_a_killed_supervisor_left_is_swept(group):
    (named, other), made = group
    if not made.folders:
        pytest.skip("no control group can be made here")
    cgroup.sweep()
    assert named.poll() is other.poll() is None
    named.kill()
    named.wait()
    cgroup.sweep()
    assert other.poll() is None, "the supervisor lives: its lock is held"
    for lock in made.locks:
        os.close(lock)
    made.locks.clear()
    cgroup.sweep()
    assert other.wait(10) == -signal.SIGKILL
    assert not any(folder.exists() for folder in made.folders.values())


def test_a_group_knows_its_members(group):
    sleepers, made = group
    if not made.folders:
        pytest.skip("no control group can be made here")
    assert made.members() == {sleeper.pid for sleeper in sleepers}
    assert made.holds("memory") and made.holds("pids")
    assert made.memory_bytes() < 1 << 28
    assert not made.out_of_memory()
