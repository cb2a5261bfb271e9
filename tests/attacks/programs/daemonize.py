"""Leaves a daemon behind, forked twice in a session of its own, with its output closed."""

import os
import time

from attack import facts, finish

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for handle in range(3):
            os.close(handle)
        while True:
            with open(f"{facts['out']}/alive", "w") as stream:
                stream.write(str(time.monotonic()))
            time.sleep(0.02)
    os._exit(0)
while not os.path.exists(f"{facts['out']}/alive"):
    time.sleep(0.01)
finish()
