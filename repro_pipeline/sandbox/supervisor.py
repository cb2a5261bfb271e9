"""The process that owns one run: starts it, watches its limits, ends all of it, settles its files.

It reads one job as JSON from its standard input, and writes one report as JSON to its standard
output. When the input closes, or the process that started it is gone, it ends the run. It imports
the standard library only, so that it starts fast and reads no file of the run's environment.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path

from repro_pipeline.sandbox import cgroup, folders, kernel, watch
from repro_pipeline.sandbox.child import NOBODY, OWN, SetupError, become, own_user

_TICK = 0.1  # seconds between two rounds
_CHUNK = 1 << 16


class Run:
    """A run under way, and what is known of it."""

    def __init__(self, job: dict, user: int | None, pid: int, group: cgroup.Group) -> None:
        self.job, self.user, self.pid, self.group = job, user, pid, group
        self.started = time.monotonic()
        self.cpu_before = _cpu_of_children()
        """What the making of the group took."""
        self.init = 0
        """The first process of the sandbox's own process namespace; 0 until it is known."""
        self.handles = [kernel.pidfd_open(pid)]
        """Pidfds of the command and of the sandbox's init: they never name another process."""
        self.output = self.status = self.log = -1
        """Descriptors: what the command prints, what bubblewrap reports, and the log."""
        self.logged = self.written = self.peak_memory = 0
        self.cpu_seconds = 0.0
        self.setup = ""
        """What bubblewrap reported after the sandbox stood."""
        self.ended = ""
        """Why the supervisor ended the run: cancelled, disk (full), or the name of a limit."""


def main() -> None:
    """Supervise one run."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    control = sys.stdin.fileno()
    job = json.loads(_line(control))
    cgroup.sweep()
    try:
        report = supervise(job, control)
    except (SetupError, OSError) as error:
        report = {"error": str(error)}
    sys.stdout.write(json.dumps(report))
    sys.stdout.flush()


def supervise(job: dict, control: int) -> dict:
    """Run a job to its end; its report."""
    kernel.adopt_orphans()
    user = own_user() if job["isolate"] else None
    trees = [Path(tree) for tree in job["writable"]]
    try:
        for tree in trees:
            folders.hand_over(tree, user)
        run = _start(job, user)
        try:
            code = _watch(run, control)
        finally:
            _end(run)
    finally:
        for tree in trees:
            folders.take_back(tree)
        for tree in job["temporary"]:
            folders.remove(Path(tree))
    return _report(run, code, trees)


def _start(job: dict, user: int | None) -> Run:
    """Fork the command, put it into its group while it waits, and let it go."""
    log = os.open(job["log"], os.O_WRONLY | os.O_NOFOLLOW)
    output, output_in = os.pipe()
    status, status_in = os.pipe()
    block_out, block = os.pipe()
    go_out, go = os.pipe()
    failed, failed_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            failed_in = fcntl.fcntl(failed_in, fcntl.F_DUPFD_CLOEXEC, 200)
            os.close(go)
            if os.read(go_out, 1) != b"g":  # the supervisor gave up, or is gone
                os._exit(1)
            become(job, user, output_in, status_in, block_out)
        except BaseException as error:
            os.write(failed_in, str(error).encode()[:4000])
        os._exit(127)
    for end in (output_in, status_in, block_out, go_out, failed_in):
        os.close(end)
    limits = job["limits"]
    group = cgroup.make_group(
        pid, memory=limits["memory"], processes=limits["processes"], cpus=limits["cpus"]
    )
    run = Run(job, user, pid, group)
    run.output, run.status, run.log = output, status, log
    try:
        _refuse_weaker(job, _held(run))
        os.write(go, b"g")
        os.close(go)
        if error := os.read(failed, 4000):
            raise SetupError(error.decode(errors="replace"))
        if job["isolate"]:
            _release(run, block)
    except BaseException:
        _end(run)
        raise
    finally:
        os.close(block)
        os.close(failed)
    os.set_blocking(output, False)
    return run


def _release(run: Run, block: int) -> None:
    """Wait until the sandbox stands, limit the processes in it, and let the command start."""
    text = b""
    while b'"child-pid"' not in text or b"\n" not in text:
        piece = os.read(run.status, 4096)
        if not piece:
            return  # it failed: the report will say so
        text += piece
    run.init = json.loads(text.split(b"\n")[0])["child-pid"]
    run.handles.append(kernel.pidfd_open(run.init))
    run.setup = text.split(b"\n", 1)[1].decode()
    if run.user is None and watch.counts_per_sandbox():
        most = run.job["limits"]["processes"] + OWN
        resource.prlimit(run.init, resource.RLIMIT_NPROC, (most, most))
    os.write(block, b"g")


def _watch(run: Run, control: int) -> int:
    """Copy output and check limits until the command ends, or something ends it; its status."""
    limits = run.job["limits"]
    turn = watch.Turn([Path(tree) for tree in run.job["writable"]], limits["output"])
    handle = run.handles[0]
    waiting = {run.output, control, handle}
    while True:
        left = run.started + limits["wall_clock"] - time.monotonic()
        ready, _, _ = select.select(list(waiting), [], [], max(0.0, min(_TICK, left)))
        if run.output in ready and not _copy(run):
            waiting.discard(run.output)
        if handle in ready:
            break
        if control in ready or os.getppid() != run.job["caller"]:
            run.ended = "cancelled"
        elif left <= 0:
            run.ended = "wall_clock"
        elif turn.due():
            began = time.monotonic()
            _check(run)
            turn.looked(began, run.written)
        if run.ended:
            watch.kill_all(run.handles, run.group)
            break
    return os.waitstatus_to_exitcode(os.waitpid(run.pid, 0)[1])


def _copy(run: Run) -> bool:
    """Move what the command printed to the log; False at its end."""
    try:
        piece = os.read(run.output, _CHUNK)
    except BlockingIOError:
        return True
    room = max(0, run.job["limits"]["output"] - run.logged)
    kept = _kept(run.log, piece[:room])
    run.logged += kept
    if kept < min(room, len(piece)):
        run.ended = run.ended or "disk"
    elif len(piece) > room:
        run.ended = run.ended or "output"
    return bool(piece)


def _kept(log: int, piece: bytes) -> int:
    """Write to the log; how many bytes there was room for on its disk."""
    try:
        return os.write(log, piece)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return 0
        raise


def _check(run: Run) -> None:
    """Measure the tree and its folders, and note a limit that is passed."""
    limits = run.job["limits"]
    memory, cpu_seconds, processes = watch.look(run.pid, run.init, run.group, run.peak_memory)
    run.peak_memory = max(run.peak_memory, memory)
    run.cpu_seconds = max(run.cpu_seconds, cpu_seconds)
    most, trees = limits["output"], [Path(path) for path in run.job["writable"]]
    try:
        run.written = run.logged + sum(folders.size(tree, most) for tree in trees)
    except folders.Unmeasured:
        run.ended = "unmeasured"
    run.written += watch.unlinked(run.group.members() or watch.descendants(run.pid), trees)
    if run.group.out_of_memory() or memory > limits["memory"]:
        run.ended = "memory"
    elif processes > limits["processes"] + 2:
        run.ended = "processes"
    elif run.written > limits["output"]:
        run.ended = "output"


def _end(run: Run) -> None:
    """End every process of the run, and take its last words."""
    watch.kill_all(run.handles, run.group)
    watch.reap()
    waited = _cpu_of_children() - run.cpu_before
    run.cpu_seconds = max(run.cpu_seconds, run.group.cpu_seconds() or 0.0, waited)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    run.peak_memory = max(run.peak_memory, largest)
    if run.group.out_of_memory() and not run.ended:
        run.ended = "memory"
    if not run.group.remove():
        raise SetupError("processes of the run could not be ended")
    os.set_blocking(run.output, False)
    while select.select([run.output], [], [], 0)[0] and _copy(run):
        continue
    os.set_blocking(run.status, False)
    try:
        while piece := os.read(run.status, _CHUNK):
            run.setup += piece.decode()
    except BlockingIOError:
        pass
    for handle in (run.output, run.status, run.log, *run.handles):
        os.close(handle)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _report(run: Run, code: int, trees: list[Path]) -> dict:
    written = run.logged + sum(folders.size(tree) for tree in trees)
    if written > run.job["limits"]["output"] and not run.ended:
        run.ended = "output"
    return {
        "ended": run.ended,
        "exit_code": code if code >= 0 else 128 - code,
        "stood": not run.job["isolate"] or '"exit-code"' in run.setup or code < 0,
        "seconds": time.monotonic() - run.started,
        "cpu_seconds": run.cpu_seconds,
        "peak_memory": run.peak_memory,
        "written": written,
        "held": _held(run),
    }


def _held(run: Run) -> dict[str, str]:
    """How each limit that this process is in charge of holds in this run."""
    own_user = run.user not in (None, NOBODY)
    own_count = run.user is None and run.job["isolate"] and watch.counts_per_sandbox()
    hard_processes = run.group.holds("pids") or own_user or own_count
    held = {
        "wall_clock": "watched",
        "memory": "hard" if run.group.holds("memory") else "watched",
        "processes": "hard" if hard_processes else "watched",
        "open_files": "hard",
        "output": "watched",
    }
    if run.job["limits"]["cpus"]:
        held["cpus"] = "hard" if run.group.holds("cpu") else "unavailable"
    return held


def _refuse_weaker(job: dict, held: dict[str, str]) -> None:
    """Never run with less than what the caller was told holds here."""
    for name, wanted in job["expected"].items():
        if wanted == "hard" and held.get(name, wanted) != wanted:
            raise SetupError(f"{name} no longer holds: no control group could be made")


def _line(handle: int) -> bytes:
    """One line, read without taking more from the pipe than it."""
    text = b""
    while not text.endswith(b"\n"):
        piece = os.read(handle, _CHUNK)
        if not piece:
            raise SystemExit(1)
        text += piece
    return text
