"""A Docker engine, and the containers that this host's processes own in it: none outlives its owner.

Each container is labelled with its owner, the process that made it. A guard, which is a process that
waits for its owner's end, removes what the owner left, also after `kill -9`. Where the guard was
killed too, the next one that uses the engine removes the containers of owners that are gone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.errors import SandboxUnavailable

if TYPE_CHECKING:
    import docker

OWNER = "repro_pipeline.owner"
OUT_LABEL = "repro_pipeline.out"

_ROOT = Path(__file__).resolve().parents[1]
_GUARD = """
import os, select, sys
root, owner, *rest = sys.argv[1:]
while os.getppid() == int(owner) and not select.select([0], [], [], 1.0)[0]:
    continue
import site
site.main()
sys.path.insert(0, root)
from resources.docker_engine import clean_up
clean_up(*rest)
"""
_FOLDER = "repro-docker-"
_TRIES, _PATIENCE = 3, 20.0  # of removing a container, in seconds each
_LATE = 1.0  # seconds in which the engine may still make what an owner asked for before its end
_HINT = (
    "Start one (`sudo systemctl start docker`) and be allowed to use it (`docker info` shows it), "
    "or name another in `docker: host`."
)


def connect(host: str | None) -> docker.DockerClient:
    """The engine at an address such as unix:///var/run/docker.sock; DOCKER_HOST's by default.

    Raises SandboxUnavailable where none answers.
    """
    try:
        import docker
    except ImportError:
        raise SandboxUnavailable(
            "the package docker is not installed.",
            hint="Run `.venv/bin/pip install '.[docker]'` in the clone, or "
            "`pip install 'repro-pipeline[docker]'`.",
        ) from None
    try:
        if host is None:
            return docker.from_env(version="auto")
        return docker.DockerClient(base_url=host, version="auto")
    except docker.errors.DockerException as error:
        where = host or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
        raise SandboxUnavailable(
            f"no Docker engine answers at {where}: {_reason(error)}.", hint=_HINT
        ) from None


@contextlib.contextmanager
def spoken(what: str) -> Iterator[None]:
    """Turn what the engine refuses into a SandboxUnavailable that says what was tried."""
    import docker
    import requests
    import urllib3

    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise SandboxUnavailable(
            f"the Docker engine lacks the image: {_reason(error)}.",
            hint="Fetch it with `docker pull`, or name another in `docker: base`.",
        ) from None
    except (
        docker.errors.DockerException,
        requests.RequestException,
        urllib3.exceptions.HTTPError,  # where it ends in the middle of an answer
        ConnectionError,
    ) as error:
        raise SandboxUnavailable(f"the Docker engine could not {what}: {_reason(error)}.") from None


def _reason(error: Exception) -> str:
    said = getattr(error, "explanation", None) or str(error)
    return " ".join(str(said).split()).rstrip(".")


class Owner:
    """This process as the owner of containers in one engine, with a folder for their small files.

    Starts the guard, whose work begins when this object or its process is gone.
    """

    def __init__(self, host: str | None) -> None:
        self.name = f"{' '.join(_here())} {os.getpid()} {_started(os.getpid())} {id(self)}"
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_FOLDER}{self.name.replace(' ', '_')}-"))
        self.folder.chmod(0o755)
        command = [sys.executable, "-I", "-S", "-c", _GUARD, str(_ROOT), str(os.getpid())]
        guard = subprocess.Popen(
            [*command, host or "", self.name, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        weakref.finalize(self, guard.stdin.close)

    def labels(self, out: Path) -> dict[str, str]:
        """The labels of a container that leaves its results in `out`."""
        return {OWNER: self.name, OUT_LABEL: str(out)}


def clean_up(host: str, owner: str, folder: str) -> None:
    """Remove an owner's containers and its folder: what its guard does in the end."""
    shutil.rmtree(folder, ignore_errors=True)
    client = connect(host or None)
    for pause in (_LATE, 0):
        for container in _labelled(client, f"{OWNER}={owner}"):
            remove(client, container)
        time.sleep(pause)


def sweep(client: docker.DockerClient) -> int:
    """Remove what owners left that are processes of this host and gone; how many containers."""
    labelled = _labelled(client, OWNER).items()
    gone = [container for container, owner in labelled if not _may_live(owner)]
    for container in gone:
        remove(client, container)
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        owner = folder.name.removeprefix(_FOLDER).rpartition("-")[0].replace("_", " ")
        if not _may_live(owner):
            shutil.rmtree(folder, ignore_errors=True)
    return len(gone)


def remove(client: docker.DockerClient, name: str) -> None:
    """End a container and remove it with all that it has; one that is gone is no error."""
    import docker
    import requests

    client.api.timeout = _PATIENCE
    for left in reversed(range(_TRIES)):
        try:
            client.api.remove_container(name, force=True, v=True)
            return
        except docker.errors.NotFound:
            return
        except docker.errors.APIError as error:
            if "already in progress" not in str(error):
                raise
            time.sleep(0.2)
        except requests.Timeout:  # seen where a start was interrupted
            if not left:
                raise


def _labelled(client: docker.DockerClient, label: str) -> dict[str, str]:
    """The containers with a label, and the owner of each."""
    found = client.api.containers(all=True, filters={"label": label})
    return {one["Id"]: one["Labels"][OWNER] for one in found}


def _may_live(owner: str) -> bool:
    """Whether an owner lives, or is none of those that can be seen from here."""
    if owner.count(" ") != 5:
        return True
    host, boot, processes, pid, started, _ = owner.split(" ")
    our_host, our_boot, our_processes = _here()
    if host != our_host or (boot == our_boot and processes != our_processes):
        return True
    return boot == our_boot and _started(int(pid)) == started


def _here() -> tuple[str, str, str]:
    """The host, its boot, and the set of processes in which a number names one process."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    processes = Path("/proc/self/ns/pid").stat().st_ino
    return socket.gethostname().replace("_", "-"), boot, str(processes)


def _started(pid: int) -> str:
    """When a process started, in ticks since the boot; empty where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
