"""A notebook as given code: run in its own environment in the sandbox, its cells' texts mapped to claims."""

from __future__ import annotations

import json
import sys

import pytest

from repro_pipeline.cli import main
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.forensics.record import parse
from repro_pipeline.ledger.projections import runs
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import Status
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/unit/imports"))
from foreign import PAPER, write
from notebooks import notebook

TASK = """schema: 1
seeds: [3, 4]
code: {notebook: study.ipynb}
claims:
  - {id: noisy-plain, metric: error, unit: percent, direction: lower, key: true,
     reported: {table: "Table 1", row: [Noisy], column: [Plain]}}
  - {id: noisy-shrunk, metric: error, unit: percent, direction: lower,
     reported: {table: "Table 1", row: [Noisy], column: [Shrunk]}}
outputs:
  - {claim: noisy-plain, file: cells/3.txt, regex: "error: (.*)"}
  - {claim: noisy-shrunk, file: shrunk.json, json: $.error}
"""
CELLS = (
    "%lsmagic\n!echo from the shell\nlisted = !echo {1 + 1}\nassert listed == ['2']\n"
    "import json, packaging",
    ("parameters", "seed = 0\nout = '.'"),
    "print('error:', 10 + seed / 100)\nseed",
    "import pathlib\npathlib.Path(out, 'shrunk.json').write_text(json.dumps({'error': 20.0}))",
)


@pytest.fixture
def study(tmp_path):
    """A paper whose code is a notebook that needs nothing but what it imports."""
    files = {"paper.md": PAPER, "task.yaml": TASK}
    files["code/study.ipynb"] = notebook(*CELLS)
    return write(tmp_path / "study", files)


def tagged_and_stored(text: str) -> str:
    """The notebook with other tags: a heading's as of parameters, a failing cell's, a skipped one's."""
    value = json.loads(text)
    value["cells"][0]["metadata"] = {"tags": ["parameters"]}
    value["cells"][1]["metadata"] = {"tags": ["raises-exception"]}
    value["cells"][1]["source"] += "\nraise ValueError('as tagged')  # of which error: 10.0"
    value["cells"].append(
        {
            "cell_type": "code",
            "execution_count": 9,
            "metadata": {"tags": ["skip-execution"]},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["stored: 10.0"]}],
            "source": ["print('stored:', 10.0)"],
        }
    )
    return json.dumps(value)


def test_a_notebook_is_run_with_each_seed(project, opened, study):
    """Whatever its headings are tagged; and what lay in it stored is not in what ran."""
    write(study, {"code/study.ipynb": tagged_and_stored(notebook(*CELLS))})
    assert main(["add", str(study)]) == 0
    assert main(["run", "study", "--stage", "baseline"]) == 0
    made = output_of(opened, latest(opened, "study", "implementation"), Implementation)
    assert made.seeded and made.command[:3] == ("python", "run_notebook.py", "study.ipynb")
    evaluated = [one for one in runs(opened.ledger.events("study")) if one.purpose == "eval"]
    assert {run.seed: run.counted.values for run in evaluated} == {
        seed: {"noisy-plain": 10 + seed / 100, "noisy-shrunk": 20.0} for seed in (3, 4)
    }
    (counted,) = [run.counted for run in evaluated if run.seed == 3]
    assert {"executed.ipynb", "cells/1.txt", "cells/3.txt"} <= counted.outputs.keys()
    assert "error: 10.03" in opened.store.get(counted.log).decode()
    written = parse(opened.store.get(counted.record)).of("write")
    assert ("/out/shrunk.json", "study.ipynb, cell 4:2") in {(e.about, e.where) for e in written}
    first = opened.store.get(counted.outputs["cells/1.txt"]).decode()
    assert "from the shell" in first and first.endswith("ValueError: as tagged\n")
    assert "error: 10.0" not in first
    ran = json.loads(opened.store.get(counted.outputs["executed.ipynb"]))
    assert ran["cells"][-1]["outputs"] == [] and "cells/5.txt" not in counted.outputs
    (assumed,) = [
        one.content.assumption
        for one in opened.ledger.events("study")
        if one.kind == "assumption_recorded" and one.content.assumption.id == "notebook-kernel"
    ]
    assert "ipykernel " in assumed.value and "nbclient " in assumed.value


def test_a_failing_cell_is_named(project, opened, study):
    cells = ("x = 1", "\n# the fit\ny = x / 0", "print('error: 1')")
    write(study, {"code/study.ipynb": notebook(*cells)})
    assert main(["add", str(study)]) == 0
    main(["run", "study", "--stage", "baseline"])
    failed = [one.counted for one in runs(opened.ledger.events("study"))]
    assert failed and all(one.status is Status.FAILED for one in failed)
    assert failed[0].reason.code == "exception:ZeroDivisionError"
    assert (
        failed[0].reason.sentence == "ZeroDivisionError: in cell 2, `# the fit`: division by zero"
    )


@pytest.mark.slow
def test_a_notebook_is_read_for_what_gives_its_values(project, opened, study):
    """Its findings name cell and line; what its cells read is written down like any code's."""
    cells = (
        "import random",
        ("parameters", "seed = 0\nout = '.'"),
        "import json\nlisted = json.load(open('notes.json'))\nbase = 10.25\n"
        "print('error:', base + random.Random(seed).gauss(0, 0.01))",
        "import pathlib\npathlib.Path(out, 'shrunk.json').write_text('{\"error\": 20.0}')",
    )
    paper = PAPER.replace("10.0", "10.2")
    files = {"code/study.ipynb": notebook(*cells), "code/notes.json": "{}", "paper.md": paper}
    write(study, files)
    assert main(["add", str(study)]) == 0
    assert main(["run", "study", "--stage", "integrity"]) == 0
    evidence = output_of(opened, latest(opened, "study", "integrity"), IntegrityEvidence)
    told = {one.kind: one for one in evidence.found}
    assert told["constant_metric"].evidence.startswith("study.ipynb, cell 3, line 4: ")
    record = next(one for one in runs(opened.ledger.events("study")) if one.purpose == "eval")
    read = parse(opened.store.get(record.counted.record)).of("read")
    assert ("/work/notes.json", "study.ipynb, cell 3:2") in {(e.about, e.where) for e in read}
