"""The real queue and daemon: a killed worker, a cancelled launch, two launches of one paper."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.stages import latest
from repro_pipeline.status import Status
from resources.opening import open_project
from tests.bundles import make_bundle
from tests.e2e.test_ui import LAUNCH, RUN, Server, server  # noqa: F401 (a fixture)

TERMINATE = """
mutation Terminate($id: String!) {
  terminateRun(runId: $id) { __typename ... on PythonError { message } }
}
"""
MARK = random.SystemRandom().randrange(10**9, 2 * 10**9)
"""A seed by which a run's processes are known."""
POOLS = "{ instance { concurrencyLimits { concurrencyKey slotCount claimedSlots { runId } } } }"


@pytest.fixture
def project(project: Path) -> Path:
    """A project with one place in each pool, whose daemon looks every second."""
    config = project / ".repro" / "dagster" / "dagster.yaml"
    text = config.read_text()
    for before, after in (
        ("default_limit: 2", "default_limit: 1"),
        ("poll_interval_seconds: 20", "poll_interval_seconds: 1"),
        ("free_slots_after_run_end_seconds: 20", "free_slots_after_run_end_seconds: 1"),
    ):
        assert before in text
        text = text.replace(before, after)
    config.write_text(text)
    with (project / "repro.yaml").open("a") as file:
        file.write("workers: 1\n")
    make_bundle(
        project / "papers" / "other",
        behaviour="slow",
        settings={"sleep": 600},
        timeout=900,
        seeds=[MARK],
    )
    return project


def start(server: Server, paper: str) -> str:  # noqa: F811
    """Launch a paper as the UI does; the run's id."""
    params = {
        "selector": {
            "repositoryName": "__repository__",
            "repositoryLocationName": "repro_pipeline",
            "pipelineName": "reproduce_paper",
        },
        "mode": "default",
        "executionMetadata": {"tags": [{"key": "dagster/partition", "value": paper}]},
    }
    launched = server.ask(LAUNCH, params=params)["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    return launched["run"]["runId"]


def wait_for(condition: Callable[[], object], seconds: float = 900) -> None:
    """Wait until a condition holds; the time is only against waiting for ever."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.2)


def holder(lock: Path) -> int:
    """The process that holds a lock."""
    inode = str(lock.stat().st_ino)
    for line in Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if "FLOCK" in words and "->" not in words and words[-3].endswith(f":{inode}"):
            return int(words[-4])
    raise AssertionError(f"nobody holds {lock}")


def marked() -> list[str]:
    """Living processes of the run with the seed `MARK`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"--seed {MARK}" in line:
            found.append(line)
    return found


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_killed_worker_holds_nothing_up_and_a_cancelled_launch_leaves_nothing(
    project: Path,
    server: Server,  # noqa: F811
):
    slow_down(project)
    opened = open_project(project)
    status = lambda run: server.ask(RUN, id=run)["runOrError"]["status"]  # noqa: E731
    evaluated = lambda: [  # noqa: E731
        a for a in attempts(opened.ledger.events("tiny")) if a.purpose == "eval"
    ]

    first = start(server, "tiny")
    second = start(server, "tiny")
    wait_for(lambda: sum(a.status is Status.OK for a in evaluated()) >= 2)
    assert status(second) == "QUEUED"  # one launch of a paper at a time
    done = {a.run_key for a in evaluated() if a.status is Status.OK}
    os.kill(holder(project / ".repro" / "locks" / "tiny.lock"), signal.SIGKILL)
    wait_for(lambda: status(first) == "FAILURE")
    wait_for(lambda: status(second) in {"SUCCESS", "FAILURE"})
    assert status(second) == "SUCCESS"

    assert verify_chain("tiny", list(opened.ledger.stored("tiny"))) == ()
    tried = evaluated()
    ends = Counter(a.status for a in tried)
    assert ends[Status.OK] == 8
    assert len(tried) - ends[Status.OK] <= 1, "only what was under way was lost"
    assert all(a.number == 1 for a in tried if a.run_key in done), "nothing finished ran again"
    assert latest(opened, "tiny", "scores").launch == second

    third = start(server, "other")
    wait_for(marked)
    assert server.ask(TERMINATE, id=third)["terminateRun"]["__typename"] == "TerminateRunSuccess"
    wait_for(lambda: status(third) == "CANCELED")
    wait_for(lambda: not marked())
    assert latest(opened, "other", "baseline").status is Status.CANCELLED
    wait_for(lambda: not any(pool["claimedSlots"] for pool in pools(server)))
    assert {pool["concurrencyKey"] for pool in pools(server)} >= {"runs"}


def pools(server: Server) -> list[dict]:  # noqa: F811
    return server.ask(POOLS)["instance"]["concurrencyLimits"]


def slow_down(project: Path) -> None:
    """Make the paper that stands already slow, with eight seeds."""
    bundle = project / "papers" / "tiny"
    config = bundle / "code" / "config.json"
    config.write_text(
        json.dumps({**json.loads(config.read_text()), "behaviour": "slow", "sleep": 1})
    )
    task = yaml.safe_load((bundle / "task.yaml").read_text())
    (bundle / "task.yaml").write_text(yaml.safe_dump({**task, "seeds": list(range(1, 9))}))
