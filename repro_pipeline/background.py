"""Launches of `repro run`, `sweep` and `rescore` as processes: which are at work, which wait, how one is
ended.

A file per launch in `.repro/launches/` names the process that is at work, and its command. A process is
known by its number and the moment of its start, so that a number given anew is not taken for it. What is
begun with `--detach` belongs to a keeper in a session of its own, which no hang-up reaches; it runs a few
launches at the same time, each in a process, and outlives the terminal. How the last one of a name ended
stands beside it, until the next one begins.

    python -m repro_pipeline.background AT_ONCE NAME…     (the keeper; commands stand in the files)
"""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ValidationError

from repro_pipeline.frozen import Frozen
from repro_pipeline.wholefile import whole

_PATIENCE = ((signal.SIGINT, 30.0), (signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))
"""How a launch is ended: as by Ctrl-C, then less politely."""


One = TypeVar("One", bound="Launch")


class Work(Frozen):
    """What is launched: a command on one paper, or on several in one process."""

    command: tuple[str, ...]
    """The arguments of `repro`."""
    papers: tuple[str, ...]

    @property
    def what(self) -> str:
        """`run`, `sweep` or `rescore`."""
        return self.command[0]

    @property
    def name(self) -> str:
        """Of a command there is one launch of a paper at a time, and one scoring of several."""
        if self.what == "rescore":
            return "@rescore"  # no paper's id holds an @
        return self.papers[0] if self.what == "run" else f"{self.papers[0]}@{self.what}"

    @property
    def said(self) -> str:
        """In a few words."""
        return _said(self.what, self.papers)

    @property
    def again(self) -> str:
        """The command line that launches it anew."""
        return shlex.join(["repro", *self.command])


class Launch(Work):
    """A launch, and the process that has it in hand."""

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

    @property
    def under_way(self) -> UnderWay:
        """What there is to say of it."""
        state = "queued" if self.state == "waiting" else self.state
        return UnderWay(self.name, self.what, self.papers, state, self.at, self.log)


class Ended(Launch):
    """A detached launch that has ended."""

    code: int
    """Its exit code."""


@dataclass(frozen=True)
class UnderWay:
    """What is at work or waits, whoever launched it: a command, or Dagster."""

    name: str
    """A launch's, or the id of Dagster's run."""
    what: str
    """The command, or Dagster's job."""
    papers: tuple[str, ...]
    """Empty of a job that is of no one paper."""
    state: str
    """`queued`, `starting`, `running` or `ending`."""
    since: datetime
    log: str | None = None
    """Where it prints to, relative to the project."""
    in_dagster: bool = False

    @property
    def said(self) -> str:
        """In a few words."""
        return _said(self.what, self.papers)


def _said(what: str, papers: Sequence[str]) -> str:
    if not papers:
        return what
    of = papers[0] if len(papers) == 1 else f"{len(papers)} papers"
    return of if what in {"run", "reproduce_paper"} else f"{what} of {of}"


def folder_of(state: Path) -> Path:
    """Where launches are written down."""
    return state / "launches"


def launches(state: Path) -> tuple[Launch, ...]:
    """The launches whose process is there, in the order of their names."""
    return tuple(one for one in _written(state) if one.alive)


def lost(state: Path) -> tuple[Launch, ...]:
    """The launches whose process, or whose keeper while they waited, died without a word."""
    return tuple(one for one in _written(state) if not one.alive)


def ended(state: Path) -> tuple[Ended, ...]:
    """How the last detached launches of each name ended, where none was begun since."""
    return _read(Ended, folder_of(state).glob("*.ended"))


def log_of(state: Path, name: str) -> Path:
    """What the last detached launch of a name printed."""
    return folder_of(state) / f"{name}.log"


@contextmanager
def changing(state: Path) -> Iterator[None]:
    """Hold the launches: what is read within it is not changed by another process until its end."""
    folder_of(state).mkdir(parents=True, exist_ok=True)
    with (folder_of(state) / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def at_work(state: Path, work: Work) -> Iterator[None]:
    """This process is at work, until the end of the context.

    Of a process that a keeper began, the keeper writes it down, until the process has ended.
    """
    if any(one.name == work.name and one.pid == os.getpid() for one in launches(state)):
        yield
        return
    _end_file(state, work.name).unlink(missing_ok=True)
    _write(state, _launch(work, "running", os.getpid(), None))
    try:
        yield
    finally:
        _file(state, work.name).unlink(missing_ok=True)


def detach(root: Path, state: Path, works: Sequence[Work], at_once: int) -> int:
    """Start a keeper for works; return the number of its process.

    Earlier logs are kept beside the new ones, with the time of their end in the name.
    """
    folder = folder_of(state)
    folder.mkdir(parents=True, exist_ok=True)
    for log in (log_of(state, work.name) for work in works):
        if log.exists():
            ended = datetime.fromtimestamp(log.stat().st_mtime, UTC)
            log.rename(log.with_name(f"{log.stem}-{ended:%Y%m%dT%H%M%S}.log"))
    keeper = subprocess.Popen(
        [sys.executable, "-m", __name__, str(at_once), *(work.name for work in works)],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=(folder / "keeper.log").open("ab"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        for work in works:
            log = str(log_of(state, work.name).relative_to(root))
            _end_file(state, work.name).unlink(missing_ok=True)
            _write(state, _launch(work, "waiting", keeper.pid, log))
    except OSError:
        keeper.kill()  # nothing begins, for not all could be written down
        raise
    keeper.stdin.close()  # it begins when all is written down
    return keeper.pid


def end(state: Path, launch: Launch) -> bool:
    """End a launch, or take it out of the keeper's queue; whether it is gone."""
    with changing(state):
        now = next((one for one in launches(state) if one.name == launch.name), None)
        if now is None or now.state == "waiting":
            _file(state, launch.name).unlink(missing_ok=True)
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


def keep(root: Path, state: Path, names: Sequence[str], at_once: int) -> int:
    """Run launches, some at the same time, each in a process with a log; the highest exit code.

    One whose file was taken away while it waited is left out.
    """
    # Inherited as ignored where a script began this: then no launch could be ended by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    queue, running, worst = list(names), {}, 0
    while queue or running:
        while queue and len(running) < at_once:
            name = queue.pop(0)
            with changing(state):
                for launch in (one for one in launches(state) if one.name == name):
                    with _told_where_it_cannot_be_written(name):
                        running[name] = _begin(root, state, launch)
        for name, process in list(running.items()):
            if (code := process.poll()) is not None:
                del running[name]
                worst = max(worst, code)
                with _told_where_it_cannot_be_written(name):
                    _write_end(state, name, code)
                _file(state, name).unlink(missing_ok=True)
        time.sleep(0.2)
    return worst


def _begin(root: Path, state: Path, launch: Launch) -> subprocess.Popen:
    with log_of(state, launch.name).open("ab") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "repro_pipeline.cli", *launch.command],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _write(state, _launch(launch, "running", process.pid, launch.log))
    return process


def _write_end(state: Path, name: str, code: int) -> None:
    """Say at the end of a launch's log, and in a file of its own, how it ended."""
    for launch in _read(Launch, [_file(state, name)]):
        with whole(_end_file(state, name)) as partial:
            partial.write_text(Ended(**launch.model_dump(), code=code).model_dump_json())
    with log_of(state, name).open("a") as log:
        log.write(f"ended {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC, exit code {code}\n")


@contextmanager
def _told_where_it_cannot_be_written(name: str) -> Iterator[None]:
    """A full disk ends no keeper: the others stay in its hands. What could not be begun counts as lost
    when the keeper has ended."""
    try:
        yield
    except OSError as error:
        with suppress(OSError):
            print(f"{name}: {error}", flush=True)


def _written(state: Path) -> tuple[Launch, ...]:
    return _read(Launch, folder_of(state).glob("*.json"))


def _read(kind: type[One], files: Iterable[Path]) -> tuple[One, ...]:
    """What stands in files, in the order of their names; one that cannot be read is left out."""
    found = []
    for file in sorted(files):
        with suppress(OSError, ValidationError):
            found.append(kind.model_validate_json(file.read_bytes()))
    return tuple(found)


def _launch(work: Work, how: str, pid: int, log: str | None) -> Launch:
    return Launch(
        command=work.command,
        papers=work.papers,
        state=how,
        pid=pid,
        born=_born(pid) or 0,
        at=datetime.now(UTC),
        log=log,
    )


def _write(state: Path, launch: Launch) -> None:
    with whole(_file(state, launch.name)) as partial:
        partial.write_text(launch.model_dump_json())


def _file(state: Path, name: str) -> Path:
    return folder_of(state) / f"{name}.json"


def _end_file(state: Path, name: str) -> Path:
    return folder_of(state) / f"{name}.ended"


def _born(pid: int) -> int | None:
    """The moment of a living process' start in ticks since the host's; None where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])


if __name__ == "__main__":
    sys.stdin.read()
    at_once, *names = sys.argv[1:]
    here = Path.cwd()
    sys.exit(keep(here, here / ".repro", names, int(at_once)))
