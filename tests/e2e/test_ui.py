"""The real webserver and daemon: launch a paper as the UI does, and look at its pages."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of
from resources.opening import open_project
from tests.bundles import make_bundle

LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
    ... on RunConfigValidationInvalid { errors { message } }
  }
}
"""
RUN = "query Run($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
ASSET = """
query Asset($key: AssetKeyInput!, $partition: String!) {
  assetNodeOrError(assetKey: $key) {
    ... on AssetNode {
      staleStatus(partition: $partition)
      groupName
      description
      owners { ... on TeamAssetOwner { team } }
      kinds
      assetMaterializations(limit: 1) { metadataEntries { label ... on TextMetadataEntry { text } } }
    }
  }
}
"""
CHECK = """
query Check($key: AssetKeyInput!, $name: String!, $partition: String) {
  assetCheckExecutions(assetKey: $key, checkName: $name, limit: 1, partition: $partition) {
    status runId partition evaluation { success }
  }
}
"""


class Server:
    """A running webserver, asked by GraphQL."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, query: str, **variables) -> dict:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            result = json.load(answer)
        assert "errors" not in result, result["errors"]
        return result["data"]


@pytest.fixture
def server(project: Path, repro):
    make_bundle(project / "papers" / "tiny")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = repro("ui", "--port", str(port))
    running = Server(f"http://127.0.0.1:{port}")
    while True:
        assert process.poll() is None, process.stdout.read()
        try:
            running.ask("{ version }")
            break
        except OSError:
            time.sleep(0.5)
    # What nobody reads fills the pipe in the end, and then all of Dagster waits.
    threading.Thread(target=process.stdout.read, daemon=True).start()
    yield running
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(60) == 0


def test_term_ends_all_of_it_though_a_script_had_sigint_ignored(project: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "repro_pipeline.cli", "ui", "--port", str(port)]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as by `repro ui &` in a script
    try:
        process = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL)
    finally:
        signal.signal(signal.SIGINT, before)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    running = Server(f"http://127.0.0.1:{port}")
    while True:
        assert process.poll() is None
        try:
            running.ask("{ version }")
            break
        except OSError:
            time.sleep(0.5)
    group = int(children.read_text().split()[0])
    process.terminate()
    assert process.wait(60) == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)
    left = [p for p in Path("/proc").glob("[0-9]*/environ") if _in(p, str(project))]
    assert left == []


def _in(environ: Path, folder: str) -> bool:
    try:
        return f"DAGSTER_HOME={folder}" in environ.read_text()
    except OSError:
        return False


def check(server: Server, name: str, paper: str = "tiny") -> dict:
    """The latest evaluation of a check of `scores` for one paper."""
    variables = {"key": {"path": ["scores"]}, "name": name, "partition": paper}
    (last,) = server.ask(CHECK, **variables)["assetCheckExecutions"]
    return last


def launch(server: Server, job: str, paper: str | None, config: dict | None = None) -> str:
    """Launch a job as the launchpad does, of one paper or of none; wait for its end; its status."""
    repository = {"repositoryName": "__repository__", "repositoryLocationName": "repro_pipeline"}
    params = {
        "selector": {**repository, "pipelineName": job},
        "mode": "default",
        "runConfigData": config or {},
        "executionMetadata": {
            "tags": [{"key": "dagster/partition", "value": paper}] if paper else []
        },
    }
    launched = server.ask(LAUNCH, params=params)["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    while True:
        status = server.ask(RUN, id=launched["run"]["runId"])["runOrError"]["status"]
        if status in {"SUCCESS", "FAILURE", "CANCELED"}:
            return status
        time.sleep(0.5)


def asset(server: Server, name: str) -> dict:
    return server.ask(ASSET, key={"path": [name]}, partition="tiny")["assetNodeOrError"]


@pytest.mark.timeout(900)
def test_a_paper_launched_from_the_ui(server: Server, project: Path, browser, artifacts):
    assert launch(server, "reproduce_paper", "tiny") == "SUCCESS"
    opened = open_project(project)
    scores = output_of(opened, latest(opened, "tiny", "scores"), Scores)
    assert scores.headline

    node = asset(server, "scores")
    assert node["groupName"] == "judge" and node["owners"] and node["description"]
    assert check(server, "stage_ok")["evaluation"]["success"]
    for dimension in scores.dimensions:
        passed = dimension.outcome in {"pass", "not_applicable"}
        assert check(server, dimension.id)["evaluation"]["success"] is passed, dimension
    entries = node["assetMaterializations"][0]["metadataEntries"]
    assert {"headline", "verdicts", "ledger head"} <= {entry["label"] for entry in entries}
    assert node["staleStatus"] == "FRESH"

    rubric = project / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace("threshold: 0.05", "threshold: 0.02"))
    while asset(server, "scores")["staleStatus"] == "FRESH":  # until the daemon's sensor saw it
        time.sleep(1)
    assert asset(server, "experiment_ledger")["staleStatus"] == "FRESH"
    assert launch(server, "rescore_papers", None) == "SUCCESS"
    assert asset(server, "scores")["staleStatus"] == "FRESH"
    assert asset(server, "report")["staleStatus"] == "FRESH"
    assert check(server, "metric_parity")["runId"] == latest(opened, "tiny", "scores").launch
    assert latest(opened, "tiny", "scores").launch != latest(opened, "tiny", "baseline").launch

    two_seeds = {"resources": {"project": {"config": {"seeds": 2}}}}
    own = {**two_seeds, "ops": {"sweep": {"config": {"fresh_dependencies": False}}}}
    assert launch(server, "sweep_paper", "tiny", own) == "SUCCESS"

    pages = {
        "launchpad": ("/locations/repro_pipeline/jobs/reproduce_paper/playground", "Launch run"),
        "checks": ("/assets/scores?view=checks", "metric_parity"),
        "sweep": ("/assets/sweep?view=checks", "same_conclusion"),
        "partition": ("/assets/scores?view=partitions&partition=tiny", "headline"),
        "graph": ("/asset-groups/~all?expanded=judge", "understand"),
        "scores": ("/assets/scores?view=overview", "2 of 2 claims reproduced"),
        "runs": ("/runs", "reproduce_paper"),
    }
    page = browser.new_page(viewport={"width": 1600, "height": 1000})
    for name, (path, text) in pages.items():
        page.goto(server.url + path)
        page.get_by_text(text).first.wait_for(timeout=60_000)
        page.wait_for_timeout(1500)
        page.screenshot(path=artifacts / f"ui-{name}.png")
    page.close()
    look_at_pages(browser, project / "reports", artifacts)


def look_at_pages(browser, reports: Path, artifacts: Path) -> None:
    """The pages that the run wrote: they fit a telephone and a wide screen, and log nothing."""
    for width in (400, 1600):
        for name in ("tiny/report.html", "scoreboard.html"):
            noise: list[str] = []
            page = browser.new_page(viewport={"width": width, "height": 1000})
            page.on("console", lambda message, noise=noise: noise.append(message.text))
            page.on("pageerror", lambda error, noise=noise: noise.append(str(error)))
            page.goto((reports / name).as_uri())
            page.screenshot(path=artifacts / f"run-{Path(name).stem}-{width}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert "2 of 2" in page.inner_text("main")
            assert noise == []
            page.close()
