"""`repro split`: from a command to roles that the manifest holds, or one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from repro_pipeline.cli import main
from tests.bundles import make_bundle


@pytest.fixture
def paper(project: Path) -> Path:
    """A paper with a table of ten rows."""
    folder = project / "papers" / "tiny"
    make_bundle(folder)
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "points.csv").write_text("x,y\n" + "1,2\n" * 10)
    task = yaml.safe_load((folder / "task.yaml").read_text())
    task["data"] = [{"name": "points", "path": "data/points.csv"}]
    (folder / "task.yaml").write_text(yaml.safe_dump(task))
    return folder


def test_the_roles_that_are_printed_hold_every_row_once(paper: Path, capsys):
    assert main(["split", "tiny", "points", "--seed", "7", "--train", "0.7", "--test", "0.3"]) == 0
    said = capsys.readouterr().out
    roles = yaml.safe_load(said.partition("\n")[2])["roles"]
    rows = {role: (paper / file).read_text().split() for role, file in roles.items()}
    assert {role: len(found) for role, found in rows.items()} == {"train": 7, "test": 3}
    assert sorted(map(int, rows["train"] + rows["test"])) == list(range(10))
    assert main(["split", "tiny", "points", "--seed", "7", "--train", "0.7", "--test", "0.3"]) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--train", "0", "--test", "1"], "above 0"),
        (["--train", "nan"], "above 0"),
        (["--train", "0.9", "--test", "0.2"], "together at most 1"),
        (["--train", "0.99", "--test", "0.01"], "'test' would have no row of 10"),
        ([], "no share was given"),
    ],
)
def test_shares_that_are_none_are_one_sentence(paper: Path, capsys, options: list[str], said: str):
    assert main(["split", "tiny", "points", "--seed", "7", *options]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in (paper / "data").iterdir()] == ["points.csv"]


def test_data_that_the_task_does_not_name_are_said(paper: Path, capsys):
    assert main(["split", "tiny", "other", "--seed", "7", "--train", "1"]) == 2
    assert "It names: points" in capsys.readouterr().err
