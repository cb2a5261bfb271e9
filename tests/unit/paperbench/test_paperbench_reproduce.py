"""`reproduce.sh` in the real sandbox: what it wrote, by content, and nothing else."""

from __future__ import annotations

import pytest

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.paperbench.judge import by_rule, visible
from repro_pipeline.paperbench.reproduce import reproduce, texts
from repro_pipeline.paperbench.tree import Category, TaskNode
from repro_pipeline.status import Status
from resources.runners import make_runner


@pytest.fixture(scope="module")
def runner():
    try:
        made = make_runner("bubblewrap")
        made.enforcement()
    except SandboxUnavailable as error:
        pytest.skip(f"no sandbox here: {error}")
    return made


@pytest.fixture
def submission(tmp_path):
    folder = tmp_path / "submission"
    (folder / "results").mkdir(parents=True)
    (folder / "main.py").write_text("print('training')\n")
    (folder / "results" / "finished.csv").write_text("accuracy,0.99\n")
    (folder / "results" / "old.csv").write_text("accuracy,0.10\n")

    def with_script(script):
        (folder / "reproduce.sh").write_text(script)
        return folder

    return with_script


def test_only_what_the_run_wrote_is_a_result(submission, runner):
    folder = submission(
        "echo training\n"
        "touch -d '2099-01-01' results/finished.csv\n"  # a new stamp makes no new result
        "cp results/finished.csv /tmp/x && cp /tmp/x results/finished.csv\n"  # nor do the same bytes
        "echo accuracy,0.71 > results/old.csv\n"
        "echo accuracy,0.72 > results/new.csv\n"
        "ln -s finished.csv results/link.csv\n"
    )
    ran = reproduce(folder, runner, seconds=60)
    assert (ran.status, ran.files) == (Status.OK, 2)
    assert ran.written == {
        "results/old.csv": "accuracy,0.71\n",
        "results/new.csv": "accuracy,0.72\n",
    }
    assert "training" in ran.log
    seen = visible(Category.RESULT, texts(folder), ran)
    assert set(seen) == {"results/old.csv", "results/new.csv", "reproduce.sh", "reproduce.log"}
    # The submission itself is as it was.
    assert (folder / "results" / "old.csv").read_text() == "accuracy,0.10\n"
    assert not (folder / "results" / "new.csv").exists()


def test_a_script_that_fails_or_runs_too_long_is_said_so(submission, runner):
    failed = reproduce(submission("echo no; exit 3\n"), runner, seconds=60)
    assert (failed.status, failed.files) == (Status.FAILED, 0)
    leaf = TaskNode(id="r", requirements="", weight=1, task_category=Category.RESULT)
    assert by_rule(leaf, script=True, reproduced=failed)["$"].score == 0
    late = reproduce(submission("sleep 60\n"), runner, seconds=1)
    assert late.status is Status.TIMED_OUT


def test_there_must_be_a_script(tmp_path, runner):
    with pytest.raises(UserError, match=r"no reproduce\.sh"):
        reproduce(tmp_path, runner, seconds=1)
