"""`repro add` tells what the files show to be wrong, in the stages' own words."""

from __future__ import annotations

import sys

from repro_pipeline.cli import main
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/unit/imports"))
from foreign import PAPER, write

TASK = """\
claims:
  - {id: noisy-plain, metric: accuracy, unit: percent,
     reported: {table: "Table 1", row: [Noisy], column: [Plain]}}
"""
SEALED = "data: [{name: d, path: data/d.csv, roles: {test: all}, sealed_labels: y.csv}]\n"
SPEC = """\
schema: 1
entry: [python, train.py]
experiments:
  - {id: base, claims: [noisy_plain], config: base.json, time_out: 1h}
"""


def test_each_mistake_is_told_when_the_paper_is_added(project, tmp_path, capsys):
    """Step by step, as a person mends them."""

    def added(name: str, files: dict[str, str]) -> str:
        paper = write(tmp_path / "study", {"paper.md": PAPER, **files})
        assert main(["add", str(paper), "--id", name]) == 0
        assert (project / "papers" / name).is_dir()
        return capsys.readouterr().out

    said = added("one", {"code/experiment.yaml": SPEC})
    assert "Before `repro run one`, mend this:\nWarning: task.yaml: there is no such file" in said
    assert "Warning: papers/one/code/experiment.yaml:4: unknown key" in said
    assert "Did you mean 'timeout'?" in said

    spec = SPEC.replace("time_out", "timeout").replace("noisy_plain", "noisy-plian")
    said = added("two", {"task.yaml": TASK, "code/experiment.yaml": spec})
    assert "names no claims" not in said and said.count("Warning") == 2
    assert (
        "the claim 'noisy-plian', which the task does not name. Did you mean 'noisy-plain'?" in said
    )
    assert "the configuration 'base.json' does not exist." in said

    spec = spec.replace("plian", "plain")
    said = added("three", {"code/experiment.yaml": spec, "code/base.json": "{}"})
    assert "entry: starts 'train.py', which the code folder does not hold." in said

    data = {"data/d.csv": "x,c\n1,a\n2,b\n", "y.csv": "row_id,label\n0,a\n1,b\n"}
    said = added("four", {"code/train.py": "1", "task.yaml": TASK + SEALED, **data})
    assert "Warning: data/d.csv: the column 'c' holds the sealed labels" in said

    said = added("five", {"data/d.csv": "x,c\n1,\n2,\n"})
    assert "Warning" not in said and "Reproduce it with `repro run five`." in said


def test_data_that_a_download_brings_later_are_not_missed(project, tmp_path, capsys):
    download = "download: {command: [python, get.py], allow: [{host: data.test}]}\n"
    data = "data: [{name: d, path: data/d.csv}]\n"
    for name, task, missed in (
        ("now", TASK + data, True),
        ("later", TASK + data + download, False),
    ):
        write(tmp_path / name, {"paper.md": PAPER, "task.yaml": task})
        assert main(["add", str(tmp_path / name)]) == 0
        assert ("Warning" in capsys.readouterr().out) is missed
