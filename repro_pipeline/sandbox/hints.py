"""Why a sandbox cannot be made on this host, and the command that mends it."""

from __future__ import annotations

from pathlib import Path

_SYSCTLS = (
    ("user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)
_NAMESPACE_WORDS = ("namespace", "uid map", "RTM_NEWADDR", "Operation not permitted")


def mending(said: str, root: Path = Path("/")) -> str:
    """What to do about a message of bubblewrap or the supervisor; empty where nothing is known."""
    if not any(word in said for word in _NAMESPACE_WORDS):
        return ""
    for name, closed, command in _SYSCTLS:
        setting = root / "proc/sys" / name
        if setting.exists() and setting.read_text().strip() == closed:
            return f"User namespaces are closed to ordinary users: run `{command}`."
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return (
            "This is a container that may make no namespaces: start it as an ordinary user "
            "(`--user 1000`) with `--security-opt seccomp=unconfined --security-opt "
            "apparmor=unconfined --security-opt systempaths=unconfined`; as root it needs "
            "`--cap-add SYS_ADMIN` too."
        )
    return (
        "The kernel refuses namespaces here (`unshare -Ur true` shows it): allow them, or run as "
        "root outside a container."
    )
