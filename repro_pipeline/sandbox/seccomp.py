"""The system calls that a run is refused, as a filter for the kernel (classic BPF).

Refused are calls that a computation has no use for and that have been ways out of sandboxes:
tracing other processes, mounting, namespaces, kernel modules and keys, io_uring, BPF, performance
counters, and sockets of other families than unix, IPv4, IPv6 and netlink (AF_VSOCK reaches the
host of a virtual machine). Known for x86-64 and arm64; elsewhere there is no filter.
"""

from __future__ import annotations

import errno
import os
import struct

_X86_64 = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
    "process_madvise": 440, "pidfd_getfd": 438,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "unshare": 272, "setns": 308, "swapon": 167, "swapoff": 168,
    "reboot": 169, "sethostname": 170, "setdomainname": 171, "init_module": 175,
    "delete_module": 176, "finit_module": 313, "kexec_load": 246, "kexec_file_load": 320,
    "acct": 163, "quotactl": 179, "quotactl_fd": 443, "add_key": 248, "request_key": 249,
    "keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "fanotify_init": 300,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "syslog": 103, "lookup_dcookie": 212,
    "settimeofday": 164, "adjtimex": 159, "clock_settime": 227, "clock_adjtime": 305,
    "iopl": 172, "ioperm": 173, "vhangup": 153, "nfsservctl": 180,
}  # fmt: skip
_ARM64 = {
    "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
    "process_madvise": 440, "pidfd_getfd": 438,
    "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "unshare": 97, "setns": 268, "swapon": 224, "swapoff": 225,
    "reboot": 142, "sethostname": 161, "setdomainname": 162, "init_module": 105,
    "delete_module": 106, "finit_module": 273, "kexec_load": 104, "kexec_file_load": 294,
    "acct": 89, "quotactl": 60, "quotactl_fd": 443, "add_key": 217, "request_key": 218,
    "keyctl": 219, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "fanotify_init": 262,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "name_to_handle_at": 264, "open_by_handle_at": 265, "syslog": 116, "lookup_dcookie": 18,
    "settimeofday": 170, "adjtimex": 171, "clock_settime": 112, "clock_adjtime": 266,
    "vhangup": 58, "nfsservctl": 42,
}  # fmt: skip
_ARCHITECTURES = {
    # machine: (audit number, calls, clone, socket, socketpair, has the x32 calls)
    "x86_64": (0xC000003E, _X86_64, 56, 41, 53, True),
    "aarch64": (0xC00000B7, _ARM64, 220, 198, 199, False),
}
REFUSED = tuple(sorted({*_X86_64, *_ARM64}))
"""The names of the refused calls."""

_CLONE3 = 435
NAMESPACES = 0x7E020080  # the CLONE_NEW* flags
FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENT = 0, 4, 16
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000


def program(machine: str | None = None) -> bytes | None:
    """The filter for a machine (this one by default); None for one that is not known."""
    known = _ARCHITECTURES.get(machine or os.uname().machine)
    if known is None:
        return None
    audit, calls, clone, socket, socketpair, x32 = known
    refused = _op(_RETURN, _ERROR | errno.EPERM)
    lines = [
        _op(_LOAD, _MACHINE),
        *_if(_EQUAL, audit, [], [_op(_RETURN, _KILL)]),
        _op(_LOAD, _NUMBER),
    ]
    if x32:
        lines += _if(_AT_LEAST, 0x40000000, [refused], [])
    for number in sorted(calls.values()):
        lines += _if(_EQUAL, number, [refused], [])
    # glibc falls back from clone3, whose flags no filter can read, to clone
    lines += _if(_EQUAL, _CLONE3, [_op(_RETURN, _ERROR | errno.ENOSYS)], [])
    namespaces = [
        _op(_LOAD, _ARGUMENT),
        *_if(_ANY_BIT, NAMESPACES, [refused], []),
        _op(_RETURN, _ALLOW),
    ]
    lines += _if(_EQUAL, clone, namespaces, [])
    families = [_op(_LOAD, _ARGUMENT)]
    for family in FAMILIES:
        families += _if(_EQUAL, family, [_op(_RETURN, _ALLOW)], [])
    families.append(_op(_RETURN, _ERROR | errno.EAFNOSUPPORT))
    for number in (socket, socketpair):
        lines += _if(_EQUAL, number, families, [])
    return b"".join([*lines, _op(_RETURN, _ALLOW)])


def _if(test: int, value: int, then: list[bytes], otherwise: list[bytes]) -> list[bytes]:
    """Either branch, of which at most one is not empty and that one returns at its end."""
    if then:
        return [_op(test, value, 0, len(then)), *then]
    return [_op(test, value, len(otherwise), 0), *otherwise]


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
