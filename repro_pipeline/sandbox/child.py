"""From the supervisor's fork to the command: give up what a run must not have, then turn into it.

As root, a run gets an unprivileged user of its own. Sources that this user could not reach (a
project in root's home) are first bound into a private mount namespace, below a folder through
which it can pass. Imports the standard library only: it is part of the supervisor.
"""

from __future__ import annotations

import base64
import os
import resource
import signal
from pathlib import Path

from repro_pipeline.sandbox import kernel

STAGE = "/sys"
"""Where sources are staged: a folder that every host has and that no source lies in."""

STATUS, BLOCK = 8, 9
"""The file descriptors on which bubblewrap reports and waits."""

FIRST_DATA = 10
"""The file descriptor of the command's first piece of data; the next ones follow."""

OWN = 1
"""The init of a sandbox, which counts among its processes."""

NOBODY = 65534
_FIRST_USER = 0x70000000  # beyond all that distributions and containers hand out
_ABOVE = 100  # descriptors wait here for their places


class SetupError(Exception):
    """The run could not be started as it was asked for."""


def own_user() -> int | None:
    """An unprivileged user for this run alone; None where we are no root that could become one.

    It is NOBODY, who may have other processes, in a container with few users.
    """
    if os.geteuid() != 0:
        return None
    table = Path("/proc/self/uid_map").read_text().splitlines()
    ranges = [tuple(map(int, line.split())) for line in table]
    for candidate in (_FIRST_USER + os.getpid(), NOBODY):
        if any(first <= candidate < first + count for first, _, count in ranges):
            return candidate
    return None


def become(job: dict, user: int | None, output: int, status: int, block: int) -> None:
    """Take on the limits and the user of a run, and turn into its command.

    Returns only where there is no such command. Raises SetupError and OSError.
    """
    supervisor = os.getppid()
    os.setsid()
    os.umask(0o022)
    _place_files(job, output, status, block)
    if user is not None:
        _stage(job["stage"])
    _limit(job["limits"])
    if user is not None:
        _drop_to(user, job["limits"]["processes"])
    if job["isolate"]:
        kernel.no_new_privileges()
    kernel.die_with_parent()
    if os.getppid() != supervisor:
        raise SetupError("the supervisor is gone")
    if job["cwd"]:
        os.chdir(job["cwd"])
    for number in range(1, signal.NSIG):
        if signal.getsignal(number) not in (signal.SIG_DFL, None):
            signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(job["argv"][0], job["argv"], job["env"])
    except OSError as error:
        os.write(2, f"{job['argv'][0]}: {error.strerror}\n".encode())


def _place_files(job: dict, output: int, status: int, block: int) -> None:
    """Give descriptors their numbers, however they overlap, and keep them over the exec."""
    places = {0: os.open("/dev/null", os.O_RDONLY), 1: output, 2: output}
    if job["isolate"]:
        places |= {STATUS: status, BLOCK: block}
    for number, text in enumerate(job["data"], FIRST_DATA):
        places[number] = kernel.memory_file(base64.b64decode(text))
    above = {number: os.dup2(source, _ABOVE + number) for number, source in places.items()}
    for number, source in above.items():
        os.dup2(source, number)
        os.close(source)


def _stage(sources: list[str]) -> None:
    """Bind each source to `STAGE/<its number>` in a mount namespace of our own."""
    try:
        kernel.private_mounts()
    except PermissionError as error:
        raise SetupError(f"{error.strerror} (this root may not mount)") from error
    kernel.mount("tmpfs", STAGE, "tmpfs", kernel.MS_NOSUID, "mode=0711,size=1m")
    for number, source in enumerate(sources):
        target = Path(STAGE, str(number))
        if Path(source).is_dir():
            target.mkdir()
        else:
            target.touch()
        kernel.mount(source, str(target), None, kernel.MS_BIND | kernel.MS_REC)


def _limit(limits: dict) -> None:
    for kind, most in (
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_FSIZE, limits["output"]),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))


def _drop_to(user: int, processes: int) -> None:
    if user != NOBODY:  # so all processes of this user are the run's
        most = processes + OWN + 1
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
