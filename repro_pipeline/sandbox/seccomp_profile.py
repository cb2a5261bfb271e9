"""The refused system calls as the profile that container engines take (JSON, calls by name).

It replaces an engine's own profile, so it also refuses what Docker's own refuses to a container
without capabilities (docs.docker.com/engine/security/seccomp), but for rare values of `personality`.
Programs for another architecture than the machine's (32-bit ones among them) are ended: they would
reach the calls by other numbers.
"""

from __future__ import annotations

import errno
import os

from repro_pipeline.sandbox.seccomp import FAMILIES, NAMESPACES, REFUSED

_ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_REFUSED_BY_DOCKER = (
    "_sysctl", "create_module", "get_kernel_syms", "get_mempolicy", "mbind",
    "move_pages", "query_module", "set_mempolicy", "stime", "sysfs", "umount", "uselib", "ustat",
    "vm86", "vm86old",
)  # fmt: skip
_FILTERED = {*REFUSED, *_REFUSED_BY_DOCKER}


def profile(machine: str | None = None) -> dict | None:
    """The profile for a machine (this one by default); None for one that is not known."""
    architecture = _ARCHITECTURES.get(machine or os.uname().machine)
    if architecture is None:
        return None
    odd = [family for family in range(max(FAMILIES)) if family not in FAMILIES]
    beyond = [_when(0, max(FAMILIES), "SCMP_CMP_GT")]
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [architecture],
        "syscalls": [
            _refuse(sorted(_FILTERED), errno.EPERM),
            # glibc falls back from clone3, whose flags no filter can read, to clone
            _refuse(["clone3"], errno.ENOSYS),
            *(
                _refuse(["clone"], errno.EPERM, [_when(0, bit, "SCMP_CMP_MASKED_EQ", bit)])
                for bit in _bits(NAMESPACES)
            ),
            *(
                _refuse(["socket", "socketpair"], errno.EAFNOSUPPORT, when)
                for when in (beyond, *([_when(0, family, "SCMP_CMP_EQ")] for family in odd))
            ),
        ],
    }


def _bits(mask: int) -> list[int]:
    return [1 << place for place in range(32) if mask >> place & 1]


def _when(argument: int, value: int, test: str, second: int = 0) -> dict:
    return {"index": argument, "value": value, "valueTwo": second, "op": test}


def _refuse(names: list[str], error: int, when: list[dict] | None = None) -> dict:
    return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": error, "args": when or []}
