"""Fills the disk from its working folder."""

import os

block = os.urandom(1 << 20)
for number in range(100000):
    with open(f"filler-{number}", "wb") as stream:
        stream.write(block)
