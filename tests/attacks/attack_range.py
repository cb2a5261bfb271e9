"""A place in which attacks are let loose, and what can be observed of them from outside."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from repro_pipeline.ports import Runner
from repro_pipeline.sandbox.policy import Limits, Mount, RunOutcome, SandboxPolicy

HERE = Path(__file__).parent
MiB = 1 << 20
SMALL = Limits(
    wall_clock=20,
    memory=256 * MiB,
    processes=24,
    open_files=64,
    output=4 * MiB,
    scratch=2 * MiB,
)
VARIABLE = "REPRO_ATTACK_SECRET"


@dataclass
class Host:
    """What the host has to lose: files, sockets, and a process with a secret."""

    folder: Path
    marker: str
    process: subprocess.Popen
    tcp: socket.socket
    udp: socket.socket
    unix: list[socket.socket]

    @classmethod
    def set_up(cls, folder: Path) -> Host:
        """Lay out the host in an empty folder."""
        marker = f"marker-{uuid.uuid4().hex}"
        (folder / "home").mkdir()
        (folder / "home" / "secret.txt").write_text("secret")
        process = subprocess.Popen(
            ["/bin/sleep", "3600"], env={VARIABLE: "secret", "MARKER": marker}, cwd=folder
        )
        tcp = socket.create_server(("127.0.0.1", 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.2)
        unix = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for door, name in zip(unix, (f"\0{marker}", str(folder / "socket")), strict=True):
            door.bind(name)
            door.listen()
        return cls(folder, marker, process, tcp, udp, unix)

    @property
    def secret(self) -> Path:
        """A file that no run is given."""
        return self.folder / "home" / "secret.txt"

    def close(self) -> None:
        """End what was started."""
        self.process.kill()
        self.process.wait()
        for door in (self.tcp, self.udp, *self.unix):
            door.close()


@dataclass
class Place:
    """The folders of one run, its inputs, and what became of it."""

    folder: Path
    token: str = field(default_factory=lambda: f"run-{uuid.uuid4().hex}")
    outcome: RunOutcome | None = None

    def __post_init__(self) -> None:
        for name in ("work", "out", "data", "env/site-packages", "other/out"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "data" / "digits.csv").write_text("1,2,3\n")
        (self.folder / "sealed").mkdir()
        (self.folder / "sealed" / "labels.csv").write_text("7\n")
        (self.folder / "env" / "site-packages" / "module.py").write_text("good = True\n")
        (self.folder / "other" / "out" / "metrics.json").write_text('{"metrics": []}')
        for path in (*self.folder.glob("data/**"), *self.folder.glob("env/**")):
            path.chmod(0o777)  # so that only the sandbox forbids to write
        for path in (*self.folder.glob("data/*"), *self.folder.glob("env/*/*.py")):
            path.chmod(0o666)
        for program in (*HERE.glob("programs/*.py"), HERE / "attack.py"):
            shutil.copy(program, self.work)

    @property
    def work(self) -> Path:
        """The working copy."""
        return self.folder / "work"

    @property
    def out(self) -> Path:
        """The output folder."""
        return self.folder / "out"

    @property
    def log(self) -> Path:
        """The log."""
        return self.folder / "log"

    @property
    def said(self) -> str:
        """What the program printed."""
        return self.log.read_text(errors="replace")

    def inputs(self) -> str:
        """A digest of all that the run was given to read, modes and times included."""
        total = hashlib.sha256()
        for folder in ("data", "env", "other"):
            for path in sorted((self.folder / folder).rglob("*")):
                info = path.stat()
                total.update(f"{path} {info.st_mode} {info.st_mtime_ns}".encode())
                total.update(path.read_bytes() if path.is_file() else b"")
        return total.hexdigest()

    def leftovers(self) -> list[int]:
        """The processes of this host that were started by the run."""
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if self.token.encode() in entry.read_bytes():
                    found.append(int(entry.parent.name))
            except OSError:
                continue
        return found


def interpreter() -> tuple[Path, tuple[Mount, ...]]:
    """A Python that a sandbox can run, and what must be mounted for it."""
    base = Path(sys.base_prefix).resolve()
    python = Path(sys.executable).resolve()
    mounts = () if base.is_relative_to("/usr") else (Mount(source=base, target=base),)
    return python, mounts


def let_loose(
    name: str, runner: Runner, place: Place, host: Host, limits: Limits, claimed: Limits = SMALL
) -> Place:
    """Run one attack. `claimed` are the limits that the program is told."""
    contained = runner.name == "docker"
    python, mounts = (Path("/usr/bin/python3"), ()) if contained else interpreter()
    policy = SandboxPolicy(
        limits=limits,
        mounts=(
            *mounts,
            Mount(source=place.folder / "data", target=Path("/data")),
            Mount(source=place.folder / "env", target=Path("/env")),
        ),
    )

    def inside(path: Path) -> str:
        return runner.inside(path, policy, workdir=place.work, out=place.out)

    sandboxed = runner.name != "unsafe_local"
    facts = facts_of(place, host, claimed) | {
        "sandboxed": sandboxed,
        "init": [1] if sandboxed else [],
        "data": inside(place.folder / "data" / "digits.csv"),
        "site_packages": inside(place.folder / "env" / "site-packages"),
        "out": inside(place.out),
        "scratch_folders": ["/tmp", "/dev/shm"],
    }
    if contained:  # an image has the usual folders: they are its own
        facts["hidden_folders"] = [facts["secret_folder"], "/root", "/sys/class"]
    (place.work / "facts.json").write_text(json.dumps(facts))
    command = [inside(python), "-S", "-B", inside(place.work / f"{name}.py"), place.token]
    place.outcome = runner.run(command, policy, workdir=place.work, out=place.out, log=place.log)
    return place


def run_plainly(name: str, place: Place, host: Host, *, seconds: float = 20) -> Place:
    """Run an attack as a plain process without any runner, its output in a file."""
    facts = facts_of(place, host, SMALL) | {"sandboxed": False, "init": []}
    facts |= {"out": str(place.out), "data": str(place.folder / "data" / "digits.csv")}
    (place.work / "facts.json").write_text(json.dumps(facts))
    command = [sys.executable, "-S", "-B", f"{name}.py", place.token]
    with (
        place.log.open("wb") as log,
        subprocess.Popen(command, cwd=place.work, stdout=log, stderr=log) as process,
    ):
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    return place


def facts_of(place: Place, host: Host, limits: Limits) -> dict:
    """What every attacker knows of the host."""
    mounts = [mount.target for mount in interpreter()[1]]
    folders = [Path(name) for name in ("/root", "/home", "/var", "/etc/ssh", "/sys/class", "/boot")]
    hidden = [path for path in folders if not any(mount.is_relative_to(path) for mount in mounts)]
    return {
        "secret_file": str(host.secret),
        "secret_folder": str(host.secret.parent),
        "hidden_folders": [str(host.secret.parent), *map(str, hidden)],
        "variable": VARIABLE,
        "pid": host.process.pid,
        "marker": "/bin/sleep\x003600",
        "port": host.tcp.getsockname()[1],
        "udp_port": host.udp.getsockname()[1],
        "abstract_socket": host.marker,
        "unix_socket": str(host.folder / "socket"),
        "hostname": socket.gethostname(),
        "host_workdir": str(place.work),
        "host_out": str(place.out),
        "labels": str(place.folder / "sealed" / "labels.csv"),
        "other_out": str(place.folder / "other" / "out"),
        "output_limit": limits.output,
        "scratch_limit": limits.scratch,
        "process_limit": limits.processes,
        "open_files_limit": limits.open_files,
    }


def end_leftovers(place: Place) -> int:
    """Kill what a plain attack left running; how many processes that were."""
    found = place.leftovers()
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 5
    while place.leftovers() and time.monotonic() < end:
        time.sleep(0.01)
    return len(found)
