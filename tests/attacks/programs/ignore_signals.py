"""Ignores every signal that it can, and goes on beyond its time."""

import signal
import time

from attack import finish

for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
finish()
while True:
    time.sleep(1)
