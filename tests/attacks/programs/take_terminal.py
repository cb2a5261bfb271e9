"""Puts keys into the terminal of whoever started it."""

import fcntl
import os

from attack import attempt, breach, finish

with attempt("opening the terminal"):
    os.close(os.open("/dev/tty", os.O_RDWR))
for handle in range(3):
    if os.isatty(handle):
        breach("there is a terminal")
    with attempt("putting keys in"):
        fcntl.ioctl(handle, 0x5412, b"x")
for name in ("/dev/console", "/dev/ptmx", "/dev/pts/ptmx", "/dev/kmsg", "/dev/mem", "/dev/fuse"):
    with attempt(f"opening {name}"):
        os.close(os.open(name, os.O_RDWR | os.O_NOCTTY))
finish()
