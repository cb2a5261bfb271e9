"""`repro ui`: Dagster's own webserver and daemon on this project."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from ipaddress import ip_address

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.interrupts import interruptible
from repro_pipeline.commands.parser import command


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

    project = opening.project_here()
    instance = opening.instance_of(project)
    register_papers(instance, project)
    observe_if_changed(instance, project)
    program = ["dagster_webserver", "--read-only"] if options.read_only else ["dagster", "dev"]
    command = [sys.executable, "-m", *program, "-w", str(project.root / "workspace.yaml")]
    command += ["-h", options.host, "-p", str(options.port)]
    if not _is_loopback(options.host) and not options.read_only:
        print(f"warning: whoever reaches {options.host}:{options.port} can run code as you.")
    print(f"starting http://{options.host}:{options.port}, ready in about 15 s (stop with Ctrl-C)")
    interruptible()
    server = subprocess.Popen(
        command, env=opening.dagster_environment(project), start_new_session=True
    )
    try:
        return server.wait()
    except KeyboardInterrupt:
        return _end(server)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _end(server: subprocess.Popen) -> int:
    """End the whole process group, what the server began included: politely, then not."""
    for sign, patience in ((signal.SIGINT, 15), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        deadline = time.monotonic() + patience
        try:
            os.killpg(server.pid, sign)
            while time.monotonic() < deadline:
                server.poll()
                os.killpg(server.pid, 0)  # raises where none of the group is left
                time.sleep(0.1)
        except ProcessLookupError:
            break
    return OK
