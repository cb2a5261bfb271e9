"""One control group per run: limits on memory, processes and CPU that hold for a whole tree.

Three ways, tried in this order: a scope of systemd (the user's, or the system's for root), a group
beside our own in cgroup v2 where that is delegated to us, groups below our own in cgroup v1.
Imports the standard library only: it is part of the supervisor.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

PREFIX = "repro-sandbox-"
_ROOM = 4  # bubblewrap's own processes
_BUSCTL = "/usr/bin/busctl"
_SYSTEMD, _MANAGER = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
_PERIOD = 100_000  # microseconds over which a share of CPU is counted


class Group:
    """One run's control group; with no folders where there is none."""

    def __init__(
        self,
        folders: dict[str, Path] | None = None,
        *,
        v2: bool = False,
        locks: Sequence[int] = (),
        scope: str = "",
    ) -> None:
        self.folders = folders or {}
        """By controller."""
        self.locks = list(locks)
        """Descriptors that say, as long as they are open, that the group has a supervisor."""
        self._v2, self._scope = v2, scope

    def holds(self, controller: str) -> bool:
        """Whether this group limits `memory`, `pids` or `cpu`."""
        return controller in self.folders

    def members(self) -> set[int]:
        """The processes in the group."""
        return {pid for folder in set(self.folders.values()) for pid in _pids(folder)}

    def processes(self) -> int | None:
        """How many processes and threads are in the group; None where that is not counted."""
        if "pids" not in self.folders:
            return None
        return int(_read(self.folders["pids"] / "pids.current") or 0)

    def memory_bytes(self) -> int | None:
        """What the group holds now, without the page cache."""
        if "memory" not in self.folders:
            return None
        stat = _table(self.folders["memory"] / "memory.stat")
        names = ("anon", "shmem") if self._v2 else ("total_rss", "total_shmem")
        return sum(stat.get(name, 0) for name in names)

    def out_of_memory(self) -> bool:
        """Whether the kernel has ended a process of the group for want of memory."""
        if "memory" not in self.folders:
            return False
        name = "memory.events" if self._v2 else "memory.oom_control"
        if self._scope and not (self.folders["memory"] / name).exists():
            return _ended_by_memory(self._scope)
        return _table(self.folders["memory"] / name).get("oom_kill", 0) > 0

    def cpu_seconds(self) -> float | None:
        """User and system time of all that ever was in the group."""
        if self._v2 and self.folders:
            return _table(self.folders["memory"] / "cpu.stat").get("usage_usec", 0) / 1e6
        if "cpuacct" in self.folders:
            return int(_read(self.folders["cpuacct"] / "cpuacct.usage") or 0) / 1e9
        return None

    def remove(self, *, seconds: float = 5.0) -> bool:
        """Kill what is left in the group and remove it; whether that worked in time.

        A scope is left to systemd, which would make it anew if it vanished without its doing.
        """
        end = time.monotonic() + seconds
        folders = set(self.folders.values())
        while self.members() if self._scope else any(folder.exists() for folder in folders):
            for pid in self.members():
                _kill(pid)
            for folder in () if self._scope else folders:
                _remove(folder)
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
        for lock in self.locks:
            os.close(lock)
        self.locks.clear()
        return True


def make_group(pid: int, *, memory: int, processes: int, cpus: float | None) -> Group:
    """Put a process, which waits before its exec, into a new group; an empty Group if none can be.

    `memory` is in bytes, `cpus` in processors.
    """
    limits = {"memory": memory, "processes": processes + _ROOM, "cpus": cpus}
    return _scope(pid, **limits) or _beside(pid, **limits) or _below(pid, **limits) or Group()


def sweep() -> None:
    """Remove the groups of supervisors that were killed, with all that is in them.

    A group is named after its supervisor, who also holds its lock: in a container that shares our
    groups the same number may name another process.
    """
    for parent in {*_own_v1().values(), *filter(None, [_delegated(), _place_of_scopes()])}:
        for folder in parent.glob(f"{PREFIX}*"):
            scope = folder.name if folder.name.endswith(".scope") else ""
            pid = folder.name.removeprefix(PREFIX).removesuffix(".scope")
            lock = None if Path("/proc", pid).exists() else _lock(folder)
            if lock is not None:
                Group({"any": folder}, locks=[lock], scope=scope).remove(seconds=1.0)


def _scope(pid: int, *, memory: int, processes: int, cpus: float | None) -> Group | None:
    """A scope of systemd. Its manager removes it when it is empty."""
    name = f"{PREFIX}{os.getpid()}.scope"
    properties = [
        *("PIDs", "au", "1", str(pid)),
        *("MemoryMax", "t", str(memory)),
        *("MemorySwapMax", "t", "0"),
        *("TasksMax", "t", str(processes)),
        *("CPUAccounting", "b", "true"),
        *(("CPUQuotaPerSecUSec", "t", str(int(cpus * 1e6))) if cpus else ()),
    ]
    count = str(6 if cpus else 5)
    request = ["ssa(sv)a(sa(sv))", name, "fail", count, *properties, "0"]
    if _systemd("call", _MANAGER, f"{_SYSTEMD}.Manager", "StartTransientUnit", *request) is None:
        return None
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        own = _v2_path(pid)
        if own is not None and own.name == name:
            lock = _lock(own)
            locks = [] if lock is None else [lock]
            found = _controllers(own)
            return Group(found, v2=True, locks=locks, scope=name) if "memory" in found else None
        time.sleep(0.005)
    return None


def _place_of_scopes() -> Path | None:
    """Where our systemd keeps its scopes."""
    user = os.geteuid()
    slices = f"user.slice/user-{user}.slice/user@{user}.service/app.slice"
    for _, point, kind, _ in _mounts():
        if kind == "cgroup2":
            return Path(point, slices if user else "system.slice")
    return None


def _ended_by_memory(scope: str) -> bool:
    """Whether systemd has ended a scope because the kernel ended a process in it."""
    unit = f"{_MANAGER}/unit/" + scope.replace("-", "_2d").replace(".", "_2e")
    if "oom" not in (_systemd("get-property", unit, f"{_SYSTEMD}.Scope", "Result") or ""):
        return False
    _systemd("call", _MANAGER, f"{_SYSTEMD}.Manager", "ResetFailedUnit", "s", scope)
    return True


def _systemd(verb: str, thing: str, *request: str) -> str | None:
    """Ask the user's systemd, or the system's as root; None where there is none, or it refuses."""
    user, runtime = os.geteuid() != 0, f"/run/user/{os.geteuid()}"
    alive = Path(f"{runtime}/bus") if user else Path("/run/systemd/system")
    if not alive.exists() or not Path(_BUSCTL).exists():
        return None
    import subprocess  # slow to load, and not needed on every host

    bus = {"XDG_RUNTIME_DIR": runtime, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus"}
    done = subprocess.run(
        [_BUSCTL, "--user" if user else "--system", verb, _SYSTEMD, thing, *request],
        env=bus if user else {},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


def _beside(pid: int, *, memory: int, processes: int, cpus: float | None) -> Group | None:
    """A group in cgroup v2 beside our own, where its parent lets us."""
    parent = _delegated()
    if parent is None:
        return None
    folder = parent / f"{PREFIX}{os.getpid()}"
    values = {
        "memory.max": memory,
        "memory.swap.max": 0,
        "pids.max": processes,
        **({"cpu.max": f"{int(cpus * _PERIOD)} {_PERIOD}"} if cpus else {}),
    }
    try:
        lock = _create(folder)
        for name, value in values.items():
            if (folder / name).exists():
                (folder / name).write_text(str(value))
        (folder / "cgroup.procs").write_text(str(pid))
    except OSError:
        _remove(folder)
        return None
    return Group(_controllers(folder), v2=True, locks=[lock])


def _below(pid: int, *, memory: int, processes: int, cpus: float | None) -> Group | None:
    """Groups below our own in each hierarchy of cgroup v1 that we may write."""
    values = {
        "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
        "pids": {"pids.max": processes},
        "cpuacct": {},
        **({"cpu": {"cpu.cfs_quota_us": int(cpus * _PERIOD)}} if cpus else {}),
    }
    group = Group()
    for controller, parent in _own_v1().items():
        if controller not in values:
            continue
        folder = parent / f"{PREFIX}{os.getpid()}"
        try:
            if folder not in group.folders.values():
                group.locks.append(_create(folder))
            for name, value in values[controller].items():
                if (folder / name).exists():
                    (folder / name).write_text(str(value))
            (folder / "cgroup.procs").write_text(str(pid))
        except OSError:
            _remove(folder)
            continue
        group.folders[controller] = folder
    return group if group.folders else None


def _create(folder: Path) -> int:
    """Make a group and hold its lock."""
    folder.mkdir()
    lock = _lock(folder)
    if lock is None:
        raise OSError(f"{folder} is held by another supervisor")
    return lock


def _lock(folder: Path) -> int | None:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _remove(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # still in use, or gone


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _delegated() -> Path | None:
    """The parent of our own v2 group, where it deals out memory and we may make groups in it."""
    own = _v2_path(os.getpid())
    if own is None:
        return None
    parent = own.parent
    dealt = (_read(parent / "cgroup.subtree_control") or "").split()
    writable = os.access(parent, os.W_OK) and os.access(parent / "cgroup.procs", os.W_OK)
    return parent if "memory" in dealt and "pids" in dealt and writable else None


def _controllers(folder: Path) -> dict[str, Path]:
    has = (_read(folder / "cgroup.controllers") or "").split()
    return {name: folder for name in ("memory", "pids", "cpu") if name in has}


def _v2_path(pid: int) -> Path | None:
    """The folder of a process's group in cgroup v2."""
    mounts = [(root, point) for root, point, kind, _ in _mounts() if kind == "cgroup2"]
    for line in (_read(Path(f"/proc/{pid}/cgroup")) or "").splitlines():
        if line.startswith("0::") and mounts:
            return _seen(line[3:], *mounts[0])
    return None


def _own_v1() -> dict[str, Path]:
    """The folder of our own group per controller of cgroup v1."""
    found = {}
    for line in (_read(Path("/proc/self/cgroup")) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        for root, point, kind, options in _mounts():
            for name in controllers.split(","):
                if kind == "cgroup" and name in options:
                    found[name] = _seen(path, root, point)
    return found


def _seen(path: str, root: str, point: str) -> Path:
    """A group's path, as seen through a mount of its hierarchy."""
    relative = path[len(root) :] if root != "/" and path.startswith(root) else path
    folder = Path(point) / relative.lstrip("/")
    return folder if folder.is_dir() else Path(point)


def _mounts() -> Iterator[tuple[str, str, str, list[str]]]:
    for line in (_read(Path("/proc/self/mountinfo")) or "").splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in {"cgroup", "cgroup2"}:
            yield left.split()[3], left.split()[4], kind, options.split(",")


def _pids(folder: Path) -> set[int]:
    return {int(line) for line in (_read(folder / "cgroup.procs") or "").split()}


def _table(path: Path) -> dict[str, int]:
    rows = (line.split() for line in (_read(path) or "").splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None
