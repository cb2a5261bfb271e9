"""Attaches to other processes as a debugger, the first of the sandbox among them."""

import ctypes
import os
import time

from attack import breach, facts, finish

libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    time.sleep(20)
for pid in (child, *facts["init"]):
    if libc.ptrace(0x4206, pid, 0, 0) == 0:  # PTRACE_SEIZE
        breach(f"process {pid} can be traced")
buffer = ctypes.create_string_buffer(8)
vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
if libc.process_vm_readv(child, vector, 1, vector, 1, 0) == 8:
    breach("the memory of another process can be read")
os.kill(child, 9)
finish()
