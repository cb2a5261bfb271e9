"""Scores that stand beside a later launch which did not get through say so."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro_pipeline.cli import main
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.project import Project
from repro_pipeline.report.later import later_launch
from repro_pipeline.stages import latest, output_of
from tests.bundles import make_bundle


def test_a_later_launch_that_was_cancelled_is_told_beside_the_scores(
    project: Path, opened: Project, capsys: pytest.CaptureFixture
):
    folder = make_bundle(project / "papers" / "tiny", seeds=[1, 2])
    assert main(["run", "tiny"]) == 0
    assert "latest launch" not in capsys.readouterr().out and later_launch(opened, "tiny") is None
    tree = output_of(opened, latest(opened, "tiny", "experiment_ledger"), Evidence).code_tree

    config = json.loads((folder / "code" / "config.json").read_text())
    slow = {**config, "behaviour": "slow", "sleep": 20, "scale": 1.5}
    (folder / "code" / "config.json").write_text(json.dumps(slow))
    command = [sys.executable, "-m", "repro_pipeline.cli", "run", "tiny"]
    launch = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    begun = sum(1 for _ in opened.ledger.events("tiny", kinds={"attempt_started"}))
    while sum(1 for _ in opened.ledger.events("tiny", kinds={"attempt_started"})) == begun:
        assert launch.poll() is None, launch.stderr.read()
        time.sleep(0.1)
    launch.send_signal(signal.SIGINT)
    assert launch.wait(60) == 130

    said = (
        "The latest launch was cancelled in baseline; "
        f"these scores are of an earlier one, of code {tree[:12]}; its code is "
    )
    reports = project / "reports" / "tiny"
    for name in ("report.html", "report.md"):  # written when the launch was cancelled
        assert said in (reports / name).read_text()
    assert main(["report", "tiny"]) == 0
    assert said in capsys.readouterr().out
    assert main(["why", "tiny", "noisy-plain"]) == 0
    assert said in " ".join(capsys.readouterr().out.split())

    # The code as it was: its scores stand again, though the stage of scores writes no row.
    (folder / "code" / "config.json").write_text(json.dumps(config))
    assert main(["run", "tiny"]) == 0
    assert later_launch(opened, "tiny") is None
    assert "latest launch" not in (reports / "report.html").read_text()
