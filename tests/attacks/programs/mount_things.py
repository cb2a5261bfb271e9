"""Mounts, unmounts and remounts."""

import ctypes
import os

from attack import breach, facts, finish

libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("mnt", exist_ok=True)
for kind in (b"tmpfs", b"proc", b"sysfs", b"cgroup", b"overlay"):
    if libc.mount(b"none", b"mnt", kind, 0, None) == 0:
        breach(f"{kind.decode()} was mounted")
        libc.umount2(b"mnt", 2)
if facts["sandboxed"]:
    for place in ("/usr", "/", os.path.dirname(facts["data"])):
        if libc.mount(b"none", place.encode(), None, 4096 | 32, None) == 0:
            breach(f"{place} was made writable")
    if libc.umount2(facts["data"].encode(), 2) == 0:
        breach("the data was unmounted")
finish()
