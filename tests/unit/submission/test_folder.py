"""Reading a submission's folder, as people and programs leave it."""

from __future__ import annotations

import json

import pytest

from repro_pipeline.errors import BundleError, FileFormatError
from repro_pipeline.experiment.seeds import submission_seeds
from repro_pipeline.submission.folder import copy_code, open_submission


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "submission"
    run = made / "runs" / "main" / "7"
    run.mkdir(parents=True)
    (made / "experiment.yaml").write_text("schema: 1\n")
    (made / "run.py").write_text("print(1)\n")
    (made / ".git").mkdir()
    (made / ".git" / "x").write_text("")
    (run / "metrics.json").write_text('{"metrics": [{"claim": "a", "value": 1.5}]}')
    (run / "log.txt").write_text("hello\n")
    return made


def test_runs_and_logs_are_read(folder):
    (run,) = open_submission(folder).runs
    assert (run.experiment, run.seed, run.values, run.log) == ("main", 7, {"a": 1.5}, "hello\n")
    assert open_submission(folder).attempts is None


@pytest.mark.parametrize(
    "text", ["{", '{"metrics": 3}', '{"metrics": [{"claim": "a", "value": NaN}]}', "[]"]
)
def test_a_run_that_says_nothing_says_why(folder, text):
    (folder / "runs/main/7/metrics.json").write_text(text)
    (run,) = open_submission(folder).runs
    assert run.values == {}
    assert run.fault


def test_folders_that_are_no_run_are_told(folder):
    for name in ("main/007", "main/seed-3", "other", "main/.cache", "__pycache__", "extra/5"):
        (folder / "runs" / name).mkdir(parents=True)
    said = open_submission(folder)
    assert [run.name for run in said.runs] == ["runs/extra/5", "runs/main/7"]
    assert said.no_runs == ("runs/main/007", "runs/main/seed-3", "runs/other")


def test_a_folder_beside_the_runs_of_an_experiment_is_one_only_where_it_may_be(folder):
    for name in ("plots/deep", "old/first", "kept", "run2"):
        (folder / "runs/main" / name).mkdir(parents=True)
    (folder / "runs/main/plots/deep/curve.png").write_bytes(b"png")
    (folder / "runs/main/old/first/metrics.json").write_text("{}")
    (folder / "runs/main/kept/log").write_text("seed 9")
    (folder / "runs/main/7/plots").mkdir()
    said = open_submission(folder)
    assert [run.name for run in said.runs] == ["runs/main/7"]
    assert said.no_runs == ("runs/main/kept", "runs/main/old", "runs/main/run2")


def test_attempts(folder):
    lines = [
        {
            "experiment": "main",
            "seed": 7,
            "status": "ok",
            "started_at": "2026-01-01T10:00:00",
            "finished_at": "2026-01-01T10:00:05",
        },
        {"experiment": "main", "seed": 8, "status": "failed", "reason": "killed", "extra": 1},
        {
            "experiment": "main",
            "seed": None,
            "status": "ok",
            "purpose": "debug",
            "metrics": {"a": 2},
        },
    ]
    (folder / "attempts.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    first, second, third = open_submission(folder).attempts
    assert first.seconds == 5
    assert second.reason == "killed"
    assert (third.reported, third.values) == (False, {"a": 2.0})


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"seed": 1, "status": "ok"}',
        '{"experiment": "m", "seed": "x", "status": "ok"}',
        '{"experiment": "m", "seed": 1, "status": "fine"}',
    ],
)
def test_a_bad_attempt_names_its_line(folder, line):
    (folder / "attempts.jsonl").write_text(
        '{"experiment": "m", "seed": 1, "status": "ok"}\n' + line
    )
    with pytest.raises(FileFormatError, match=r"attempts\.jsonl:2"):
        open_submission(folder)


def test_the_code_is_copied_without_what_is_claimed(folder, tmp_path):
    copy_code(folder, tmp_path / "code")
    names = sorted(path.name for path in (tmp_path / "code").rglob("*"))
    assert names == ["experiment.yaml", "run.py"]


def test_links_do_not_leave_the_submission(folder, tmp_path):
    (folder / "secret").symlink_to("/etc/passwd")
    with pytest.raises(BundleError, match="leaves the submission"):
        copy_code(folder, tmp_path / "code")


def test_what_is_no_submission(tmp_path):
    with pytest.raises(BundleError, match="no such submission"):
        open_submission(tmp_path / "none")
    with pytest.raises(BundleError, match=r"experiment\.yaml"):
        open_submission(tmp_path)


def test_seeds_are_those_of_nobody():
    seeds = submission_seeds(b"secret", "a" * 64, count=6, known={0, 1, 2})
    assert len(set(seeds)) == 6
    assert not set(seeds) & {0, 1, 2}
    assert sum(seed < 1000 for seed in seeds) >= 2, "small ones, as people choose"
    assert max(seeds) < 10**6
    assert seeds != submission_seeds(b"other", "a" * 64, count=6)
    assert submission_seeds(b"secret", "a" * 64, count=3, known={0, 1, 2}) == seeds[:3]
