"""Signals that end a command."""

from __future__ import annotations

import signal
import threading


def interruptible() -> None:
    """Let SIGINT and SIGTERM end this command, as Ctrl-C does, with a sentence.

    A script's `&` starts it with SIGINT ignored; what it starts in turn would ignore it as well.
    """
    if threading.current_thread() is threading.main_thread():
        for sign in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sign, signal.default_int_handler)
