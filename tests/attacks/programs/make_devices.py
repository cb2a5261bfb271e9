"""Makes device files, by which disks and memory could be read."""

import os
import stat

from attack import attempt, facts, finish

for name, kind, number in (("disk", stat.S_IFBLK, (7, 0)), ("mem", stat.S_IFCHR, (1, 1))):
    with attempt(f"making the device {name}"):
        os.mknod(f"{facts['out']}/{name}", kind | 0o666, os.makedev(*number))
finish()
