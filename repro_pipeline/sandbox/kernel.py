"""Calls of the Linux kernel that not every build of Python offers.

Portable builds leave out what an old C library lacks, pidfds and memory files among it. Each
function raises OSError. Imports the standard library only: it is part of the supervisor.
"""

from __future__ import annotations

import ctypes
import os
import signal

MS_NOSUID, MS_BIND, MS_REC, MS_SLAVE = 2, 4096, 16384, 1 << 19

_CLONE_NEWNS = 0x20000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_MFD_CLOEXEC = 1
_PIDFD_SEND_SIGNAL, _PIDFD_OPEN = 424, 434  # the same on all machines

_KCMP, _KCMP_FILES = {"x86_64": 312, "aarch64": 272}, 2

_libc = ctypes.CDLL(None, use_errno=True)


def pidfd_open(pid: int) -> int:
    """A descriptor of a process: it never names another one, and is readable when that has ended."""
    return _call("syscall", _PIDFD_OPEN, pid, 0)  # closed by an exec


def pidfd_kill(handle: int) -> None:
    """Kill the process of a pidfd. Raises ProcessLookupError where it has ended."""
    _call("syscall", _PIDFD_SEND_SIGNAL, handle, int(signal.SIGKILL), None, 0)


def same_files(one: int, other: int) -> bool:
    """Whether two threads share their descriptors. Raises OSError also where no kernel can tell."""
    return _call("syscall", _KCMP[os.uname().machine], one, other, _KCMP_FILES, 0, 0) == 0


def memory_file(content: bytes) -> int:
    """A descriptor from which `content` is read."""
    handle = _call("memfd_create", b"data", _MFD_CLOEXEC)
    os.write(handle, content)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def private_mounts() -> None:
    """Give this process mounts of its own, which the host does not see."""
    _call("unshare", _CLONE_NEWNS)
    mount("none", "/", None, MS_REC | MS_SLAVE)


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount, or bind where there is no kind."""
    names = (os.fsencode(source), os.fsencode(target), kind.encode() if kind else None)
    _call("mount", *names, ctypes.c_ulong(flags), data.encode() or None)


def die_with_parent() -> None:
    """Be killed when the parent ends; from now on, as long as the user stays the same."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def no_new_privileges() -> None:
    """Never gain rights by an exec."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    _call("prctl", option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


def _call(name: str, *arguments: object) -> int:
    answer = getattr(_libc, name)(*arguments)
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return answer
