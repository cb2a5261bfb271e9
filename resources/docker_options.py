"""A sandbox policy as the options with which Docker makes a container; used by runs and by steps.

Enforced by the engine and the kernel: no network but a loopback of its own, a read-only root file
system, no capabilities, no new privileges, an unprivileged user, a list of refused system calls,
limits on memory (no swap), processes, CPU, open files and file sizes, private and capped `/tmp` and
`/dev/shm`, inputs read-only and without what is mounted below them, no `/sys`, no terminals, no
message queues, none of the host's environment, an init that ends all processes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster_pipes

import repro_pipeline
from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.sandbox.gpu import chosen_gpus
from repro_pipeline.sandbox.policy import OUT, WORK, Mount, SandboxPolicy, default_environment
from repro_pipeline.sandbox.seccomp_profile import profile

HOME = "/tmp"
_INIT = 1  # counts among the processes
_EMPTY = "ro,size=4k"
_PROGRAMS = tuple(
    Path(module.__file__).resolve().parent for module in (repro_pipeline, dagster_pipes)
)


def container_options(
    policy: SandboxPolicy, *, user: int, workdir: Path, out: Path, labels: Mapping[str, str]
) -> dict[str, Any]:
    """What `docker.containers.create` is to be given beside the image and the command.

    `user` is the number of the user and group that the container runs as. Raises SandboxUnavailable
    where no filter of system calls is known for this machine.
    """
    filtered = profile()
    if filtered is None:
        raise SandboxUnavailable("no filter of system calls is known for this kind of processor.")
    limits = policy.limits
    return {
        "user": f"{user}:{user}",
        "hostname": "sandbox",
        "working_dir": str(WORK),
        "environment": environment(policy),
        "labels": dict(labels),
        "network_mode": "none",
        "ipc_mode": "private",
        "cgroupns": "private",
        "init": True,
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", f"seccomp={json.dumps(filtered)}"],
        "mem_limit": limits.memory,
        "memswap_limit": limits.memory,
        "pids_limit": limits.processes + _INIT,
        "nano_cpus": round(limits.cpus * 1e9) if limits.cpus else None,
        "ulimits": [
            _ulimit("nofile", limits.open_files),
            _ulimit("fsize", limits.output),
            _ulimit("core", 0),
            _ulimit("msgqueue", 0),
        ],
        "shm_size": limits.scratch,
        "tmpfs": {
            "/tmp": f"size={limits.scratch},mode=1777,exec",
            "/sys": _EMPTY,
            "/dev/pts": _EMPTY,
            "/dev/mqueue": _EMPTY,
        },
        "mounts": [
            *(_bind(mount.source, mount.target, read_only=True) for mount in policy.mounts),
            _bind(workdir, WORK),
            _bind(out, OUT),
        ],
        "device_requests": [_cards(policy.gpus)] if policy.gpus else [],
        "healthcheck": {"test": ["NONE"]},
        "use_config_proxy": False,
    }


def environment(policy: SandboxPolicy) -> dict[str, str]:
    """The variables of a run."""
    return {**default_environment(HOME, "/tmp"), **policy.environment}


def with_own_files(policy: SandboxPolicy, user: int, folder: Path) -> SandboxPolicy:
    """The policy with /etc/passwd, group and resolv.conf, written to `folder`, among its mounts.

    They name the run's user alone, and none of the host's name servers. What is mounted of our own
    programs is a copy in `folder`: where this process is in a container itself, the engine does not
    see the files of its image.
    """
    texts = {
        "passwd": f"repro:x:{user}:{user}::{HOME}:/bin/sh\n",
        "group": f"repro:x:{user}:\n",
        "resolv.conf": "",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o444)
    files = [Mount(source=folder / name, target=Path("/etc", name)) for name in texts]
    mounts = [_copied(mount, folder / str(n)) for n, mount in enumerate(policy.mounts)]
    return policy.model_copy(update={"mounts": (*mounts, *files)})


def _copied(mount: Mount, place: Path) -> Mount:
    """The mount, of a copy at `place` where it is of one of our programs."""
    source = mount.source.resolve()
    if not any(map(source.is_relative_to, _PROGRAMS)):
        return mount
    if source.is_dir():
        shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, place)
    return Mount(source=place, target=mount.target)


def _ulimit(name: str, most: int) -> dict:
    return {"Name": name, "Soft": most, "Hard": most}


def _bind(source: Path, target: Path, *, read_only: bool = False) -> dict:
    """One folder or file, without what is mounted below it: that would stay writable."""
    return {
        "Type": "bind",
        "Source": str(source.resolve()),
        "Target": str(target),
        "ReadOnly": read_only,
        "BindOptions": {"Propagation": "rprivate", "NonRecursive": True},
    }


def _cards(numbers: tuple[int, ...]) -> dict:
    """These cards of the host: by uuid where told, since the engine numbers them in an order of its own."""
    return {
        "Driver": "",
        "Count": 0,
        "DeviceIDs": [card.uuid or str(card.number) for card in chosen_gpus(numbers)],
        "Capabilities": [["gpu"]],
        "Options": {},
    }
