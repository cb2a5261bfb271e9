"""Commands that end with the process that starts them, even when that is killed by `kill -9`.

A short script in Python asks the kernel for it and then turns into the command, since code between
fork and exec is not safe in a process with threads. The kernel ties the command to the *thread* that
starts it: start and await a command in one. What the command starts itself is not tied.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_START = """
import os, sys
root, parent, *command = sys.argv[1:]
sys.path.insert(0, root)
from repro_pipeline.sandbox.kernel import die_with_parent
die_with_parent()
if os.getppid() != int(parent):
    sys.exit("its parent is gone")
try:
    os.execvp(command[0], command)
except OSError as error:
    sys.exit(f"{command[0]}: {error.strerror}")
"""


def tied(command: Sequence[str | Path]) -> list[str]:
    """The command line by which `command` runs as a direct child that ends when this process does.

    A command that is not there is exit status 1 with a line on standard error. Linux alone ties
    processes; elsewhere, where no run is possible either, the command is returned as it is.
    """
    words = [str(word) for word in command]
    if sys.platform != "linux":
        return words
    return [sys.executable, "-I", "-S", "-c", _START, str(_ROOT), str(os.getpid()), *words]
