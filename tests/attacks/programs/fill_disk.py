"""Fills the disk with many files below the size of one."""

import os

from attack import facts

block = os.urandom(1 << 20)
for number in range(100000):
    with open(f"{facts['out']}/{number}", "wb") as stream:
        stream.write(block)
