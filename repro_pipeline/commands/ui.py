"""`repro ui`: Dagster's own webserver and daemon on this project."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.interrupts import interruptible
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError

_LEAVING = 15
"""Seconds that an earlier server of this port may take to end: its watch ends it when it is killed."""
_SUPERSEDED = "ignore:Function `dev_command` is superseded"
"""What Dagster would tell a user of `dagster dev`, who is none of this command."""


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, ui, "ui")
    one.add_argument("--port", type=int, default=3000)
    one.add_argument(
        "--host", default="127.0.0.1", help="anyone who reaches it can run code: there is no login"
    )
    one.add_argument(
        "--read-only", action="store_true", help="only look: nothing can be launched or changed"
    )


def ui(options: argparse.Namespace) -> int:
    """Dagster's webserver and daemon for this project, until interrupted.

    Read-only, there is the webserver alone.
    """
    from assets.rubric import observe_if_changed
    from assets.watch import register_papers
    from repro_pipeline.config import is_loopback

    project = opening.project_here()
    instance = opening.instance_of(project)
    register_papers(instance, project)
    observe_if_changed(instance, project)
    program = ["dagster_webserver", "--read-only"] if options.read_only else ["dagster", "dev"]
    command = [sys.executable, "-W", _SUPERSEDED, "-m", *program]
    command += ["-w", str(project.root / "workspace.yaml")]
    command += ["-h", options.host, "-p", str(options.port)]
    interruptible()
    _await_port(options.host, options.port)
    if not is_loopback(options.host) and not options.read_only:
        print(f"warning: whoever reaches {options.host}:{options.port} can run code as you.")
    print(f"starting http://{options.host}:{options.port}, ready in about 15 s (stop with Ctrl-C)")
    with _watched() as watch:
        server = subprocess.Popen(
            command, env=opening.dagster_environment(project), start_new_session=True
        )
        watch(server.pid)
        try:
            return server.wait()
        except KeyboardInterrupt:
            _end(server.pid, (signal.SIGINT, 15), (signal.SIGTERM, 5), (signal.SIGKILL, 5))
            return OK


def _await_port(host: str, port: int) -> None:
    """Wait until nobody listens there. Raises UserError where somebody goes on to."""
    for waited in range(_LEAVING):
        if not _listens(host, port):
            return
        if not waited:
            print(f"Port {port} is taken; waiting for its end.", file=sys.stderr)
        time.sleep(1)
    raise UserError(f"port {port} of {host} is taken.", hint="Choose another: `--port N`.")


def _listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=5):
            return True
    except socket.gaierror:
        raise UserError(f"there is no host '{host}'.", where="--host") from None
    except OSError:
        return False


@contextmanager
def _watched() -> Iterator[Callable[[int], None]]:
    """What is called with a process group has it ended, should this process die without doing so: by
    `kill -9`, or by the hang-up of its terminal. A signal of the kernel's at a parent's death reaches no
    grandchild, so that a process of its own watches; the end of its input is the end of this one.
    """
    watch = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, start_new_session=True
    )

    def tell(group: int) -> None:
        watch.stdin.write(f"{group}\n".encode())
        watch.stdin.flush()

    try:
        yield tell
    finally:
        watch.stdin.close()
        watch.wait()


def _end(group: int, *steps: tuple[signal.Signals, float]) -> None:
    """End a process group: each signal, and the seconds of patience after it."""
    for sign, patience in steps:
        deadline = time.monotonic() + patience
        try:
            os.killpg(group, sign)
            while time.monotonic() < deadline:
                with suppress(ChildProcessError):  # of its child, the watch is told by nobody
                    os.waitid(os.P_PID, group, os.WEXITED | os.WNOHANG)
                os.killpg(group, 0)  # raises where none of the group is left
                time.sleep(0.1)
        except ProcessLookupError:
            return


if __name__ == "__main__":
    for group in [int(line) for line in sys.stdin]:
        _end(group, (signal.SIGTERM, 5), (signal.SIGKILL, 5))
