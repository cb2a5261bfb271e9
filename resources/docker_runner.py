"""Run code in Docker containers: the policy's image, or a base image, is the run's system.

What the engine and the kernel enforce is listed in `docker_options`. Watched, not hard: the wall
clock and the bytes in `/work`, `/out` and the log (polled, so a run can write more before it is
ended). The engine must see this host's files: one on another machine, or one that maps users to
others, is refused.

Not enforced: whoever may use the engine is root on its machine; a flaw in the kernel is a way out;
names of folders (in /proc/self/mountinfo), the kernel's version, the processor and the load can be
read.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro_pipeline.environment.build import ENV
from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox import folders, probe, watch
from repro_pipeline.sandbox.child import own_user
from repro_pipeline.sandbox.launch import check_folders, check_readable, ended_outcome
from repro_pipeline.sandbox.policy import (
    LIMIT_NAMES,
    Enforcement,
    Limits,
    Mount,
    RunOutcome,
    SandboxPolicy,
    refuse_below,
    seen_at,
)
from repro_pipeline.status import Status
from resources.docker_engine import Owner, connect, remove, spoken, sweep
from resources.docker_options import container_options, with_own_files

if TYPE_CHECKING:
    import docker

_TICK = 0.1  # seconds between two rounds
_STATS = 0.5  # seconds between two questions for what is used
_LAST_WORDS = 1.0  # seconds in which the output of an ended container must come to its end
_CHUNK = 1 << 16
_HEADER = struct.Struct(">BxxxL")


class DockerRunner:
    """Runs commands in containers; see the module for what that enforces."""

    name = "docker"

    def __init__(self, *, host: str | None = None, image: str) -> None:
        self._host, self._image = host, image
        self._lock = threading.Lock()
        self._probing = threading.Lock()
        self._running: set[_Run] = set()
        self._held: dict[str, Enforcement] = {}
        self._owner: Owner | None = None

    def enforcement(self) -> dict[str, Enforcement]:
        """What holds on this host: tried once, in a container of the runner's own image."""
        with self._probing:
            if not self._held:
                self._owner = self._owner or Owner(self._host)
                with contextlib.closing(connect(self._host)) as client, spoken("be looked at"):
                    sweep(client)
                    counted = _counted(client)
                self._held = self._probe(counted)
            return dict(self._held)

    def inside(self, path: Path, policy: SandboxPolicy, *, workdir: Path, out: Path) -> str:
        """Where a run sees a path of the host.

        Below /usr, /bin and the environment of an image it names what the image has there.
        """
        if path.is_relative_to(ENV) and not any(
            path.is_relative_to(mount.source) for mount in policy.mounts
        ):
            return str(path)
        return seen_at(path, policy, workdir=workdir, out=out)

    def cancel_all(self) -> None:
        """End the runs that are under way."""
        with self._lock:
            for run in self._running:
                run.ended = run.ended or "cancelled"

    def run(
        self,
        command: Sequence[str],
        policy: SandboxPolicy,
        *,
        workdir: Path,
        out: Path,
        log: Path,
        on_output: Callable[[bytes], None] | None = None,
    ) -> RunOutcome:
        """Run a command in a container, to its end."""
        check_folders(workdir, out, log)
        held = self.enforcement()
        refuse_below(policy.minimum, held)
        run = _Run(policy, workdir.absolute(), out.absolute(), log.absolute(), on_output)
        with self._lock:
            self._running.add(run)
        try:
            outcome = self._run(connect(self._host), run, command)
        finally:
            with self._lock:
                self._running.discard(run)
        return outcome.model_copy(update={"enforcement": held})

    def _run(self, client: docker.DockerClient, run: _Run, command: Sequence[str]) -> RunOutcome:
        """Make the container, follow it to its end, and remove it, whatever happens."""
        for mount in run.policy.mounts:
            if not mount.source.exists():
                raise UserError(
                    "there is no such file or folder to mount.", where=str(mount.source)
                )
        own = own_user()
        if own is not None:
            check_readable([mount.source for mount in run.policy.mounts])
        user = os.getuid() if own is None else own
        image = run.policy.image or self._image
        name = f"repro-{uuid.uuid4().hex}"
        trees = (run.workdir, run.out)
        files = Path(tempfile.mkdtemp(dir=self._owner.folder))
        files.chmod(0o755)
        options = container_options(
            with_own_files(run.policy, user, files),
            user=user,
            workdir=run.workdir,
            out=run.out,
            labels=self._owner.labels(run.out),
        )
        try:
            for tree in trees:
                folders.hand_over(tree, own)
            with spoken("run the container"):
                refuse_volumes(client, image)
                client.containers.create(
                    image,
                    entrypoint=list(command),
                    name=name,
                    log_config={"Type": "none", "Config": {}},
                    **options,
                )
                state = run.follow(client, name)
        finally:
            try:
                with spoken("remove the container"):
                    remove(client, name)
            finally:
                for tree in trees:
                    folders.take_back(tree)
                folders.remove(files)
                client.close()
        return run.outcome(state)

    def _probe(self, counted: dict[str, Enforcement]) -> dict[str, Enforcement]:
        """Run `probe.py` under small limits, then what takes too much memory.

        `counted` is the engine's word on what its control groups hold.
        """
        limits = Limits(wall_clock=60, processes=24, open_files=64, scratch=1 << 20, memory=1 << 26)
        program = Mount(source=Path(probe.__file__), target=Path("/probe.py"))
        policy = SandboxPolicy(limits=limits, mounts=(program,))
        with (
            tempfile.TemporaryDirectory() as folder,
            socket.create_server(("127.0.0.1", 0)) as door,
        ):
            places = [Path(folder, name) for name in ("work", "out", "log")]
            for place in places[:2]:
                place.mkdir()
            secret = Path(folder, "secret")
            secret.touch()
            command = ["python3", "-I", "-S", "/probe.py", str(secret), str(door.getsockname()[1])]
            command += map(str, (limits.processes, limits.open_files, limits.scratch))
            run = _Run(policy, *places)
            outcome = self._run(connect(self._host), run, ["/bin/sh", "-c", _TRIED, *command])
            said, _, _ = places[2].read_text(errors="replace").partition("\n")
            seen = (places[1] / "seen").exists()
        if not seen:
            raise SandboxUnavailable(
                f"a container of '{self._image}' cannot write what this host sees "
                f"({said or outcome.reason}).",
                hint="The engine must run on this machine, without mapping users to others.",
            )
        if not said.startswith("{"):
            raise SandboxUnavailable(f"the container's probe failed: {said or outcome.reason}")
        faults = {name: fault for name, fault in json.loads(said).items() if fault}
        for name in {"filesystem", "network"} & set(faults):
            raise SandboxUnavailable(f"containers are no sandbox here: {faults[name]}.")
        if outcome.status is not Status.BUDGET_EXHAUSTED:
            faults["memory"] = f"more than {limits.memory} bytes of memory are had"
        held = dict.fromkeys(LIMIT_NAMES, Enforcement.HARD) | counted
        held |= dict.fromkeys(("wall_clock", "output"), Enforcement.WATCHED)
        return held | dict.fromkeys(faults, Enforcement.UNAVAILABLE)


_TRIED = ': > /out/seen && "$0" "$@" && exec python3 -c "bytearray(256 << 20)"'


def refuse_volumes(client: docker.DockerClient, image: str) -> None:
    """Raise SandboxUnavailable for an image with volumes: they would be writable without a cap."""
    volumes = client.images.get(image).attrs["Config"].get("Volumes")
    if volumes:
        raise SandboxUnavailable(
            f"the image '{image}' declares the volumes {', '.join(volumes)}, which no limit holds.",
            hint="Use an image without a VOLUME.",
        )


def _counted(client: docker.DockerClient) -> dict[str, Enforcement]:
    """The limits that the engine holds by control groups, as far as its kernel has them."""
    info = client.info()
    swaps = len(Path("/proc/swaps").read_text().splitlines()) > 1
    has = {
        "memory": info["MemoryLimit"] and (info["SwapLimit"] or not swaps),
        "processes": info["PidsLimit"],
        "cpus": info["CpuCfsQuota"],
    }
    return {
        name: Enforcement.HARD if there else Enforcement.UNAVAILABLE for name, there in has.items()
    }


class _Run:
    """A run under way: its output is copied and its limits are watched until it ends."""

    def __init__(
        self,
        policy: SandboxPolicy,
        workdir: Path,
        out: Path,
        log: Path,
        on_output: Callable[[bytes], None] | None = None,
    ) -> None:
        self.policy, self.workdir, self.out, self.log = policy, workdir, out, log
        self.on_output = on_output
        self.ended = ""
        """Why it is ended: cancelled, or the name of a limit."""
        self.failure: Exception | None = None
        self.logged = self.written = 0
        self.pid = 0
        """The container's init, where the engine's processes are this host's."""
        self.seconds = 0.0
        self.made_at = time.time()
        self.cpu_seconds: float | None = None
        self.peak_memory: int | None = None

    def follow(self, client: docker.DockerClient, name: str) -> dict[str, Any]:
        """Start a container and watch it to its end; its last state."""
        door = client.api.attach_socket(name, {"stdout": 1, "stderr": 1, "stream": 1})
        plain = getattr(door, "_sock", door)
        with self.log.open("wb", buffering=0) as log:
            copier = threading.Thread(target=self._copy, args=(plain, log), daemon=True)
            began = time.monotonic()
            try:
                client.api.start(name)
                self.pid = _init_of(client.api.inspect_container(name))
                copier.start()
                state = self._watch(client, name, copier, began)
                copier.join(_LAST_WORDS)
            finally:
                self.seconds = time.monotonic() - began
                with contextlib.suppress(OSError):
                    plain.shutdown(socket.SHUT_RDWR)  # or the engine waits for it to be read
                if copier.is_alive():
                    copier.join()
                door.close()
        if self.failure is not None:
            raise self.failure
        with contextlib.suppress(
            folders.Unmeasured
        ):  # what cannot be measured now is made so, or goes
            self.written = self._size()
        if state["OOMKilled"]:
            self.ended = self.ended or "memory"
        if self.written > self.policy.limits.output:
            self.ended = self.ended or "output"
        return state

    def _watch(
        self, client: docker.DockerClient, name: str, copier: threading.Thread, began: float
    ) -> dict[str, Any]:
        """Look at the limits until the container has ended, and end it where one is passed."""
        limits = self.policy.limits
        turn, ask = watch.Turn((self.workdir, self.out), limits.output), 0.0
        while True:
            copier.join(_TICK if copier.is_alive() else _TICK / 10)
            now = time.monotonic()
            if turn.due():
                try:
                    self.written = self._size()
                except folders.Unmeasured:
                    self.ended = self.ended or "unmeasured"
                turn.looked(now, self.written)
            if now >= ask > 0:
                self._ask(client, name)
            if now >= ask:
                ask = time.monotonic() + _STATS
            if now - began > limits.wall_clock:
                self.ended = self.ended or "wall_clock"
            elif self.written > limits.output:
                self.ended = self.ended or "output"
            if self.ended:
                _kill(client, name)
            if self.ended or not copier.is_alive():
                state = client.api.inspect_container(name)["State"]
                if not state["Running"]:
                    return state

    def _copy(self, door: socket.socket, log: Any) -> None:
        """Move what is printed to the log; what is beyond the limit is read and thrown away."""
        most = self.policy.limits.output
        try:
            for piece in frames(door):
                kept = piece[: max(0, most - self.logged)]
                if kept:
                    log.write(kept)
                    self.logged += len(kept)
                    if self.on_output is not None:
                        self.on_output(kept)
                if len(kept) < len(piece):
                    self.ended = self.ended or "output"
        except (
            Exception
        ) as error:  # of the disk, or of who listens: raised where the run is awaited
            self.failure, self.ended = error, self.ended or "cancelled"
            door.shutdown(socket.SHUT_RDWR)

    def _size(self) -> int:
        """Bytes that the run takes. Raises Unmeasured."""
        most, trees = self.policy.limits.output, (self.workdir, self.out)
        held = watch.unlinked(watch.descendants(self.pid), trees) if self.pid else 0
        return self.logged + held + sum(folders.size(tree, most) for tree in trees)

    def _ask(self, client: docker.DockerClient, name: str) -> None:
        """Note what the container uses, while it runs, and whether it lacked memory."""
        with contextlib.suppress(KeyError):  # no figures: it is just ending
            found = client.api.stats(name, stream=False, one_shot=True)
            memory = found["memory_stats"]
            cached = memory["stats"].get("cache", memory["stats"].get("file", 0))
            used = memory["usage"] - cached + memory["stats"].get("shmem", 0)
            self.peak_memory = max(self.peak_memory or 0, used)
            self.cpu_seconds = found["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9
        only = {"container": name, "event": "oom"}
        if list(client.events(since=self.made_at, until=time.time(), filters=only)):
            self.ended = self.ended or "memory"

    def outcome(self, state: dict[str, Any]) -> RunOutcome:
        """What became of it, from the container's last state."""
        return ended_outcome(
            self.ended,
            state["ExitCode"],
            self.policy.limits,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            peak_memory_bytes=self.peak_memory,
            output_bytes=self.written,
        )


def _init_of(container: dict[str, Any]) -> int:
    """The number of a container's init here; 0 where it has ended, or is no process of this host."""
    pid = container["State"]["Pid"]
    try:
        return pid if container["Id"] in Path(f"/proc/{pid}/cgroup").read_text() else 0
    except OSError:
        return 0


def frames(door: socket.socket) -> Iterator[bytes]:
    """The output of a container, out of the frames in which the engine sends it, to its end."""
    with door.makefile("rb", buffering=_CHUNK) as stream:
        while header := stream.read(_HEADER.size):
            _, left = _HEADER.unpack(header)
            while left:
                piece = stream.read1(min(left, _CHUNK))
                if not piece:
                    return
                left -= len(piece)
                yield piece


def _kill(client: Any, name: str) -> None:
    import docker

    with contextlib.suppress(docker.errors.APIError):  # it ended by itself, or is ending
        client.api.kill(name)
