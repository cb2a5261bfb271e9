"""Opens the kernel's settings for writing, without writing."""

import os

from attack import attempt, finish

for path in (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/kernel/hostname",
    "/proc/sysrq-trigger",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/user/max_user_namespaces",
):
    with attempt(f"opening {path}"):
        os.close(os.open(path, os.O_WRONLY))
finish()
