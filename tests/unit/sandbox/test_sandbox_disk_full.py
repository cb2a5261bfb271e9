"""A disk that is full: the run ends with a sentence, nothing of it is left, and what it said is kept."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from repro_pipeline.ports import Runner
from repro_pipeline.sandbox.policy import Limits, SandboxPolicy
from repro_pipeline.status import Status


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("only root can mount a small file system")
    yield disk
    subprocess.run(["umount", disk], check=True)


FILL = """
i=0
while dd if=/dev/zero of=/out/$i bs=64k count=4 2>/dev/null; do i=$((i+1)); done
echo full
%s
"""


@pytest.mark.parametrize(
    ("then", "log_inside", "reason"),
    [
        ("exit 5", False, "exit status 5"),
        ("sleep 300", False, "longer than its 3 s"),
        ("exit 5", True, "the disk of the run's log was full"),
        ("cat /dev/zero", True, "the disk of the run's log was full"),
    ],
)
def test_a_full_disk_ends_a_run_in_order(
    runners: dict[str, Runner],
    small_disk: Path,
    tmp_path: Path,
    then: str,
    log_inside: bool,
    reason: str,
):
    places = {"workdir": small_disk / "work", "out": small_disk / "out"}
    for folder in places.values():
        folder.mkdir()
    log = (small_disk if log_inside else tmp_path) / "log"
    policy = SandboxPolicy(limits=Limits(wall_clock=3, output=64 << 20))
    outcome = runners["bubblewrap"].run(["/bin/sh", "-c", FILL % then], policy, **places, log=log)
    assert outcome.status is not Status.OK
    assert reason in outcome.reason
    assert log_inside or log.read_bytes() == b"full\n"
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"bs=64k" in _read(p)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
