"""Whole pipeline runs that are killed at random moments, and two at once on one paper."""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from pathlib import Path

from benchmarks.kills import check, kill_and_go_on
from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.ledger.projections import attempts
from resources.opening import open_project
from tests.bundles import make_bundle

KILLS = 15


def test_kill_9_of_whole_runs_loses_nothing_and_repeats_nothing(tmp_path: Path):
    """The checks are `benchmarks/kills.py`'s, which does it hundreds of times."""
    seed = int(os.environ.get("REPRO_KILLS_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
    print(f"kills: {KILLS}, seed: {seed} (set REPRO_KILLS_SEED to repeat the draws)")
    tally = kill_and_go_on(tmp_path, KILLS, seed)
    assert tally.kills == KILLS
    assert len(tally.during) > 1, "all kills fell on one kind of moment"


def test_two_pipelines_on_one_paper_do_the_work_once(project: Path, repro):
    make_bundle(
        project / "papers" / "tiny", seeds=[1, 2, 3], behaviour="slow", settings={"sleep": 0.5}
    )
    both: list[subprocess.Popen] = [repro("run", "tiny") for _ in range(2)]
    outputs = [process.communicate(timeout=240)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert sum("waiting" in output for output in outputs) == 1
    assert sum("nothing was done for them" in output for output in outputs) == 1
    opened = open_project(project)
    events = list(opened.ledger.stored("tiny"))
    assert verify_chain("tiny", events) == ()
    tried = attempts(opened.ledger.events("tiny"))
    assert Counter(attempt.purpose for attempt in tried)["eval"] == 3
    assert {attempt.number for attempt in tried} == {1}
    check(opened, 0)
