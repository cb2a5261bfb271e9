"""The frozen code runs by its own script, from nothing but the folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from repro_pipeline.agent.submission import complete
from repro_pipeline.agent.trials import implementation_of
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.experiment.load import load_experiments
from repro_pipeline.frozen import digest
from repro_pipeline.paper.address import StatedValue

CODE = """import json, pathlib, sys
config, seed, out = sys.argv[1], sys.argv[2], sys.argv[3]
rate = json.loads(pathlib.Path(config).read_text())["rate"]
pathlib.Path(out, "metrics.json").write_text(json.dumps([rate, int(seed)]))
"""
TEMPLATE = "[python, 'run it.py', '{config}', '{seed}', '{out}']"


def claims() -> ReportedClaims:
    address = StatedValue(value=1.0, quantum=0.1, source="human")
    made = tuple(Claim(id=c, metric="error", value=1.0, address=address) for c in ("a", "b"))
    return ReportedClaims(claims=made, main="a", proposed_by="task.yaml")


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (TEMPLATE, CODE),
        (
            "[python, 'run it.py']",
            CODE.replace("sys.argv[1], sys.argv[2], sys.argv[3]", "sys.argv[2::2]"),
        ),
    ],
    ids=["places", "contract"],
)
def test_the_script_runs_every_experiment_with_every_seed(tmp_path, entry, code):
    folder = tmp_path / "sub mission"
    folder.mkdir()
    (folder / "run it.py").write_text(code)
    (folder / "base.json").write_text('{"rate": 0.5}')
    (folder / "experiment.yaml").write_text(
        f"schema: 1\nentry: {entry}\nexperiments:\n"
        "  - {id: base, claims: [a], config: base.json}\n"
        "  - {id: half, kind: ablation, of: base, change: {rate: 0.25}, claims: [b]}\n"
    )
    spec, experiments = load_experiments(folder, claims())
    made = implementation_of(spec, experiments, claims(), digest("tree"))
    complete(folder, spec, made, b"numpy==2.0\n")
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "python").symlink_to(sys.executable)
    path = {"PATH": f"{binaries}:/usr/bin:/bin"}
    subprocess.run([folder / "reproduce.sh", "3", "4"], cwd="/", env=path, check=True)
    found = {
        str(file.parent.relative_to(folder / "runs")): json.loads(file.read_text())
        for file in Path(folder, "runs").rglob("metrics.json")
    }
    assert found == {
        "base/3": [0.5, 3],
        "base/4": [0.5, 4],
        "half/3": [0.25, 3],
        "half/4": [0.25, 4],
    }
    assert (folder / "requirements.lock").read_bytes() == b"numpy==2.0\n"
    usage = subprocess.run([folder / "reproduce.sh"], env=path, capture_output=True, check=False)
    assert usage.returncode == 2 and b"usage" in usage.stderr
    again, _ = load_experiments(folder, claims())  # what was added breaks nothing
    assert again == spec
