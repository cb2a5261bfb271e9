"""Launches of `repro run` as processes: which are at work, which wait, how one is ended.

A file per paper in `.repro/launches/` names the process that is at work on it. A process is known by
its number and the moment of its start, so that a number given anew is not taken for it. What is begun
with `--detach` belongs to a keeper in a session of its own, which no hang-up reaches; it runs a few
papers at the same time, each in a process, and outlives the terminal.

    python -m repro_pipeline.background AT_ONCE FLAGS… -- PAPER…     (the keeper)
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from repro_pipeline.frozen import Frozen

_PATIENCE = ((signal.SIGINT, 30.0), (signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))
"""How a launch is ended: as by Ctrl-C, then less politely."""


class Launch(Frozen):
    """A launch of one paper."""

    paper: str
    state: Literal["waiting", "running"]
    pid: int
    """Of the process at work, or of the keeper that will begin it."""
    born: int
    """When that process began, in the kernel's ticks."""
    at: datetime
    log: str | None
    """What a detached launch prints, relative to the project."""

    @property
    def alive(self) -> bool:
        """Whether that very process is there."""
        return _born(self.pid) == self.born


def folder_of(state: Path) -> Path:
    """Where launches are written down."""
    return state / "launches"


def launches(state: Path) -> tuple[Launch, ...]:
    """The launches whose process is there, in the order of their papers."""
    return tuple(one for one in _written(state) if one.alive)


def lost(state: Path) -> tuple[Launch, ...]:
    """The launches whose process, or whose keeper while they waited, died without a word."""
    return tuple(one for one in _written(state) if not one.alive)


def log_of(state: Path, paper: str) -> Path:
    """What the last detached launch of a paper printed."""
    return folder_of(state) / f"{paper}.log"


@contextmanager
def changing(state: Path) -> Iterator[None]:
    """Hold the launches: what is read within it is not changed by another process until its end."""
    folder_of(state).mkdir(parents=True, exist_ok=True)
    with (folder_of(state) / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def at_work(state: Path, paper: str) -> Iterator[None]:
    """This process is at work on a paper, until the end of the context.

    Of a process that a keeper began, the keeper writes it down, until the process has ended.
    """
    if any(one.paper == paper and one.pid == os.getpid() for one in launches(state)):
        yield
        return
    _write(state, paper, "running", os.getpid(), None)
    try:
        yield
    finally:
        _file(state, paper).unlink(missing_ok=True)


def detach(
    root: Path, state: Path, papers: Sequence[str], flags: Sequence[str], at_once: int
) -> int:
    """Start a keeper for papers; return the number of its process.

    Earlier logs of the papers are kept beside the new ones, with the time of their end in the name.
    """
    folder = folder_of(state)
    folder.mkdir(parents=True, exist_ok=True)
    for log in (log_of(state, paper) for paper in papers):
        if log.exists():
            ended = datetime.fromtimestamp(log.stat().st_mtime, UTC)
            log.rename(log.with_name(f"{log.stem}-{ended:%Y%m%dT%H%M%S}.log"))
    keeper = subprocess.Popen(
        [sys.executable, "-m", __name__, str(at_once), *flags, "--", *papers],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=(folder / "keeper.log").open("ab"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        for paper in papers:
            log = str(log_of(state, paper).relative_to(root))
            _write(state, paper, "waiting", keeper.pid, log)
    except OSError:
        keeper.kill()  # nothing begins, for not all could be written down
        raise
    keeper.stdin.close()  # it begins when all is written down
    return keeper.pid


def end(state: Path, launch: Launch) -> bool:
    """End a launch, or take it out of the keeper's queue; whether it is gone."""
    with changing(state):
        now = next((one for one in launches(state) if one.paper == launch.paper), None)
        if now is None or now.state == "waiting":
            _file(state, launch.paper).unlink(missing_ok=True)
            return True
    launch = now  # it may have begun since
    for sign, patience in _PATIENCE:
        with suppress(ProcessLookupError):
            if sign is signal.SIGKILL and os.getpgid(launch.pid) == launch.pid:
                os.killpg(launch.pid, sign)
            else:
                os.kill(launch.pid, sign)
        deadline = time.monotonic() + patience
        while launch.alive and time.monotonic() < deadline:
            time.sleep(0.1)
        if not launch.alive:
            return True
    return False


def keep(root: Path, state: Path, papers: Sequence[str], flags: Sequence[str], at_once: int) -> int:
    """Run papers, some at the same time, each in a process with a log; the highest exit code.

    A paper whose file was taken away while it waited is left out.
    """
    # Inherited as ignored where a script began this: then no launch could be ended by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    queue, running, worst = list(papers), {}, 0
    while queue or running:
        while queue and len(running) < at_once:
            paper = queue.pop(0)
            with changing(state):
                if any(one.paper == paper for one in launches(state)):
                    with _told_where_it_cannot_be_written(paper):
                        running[paper] = _begin(root, state, paper, flags)
        for paper, process in list(running.items()):
            if (code := process.poll()) is not None:
                del running[paper]
                worst = max(worst, code)
                with (
                    _told_where_it_cannot_be_written(paper),
                    log_of(state, paper).open("a") as log,
                ):
                    log.write(
                        f"ended {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC, exit code {code}\n"
                    )
                _file(state, paper).unlink(missing_ok=True)
        time.sleep(0.2)
    return worst


def _begin(root: Path, state: Path, paper: str, flags: Sequence[str]) -> subprocess.Popen:
    log = log_of(state, paper)
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "repro_pipeline.cli", "run", paper, *flags],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _write(state, paper, "running", process.pid, str(log.relative_to(root)))
    return process


@contextmanager
def _told_where_it_cannot_be_written(paper: str) -> Iterator[None]:
    """A full disk ends no keeper: the other papers stay in its hands. A paper that could not be begun
    counts as lost when the keeper has ended."""
    try:
        yield
    except OSError as error:
        with suppress(OSError):
            print(f"{paper}: {error}", flush=True)


def _written(state: Path) -> tuple[Launch, ...]:
    found = []
    for file in sorted(folder_of(state).glob("*.json")):
        with suppress(OSError, ValidationError):
            found.append(Launch.model_validate_json(file.read_bytes()))
    return tuple(found)


def _write(state: Path, paper: str, how: str, pid: int, log: str | None) -> None:
    launch = Launch(
        paper=paper, state=how, pid=pid, born=_born(pid) or 0, at=datetime.now(UTC), log=log
    )
    file = _file(state, paper)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_text(launch.model_dump_json())
    fresh.replace(file)


def _file(state: Path, paper: str) -> Path:
    return folder_of(state) / f"{paper}.json"


def _born(pid: int) -> int | None:
    """The moment of a living process' start in ticks since the host's; None where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])


if __name__ == "__main__":
    sys.stdin.read()
    at_once, *rest = sys.argv[1:]
    cut = rest.index("--")
    here = Path.cwd()
    sys.exit(keep(here, here / ".repro", rest[cut + 1 :], rest[:cut], int(at_once)))
