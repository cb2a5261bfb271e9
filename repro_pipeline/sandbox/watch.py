"""Look at a tree of processes and what it holds from outside, and end it.

Every process of a sandbox descends from the one that was started: none can leave its process
namespace. Without a sandbox an orphan comes to the supervisor, which is their sub-reaper.
Imports the standard library only: it is part of the supervisor.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from stat import S_ISREG

from repro_pipeline.sandbox import kernel
from repro_pipeline.sandbox.cgroup import Group

_TICK = 0.1  # seconds between two looks, at least
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CLOCK = os.sysconf("SC_CLK_TCK")


class Turn:
    """When it is time for the next look at a run: ten times a second, less often where looking takes
    long, and earlier where the disks have lost what the run may still write (whoever wrote it).
    """

    def __init__(self, trees: Sequence[Path], most: int) -> None:
        self._trees, self._most = trees, most
        self._soon = self._due = 0.0
        self._least = 0

    def due(self) -> bool:
        """Whether to look now."""
        now = time.monotonic()
        return now >= self._due or (now >= self._soon and _free(self._trees) < self._least)

    def looked(self, began: float, written: int) -> None:
        """A look began at that time, and found so many bytes written."""
        now = time.monotonic()
        self._soon, self._due = now + (now - began), now + max(_TICK, 10 * (now - began))
        self._least = _free(self._trees) - max(0, self._most - written)


def _free(trees: Sequence[Path]) -> int:
    """Bytes that are free on the disks of these folders, the least of them."""
    volumes = [os.statvfs(tree) for tree in trees]
    return min(volume.f_bfree * volume.f_frsize for volume in volumes)


def look(pid: int, init: int, group: Group, peak: int) -> tuple[int, float, int]:
    """What the tree below `pid` uses: bytes of memory, CPU seconds, processes and threads.

    A control group has counted. Without one, memory is exact only where it lies above `peak`, seen
    before: to count shared pages once is slow, and holds up the processes.
    """
    counted = group.memory_bytes(), group.cpu_seconds(), group.processes()
    if None not in counted:
        return counted
    stats = [stat for child in descendants(pid) if (stat := _stat(child))]
    memory = sum(int(stat[21]) for stat in stats) * _PAGE
    if memory > peak:
        memory = sum(_proportional(int(stat[-1])) for stat in stats)
    memory += _scratch(init) if init else 0
    cpu_seconds = sum(sum(map(int, stat[11:15])) for stat in stats) / _CLOCK
    return memory, cpu_seconds, sum(int(stat[17]) for stat in stats)


def descendants(pid: int) -> list[int]:
    """`pid` and all that descends from it."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit() and (stat := _stat(int(name))):
            children.setdefault(int(stat[1]), []).append(int(name))
    found, open_ones = [], [pid]
    while open_ones:
        current = open_ones.pop()
        found.append(current)
        open_ones += children.get(current, [])
    return found


def unlinked(pids: Iterable[int], trees: Iterable[Path]) -> int:
    """Bytes of deleted files on the disks of `trees` that processes hold open or mapped, each once."""
    disks = {tree.stat().st_dev for tree in trees}
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        tasks = _entries(f"/proc/{pid}/task")
        for task in _of_their_own(tasks):
            for file in _entries(f"{task}/fd"):
                with contextlib.suppress(OSError):
                    info = Path(file).stat()
                    if S_ISREG(info.st_mode) and not info.st_nlink and info.st_dev in disks:
                        found[info.st_dev, info.st_ino] = info.st_blocks * 512
        for name, taken in _mapped(tasks):
            if name[0] in disks:
                found[name] = max(found.get(name, 0), taken)
    return sum(found.values())


def _of_their_own(tasks: list[str]) -> list[str]:
    """One thread of a process for each set of descriptors that its threads have: mostly one."""
    found: list[str] = []
    for task in tasks:
        if not any(_shared(one, task) for one in found):
            found.append(task)
    return found


def _shared(one: str, other: str) -> bool:
    try:
        return kernel.same_files(*(int(task.rpartition("/")[2]) for task in (one, other)))
    except (OSError, KeyError):  # one has ended, or this kernel does not tell
        return False


def _mapped(tasks: list[str]) -> Iterator[tuple[tuple[int, int], int]]:
    """The deleted files that a process's memory maps: device and inode, and the bytes that they take.

    Only root may look at the files themselves; for others it is the bytes of the map.
    """
    task, text = next(
        ((task, text) for task in tasks if (text := _bytes(f"{task}/maps"))), ("", b"")
    )
    for line in text.split(b"\n"):
        if not line.endswith(b" (deleted)"):
            continue
        span, _, _, device, inode, *_ = line.decode(errors="replace").split()
        first, last = (int(part, 16) for part in span.split("-"))
        try:
            info = Path(task).parents[1].joinpath(f"map_files/{first:x}-{last:x}").stat()
            yield (info.st_dev, info.st_ino), info.st_blocks * 512
        except OSError:
            major, minor = (int(part, 16) for part in device.split(":"))
            yield (os.makedev(major, minor), int(inode)), last - first


def _bytes(file: str) -> bytes:
    """What a file of a thread says; nothing of one that has ended."""
    try:
        return Path(file).read_bytes()
    except OSError:
        return b""


def _entries(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder)]  # noqa: PTH208
    except OSError:
        return []


def kill_all(handles: list[int], group: Group, *, seconds: float = 5.0) -> None:
    """End all that descends from this process or is in the group.

    `handles` are pidfds: of the command, and of its sandbox's init where there is one. The end of
    the init ends all in the sandbox at once, whatever they do, and after it the command, which
    has then counted what they used. The others are stopped before they are killed, so that none
    forks meanwhile.
    """
    with contextlib.suppress(ProcessLookupError):
        kernel.pidfd_kill(handles[-1])
    select.select(handles[:1], [], [], 1.0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        own = {child for child in descendants(os.getpid()) if child != os.getpid()}
        alive = {child for child in own | group.members() if _running(child)}
        if not alive:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for child in alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, number)
        time.sleep(0.002)


def reap() -> None:
    """Collect what ended as our child."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue


def counts_per_sandbox() -> bool:
    """Whether this kernel counts a user's processes per user namespace (since Linux 5.14)."""
    release = os.uname().release.split("-")[0].split(".")
    return tuple(int(part) for part in release[:2]) >= (5, 14)


def _running(pid: int) -> bool:
    stat = _stat(pid)
    return stat is not None and stat[0] not in "ZX"


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/<pid>/stat from the state on, and the pid itself at the end."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return [*text.rpartition(")")[2].split(), str(pid)]


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def _scratch(init: int) -> int:
    """Bytes in the sandbox's own memory file systems."""
    used = 0
    for folder in ("tmp", "dev/shm"):
        try:
            volume = os.statvfs(f"/proc/{init}/root/{folder}")
        except OSError:
            continue
        used += (volume.f_blocks - volume.f_bfree) * volume.f_frsize
    return used
