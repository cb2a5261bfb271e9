"""A Docker engine for tests, and a base image without any registry: made with debootstrap, once.

The engine that answers is used; where none does, one of the test session's own is started in a
temporary folder, as root, without network. The base image is this host's distribution in its
smallest form with Python, kept as a file in the user's cache. REPRO_DOCKER_BASE names another image
of the engine that answers, with python3 and its venv.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from repro_pipeline.errors import SandboxUnavailable
from resources.docker_engine import OWNER, connect
from resources.user_cache import cache_folder

_PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"
TAG = "repro-pipeline-test-base:2"


@dataclass(frozen=True)
class Engine:
    """Where the engine answers, and an image in it that has Python."""

    host: str
    image: str

    def containers(self) -> set[str]:
        """The containers that this project's runners have in it."""
        client = connect(self.host)
        with contextlib.closing(client):
            found = client.api.containers(all=True, filters={"label": OWNER})
        return {container["Id"] for container in found}


@contextlib.contextmanager
def running_engine() -> Iterator[Engine]:
    """An engine with the base image. Skips, saying why, where there can be none."""
    given = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    with contextlib.ExitStack() as stack:
        try:
            connect(given).close()
        except SandboxUnavailable:
            given = stack.enter_context(_own_engine())
        yield Engine(given, os.environ.get("REPRO_DOCKER_BASE") or _with_base(given))


@contextlib.contextmanager
def _own_engine() -> Iterator[str]:
    missing = [name for name in ("dockerd", "debootstrap") if not shutil.which(name)]
    if missing:
        pytest.skip(f"no Docker engine answers, and {' and '.join(missing)} is not installed")
    if os.geteuid() != 0:
        pytest.skip("no Docker engine answers, and only root can start one")
    folder = Path(tempfile.mkdtemp(prefix="repro-dockerd-"))
    host, log = f"unix://{folder}/docker.sock", folder / "log"
    options = ["--iptables=false", "--ip6tables=false", "--bridge=none"]
    options += [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--host={host}"]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            ["dockerd", *options, f"--pidfile={folder}/pid"],
            stdout=stream,
            stderr=stream,
            stdin=subprocess.DEVNULL,
            process_group=0,
        )
    try:
        if not _answers(host, process):
            last = log.read_text(errors="replace").strip().splitlines()[-1:]
            pytest.skip(f"no Docker engine can be started here: {' '.join(last)}")
        yield host
    finally:
        process.terminate()
        process.wait()
        subprocess.run(["umount", f"{folder}/exec/netns/default"], capture_output=True, check=False)
        shutil.rmtree(folder)


def _answers(host: str, process: subprocess.Popen) -> bool:
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(SandboxUnavailable):
            connect(host).close()
            return True
        time.sleep(0.1)
    return False


def _with_base(host: str) -> str:
    """The base image, in the engine of that address."""
    client = connect(host)
    try:
        if not client.images.list(name=TAG):
            archive = _base_archive()
            repository, tag = TAG.split(":")
            client.api.import_image_from_file(str(archive), repository=repository, tag=tag)
    finally:
        client.close()
    return TAG


def _base_archive() -> Path:
    """The system's files as a tar file, from the cache where it is there."""
    name = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    archive = cache_folder() / "docker" / f"{name}-2.tar"
    if archive.exists():
        return archive
    if not shutil.which("debootstrap") or os.geteuid() != 0:
        pytest.skip("there is no base image: it takes debootstrap and root to make one")
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="repro-base-") as folder:
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", name, folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            last = made.stdout.strip().splitlines()[-1:]
            pytest.skip(f"no base image can be made with debootstrap: {' '.join(last)}")
        fresh = archive.with_suffix(f".{os.getpid()}")
        spare = ("var/cache/apt/*", "var/lib/apt/lists/*", "usr/share/doc/*", "usr/share/locale/*")
        exclude = [f"--exclude=./{part}" for part in (*spare, "usr/share/man/*")]
        subprocess.run(["tar", "-C", folder, *exclude, "-cf", fresh, "."], check=True)
        fresh.rename(archive)
    return archive
