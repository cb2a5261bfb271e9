"""Work done in forked processes, which tests can kill."""

import os
import signal
import sys
import traceback
from collections.abc import Callable


def fork(work: Callable[[], None]) -> int:
    """Run `work` in a child; return its process id. It exits with 0, or 1 where `work` raised."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def wait(pid: int) -> int:
    """The child's exit code; minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill(pid: int) -> None:
    """kill -9, and bury it."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
