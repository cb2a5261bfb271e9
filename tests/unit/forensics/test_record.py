"""The hook in a real Python, and what its record shows."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
from forensic_cases import kinds

from repro_pipeline.forensics import deeds
from repro_pipeline.forensics.record import FOLDER, HOOK, collect, parse, prepare, variables

ESTIMATOR = """
class BaseEstimator:
    pass
"""
MODEL = """
import numpy as np
from sklearn.base import BaseEstimator

class Mean(BaseEstimator):
    def fit(self, X, y):
        self.first = y[0]
        return self
    def predict(self, X):
        return np.full(len(X), self.first)
"""


def recorded(tmp_path, code, mode=""):
    """Run code under the hook; its record and what it printed."""
    work = tmp_path / "work"
    (work / "sklearn").mkdir(parents=True)
    (work / "sklearn" / "__init__.py").write_text("")
    (work / "sklearn" / "base.py").write_text(ESTIMATOR)
    (work / "model.py").write_text(MODEL)
    (work / "run.py").write_text(code)
    prepare(work, mode)
    environment = {"PATH": os.environ["PATH"], **variables(str(HOOK.source), str(work / FOLDER))}
    done = subprocess.run(
        [sys.executable, "run.py"],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return parse(collect(work)), done.stdout, work


def judged(record, work, data=(), split=True):
    places = {name: name for name in data}
    return kinds(
        deeds.findings([record], places, work=str(work), out=str(work / "out"), split=split)
    )


def test_what_the_code_does_is_written_down(tmp_path):
    code = (
        "import os, time, subprocess\n"
        "open('in.txt', 'w').close()\nopen('in.txt').read()\n"
        "os.environ.get('SECRET')\ntime.sleep(0.05)\nsubprocess.run(['true'])\n"
    )
    record, _, work = recorded(tmp_path, code)
    seen = {(e.event, e.about.rsplit("/", 1)[-1]): e.where for e in record.entries}
    assert seen["read", "in.txt"] == "run.py:3"
    assert seen["write", "in.txt"] == "run.py:2"
    assert ("environ", "SECRET") in seen
    assert record.slept == pytest.approx(0.05, abs=0.02)
    assert any(e.event == "subprocess.Popen" for e in record.entries)
    assert (record.processes, record.ended) == (1, 1)
    assert not (work / FOLDER / "mode").exists()


def test_a_library_import_is_not_the_codes_deed(tmp_path):
    record, _, _ = recorded(tmp_path, "import json, csv, email\n")
    assert [e for e in record.of("read", "environ")] == []


@pytest.mark.parametrize(
    ("code", "kind", "severity"),
    [
        ("try: open('../task.yaml')\nexcept OSError: pass", "reads_answers", "violation"),
        (
            "try: open('runs/main/0/metrics.json')\nexcept OSError: pass",
            "reads_earlier_results",
            "suspect",
        ),
        ("import shutil, os\nshutil.rmtree(os.environ['RUN_RECORD'])", "handles_grader", "suspect"),
        ("import os\nos.listdir(os.environ['RUN_RECORD'])", "handles_grader", "unverified"),
        ("import time\ntime.sleep(1.2)", "sleeps", "unverified"),
        ("import sys\nsys.settrace(None)", "traces_itself", "unverified"),
        (
            "import socket\ntry: socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError: pass",
            "asks_network",
            "unverified",
        ),
    ],
)
def test_deeds(tmp_path, code, kind, severity):
    record, _, work = recorded(tmp_path, code)
    found = judged(record, work)
    if record.processes:
        assert found[kind] in {severity, "violation"}
    else:
        assert found == {"no_record": "unverified"}


def test_rows_that_were_fitted_are_known(tmp_path):
    code = (
        "import numpy as np\nfrom model import Mean\nX, y = np.random.rand(20, 2), np.arange(20)\n"
    )
    own, _, work = recorded(tmp_path, code + "Mean().fit(X, y).predict(X)\n")
    assert judged(own, work) == {"tested_on_training_rows": "suspect"}
    assert judged(own, work, split=False) == {"tested_on_training_rows": "unverified"}
    held, _, work = recorded(tmp_path / "2", code + "Mean().fit(X[:10], y[:10]).predict(X[10:])\n")
    assert judged(held, work) == {}


def test_many_models_do_not_hide_what_is_done_after_them(tmp_path):
    code = (
        "import numpy as np\nfrom model import Mean\nX, y = np.random.rand(20, 2), np.arange(20)\n"
        "for _ in range(5000): Mean().fit(X[:10], y[:10]).predict(X[10:])\n"
        "try: open('../task.yaml')\nexcept OSError: pass\n"
    )
    record, _, work = recorded(tmp_path, code)
    assert len(list(record.of("fit", "predict"))) == 100, (
        "an ensemble's are looked at to begin with"
    )
    assert judged(record, work) == {"reads_answers": "violation"}


def test_a_record_that_is_full_says_so(tmp_path):
    code = "for n in range(5000): open(f'{n}.txt', 'w').close()\n"
    record, _, work = recorded(tmp_path, code)
    assert judged(record, work) == {"record_full": "unverified"}


def test_labels_are_permuted_at_the_fit_when_asked(tmp_path):
    code = "import numpy as np\nfrom model import Mean\nnp.random.seed(1)\nX, y = np.random.rand(20, 2), np.arange(20)\nprint(Mean().fit(X, y).predict(X)[0], np.random.rand())\n"
    _, plain, _ = recorded(tmp_path, code)
    _, again, _ = recorded(tmp_path / "2", code)
    _, changed, _ = recorded(tmp_path / "3", code, mode="labels")
    assert plain == again
    assert plain.split()[0] != changed.split()[0]
    assert plain.split()[1] == changed.split()[1], "the code's own random numbers are left alone"


def test_a_record_is_not_trusted(tmp_path):
    work = tmp_path / "work"
    (work / FOLDER).mkdir(parents=True)
    (work / FOLDER / "1").write_text(
        '["read", "a", "b"]\nnonsense\n[1, 2]\n{"a": 1}\n["end", {"slept": -5}, null]\n'
    )
    (work / FOLDER / "2").symlink_to("/etc/passwd")
    record = parse(collect(work))
    assert [e.about for e in record.entries] == ["a"]
    assert record.slept == 0


def test_rows_are_told_apart_by_all_their_bytes():
    place = HOOK.source / "sitecustomize.py"
    spec = importlib.util.spec_from_file_location("hook", place)
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    numbers = np.random.default_rng(1).integers(0, 2, (40, 5))
    for given in (
        numbers,
        numbers.astype(float).T,
        numbers[:, 0] / 3,
        numbers.reshape(10, 4, 5).astype("float32"),
        numbers.astype(str),
        numbers[:, ::2] > 0,
        np.array([[0.0], [-0.0], [np.nan]]),
        np.empty((0, 5)),
        np.empty((3, 0)),
    ):
        found = hook._Estimators(None).rows(given)
        assert found == {row.tobytes() for row in np.ascontiguousarray(given)}
    texts = np.array([["a", 1], ["a", 1], ["b", None]], dtype=object)
    assert len(hook._Estimators(None).rows(texts)) == 2
