"""The same attacks in containers: none succeeds there either.

That each can be seen to succeed elsewhere is shown in `test_attacks`. The default run holds a fixed
sample, the full run all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attack_range import SMALL, Host, MiB, Place, let_loose
from test_attacks import ATTACKS, Attack

from resources import docker_runner
from resources.docker_runner import DockerRunner
from tests.docker_engine import Engine

SAMPLE = {
    "read_host_file",
    "list_host_folders",
    "read_secrets_in_environ",
    "read_other_run",
    "change_inputs",
    "write_environment",
    "write_system",
    "leave_set_user_file",
    "link_out_to_secret",
    "fill_disk",
    "hold_deleted_files",
    "hide_in_depth",
    "fork_bomb",
    "memory_bomb_of_many",
    "fill_memory_file_systems",
    "open_many_files",
    "daemonize",
    "ignore_signals",
    "trace_init",
    "become_root",
    "make_namespaces",
    "mount_things",
    "take_terminal",
    "connect_to_loopback",
    "open_odd_sockets",
    "flood_log",
}


@pytest.fixture(scope="module")
def runner(docker_engine: Engine) -> DockerRunner:
    return DockerRunner(host=docker_engine.host, image=docker_engine.image)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host.set_up(tmp_path_factory.mktemp("host"))
    yield host
    host.close()


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.name, marks=[] if row.name in SAMPLE else [pytest.mark.slow])
        for row in ATTACKS
    ],
)
def test_attack_fails_in_a_container(
    row: Attack, runner: DockerRunner, docker_engine: Engine, host: Host, tmp_path
):
    place = Place(tmp_path / "place")
    before = place.inputs()
    let_loose(row.name, runner, place, host, SMALL.model_copy(update=dict(row.limits)))
    assert place.leftovers() == []
    assert docker_engine.containers() == set()
    assert place.inputs() == before
    assert host.secret.read_text() == "secret"
    assert host.secret.stat().st_uid == os.geteuid()
    row.check(place)


def lifted(**options: Any) -> Callable[[dict], dict]:
    """The options of a container, but for some."""
    return lambda given: {**given, **options}


def without_filter(given: dict) -> dict:
    return {**given, "security_opt": ["no-new-privileges", "seccomp=unconfined"]}


def with_writable_inputs(given: dict) -> dict:
    return {**given, "mounts": [{**mount, "ReadOnly": False} for mount in given["mounts"]]}


GUARDS = [
    ("connect_to_loopback", lifted(network_mode="host", hostname=None)),
    ("change_inputs", with_writable_inputs),
    ("write_system", lifted(read_only=False, user="0:0", cap_drop=[])),
    ("open_odd_sockets", without_filter),
    ("make_namespaces", without_filter),
    ("trace_init", without_filter),
    ("thread_bomb", lifted(pids_limit=400)),
    ("open_many_files", lifted(ulimits=[])),
    ("fill_memory_file_systems", lifted(shm_size=16 * MiB)),
    ("take_terminal", lifted(tmpfs={"/tmp": ""}, tty=True)),
    ("list_host_folders", lifted(tmpfs={"/tmp": ""})),
]
GUARDS_SAMPLE = {"connect_to_loopback", "change_inputs", "open_odd_sockets"}


@pytest.mark.parametrize(
    ("name", "lift"),
    [
        pytest.param(name, lift, id=name, marks=[] if name in GUARDS_SAMPLE else [pytest.mark.slow])
        for name, lift in GUARDS
    ],
)
def test_an_attack_succeeds_where_its_guard_is_lifted(
    name: str, lift, runner: DockerRunner, host: Host, tmp_path: Path, monkeypatch
):
    runner.enforcement()  # a container without its guards would be refused
    made = docker_runner.container_options
    monkeypatch.setattr(docker_runner, "container_options", lambda *a, **k: lift(made(*a, **k)))
    [row] = [row for row in ATTACKS if row.name == name]
    limits = SMALL.model_copy(update=dict(row.limits))
    place = let_loose(name, runner, Place(tmp_path / "place"), host, limits)
    assert "BREACH" in place.said, place.said


def test_the_sample_names_attacks():
    assert {row.name for row in ATTACKS} >= SAMPLE
