"""Timeouts of stages, and retries of what may pass by itself."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import assets.paper_bundle
import assets.stage  # noqa: F401
from repro_pipeline.cli import main
from repro_pipeline.errors import ServiceError
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.ledger.runs import RunSet
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import Status
from tests.bundles import make_bundle

paper_bundle_module = sys.modules["assets.paper_bundle"]
stage_module = sys.modules["assets.stage"]


def configure(project, text: str) -> None:
    with (project / "repro.yaml").open("a") as file:
        file.write(text)


@contextmanager
def ring_once(condition) -> Iterator[None]:
    """Let the process's alarm ring as soon as the condition holds, whatever the clock says."""
    over = threading.Event()

    def watch() -> None:
        while not condition():
            if over.wait(0.05):
                return
        os.kill(os.getpid(), signal.SIGALRM)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_stage_over_its_time_ends_with_its_runs_and_says_so(project, opened, capsys):
    settings = {"from_seed": 2}  # seeds 0 and 1 end, 2 never does
    make_bundle(
        project / "papers" / "tiny", behaviour="hang", settings=settings, seeds=list(range(200))
    )
    configure(project, "timeouts: {baseline: 1h}\nworkers: 1\n")

    def third_began() -> bool:
        begun = opened.ledger.events("tiny", kinds={"attempt_started"})
        return any(e.content.purpose == "eval" and e.content.seed == 2 for e in begun)

    with ring_once(third_began):
        assert main(["run", "tiny"]) == 2
    assert "longest time" in capsys.readouterr().out
    row = latest(opened, "tiny", "baseline")
    assert row.status is Status.TIMED_OUT
    assert "3600 seconds" in row.reason.sentence and "timeouts: {baseline" in row.reason.sentence
    tried = [a for a in attempts(opened.ledger.events("tiny")) if a.purpose == "eval"]
    assert [a.status for a in tried] == [Status.OK, Status.OK, Status.CANCELLED]
    assert len(output_of(opened, row, RunSet).runs) == len(tried)  # what was run stands
    assert latest(opened, "tiny", "report") is not None


def test_a_stage_is_given_its_time_by_the_clock(project, opened):
    make_bundle(project / "papers" / "tiny", behaviour="hang", seeds=[1])
    configure(project, "timeouts: {baseline: 1s}\n")
    assert main(["run", "tiny"]) == 2
    assert latest(opened, "tiny", "baseline").status is Status.TIMED_OUT


def test_an_unknown_stage_in_timeouts_is_an_error(project, capsys):
    configure(project, "timeouts: {basline: 2s}\n")
    assert main(["run", "tiny"]) == 2
    assert "basline" in capsys.readouterr().err


@pytest.fixture
def failing(monkeypatch):
    """Let the first stage fail a number of times; what is returned lists its tries."""
    monkeypatch.setattr(stage_module, "PAUSE", 0.01)
    real, tried = paper_bundle_module.open_bundle, []

    def fail(times: int, *, transient: bool) -> list[int]:
        def open_bundle(folder):
            tried.append(len(tried))
            if len(tried) <= times:
                raise ServiceError("the service is busy.", transient=transient)
            return real(folder)

        monkeypatch.setattr(paper_bundle_module, "open_bundle", open_bundle)
        return tried

    return fail


def test_what_may_pass_by_itself_is_tried_again_and_its_failures_stay(project, opened, failing):
    make_bundle(project / "papers" / "tiny")
    tried = failing(2, transient=True)
    assert main(["run", "tiny", "--stage", "parsed_paper"]) == 0
    assert len(tried) == 3
    rows = [
        event.content.status
        for event in opened.ledger.events("tiny", kinds={"stage_finished"})
        if event.content.stage == "paper_bundle"
    ]
    assert rows == [Status.FAILED, Status.OK]  # the same failure twice in a launch is one row
    assert latest(opened, "tiny", "parsed_paper").status is Status.OK


def test_it_is_not_tried_for_ever(project, opened, failing):
    make_bundle(project / "papers" / "tiny")
    tried = failing(100, transient=True)
    main(["run", "tiny", "--stage", "parsed_paper"])
    assert len(tried) == 1 + stage_module.RETRIES
    assert latest(opened, "tiny", "paper_bundle").status is Status.FAILED
    assert latest(opened, "tiny", "parsed_paper").status is Status.BLOCKED


def test_what_needs_mending_is_not_tried_again(project, opened, failing):
    make_bundle(project / "papers" / "tiny")
    tried = failing(1, transient=False)
    main(["run", "tiny", "--stage", "parsed_paper"])
    assert len(tried) == 1
    assert latest(opened, "tiny", "paper_bundle").status is Status.FAILED
