"""`repro score` on small submissions, from the command to the sandbox."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
import yaml

from repro_pipeline.cli import main
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.status import Status
from resources.opening import open_project

PAPER = """# A nearest centre

## Results

Table 1: Accuracy (%).

| Data  | Centre |
|-------|--------|
| Blobs | 83.6   |

## References

[1] A. Author. A centre. 1999.
"""
READ = """
import argparse, csv, json, pathlib, random

parser = argparse.ArgumentParser()
for name in ("--config", "--seed", "--out"):
    parser.add_argument(name)
options = parser.parse_args()
config = json.loads(pathlib.Path(options.config).read_text())
rng = random.Random(int(options.seed))

def load(name):
    rows = list(csv.reader(open(config["data"][name])))[1:]
    return [[float(cell) for cell in row[:-1]] for row in rows], [row[-1] for row in rows]
"""
COMPUTE = """
rows, labels = load("train")
chosen = rng.sample(range(len(rows)), int(config["share"] * len(rows)))

def centre(label):
    mine = [rows[n] for n in chosen if labels[n] == label]
    return [sum(column) / len(mine) for column in zip(*mine)]

centres = {label: centre(label) for label in sorted(set(labels))}

def nearest(row):
    return min(centres, key=lambda label: sum((a - b) ** 2 for a, b in zip(row, centres[label])))

inputs, truth = load("test")
value = 100 * sum(nearest(x) == y for x, y in zip(inputs, truth)) / len(truth)
"""
INVENT = "value = 83.6 + rng.gauss(0, 0.4)\n"
SEEN = COMPUTE.replace('rows, labels = load("train")', 'rows, labels = load("test")').replace(
    "return min(", "return labels[rows.index(row)] if row in rows else min("
)
CHOSEN = COMPUTE.replace(
    "value = 100 *",
    """def right(shift):
    moved = [[a + shift for a in row] for row in inputs]
    return sum(nearest(x) == y for x, y in zip(moved, truth))

best = max((step / 10 for step in range(-8, 9)), key=right)
inputs = [[a + best for a in row] for row in inputs]
value = 100 *""",
)
WRITE = """
print("accuracy", round(value, 2))
metrics = {"metrics": [{"claim": "centre-accuracy", "value": value}]}
(pathlib.Path(options.out) / "metrics.json").write_text(json.dumps(metrics))
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "blobs"
    (folder / "data").mkdir(parents=True)
    rng = random.Random(3)
    for name, count in (("train", 240), ("test", 200)):
        with (folder / "data" / f"{name}.csv").open("w", newline="") as stream:
            out = csv.writer(stream)
            out.writerow(["x", "y", "label"])
            for n in range(count):
                out.writerow(
                    [
                        round(rng.gauss(1.4 * (n % 2), 1), 3),
                        round(rng.gauss(1.4 * (n % 2), 1), 3),
                        "ab"[n % 2],
                    ]
                )
    claim = {
        "id": "centre-accuracy",
        "metric": "accuracy",
        "unit": "percent",
        "direction": "higher",
        "reported": {"table": "Table 1", "row": ["Blobs"], "column": ["Centre"]},
    }
    data = [
        {"name": "train", "path": "data/train.csv", "roles": {"train": "all"}},
        {"name": "test", "path": "data/test.csv", "roles": {"test": "all"}},
    ]
    (folder / "paper.md").write_text(PAPER)
    (folder / "task.yaml").write_text(yaml.safe_dump({"claims": [claim], "data": data}))
    return folder


def submission(folder: Path, code: str, claimed: dict[int, float] | None = None, more=()) -> Path:
    folder.mkdir()
    main = {"id": "main", "claims": ["centre-accuracy"], "config": "config.json"}
    spec = {"schema": 1, "entry": ["python", "experiment.py"], "experiments": [main, *more]}
    (folder / "experiment.yaml").write_text(yaml.safe_dump(spec))
    (folder / "config.json").write_text('{"share": 0.5}')
    (folder / "experiment.py").write_text(READ + code + WRITE)
    for seed, value in (claimed or {}).items():
        run = folder / "runs" / "main" / str(seed)
        run.mkdir(parents=True)
        metrics = {"metrics": [{"claim": "centre-accuracy", "value": value}]}
        (run / "metrics.json").write_text(json.dumps(metrics))
    return folder


@pytest.fixture
def scored(bundle, tmp_path, environments, monkeypatch, capsys):
    """Score a submission, with more experiments beside the main one: its parsed result."""
    cache = tmp_path / "cache"
    (cache / "repro-pipeline").mkdir(parents=True)
    (cache / "repro-pipeline" / "environments").symlink_to(environments)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def run(code: str, claimed: dict[int, float] | None = None, *options: str, more=()) -> dict:
        folder = submission(tmp_path / "submission", code, claimed, more)
        capsys.readouterr()
        places = ["--bundle", str(bundle), "--submission", str(folder)]
        assert main(["score", *places, "--json", "--seeds", "4", *options]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def kinds(result: dict) -> dict[str, str]:
    return {one["kind"]: one["severity"] for one in result["integrity"]["findings"]}


def test_an_honest_submission_is_clean(scored, tmp_path):
    kept = tmp_path / "kept"
    result = scored(COMPUTE, None, "--keep", str(kept))
    grave = [f for f in result["integrity"]["findings"] if f["severity"] != "info"]
    assert [f["kind"] for f in grave] == ["self_evaluated"], grave
    (claim,) = result["claims"]
    assert claim["n"] == claim["planned"] == 4
    assert claim["reported"] == 83.6
    assert result["dimensions"]["environment_parity"]["outcome"] == "pass"
    assert not set(result["seeds"]) & {0, 1, 2}
    assert (kept / ".repro" / "ledger.sqlite").is_file()
    checks = {c["id"]: c["outcome"] for c in result["dimensions"]["no_leakage"]["checks"]}
    assert checks["code"] == "pass"
    assert checks["duplicates"] == "pass"


@pytest.mark.parametrize("option", ["--runner=unsafe_local", "--unsafe-local", "--config"])
def test_a_submission_that_ran_without_a_sandbox_is_marked(scored, tmp_path, option, capsys):
    (tmp_path / "repro.yaml").write_text("{schema: 1, runner: unsafe_local, seeds: 9}\n")
    given = [option, str(tmp_path / "repro.yaml")] if option == "--config" else [option]
    result = scored(COMPUTE, None, *given)
    assert result["runner"] == "unsafe_local"
    assert "no_sandbox" in kinds(result)
    assert len(result["seeds"]) == 4, "what --config says of more than the execution counts"


def test_an_invented_value_with_noise_is_a_violation(scored):
    result = scored(INVENT, {0: 83.2})
    found = kinds(result)
    assert found["constant_metric"] == "violation"
    assert found["follows_constant"] == "violation"
    assert found["data_ignored"] == "unverified"
    assert result["overall"] == "fail"


def test_a_model_that_has_seen_the_test_labels_is_a_violation(scored):
    result = scored(SEEN)
    assert kinds(result)["labels_do_not_matter"] in {"suspect", "violation"}
    assert result["dimensions"]["no_leakage"]["outcome"] == "fail"


def test_a_choice_on_the_test_labels_is_suspect(scored):
    result = scored(CHOSEN)
    assert kinds(result)["test_labels_used"] == "suspect"
    assert result["dimensions"]["no_leakage"]["outcome"] == "fail"


def test_claimed_values_that_are_not_those_of_the_code(scored):
    result = scored(COMPUTE, {0: 99.0, 1: 98.5, 2: 99.5})
    assert kinds(result)["claimed_not_reproduced"] == "violation"
    assert result["claims"][0]["claimed"] == {"0": 99.0, "1": 98.5, "2": 99.5}
    assert 70 < result["claims"][0]["value"] < 95, "the verdict rests on the grader's own runs"


def test_an_assumption_of_the_submission_itself_is_tried(scored, tmp_path):
    """Whoever wrote the code chose what the paper leaves open; no task could have named it."""
    smaller = {
        "id": "smaller-share",
        "kind": "sensitivity",
        "of": "main",
        "assumption": "share",
        "change": {"share": 0.1},
        "claims": ["centre-accuracy"],
    }
    kept = tmp_path / "kept"
    result = scored(COMPUTE, None, "--keep", str(kept), more=[smaller])
    (claim,) = result["claims"]
    assert claim["n"] == 4
    ledger = open_project(kept).ledger
    tried = [a for chain in ledger.chains() for a in attempts(ledger.events(chain))]
    assert "smaller-share" in {a.experiment for a in tried if a.status is Status.OK}


def test_code_that_fails_is_a_result(scored):
    result = scored("raise ValueError('the centre is lost')\n")
    assert [claim["verdict"] for claim in result["claims"]] == ["not_run"]
    assert result["integrity"]["status"] == "unverified"


def test_an_error_names_the_files_that_were_given(bundle, tmp_path, capsys):
    folder = submission(tmp_path / "submission", COMPUTE)
    places = ["--bundle", str(bundle), "--submission", str(folder)]
    (folder / "experiment.yaml").write_text("schema: 1\nentry: 3\n")
    assert main(["score", *places]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: experiment.yaml:") and "repro-score-" not in told
    (bundle / "task.yaml").write_text("claims: 3\n")
    assert main(["score", *places]) == 2
    told = capsys.readouterr().err
    assert f"{bundle}/task.yaml" in told and "repro-score-" not in told


@pytest.mark.parametrize("around", ["bundle", "submission"])
def test_what_is_kept_lies_outside_of_what_is_given(bundle, tmp_path, capsys, around):
    folder = submission(tmp_path / "submission", COMPUTE)
    keep = {"bundle": bundle, "submission": folder}[around] / "deep" / "kept"
    places = ["--bundle", str(bundle), "--submission", str(folder), "--keep", str(keep)]
    assert main(["score", *places]) == 2
    assert f"lies in the {around}" in capsys.readouterr().err
    assert not keep.parent.exists()


@pytest.mark.parametrize("broken", ["bundle", "submission", "spec"])
def test_what_cannot_be_read_ends_with_2(bundle, tmp_path, capsys, broken):
    folder = submission(tmp_path / "submission", COMPUTE)
    if broken == "spec":
        (folder / "experiment.yaml").write_text("schema: 1\nentry: 3\n")
    places = {
        "--bundle": tmp_path / "none" if broken == "bundle" else bundle,
        "--submission": tmp_path / "none" if broken == "submission" else folder,
    }
    assert main(["score", *(str(part) for pair in places.items() for part in pair)]) == 2
    assert "error:" in capsys.readouterr().err
