"""A scope of systemd: what its manager is asked, and that a refusal leaves the next way open.

On a host without systemd its bus is played by a script; what is asked was tried against a real one by
hand (docs/sandbox.md).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from repro_pipeline.sandbox import cgroup


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `busctl` that writes down what it is asked, and refuses once there is a file `refuse`."""
    script = tmp_path / "busctl"
    script.write_text(
        f"#!{sys.executable}\n"
        "import os, pathlib, sys\n"
        f"place = pathlib.Path({str(tmp_path)!r})\n"
        "(place / 'asked').write_text('\\n'.join(sys.argv[1:]))\n"
        "(place / 'environment').write_text('\\n'.join(sorted(os.environ)))\n"
        "sys.exit((place / 'refuse').exists())\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(cgroup, "_BUSCTL", str(script))
    real = Path.exists
    alive = (Path("/run/systemd/system"), Path(f"/run/user/{os.geteuid()}/bus"))
    monkeypatch.setattr(Path, "exists", lambda path, **more: path in alive or real(path, **more))
    return tmp_path


@pytest.mark.parametrize("user", [0, 1000])
def test_a_scope_is_asked_for_with_every_limit(
    bus: Path, monkeypatch: pytest.MonkeyPatch, user: int
):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    real = Path.exists
    monkeypatch.setattr(
        Path, "exists", lambda path, **more: path.name == "bus" or real(path, **more)
    )
    scope = bus / f"{cgroup.PREFIX}{os.getpid()}.scope"
    monkeypatch.setattr(cgroup, "_v2_path", lambda pid: scope)
    monkeypatch.setattr(cgroup, "_controllers", lambda folder: {"memory": folder, "pids": folder})
    monkeypatch.setattr(cgroup, "_lock", lambda folder: None)
    group = cgroup._scope(42, memory=1 << 28, processes=10, cpus=1.5)
    assert group is not None and group.holds("memory") and not group.holds("cpu")
    words = (bus / "asked").read_text().split("\n")
    assert words[0] == ("--user" if user else "--system")
    at = words.index("StartTransientUnit")
    signature, name, mode, count, *rest = words[at + 1 :]
    assert (signature, name, mode, count) == ("ssa(sv)a(sa(sv))", scope.name, "fail", "6")
    assert rest[:4] == ["PIDs", "au", "1", "42"]
    assert rest[4:-1] == [
        *("MemoryMax", "t", str(1 << 28), "MemorySwapMax", "t", "0", "TasksMax", "t", "10"),
        *("CPUAccounting", "b", "true", "CPUQuotaPerSecUSec", "t", "1500000"),
    ]
    assert rest[-1] == "0"
    variables = (bus / "environment").read_text().split("\n")
    ours = {"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"}
    assert ours & set(variables) == (ours if user else set())
    assert "HOME" not in variables


def test_a_refusal_leaves_the_next_way_open(bus: Path):
    (bus / "refuse").touch()
    assert cgroup._scope(42, memory=1 << 28, processes=10, cpus=None) is None


def test_without_systemd_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cgroup, "_BUSCTL", str(tmp_path / "nowhere"))
    assert cgroup._scope(42, memory=1 << 28, processes=10, cpus=None) is None
