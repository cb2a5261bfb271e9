"""Launches in the background: out of reach of a hang-up, two at once, followed and ended."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from repro_pipeline.background import (
    Launch,
    Work,
    _born,
    detach,
    end,
    ended,
    launches,
    log_of,
    lost,
)
from repro_pipeline.cli import main
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.project import Project
from repro_pipeline.stages import latest
from repro_pipeline.status import Status
from repro_pipeline.sweeps.trend import swept
from resources.opening import open_project
from tests.bundles import make_bundle

PAPERS = ("one", "two", "three")


@pytest.fixture
def slow(project: Path):
    """Three papers, each of a few runs that take a second."""
    for name in PAPERS:
        make_bundle(
            project / "papers" / name, seeds=[1, 2, 3, 4], behaviour="slow", settings={"sleep": 1.0}
        )
    opened = open_project(project)
    yield opened
    for launch in launches(opened.state):
        end(opened.state, launch)


def until(condition: Callable[[], object], seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.1)


def made(project: Project, paper: str) -> list:
    return [a for a in attempts(project.ledger.events(paper)) if a.purpose == "eval"]


@pytest.mark.timeout(600)
def test_two_papers_at_once_survive_a_hang_up_and_one_is_ended(slow: Project, repro, capfd):
    process = repro("run", *PAPERS, "--detach")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert "repro logs -f one two three" in output or "repro logs -f" in output
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, signal.SIGHUP)  # nothing of it is left in the terminal's session

    until(lambda: made(slow, "one") and made(slow, "two"))
    states = {one.name: one.state for one in launches(slow.state)}
    assert states == {"one": "running", "two": "running", "three": "waiting"}
    assert main(["cancel", "two", "three"]) == 0
    assert {one.name for one in launches(slow.state)} == {"one"}
    assert main(["run", "one", "--detach"]) == 2  # it is at work already

    follower = repro("logs", "-f", "one")
    told, _ = follower.communicate(timeout=240)
    assert follower.returncode == 0, told
    assert "report: ok" in told and "noisy, seed 4, eval: ok" in told
    assert latest(slow, "one", "report").status is Status.OK
    until(lambda: "exit code 0" in log_of(slow.state, "one").read_text())

    ended = latest(slow, "two", "baseline")
    assert ended is None or ended.status is Status.CANCELLED
    assert latest(slow, "two", "report") is None
    assert made(slow, "three") == [] and latest(slow, "three", "paper_bundle") is None
    assert "exit code 130" in log_of(slow.state, "two").read_text()
    assert launches(slow.state) == ()

    assert main(["cancel", "one"]) == 2  # nothing is at work on it
    done = [a.run_key for a in made(slow, "two") if a.status is Status.OK]
    assert main(["run", "two"]) == 0  # goes on from there
    again = [a.run_key for a in made(slow, "two") if a.status is Status.OK]
    assert again[: len(done)] == done and len(again) == 4


def test_a_launch_of_a_script_is_ended_by_term_with_a_sentence(slow: Project, repro):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as by `repro run one &` in a script
    try:
        process = repro("run", "one")
    finally:
        signal.signal(signal.SIGINT, before)
    until(lambda: made(slow, "one"))
    process.terminate()
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "Interrupted." in told, told
    assert latest(slow, "one", "baseline").status is Status.CANCELLED


def test_a_full_disk_under_one_log_ends_no_keeper(slow: Project, project: Path):
    folder = slow.state / "launches"
    folder.mkdir()
    (folder / "one.log").symlink_to("/dev/full")
    for paper in ("one", "two"):
        waits = Launch.model_validate(
            {
                **_WAITS,
                "command": ("run", paper, "--stage", "paper_bundle"),
                "papers": (paper,),
                "born": _born(os.getpid()),
                "pid": os.getpid(),
            }
        )
        (folder / f"{paper}.json").write_text(waits.model_dump_json())
    keeper = [sys.executable, "-m", "repro_pipeline.background", "1"]
    done = subprocess.run(
        [*keeper, "one", "two"],
        check=False,
        cwd=project,
        input="",
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert "one: [Errno 28]" in done.stdout, done
    assert "exit code 0" in log_of(slow.state, "two").read_text()


def test_what_cannot_be_written_is_said_without_a_traceback(project: Path, monkeypatch, capsys):
    def full(*_: object) -> int:
        with Path("/dev/full").open("w") as file:
            file.write("x")

    def full_database(*_: object) -> int:
        with closing(sqlite3.connect("d.sqlite")) as database:
            database.execute("pragma max_page_count = 1")
            database.execute("create table x (y)")

    for breaks in (full, full_database):
        monkeypatch.setattr("repro_pipeline.background.launches", breaks)
        assert main(["cancel", "--all"]) == 2
        assert "the disk is full" in capsys.readouterr().err


def test_a_number_given_anew_is_not_taken_for_a_launch(project: Path):
    state = open_project(project).state
    mine = Launch.model_validate(
        {**_WAITS, "command": ("run", "x"), "papers": ("x",), "pid": os.getpid(), "born": 1}
    )
    (state / "launches").mkdir(exist_ok=True)
    (state / "launches" / "x.json").write_text(mine.model_dump_json())
    assert launches(state) == ()
    assert main(["cancel", "--all"]) == 0


def test_a_launch_that_dies_before_its_first_stage_says_why(project: Path, capsys):
    make_bundle(project / "papers" / "late")
    state, rubric = open_project(project).state, project / "rubric.yaml"
    sound = rubric.read_text()
    work = Work(command=("run", "late", "--stage", "paper_bundle"), papers=("late",))

    def said(*command: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main([*command]) == code
        told = capsys.readouterr()
        return " ".join((told.out + told.err).split())

    def die() -> None:
        rubric.write_text(sound.replace("threshold:", "treshold:", 1))
        detach(project, state, [work], 1)
        until(lambda: not launches(state) and ended(state))

    die()
    assert "treshold" in said("run", "late", "--detach", code=2)  # before anything is begun
    assert [one.code for one in ended(state)] == [2]
    told = said("logs", "late")
    assert "! late: did not start:" in told and "treshold" in told and "exit code 2" in told
    told = said("status", "late")
    assert "did not start:" in told and "treshold" in told and ".repro/launches/late.log" in told
    assert "logs late" in said("log", "late", code=2)

    rubric.write_text(sound)
    said(*work.command)
    assert "did not start" not in said("status", "late") + said("logs", "late")
    die()
    told = said("status", "late")
    assert "paper_bundle ok" in told and "The last launch did not start:" in told

    rubric.write_text(sound)
    (project / "papers" / "late" / "code" / "experiment.yaml").unlink()
    fails = Work(command=("run", "late", "--stage", "implementation"), papers=("late",))
    detach(project, state, [fails], 1)
    until(lambda: not launches(state) and ended(state))
    assert [one.code for one in ended(state)] == [2]
    told = said("status", "late") + said("logs", "late")
    assert "implementation failed" in told and "did not start" not in told


_NOW = "2024-05-01T00:00:00Z"
_WAITS = {"state": "waiting", "at": _NOW, "log": None}


def test_a_paper_named_twice_is_begun_once_and_of_two_detaches_one_is_refused(slow: Project, repro):
    first, second = (repro("run", "one", "one", "--detach") for _ in range(2))
    assert sorted((first.wait(60), second.wait(60))) == [0, 2]
    until(lambda: made(slow, "one"))
    (launch,) = launches(slow.state)
    assert launch.state == "running" and launch.log
    assert end(slow.state, launch) and launches(slow.state) == ()
    assert log_of(slow.state, "one").read_text().count("exit code") <= 1


def test_what_a_killed_keeper_never_began_is_said(slow: Project, repro, capsys):
    assert repro("run", "one", "two", "--detach", "--at-once", "1").wait(60) == 0
    until(lambda: {one.state for one in launches(slow.state)} == {"running", "waiting"})
    (waiting,) = (one for one in launches(slow.state) if one.state == "waiting")
    os.kill(waiting.pid, signal.SIGKILL)  # the keeper
    until(lambda: not waiting.alive)
    assert [one.name for one in lost(slow.state) if one.state == "waiting"] == ["two"]
    capsys.readouterr()
    assert main(["logs", "two"]) == 0
    assert "two: never begun" in capsys.readouterr().out


@pytest.mark.timeout(600)
def test_sweeps_and_a_rescoring_in_the_background_by_the_same_keeper(project: Path, repro, capsys):
    opened = open_project(project)
    for name in ("one", "two"):
        make_bundle(project / "papers" / name)
    assert main(["run", "--all"]) == 0
    rubric = project / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace("threshold: 0.05", "threshold: 0.02"))
    assert repro("rescore", "--stale", "--detach").wait(60) == 0
    (launch,) = launches(opened.state)
    assert (launch.what, launch.papers) == ("rescore", ("one", "two"))
    assert main(["rescore", "one", "--detach"]) == 2  # one at a time
    capsys.readouterr()
    assert main(["status"]) == 0
    assert "rescore of 2 papers; `repro logs -f one`" in " ".join(capsys.readouterr().out.split())
    assert main(["logs", "-f"]) == 0
    told = capsys.readouterr().out
    assert "2 of 2  two: " in told and "2 scored again, 0 stood already" in told
    assert launches(opened.state) == ()

    assert repro("sweep", "--all", "--detach", "--at-once", "1").wait(60) == 0
    states = {one.name: one.state for one in launches(opened.state)}
    assert set(states) == {"one@sweep", "two@sweep"} and "waiting" in states.values()
    assert main(["cancel", "two"]) == 0
    assert "Ended sweep of two" in capsys.readouterr().out
    assert main(["logs", "-f", "one"]) == 0
    assert "sweep 1: ok. 2 of 2 claims as before." in capsys.readouterr().out
    until(lambda: "exit code 0" in log_of(opened.state, "one@sweep").read_text())
    assert [(row.paper, row.number) for _, row in swept(opened, "one")] == [("one", 1)]
    assert swept(opened, "two") == ()
    assert main(["sweep", "two", "--number", "1"]) == 0  # the sweep awaits it still
    assert main(["sweep", "two", "--number", "1"]) == 2
