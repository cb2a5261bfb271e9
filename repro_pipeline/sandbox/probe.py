"""A program that tries, from inside a sandbox, what a run must not be able to do.

Arguments: a file of the host that must not be seen, a port of the host's loopback that must not be
reached, and the limits on processes, open files and scratch. Prints, as JSON, what was found for
each limit: nothing where it holds, else a sentence. Imports the standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from pathlib import Path


def main() -> None:
    """Try everything and print what was found."""
    secret, port, processes, open_files, scratch = sys.argv[1:]
    found = {
        "filesystem": _filesystem(secret),
        "network": _network(int(port)),
        "system_calls": _system_calls(),
        "processes": _processes(int(processes)),
        "open_files": _open_files(int(open_files)),
        "scratch": _scratch(int(scratch)),
    }
    print(json.dumps(found))


def _filesystem(secret: str) -> str:
    if os.path.lexists(secret):
        return "a file of the host is seen"
    for folder in ("/", "/usr", "/etc", "/dev"):
        try:
            Path(folder, "probe").touch()
        except OSError:
            continue
        return f"{folder} can be written"
    return ""


def _network(port: int) -> str:
    names = [name for _, name in socket.if_nameindex()]
    if names != ["lo"]:
        return f"there are the interfaces {', '.join(names)}"
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
        return "the host's loopback is reached"
    return ""


def _system_calls() -> str:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    if int(status["CapEff"], 16) or int(status["CapBnd"], 16):
        return "there are capabilities"
    if status["NoNewPrivs"].strip() != "1":
        return "new privileges can be had"
    if status["Seccomp"].strip() != "2":
        return "there is no filter"
    with contextlib.suppress(OSError), socket.socket(getattr(socket, "AF_VSOCK", 40)):
        return "a socket to the hypervisor can be had"
    return ""


def _processes(most: int) -> str:
    children = []
    with contextlib.suppress(OSError):
        for _ in range(2 * most + 10):
            child = os.fork()
            if child == 0:
                time.sleep(5)
                os._exit(0)
            children.append(child)
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return "" if len(children) <= most + 4 else f"{len(children)} processes were started"


def _open_files(most: int) -> str:
    count = 0
    with contextlib.suppress(OSError):
        for _ in range(2 * most):
            os.dup(0)
            count += 1
    return "" if count <= most else f"{count} files were opened"


def _scratch(most: int) -> str:
    for folder in ("/tmp", "/dev/shm"):
        volume = os.statvfs(folder)
        if volume.f_blocks * volume.f_frsize > most:
            return f"{folder} has {volume.f_blocks * volume.f_frsize} bytes"
    return ""


if __name__ == "__main__":
    main()
