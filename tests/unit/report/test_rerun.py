"""`reproduce.py` of an export, alone in a folder: places of a command, inputs, time, and what fails."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repro_pipeline.report.export import rerun

CODE = """
import json, pathlib, sys, time
config, seed, out, data = sys.argv[1:5]
settings = json.loads(pathlib.Path(config).read_text())
time.sleep(settings.get("sleep", 0))
assert settings["data"]["rows"] == data
pathlib.Path("scratch").write_text("the copy is writable")
value = settings["add"] + len(pathlib.Path(data).read_text().split())
metrics = {"metrics": [{"claim": "count", "value": value}]}
if settings.get("leave", True):
    pathlib.Path(out, "metrics.json").write_text(json.dumps(metrics))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(rerun.__file__, tmp_path / "reproduce.py")
    for name in ("code", "data", "environment"):
        (tmp_path / name).mkdir()
    (tmp_path / "code" / "run.py").write_text(CODE)
    (tmp_path / "data" / "rows.csv").write_text("a b c")
    return tmp_path


def plan(folder: Path, *, seeds: list, reads: str = "metrics.json", **config: object) -> None:
    content = {
        "command": ["{python}", "run.py", "{config}", "{seed}", "{out}", "{data.rows}"],
        "experiments": [
            {
                "id": "main",
                "claims": ["count"],
                "config": {"add": 1, **config},
                "timeout": 5 if "sleep" not in config else 0.5,
            }
        ],
        "seeds": seeds,
        "variables": {"PYTHONHASHSEED": "0"},
        "data": [
            {
                "name": "rows",
                "file": "rows.csv",
                "sha256": hashlib.sha256(b"a b c").hexdigest(),
                "private": False,
            }
        ],
        "reads": reads,
        "values": {"main": {"1": {"count": 4}, "2": {"count": 5}}},
    }
    (folder / "environment" / "runs.json").write_text(json.dumps(content))


def run(folder: Path, *seeds: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, "reproduce.py", *seeds],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_values_stand_beside_those_on_record(folder: Path):
    plan(folder, seeds=[1, 2])
    assert run(folder) == (
        0,
        [
            "main, 1: count: 4, as recorded",
            "main, 2: count: 4, recorded 5",
            "Every run ended well.",
        ],
    )
    assert run(folder, "7")[1][0] == "main, 7: count: 4, none on record for this seed"
    assert not (folder / "code" / "scratch").exists()


def test_code_without_a_seed_runs_once(folder: Path):
    plan(folder, seeds=[None])
    assert run(folder)[1][0].startswith("main, unseeded: count: 4")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"leave": False}, "left no readable metrics.json"),
        ({"add": "x"}, "exit status 1"),
        ({"sleep": 30}, "it took longer than 0.5 s"),
    ],
)
def test_what_fails_is_told_and_counts(folder: Path, config: dict, said: str):
    plan(folder, seeds=[1], **config)
    status, lines = run(folder)
    assert status == 1 and "FAILED" in lines[0] and said in lines[0]
    assert lines[-1] == "1 runs FAILED."


def test_values_that_are_read_otherwise_are_not_compared(folder: Path):
    plan(folder, seeds=[1], reads="from its own output, as task.yaml says", leave=False)
    status, lines = run(folder)
    assert status == 0 and "read otherwise" in lines[0]


def test_an_input_that_is_gone_or_another_stops_it(folder: Path):
    plan(folder, seeds=[1])
    (folder / "data" / "rows.csv").write_text("d e f")
    status, lines = run(folder)
    assert status == 2 and "is not the input that was used" in lines[0]
    (folder / "data" / "rows.csv").unlink()
    status, lines = run(folder)
    assert status == 2 and "The input 'rows' is missing" in lines[0]
