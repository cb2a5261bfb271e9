"""Start a supervisor for one run, follow its log, and turn its report into an outcome."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox.cgroup import sweep
from repro_pipeline.sandbox.folders import second_names
from repro_pipeline.sandbox.hints import mending
from repro_pipeline.sandbox.policy import Enforcement, Limits, RunOutcome
from repro_pipeline.status import Status

_ROOT = Path(__file__).resolve().parents[2]
_START = """
import sys
sys.path.insert(0, sys.argv[1])
from repro_pipeline.sandbox.supervisor import main
main()
"""
_FOLLOW = 0.1  # seconds between two looks at the log
_CHUNK = 1 << 20
_NOT_FOUND = 127

_SENTENCES = {
    "cancelled": "the run was cancelled",
    "wall_clock": "the run took longer than its {wall_clock:g} s",
    "memory": "the run used more than its {memory} bytes of memory",
    "processes": "the run had more than its {processes} processes and threads",
    "output": "the run wrote more than its {output} bytes",
    "disk": "the disk of the run's log was full",
    "unmeasured": "the run made folders that cannot be measured: unreadable, or nested too deep",
}


@dataclass(frozen=True)
class Job:
    """What a supervisor is asked to do."""

    argv: Sequence[str]
    environment: dict[str, str]
    limits: Limits
    log: Path
    writable: tuple[Path, ...]
    isolate: bool
    """Whether `argv` is bubblewrap's, which reports and waits on two descriptors."""
    cwd: Path | None = None
    stage: tuple[Path, ...] = ()
    """Sources that the command finds at `child.STAGE/<number>`, where this is root."""
    data: tuple[bytes, ...] = ()
    """What the command finds on descriptors from `child.FIRST_DATA` on."""
    temporary: tuple[Path, ...] = ()
    """Folders that go with the run."""
    expected: dict[str, Enforcement] = field(default_factory=dict)
    """Limits that must hold as they are known to do here."""

    def to_json(self) -> bytes:
        """One line for the supervisor."""
        value = {
            "argv": list(self.argv),
            "env": self.environment,
            "limits": self.limits.model_dump(),
            "log": str(self.log),
            "writable": [str(path) for path in self.writable],
            "isolate": self.isolate,
            "temporary": [str(path) for path in self.temporary],
            "cwd": str(self.cwd) if self.cwd else None,
            "stage": [str(path) for path in self.stage],
            "data": [base64.b64encode(text).decode() for text in self.data],
            "expected": self.expected,
            "caller": os.getpid(),
        }
        return json.dumps(value).encode() + b"\n"


class Launcher:
    """Runs jobs from any thread, and can end those that are under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen] = set()

    def cancel_all(self) -> None:
        """End the jobs that are under way."""
        with self._lock:
            for supervisor in self._running:
                _hang_up(supervisor)

    def run(self, job: Job, on_output: Callable[[bytes], None] | None) -> RunOutcome:
        """Run a job to its end. Raises SandboxUnavailable where it could not be started."""
        if sys.platform != "linux":
            raise SandboxUnavailable("runs need Linux.", hint="Use a Linux machine or container.")
        job.log.write_bytes(b"")
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, str(_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            start_new_session=True,
        )
        with self._lock:
            self._running.add(supervisor)
        try:
            _tell(supervisor, job.to_json())
            answer = _follow(supervisor, job.log, on_output)
        finally:
            with self._lock:
                self._running.discard(supervisor)
                _hang_up(supervisor)
            errors = supervisor.stderr.read().decode(errors="replace")
            supervisor.wait()
            supervisor.stdout.close()
            supervisor.stderr.close()
        if not answer:  # it was killed: the run died with it, and what it held is freed here
            sweep()
            last = errors.strip().splitlines()[-1:] or [f"status {supervisor.returncode}"]
            raise SandboxUnavailable(
                f"the supervisor of the run ended without a report ({last[0]})."
            )
        return _outcome(json.loads(answer), job)


def check_folders(workdir: Path, out: Path, log: Path) -> None:
    """Raise UserError where the folders of a run are unfit, or the log could be tampered with."""
    for folder in (workdir, out):
        if folder.is_symlink() or not folder.is_dir():
            raise UserError("a run needs this folder, and it is none.", where=str(folder))
        if log.resolve().is_relative_to(folder.resolve()):
            raise UserError(f"the log lies in '{folder}', which the run can write.", where=str(log))
        for path in second_names(folder):
            raise UserError(
                "the file is hard-linked, so a run could change what else bears its content.",
                where=str(path),
                hint="Give the run a private copy.",
            )
    first, second = workdir.resolve(), out.resolve()
    if first.is_relative_to(second) or second.is_relative_to(first):
        raise UserError(f"'{workdir}' and '{out}' lie one in the other.")


def check_readable(sources: Sequence[Path]) -> None:
    """Raise UserError for what a run that is not root could not read, where we are root."""
    for source in sources:
        wanted = 0o005 if source.is_dir() else 0o004
        if source.stat().st_mode & wanted != wanted:
            raise UserError(
                "only its owner can read this input, and a run has a user of its own.",
                where=str(source),
                hint=f"Run `chmod -R o+rX '{source}'`.",
            )


def _tell(supervisor: subprocess.Popen, line: bytes) -> None:
    try:
        supervisor.stdin.write(line)
        supervisor.stdin.flush()
    except (BrokenPipeError, ValueError):
        return  # it ended, or was cancelled: its report says so, or is missing


def _hang_up(supervisor: subprocess.Popen) -> None:
    """Close the supervisor's input, on which it ends its run."""
    try:
        supervisor.stdin.close()
    except BrokenPipeError:
        return


def _follow(
    supervisor: subprocess.Popen, log: Path, on_output: Callable[[bytes], None] | None
) -> bytes:
    """Wait for the report; meanwhile hand on what the log gains."""
    if on_output is None:
        return supervisor.stdout.read()
    answer, ended = b"", False
    with log.open("rb") as stream:
        while not ended:
            ready, _, _ = select.select([supervisor.stdout], [], [], _FOLLOW)
            if ready:
                piece = os.read(supervisor.stdout.fileno(), _CHUNK)
                answer, ended = answer + piece, not piece
            while text := stream.read(_CHUNK):
                on_output(text)
    return answer


def _outcome(report: dict, job: Job) -> RunOutcome:
    if "error" in report:
        said = report["error"]
        raise SandboxUnavailable(f"the run could not be supervised: {said}.", hint=mending(said))
    ended, code = report["ended"], report["exit_code"]
    if not report["stood"] and not ended:
        said = _last_line(job.log)
        if not said.startswith("execvp "):
            raise SandboxUnavailable(f"the sandbox could not be made: {said}.", hint=mending(said))
        code = _NOT_FOUND
    return ended_outcome(
        ended,
        code,
        job.limits,
        seconds=report["seconds"],
        cpu_seconds=report["cpu_seconds"],
        peak_memory_bytes=report["peak_memory"],
        output_bytes=report["written"],
        enforcement={name: Enforcement(level) for name, level in report["held"].items()},
    )


def ended_outcome(ended: str, code: int, limits: Limits, **measured: Any) -> RunOutcome:
    """The outcome of a run that `ended` (cancelled, or the name of a limit; else empty) stopped,
    or that came to its end with an exit code; `measured` are further fields."""
    if ended == "cancelled":
        status = Status.CANCELLED
    elif ended == "wall_clock":
        status = Status.TIMED_OUT
    elif ended:
        status = Status.BUDGET_EXHAUSTED
    else:
        status = Status.OK if code == 0 else Status.FAILED
    reason = _sentence(ended, code, limits)
    return RunOutcome(status=status, exit_code=None if ended else code, reason=reason, **measured)


def _sentence(ended: str, code: int, limits: Limits) -> str:
    if ended:
        return _SENTENCES[ended].format(**limits.model_dump()) + "."
    if code == 0:
        return "the command ended well."
    if code == _NOT_FOUND:
        return "the command was not found (exit status 127)."
    return f"the command ended with exit status {code}."


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1].removeprefix("bwrap: ").rstrip(".") if lines else "it said nothing"
