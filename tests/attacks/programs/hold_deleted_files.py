"""Fills the disk with files that it deletes and keeps open, or mapped: no folder shows them."""

import mmap
import os
import time

from attack import breach, facts

block, kept, total = os.urandom(1 << 20), [], 0
for number in range(40):
    handle = os.open(facts["out"], os.O_TMPFILE | os.O_RDWR)
    for _ in range(3):
        total += os.write(handle, block)
    if number % 2:
        kept.append(mmap.mmap(handle, 4096))
        os.close(handle)
    time.sleep(0.05)
breach(f"{total >> 20} MiB are held that no folder shows")
