"""Closes nothing and leaves a child that holds the output, so that a reader waits for ever."""

import os
import time

from attack import finish

if os.fork() == 0:
    os.setsid()
    time.sleep(60)
finish()
