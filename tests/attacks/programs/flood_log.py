"""Prints without end."""

import os

block = b"flood " * 10000
while True:
    os.write(1, block)
