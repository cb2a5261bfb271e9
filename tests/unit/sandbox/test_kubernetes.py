"""Job manifests from a policy: sound by the schema of Kubernetes, with every limit in its place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.cli import main
from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox.kubernetes import ENFORCED, job_manifest
from repro_pipeline.sandbox.policy import LIMIT_NAMES, Enforcement, Limits, Mount, SandboxPolicy

POLICY = SandboxPolicy(
    mounts=(Mount(source=Path("/srv/data"), target=Path("/data")),),
    limits=Limits(
        wall_clock=90.5,
        memory=1 << 30,
        open_files=99,
        output=1 << 20,
        scratch=1 << 21,
        cpus=1.5,
    ),
    environment={"ALPHA": "1"},
    gpus=(0, 1),
)
CLAIMS = {"/data": "inputs/digits", "/out": "results"}


def made(policy: SandboxPolicy = POLICY, claims: dict[str, str] = CLAIMS, **more) -> dict:
    given = {"name": "run-1", "image": "python@sha256:" + "0" * 64, "command": ["python3", "x.py"]}
    return job_manifest(policy, claims=claims, **{**given, **more})


def pod(manifest: dict) -> dict:
    return manifest["items"][1]["spec"]["template"]["spec"]


def validate(manifest: dict) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for item in manifest["items"]:
        kubernetes_validate.validate(item, kubernetes_validate.latest_version(), strict=True)


def test_the_manifest_follows_the_schema_and_the_check_can_fail():
    manifest = made()
    validate(manifest)
    pod(manifest)["containers"][0]["securityContext"]["readOnlyRoot"] = True
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    with pytest.raises(kubernetes_validate.ValidationError):
        validate(manifest)


@given(
    st.builds(
        Limits,
        wall_clock=st.floats(0.1, 1e6),
        memory=st.integers(1, 1 << 40),
        open_files=st.integers(32, 1 << 20),
        output=st.integers(1, 1 << 40),
        scratch=st.integers(1, 1 << 40),
        cpus=st.none() | st.floats(0.001, 256),
    )
)
def test_any_limits_make_a_sound_manifest(limits: Limits):
    validate(made(SandboxPolicy(limits=limits), claims={}))


def test_every_limit_of_the_policy_stands_in_the_job():
    manifest = made()
    network, job = manifest["items"]
    container = pod(manifest)["containers"][0]
    assert network["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & set(network["spec"])
    assert network["spec"]["podSelector"]["matchLabels"].items() <= (
        job["spec"]["template"]["metadata"]["labels"].items()
    )
    assert job["spec"]["activeDeadlineSeconds"] == 91 and job["spec"]["backoffLimit"] == 0
    limits = container["resources"]["limits"]
    assert limits == container["resources"]["requests"]
    assert limits == {
        "memory": str(1 << 30),
        "ephemeral-storage": str(1 << 20),
        "cpu": "1500m",
        "nvidia.com/gpu": "2",
    }
    assert container["securityContext"] == {
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    whole = pod(manifest)
    assert (
        whole["securityContext"]["runAsNonRoot"] and whole["securityContext"]["runAsUser"] == 1000
    )
    assert whole["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert whole["automountServiceAccountToken"] is False
    assert {"name": "ALPHA", "value": "1"} in container["env"]
    seen = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    sources = {volume["name"]: volume for volume in whole["volumes"]}
    assert seen["/data"]["readOnly"] and seen["/data"]["subPath"] == "digits"
    assert not seen["/out"]["readOnly"]
    for path in ("/tmp", "/dev/shm"):
        source = sources[seen[path]["name"]]["emptyDir"]
        assert source == {"medium": "Memory", "sizeLimit": str(1 << 21)}
    assert sources[seen["/work"]["name"]]["emptyDir"] == {"sizeLimit": str(1 << 20)}


def test_the_shell_sets_the_limits_and_becomes_the_command():
    container = pod(made(command=["/bin/sh", "-c", "ulimit -n; ulimit -Hn; ulimit -f; ulimit -c"]))
    started = [*container["containers"][0]["command"], *container["containers"][0]["args"]]
    said = subprocess.run(started, capture_output=True, text=True, check=True).stdout.split()
    assert said == ["99", "99", str((1 << 20) // 512), "0"]


def test_what_a_manifest_cannot_hold_is_refused_where_it_is_wanted():
    assert set(ENFORCED) == set(LIMIT_NAMES)
    for name in ("processes", "network"):
        wanted = POLICY.model_copy(update={"minimum": {name: Enforcement.WATCHED}})
        with pytest.raises(SandboxUnavailable, match=f"wants {name} watched"):
            made(wanted)
    made(POLICY.model_copy(update={"minimum": {"memory": Enforcement.HARD}}))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"claims": {}}, "no claim is named for the mount at '/data'"),
        ({"claims": {**CLAIMS, "/other": "x"}}, "the policy has no mount at '/other'"),
        ({"claims": {"/data": "a/../b"}}, "is no claim"),
        ({"claims": {"/data": "Upper"}}, "is no claim"),
        ({"name": "Run_1"}, "no name of a job"),
    ],
)
def test_what_cannot_be_is_a_sentence(changed: dict, sentence: str):
    with pytest.raises(UserError, match=sentence):
        made(**changed)


def test_the_command_prints_the_manifest(tmp_path: Path, capsys):
    policy = tmp_path / "policy.yaml"
    policy.write_text("mounts: [{source: /srv/data, target: /data}]\nlimits: {memory: 1GiB}\n")
    words = ["sandbox", "job", "--name", "run-1", "--image", "python:3.11-slim"]
    words += ["--policy", str(policy), "--claim", "/data=inputs", "--", "python3", "-V"]
    assert main(words) == 0
    shown = capsys.readouterr()
    manifest = yaml.safe_load(shown.out)
    validate(manifest)
    assert pod(manifest)["containers"][0]["args"] == ["python3", "-V"]
    assert "processes" in shown.err and "network" in shown.err
    assert main([*words[:-5], "--claim", "nonsense", "--", "true"]) == 2
