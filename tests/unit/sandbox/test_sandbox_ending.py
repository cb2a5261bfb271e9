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
import signal
import sys
from pathlib import Path
from resources.runners import make_runner
from repro_pipeline.sandbox.policy import SandboxPolicy

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell's background job starts it
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
    """Start a process that runs a command by a runner; its temporary files lie in `folder`/tmp."""
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [*wrapper, sys.executable, "-c", DRIVER, name, str(folder), *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
            "TMPDIR": str(folder / "tmp"),
        },
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
    wait_until(lambda: not list((tmp_path / "tmp").glob("repro-scratch-*")))
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


SUPERVISOR = """
import subprocess, sys, time
from repro_pipeline.sandbox import cgroup

sleeper = subprocess.Popen(["/bin/sleep", sys.argv[1]])
group = cgroup.make_group(sleeper.pid, memory=1 << 28, processes=10, cpus=None)
print(*{str(folder) for folder in group.folders.values()}, flush=True)
assert not group.folders or (group.members() == {sleeper.pid} and group.holds("memory"))
assert not group.folders or (group.memory_bytes() < 1 << 28 and not group.out_of_memory())
time.sleep(600)
"""


def test_what_a_killed_supervisor_left_is_swept(word: str):
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, word],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )
    groups = [Path(folder) for folder in supervisor.stdout.readline().split()]
    (sleeper,) = processes(word)
    try:
        cgroup.sweep()
        assert processes(word) == [sleeper], "its supervisor lives"
        supervisor.kill()
        supervisor.wait()
        if not groups:
            pytest.skip("no control group can be made here")
        cgroup.sweep()
        wait_until(lambda: processes(word) == [])
        wait_until(lambda: not any(group.exists() for group in groups))
    finally:
        supervisor.kill()
        for pid in processes(word):
            os.kill(pid, signal.SIGKILL)
