"""A step as a pod, through the real clients, against a fake cluster: an API server of the test's own.

The fake answers the few requests that a step makes, and runs a pod's command as a process of this host.
It enforces the pod's deadline and nothing else of it: whether a cluster holds the rest is not tried here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import dagster as dg
import pytest
import yaml

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox.policy import Enforcement, Limits, Mount, SandboxPolicy

kubernetes = pytest.importorskip("kubernetes", reason="dagster-k8s is not installed (extra k8s)")
pipes = pytest.importorskip("resources.kubernetes_pipes")
kubernetes_validate = pytest.importorskip("kubernetes_validate")

STEP = """
import os
from dagster_pipes import open_dagster_pipes
with open_dagster_pipes() as pipes:
    print("plain output")
    pipes.report_asset_materialization(
        metadata={"accuracy": 0.75, "by": pipes.get_extra("by"), "alpha": os.environ["ALPHA"]}
    )
"""
IMAGE = "registry.test/steps@sha256:" + "0" * 64


class FakeCluster(ThreadingHTTPServer):
    """Keeps what it is sent, and runs the pods."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), FakeApi)
        self.folder = folder
        self.policies: dict[str, dict] = {}
        self.pods: dict[str, dict] = {}
        self.processes: dict[str, subprocess.Popen] = {}
        self.seen: list[dict] = []
        self.refuses = False

    def start(self, pod: dict) -> None:
        name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]
        self.pods[name] = pod
        self.seen.append(pod)
        process = subprocess.Popen(
            [*container["command"], *container["args"]],
            env={one["name"]: one["value"] for one in container["env"]},
            cwd=self.folder,
            stdout=(self.folder / name).open("wb"),
            stderr=subprocess.STDOUT,
        )
        self.processes[name] = process
        threading.Timer(pod["spec"]["activeDeadlineSeconds"], process.kill).start()

    def status(self, name: str) -> dict:
        code = self.processes[name].poll()
        state = {"running": {}} if code is None else {"terminated": {"exitCode": code % 256}}
        one = {"name": "run", "image": "", "imageID": "", "restartCount": 0, "ready": True}
        return {"containerStatuses": [{**one, "state": state}]}


class FakeApi(BaseHTTPRequestHandler):
    server: FakeCluster

    def log_message(self, *_: object) -> None:
        return

    def answer(self, code: int, body: dict | bytes) -> None:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.refuses:
            self.answer(403, {"kind": "Status"})
        elif self.path == "/apis/networking.k8s.io/v1/namespaces/lab/networkpolicies":
            stands = body["metadata"]["name"] in self.server.policies
            self.server.policies[body["metadata"]["name"]] = body
            self.answer(409 if stands else 201, body)
        elif self.path == "/api/v1/namespaces/lab/pods":
            self.server.start(body)
            self.answer(201, body)
        else:
            self.answer(404, {})

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/api/v1/namespaces/lab/pods":
            name = parse_qs(address.query)["fieldSelector"][0].partition("=")[2]
            found = [
                {**pod, "status": self.server.status(name)}
                for pod in self.server.pods.values()
                if pod["metadata"]["name"] == name
            ]
            self.answer(200, {"kind": "PodList", "items": found})
        else:
            name = address.path.removesuffix("/log").rpartition("/")[2]
            self.server.processes[name].wait()
            stamped = parse_qs(address.query).get("timestamps") == ["True"]
            lines = (self.server.folder / name).read_bytes().splitlines()
            stamps = [f"2024-01-01T00:00:00.{n:06}Z ".encode() for n, _ in enumerate(lines)]
            shown = [a + b for a, b in zip(stamps, lines, strict=True)] if stamped else lines
            self.answer(200, b"\n".join(shown) + b"\n")

    def do_DELETE(self) -> None:
        name = self.path.rpartition("/")[2]
        self.server.processes[name].kill()
        self.answer(200, self.server.pods.pop(name))


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    for name in ("HTTP_PROXY", "http_proxy", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    server = FakeCluster(tmp_path)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    kubernetes.client.Configuration.set_default(None)


@pytest.fixture
def steps(cluster: FakeCluster) -> pipes.SandboxedPodsClient:
    place = {"cluster": "fake", "user": "nobody", "namespace": "lab"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "fake",
        "contexts": [{"name": "fake", "context": place}],
        "clusters": [
            {"name": "fake", "cluster": {"server": f"http://127.0.0.1:{cluster.server_port}"}}
        ],
        "users": [{"name": "nobody", "user": {}}],
    }
    file = cluster.folder / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return pipes.SandboxedPodsClient(kubeconfig_file=str(file), poll_interval=0.05)


def materialized(
    steps: pipes.SandboxedPodsClient, program: str, policy: SandboxPolicy
) -> dg.ExecuteInProcessResult:
    @dg.asset(required_resource_keys={"steps"})
    def trained(context):
        return context.resources.steps.run(
            context=context,
            policy=policy,
            command=[sys.executable, "-c", program],
            extras={"by": "a test"},
        ).get_materialize_result()

    return dg.materialize([trained], resources={"steps": steps}, raise_on_error=False)


def limited(**limits: float) -> SandboxPolicy:
    found = Limits(**{"wall_clock": 60, **limits})
    return SandboxPolicy(image=IMAGE, limits=found, environment={"ALPHA": "1"})


def test_metrics_of_a_pod_reach_dagster_and_the_pod_is_the_policys(steps, cluster, capfd):
    for _ in range(2):  # the second meets the NetworkPolicy of the first
        done = materialized(steps, STEP, limited(memory=1 << 30, cpus=2))
        assert done.success
        [made] = done.asset_materializations_for_node("trained")
        found = {name: value.value for name, value in made.metadata.items()}
        assert (found["accuracy"], found["by"], found["alpha"]) == (0.75, "a test", "1")
    assert "plain output" in capfd.readouterr().out
    assert cluster.pods == {}, "the pods are gone"
    [denied] = cluster.policies.values()
    newest = kubernetes_validate.latest_version()
    kubernetes_validate.validate(denied, newest, strict=True)
    pod = cluster.seen[0]
    kubernetes_validate.validate({"apiVersion": "v1", "kind": "Pod", **pod}, newest, strict=True)
    wanted = denied["spec"]["podSelector"]["matchLabels"]
    assert wanted.items() <= pod["metadata"]["labels"].items()
    assert pod["spec"]["activeDeadlineSeconds"] == 60
    assert pod["spec"]["automountServiceAccountToken"] is False
    container = pod["spec"]["containers"][0]
    assert (container["image"], container["name"]) == (IMAGE, "run")
    assert container["resources"]["limits"]["memory"] == str(1 << 30)
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize(
    ("program", "seconds"), [("print('no luck'); exit(3)", 60), ("import time; time.sleep(60)", 1)]
)
def test_a_pod_that_fails_or_takes_too_long_fails_the_asset(steps, cluster, program, seconds):
    began = time.monotonic()
    done = materialized(steps, program, limited(wall_clock=seconds))
    assert not done.success
    [failure] = [e for e in done.all_events if e.is_step_failure]
    said = failure.step_failure_data.error.message
    assert "the step's pod: " in said and "Traceback" not in said
    assert ("no luck" in said) == (seconds == 60)
    assert time.monotonic() - began < 60
    assert cluster.pods == {}


@pytest.mark.parametrize(
    ("changed", "error", "sentence"),
    [
        ({"image": None}, UserError, "names no image"),
        (
            {"minimum": {"network": Enforcement.HARD}},
            SandboxUnavailable,
            "wants network hard",
        ),
        (
            {"mounts": (Mount(source=Path("/srv"), target=Path("/data")),)},
            UserError,
            "no claim is named for the mount at '/data'",
        ),
    ],
)
def test_what_a_pod_cannot_hold_is_refused_before_the_cluster_is_asked(
    steps, cluster, changed, error, sentence
):
    policy = limited().model_copy(update=changed)
    with pytest.raises(error, match=sentence):
        steps.run(context=dg.build_op_context(), policy=policy, command=["true"])
    assert not cluster.policies and not cluster.seen


def test_a_cluster_that_refuses_or_is_not_there_is_a_sentence(steps, cluster):
    context = dg.build_op_context()
    cluster.refuses = True
    with pytest.raises(SandboxUnavailable, match="the cluster refused the step: 403"):
        steps.run(context=context, policy=limited(), command=["true"])
    cluster.shutdown()
    cluster.server_close()
    with pytest.raises(SandboxUnavailable, match="does not answer"):
        steps.run(context=context, policy=limited(), command=["true"])
    nowhere = pipes.SandboxedPodsClient(kubeconfig_file=str(cluster.folder / "absent"))
    with pytest.raises(SandboxUnavailable, match="no cluster is configured"):
        nowhere.run(context=context, policy=limited(), command=["true"])
    assert not cluster.seen
