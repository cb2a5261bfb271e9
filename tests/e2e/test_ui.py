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

from repro_pipeline.cli import main
from repro_pipeline.project import Project
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import Status
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
    port = _free_port()
    process = repro("ui", "--port", str(port))
    running = Server(f"http://127.0.0.1:{port}")
    _await(running, process)
    yield running
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(60) == 0


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _await(server: Server, process: subprocess.Popen) -> None:
    """Wait until it answers."""
    if process.stdout:
        # What nobody reads fills the pipe in the end, and then all of Dagster waits.
        threading.Thread(target=process.stdout.read, daemon=True).start()
    while True:
        assert process.poll() is None
        try:
            server.ask("{ version }")
            return
        except OSError:
            time.sleep(0.5)


def test_term_ends_all_of_it_though_a_script_had_sigint_ignored(project: Path):
    port = _free_port()
    command = [sys.executable, "-m", "repro_pipeline.cli", "ui", "--port", str(port)]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as by `repro ui &` in a script
    try:
        process = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL)
    finally:
        signal.signal(signal.SIGINT, before)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    _await(Server(f"http://127.0.0.1:{port}"), process)
    group = int(children.read_text().split()[0])
    process.terminate()
    assert process.wait(60) == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)
    assert _of(project) == set()


@pytest.mark.timeout(900)
def test_kill_9_leaves_nothing_and_the_same_port_serves_again_at_once(project: Path, repro, capsys):
    make_bundle(
        project / "papers" / "slow", behaviour="slow", settings={"sleep": 60.0}, seeds=[1, 2]
    )
    port = _free_port()
    process, running = repro("ui", "--port", str(port)), Server(f"http://127.0.0.1:{port}")
    _await(running, process)
    opened = open_project(project)
    look_and_cancel(running, opened, capsys)
    begin(running, "reproduce_paper", "slow")
    _await_runs(opened, 4)
    processes = _of(project)
    assert len(processes) > 4  # the servers, and the run's worker
    os.kill(process.pid, signal.SIGKILL)
    again = repro("ui", "--port", str(port))
    while processes & _of(project):
        time.sleep(0.2)
    _await(running, again)
    again.send_signal(signal.SIGINT)
    assert again.wait(60) == 0
    assert _of(project) == set()


def look_and_cancel(server: Server, project: Project, capsys) -> None:
    """What the UI launched is known to the commands, and ended by them."""
    runs = [begin(server, job, "slow") for job in ("reproduce_paper", "sweep_paper")]
    _await_runs(project, 2)
    assert main(["status"]) == 0
    assert "running, 0 of 2 `repro logs -f slow`" in " ".join(capsys.readouterr().out.split())
    assert main(["cancel", "slow"]) == 0
    told = capsys.readouterr().out
    assert "Ended sweep_paper of slow (queued, of Dagster)." in told
    assert "Ended slow (running, of Dagster)." in told
    assert {server.ask(RUN, id=run)["runOrError"]["status"] for run in runs} == {"CANCELED"}
    assert latest(project, "slow", "baseline").status is Status.CANCELLED
    assert main(["cancel", "slow"]) == 2


def _await_runs(project: Project, count: int) -> None:
    while len(list(project.ledger.events("slow", kinds={"attempt_started"}))) < count:
        time.sleep(0.5)


def _of(project: Path) -> set[str]:
    """The servers and workers of a project."""
    return {p.parent.name for p in Path("/proc").glob("[0-9]*/environ") if _in(p, str(project))}


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
    """Launch a job, wait for its end; its status."""
    run = begin(server, job, paper, config)
    while True:
        status = server.ask(RUN, id=run)["runOrError"]["status"]
        if status in {"SUCCESS", "FAILURE", "CANCELED"}:
            return status
        time.sleep(0.5)


def begin(server: Server, job: str, paper: str | None, config: dict | None = None) -> str:
    """Launch a job as the launchpad does, of one paper or of none; the run's id."""
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
    return launched["run"]["runId"]


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
