"""A sandbox policy as a Kubernetes Job, with a NetworkPolicy beside it that denies all traffic.

Pure data: nothing here talks to a cluster, and none has run it. `ENFORCED` says what the manifest
makes a cluster hold. Open files, file sizes and core dumps are limited by the shell that starts the
command: the image needs /bin/sh. Not in a manifest's power: the number of processes (a node's
`podPidsLimit`), and whether the cluster's network plugin heeds a NetworkPolicy at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repro_pipeline.errors import UserError
from repro_pipeline.sandbox.policy import (
    OUT,
    WORK,
    Enforcement,
    SandboxPolicy,
    default_environment,
    refuse_below,
)

ENFORCED = {
    "wall_clock": Enforcement.WATCHED,
    "memory": Enforcement.HARD,
    "processes": Enforcement.UNAVAILABLE,
    "open_files": Enforcement.HARD,
    "output": Enforcement.WATCHED,
    "scratch": Enforcement.HARD,
    "cpus": Enforcement.HARD,
    "network": Enforcement.UNAVAILABLE,
    "filesystem": Enforcement.HARD,
    "system_calls": Enforcement.HARD,
}
"""What holds by the manifest alone; `network` and `processes` may hold by the cluster's own means.

The filter of system calls is the container runtime's own.
"""

USER = 1000
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_CLAIM = re.compile(r"(?P<name>[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)(/(?P<path>[^/].*))?")
_BLOCK = 512  # bytes that the shell's `ulimit -f` counts in
_START = 'ulimit -c 0 && ulimit -f "$1" && ulimit -n "$2" && shift 2 && exec "$@"'


def job_manifest(
    policy: SandboxPolicy,
    *,
    name: str,
    image: str,
    command: Sequence[str],
    claims: Mapping[str, str],
) -> dict[str, Any]:
    """A List of a NetworkPolicy and a Job that runs a command once.

    `claims` names the persistent volume claim behind a path, as `claim` or `claim/folder`: every
    mount of the policy needs one, and is read-only; `/work` and `/out` may have one, and are empty
    and gone with the pod without. Raises UserError for a name or path that cannot be, and
    SandboxUnavailable where `policy.minimum` wants more than `ENFORCED`.
    """
    if not _NAME.fullmatch(name):
        raise UserError(
            f"'{name}' is no name of a job.", hint="Use small letters, digits and `-`, at most 63."
        )
    labels = labels_of(name)
    job = {
        "backoffLimit": 0,
        "activeDeadlineSeconds": math.ceil(policy.limits.wall_clock),
        "ttlSecondsAfterFinished": 24 * 3600,
        "template": {
            "metadata": {"labels": labels},
            "spec": pod_spec(policy, image=image, command=command, claims=claims),
        },
    }
    metadata = {"name": name, "labels": labels}
    made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job}
    return {"apiVersion": "v1", "kind": "List", "items": [network_policy(name), made]}


def labels_of(name: str) -> dict[str, str]:
    """The labels of what is made under a name."""
    return {"app.kubernetes.io/name": "repro-pipeline", "repro-pipeline/run": name}


def network_policy(name: str) -> dict[str, Any]:
    """A NetworkPolicy that denies all traffic, in and out, to the pods under a name."""
    labels = labels_of(name)
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "labels": labels},
        "spec": {"podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress", "Egress"]},
    }


def pod_spec(
    policy: SandboxPolicy, *, image: str, command: Sequence[str], claims: Mapping[str, str]
) -> dict[str, Any]:
    """The pod of such a job, and of a step (`resources.kubernetes_pipes`), without its wall clock.

    Raises as `job_manifest` does.
    """
    refuse_below(policy.minimum, ENFORCED)
    volumes, mounts = _volumes(policy, claims)
    limits = policy.limits
    environment = {**default_environment("/tmp", "/tmp"), **policy.environment}
    blocks = str(max(1, limits.output // _BLOCK))
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostname": "sandbox",
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "terminationGracePeriodSeconds": 0,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "run",
                "image": image,
                "command": ["/bin/sh", "-c", _START, "sh", blocks, str(limits.open_files)],
                "args": list(command),
                "workingDir": str(WORK),
                "env": [{"name": name, "value": text} for name, text in environment.items()],
                "securityContext": {
                    "privileged": False,
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                "resources": _resources(policy),
                "volumeMounts": mounts,
            }
        ],
        "volumes": volumes,
    }


def _resources(policy: SandboxPolicy) -> dict[str, dict[str, str]]:
    """Requests equal limits, so that a node gives what a run may use."""
    limits = policy.limits
    amounts = {"memory": str(limits.memory), "ephemeral-storage": str(limits.output)}
    if limits.cpus:
        amounts["cpu"] = f"{math.ceil(limits.cpus * 1000)}m"
    if policy.gpus:
        amounts["nvidia.com/gpu"] = str(len(policy.gpus))
    return {"limits": amounts, "requests": dict(amounts)}


def _volumes(policy: SandboxPolicy, claims: Mapping[str, str]) -> tuple[list[dict], list[dict]]:
    """The volumes, and where they are seen."""
    limits = policy.limits
    targets = {str(mount.target) for mount in policy.mounts}
    for path in sorted(set(claims) - targets - {str(WORK), str(OUT)}):
        raise UserError(f"the policy has no mount at '{path}'.", where=f"the claim {claims[path]}")
    memory = {"medium": "Memory", "sizeLimit": str(limits.scratch)}
    seen: list[tuple[str, dict, dict]] = [
        ("/tmp", {"emptyDir": memory}, {}),
        ("/dev/shm", {"emptyDir": memory}, {}),
    ]
    for folder in (WORK, OUT):
        if str(folder) in claims:
            seen.append(_claimed(str(folder), claims, read_only=False))
        else:
            seen.append((str(folder), {"emptyDir": {"sizeLimit": str(limits.output)}}, {}))
    for target in sorted(targets):
        if target not in claims:
            raise UserError(
                f"no claim is named for the mount at '{target}'.",
                hint="A cluster does not see this host's files: name the claim that holds them.",
            )
        seen.append(_claimed(target, claims, read_only=True))
    volumes = [{"name": f"volume-{n}", **source} for n, (_, source, _) in enumerate(seen)]
    mounts = [
        {"name": f"volume-{number}", "mountPath": path, **more}
        for number, (path, _, more) in enumerate(seen)
    ]
    return volumes, mounts


def _claimed(path: str, claims: Mapping[str, str], *, read_only: bool) -> tuple[str, dict, dict]:
    given = _CLAIM.fullmatch(claims[path])
    if not given or ".." in Path(claims[path]).parts:
        raise UserError(
            f"'{claims[path]}' is no claim.", where=path, hint="Write it as CLAIM or CLAIM/FOLDER."
        )
    source = {"persistentVolumeClaim": {"claimName": given["name"], "readOnly": read_only}}
    folder = {"subPath": given["path"]} if given["path"] else {}
    return path, source, {"readOnly": read_only, **folder}
