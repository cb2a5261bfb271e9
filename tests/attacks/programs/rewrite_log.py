"""Takes back what it has printed."""

import os

from attack import breach, finish

print("an embarrassing line", flush=True)
for name in ("/proc/self/fd/1", "/dev/stdout", "/proc/1/fd/1"):
    try:
        handle = os.open(name, os.O_WRONLY | os.O_TRUNC)
        os.lseek(handle, 0, os.SEEK_SET)
    except OSError:
        continue
    breach(f"{name} can be rewound")
finish()
