"""Takes memory without end, in many processes of which each is small."""

import os
import time

for _ in range(20):
    if os.fork() == 0:
        hoard = bytearray(b"x") * (16 << 20)
        time.sleep(60)
time.sleep(60)
