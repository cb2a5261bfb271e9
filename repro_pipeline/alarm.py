"""A limit on the time of whatever happens in a block, by the process's own alarm clock."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class OutOfTime(BaseException):
    """The time is over. Like an interrupt, so that nothing on the way takes it for a failure."""


@contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime in the block once the seconds are over; an alarm that was set rings later.

    Without effect in any thread but the main one: only there a signal can be delivered.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: object) -> None:
        raise OutOfTime

    handler = signal.signal(signal.SIGALRM, ring)
    clock = time.monotonic()
    before, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if before:
            rest = before - (time.monotonic() - clock)
            signal.setitimer(signal.ITIMER_REAL, max(rest, 0.001))
