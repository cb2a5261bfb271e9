"""Interrupted runs: nothing acknowledged is lost, nothing finished is run again."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from repro_pipeline.cli import main
from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.project import Project
from repro_pipeline.status import Status
from resources.opening import open_project
from tests.bundles import make_bundle

SEEDS = [*range(7410231, 7410237)]
"""By which the processes of this paper's runs are known, whatever started them."""


@pytest.fixture
def slow_paper(project: Path) -> Project:
    """A paper whose six runs take a second each, one at a time."""
    make_bundle(project / "papers" / "tiny", seeds=SEEDS, behaviour="slow", settings={"sleep": 1.0})
    config = project / "repro.yaml"
    config.write_text(config.read_text() + "workers: 1\n")
    return open_project(project)


def finished(project: Project) -> list:
    return [a for a in attempts(project.ledger.events("tiny")) if a.purpose == "eval"]


def wait_for(condition: Callable[[], object], process: subprocess.Popen) -> None:
    """Wait until a condition holds while the process runs."""
    while not condition():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.05)


def two_done(project: Project) -> bool:
    return sum(attempt.status is Status.OK for attempt in finished(project)) >= 2


def running() -> list[str]:
    """Command lines of living processes that name one of the seeds: the runs, inside any sandbox."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = file.read_bytes().decode(errors="replace").split("\0")
            if {*words} & {str(seed) for seed in SEEDS}:
                found.append(" ".join(words))
    return found


def resume_and_check(project: Project, before: list) -> None:
    assert main(["run", "tiny"]) == 0
    after = finished(project)
    assert after[: len(before)] == before or {a.run_key for a in before} <= {
        a.run_key for a in after
    }
    done_before = {a.run_key for a in before if a.status is Status.OK}
    again = [a for a in after if a.run_key in done_before and a.number > 1]
    assert again == [], "a finished run was executed again"
    assert sorted(a.seed for a in after if a.status is Status.OK) == SEEDS
    assert verify_chain("tiny", project.ledger.events("tiny")) == ()


def test_ctrl_c_leaves_a_resumable_state(slow_paper: Project, repro):
    process = repro("run", "tiny")
    wait_for(lambda: two_done(slow_paper) and running(), process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Interrupted" in output and "Traceback" not in output
    before = finished(slow_paper)
    assert [a.status for a in before if a.status is not Status.OK] == [Status.CANCELLED]
    assert running() == []
    resume_and_check(slow_paper, before)


def test_kill_9_leaves_a_resumable_state_and_no_process(slow_paper: Project, repro):
    process = repro("run", "tiny")
    wait_for(lambda: two_done(slow_paper) and running(), process)
    process.kill()
    process.wait()
    before = finished(slow_paper)
    lost = [a for a in before if a.status is not Status.OK]
    assert [a.reason.code for a in lost] in ([], ["worker_lost"])
    deadline = time.monotonic() + 20
    while running() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running() == []
    resume_and_check(slow_paper, before)


@pytest.mark.slow
def test_a_sweep_ended_by_ctrl_c_is_gone_on_with_by_the_command_that_it_names(
    slow_paper: Project, repro, capsys
):
    def swept() -> list:
        return [a for a in attempts(slow_paper.ledger.events("tiny")) if a.purpose == "sweep"]

    assert main(["run", "tiny"]) == 0
    process = repro("sweep", "tiny")
    wait_for(lambda: sum(a.status is Status.OK for a in swept()) >= 2, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Interrupted. `repro sweep tiny --number 1` goes on" in output
    assert "Traceback" not in output
    before = [a for a in swept() if a.status is Status.OK]
    assert main(["sweep", "tiny", "--number", "1"]) == 0
    made = [a for a in swept() if a.status is Status.OK]
    assert made[: len(before)] == before and len({a.seed for a in made}) == len(made) == 6
