"""Makes namespaces of its own, in which it would have capabilities, and enters others."""

import ctypes
import os
import signal

from attack import breach, finish

libc = ctypes.CDLL(None, use_errno=True)
for name, flag in (("user", 0x10000000), ("network", 0x40000000), ("mount", 0x20000)):
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(flag) == 0 else 1)
    if os.waitpid(child, 0)[1] == 0:
        breach(f"a {name} namespace was made")
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
child = libc.syscall(clone, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
if child > 0:
    breach("a user namespace was cloned")
    os.waitpid(child, 0)
for name in ("net", "mnt", "user"):
    try:
        handle = os.open(f"/proc/1/ns/{name}", os.O_RDONLY)
    except OSError:
        continue
    if libc.setns(handle, 0) == 0:
        breach(f"the {name} namespace of process 1 was entered")
finish()
