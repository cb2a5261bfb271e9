"""Makes system calls that have been ways out of sandboxes, with arguments that do nothing."""

import ctypes
import errno
import os
import signal

from attack import breach, finish

NUMBERS = {
    "x86_64": {
        "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250, "add_key": 248,
        "io_uring_setup": 425, "init_module": 175, "kexec_load": 246, "open_by_handle_at": 304,
        "syslog": 103, "pidfd_getfd": 438, "mount_setattr": 442, "fsopen": 430, "open_tree": 428,
        "kcmp": 312, "reboot": 169, "swapon": 167, "acct": 163, "clock_settime": 227,
        "getpid by x32": 0x40000000 | 39,
    },
    "aarch64": {
        "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "keyctl": 219, "add_key": 217,
        "io_uring_setup": 425, "init_module": 105, "kexec_load": 104, "open_by_handle_at": 265,
        "syslog": 116, "pidfd_getfd": 438, "mount_setattr": 442, "fsopen": 430, "open_tree": 428,
        "kcmp": 272, "reboot": 142, "swapon": 224, "acct": 89, "clock_settime": 112,
    },
}[os.uname().machine]  # fmt: skip
libc = ctypes.CDLL(None, use_errno=True)
bad = ctypes.c_void_p(1)
for name, number in NUMBERS.items():
    child = os.fork()
    if child == 0:
        ctypes.set_errno(0)
        # Bad pointers and numbers: where the call is let through, the kernel refuses it as malformed.
        done = libc.syscall(number, bad, bad, bad, bad, bad, bad)
        refused = done < 0 and ctypes.get_errno() == errno.EPERM
        os._exit(0 if refused else ctypes.get_errno() or 255)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended not in {0, -signal.SIGSYS}:  # refused, or ended for it
        breach(f"{name} is let through ({os.strerror(ended)})")
finish()
