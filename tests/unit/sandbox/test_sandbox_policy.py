"""The policy refuses what cannot be enforced, and says where a run sees a path."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox.hints import mending
from repro_pipeline.sandbox.policy import (
    Enforcement,
    Limits,
    Mount,
    SandboxPolicy,
    default_environment,
    refuse_below,
    seen_at,
)
from resources.runners import make_runner


@pytest.mark.parametrize(
    "target", ["/", "data", "/work/data", "/out", "/proc/x", "/usr/lib/x", "/data/../usr/x"]
)
def test_mounts_cannot_cover_what_the_sandbox_makes(target: str):
    with pytest.raises(ValidationError):
        Mount(source=Path("/data"), target=Path(target))


@pytest.mark.parametrize("target", ["/data", "/env/lib", "/tmp/x", "/workshop", "/output"])
def test_other_mounts_are_fine(target: str):
    assert Mount(source=Path("/data"), target=Path(target)).target == Path(target)


def test_limits_read_units_and_refuse_nonsense():
    assert Limits(memory="2GiB", wall_clock="10m").memory == 2 << 30
    for wrong in ({"memory": 0}, {"processes": 0}, {"wall_clock": -1}, {"cpus": 0}, {"speed": 1}):
        with pytest.raises(ValidationError):
            Limits(**wrong)


def test_the_nearest_folder_decides_where_a_path_is_seen(tmp_path: Path):
    policy = SandboxPolicy(
        mounts=(
            Mount(source=tmp_path / "data", target=Path("/data")),
            Mount(source=tmp_path / "data" / "sub", target=Path("/elsewhere")),
        )
    )
    places = {"workdir": tmp_path / "code", "out": tmp_path / "out"}
    seen = {
        tmp_path / "code" / "main.py": "/work/main.py",
        tmp_path / "out": "/out",
        tmp_path / "data" / "x.csv": "/data/x.csv",
        tmp_path / "data" / "sub" / "y": "/elsewhere/y",
        Path("/usr/bin/python3"): "/usr/bin/python3",
    }
    assert {path: seen_at(path, policy, **places) for path in seen} == seen


def test_a_path_that_no_run_sees_is_an_error(tmp_path: Path):
    with pytest.raises(UserError, match="does not see"):
        seen_at(tmp_path / "x", SandboxPolicy(), workdir=tmp_path / "a", out=tmp_path / "b")


def test_enforcement_has_an_order():
    hard, watched, none = Enforcement.HARD, Enforcement.WATCHED, Enforcement.UNAVAILABLE
    assert hard.meets(watched) and watched.meets(watched) and watched.meets(none)
    assert not watched.meets(hard) and not none.meets(watched)


def test_a_weaker_limit_than_the_minimum_is_refused():
    refuse_below({"memory": Enforcement.WATCHED}, {"memory": Enforcement.HARD})
    with pytest.raises(SandboxUnavailable, match="memory hard, and here it is watched"):
        refuse_below({"memory": Enforcement.HARD}, {"memory": Enforcement.WATCHED})
    with pytest.raises(SandboxUnavailable, match="network"):
        refuse_below({"network": Enforcement.WATCHED}, {})


def test_the_default_environment_takes_nothing_from_the_host(monkeypatch: pytest.MonkeyPatch):
    before = default_environment("/h", "/t")
    monkeypatch.setenv("PATH", "/evil")
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    assert default_environment("/h", "/t") == before
    assert before["PYTHONHASHSEED"] == "0" and before["OMP_NUM_THREADS"] == "1"


def test_an_unknown_runner_is_an_error_and_no_other_is_taken():
    with pytest.raises(SandboxUnavailable, match="no runner 'podman'"):
        make_runner("podman")
    assert make_runner("unsafe_local").name == "unsafe_local"


@pytest.mark.parametrize(
    ("setting", "value", "command"),
    [
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces="),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_a_closed_setting_gives_the_command_that_opens_it(
    tmp_path: Path, setting: str, value: str, command: str
):
    path = tmp_path / "proc/sys" / setting
    path.parent.mkdir(parents=True)
    path.write_text(f"{value}\n")
    assert command in mending("setting up uid map: Permission denied", tmp_path)
    path.write_text("1\n" if value == "0" else "0\n")
    assert "sysctl" not in mending("Creating new namespace failed", tmp_path)


def test_a_container_is_named_as_the_cause(tmp_path: Path):
    (tmp_path / ".dockerenv").touch()
    assert "--security-opt seccomp=unconfined" in mending(
        "unshare: Operation not permitted", tmp_path
    )
    assert mending("no space left on device", tmp_path) == ""
