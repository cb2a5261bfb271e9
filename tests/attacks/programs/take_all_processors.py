"""Computes on every processor, whatever share it was given."""

import os
import time

from attack import finish

children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            pass
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
finish()
