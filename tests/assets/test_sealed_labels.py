"""A paper with sealed labels: values are computed from predictions, whatever the run says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from repro_pipeline.cli import main
from repro_pipeline.ledger.runs import ValueSource
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of

CODE = """
import argparse, csv, json, pathlib, random

parser = argparse.ArgumentParser()
for name in ("--config", "--seed", "--out"):
    parser.add_argument(name)
options = parser.parse_args()
config = json.loads(pathlib.Path(options.config).read_text())
with open(config["data"]["points"]) as stream:
    rows = list(csv.DictReader(stream))
labelled = [row for row in rows if row["y"]]
drawn = random.Random(int(options.seed)).choices(labelled, k=len(labelled))
means = {y: sum(float(r["x"]) for r in drawn if r["y"] == y) / sum(r["y"] == y for r in drawn) for y in "01"}
out = pathlib.Path(options.out)
with open(out / "predictions.csv", "w") as stream:
    print("claim,split,row_id,prediction", file=stream)
    for number, row in enumerate(rows):
        if not row["y"]:
            guess = min("01", key=lambda y: abs(means[y] - float(row["x"])))
            print(f"points-accuracy,test,{number},{guess}", file=stream)
CLAIM
"""
BOAST = """
made_up = {"metrics": [{"claim": "points-accuracy", "value": 99.9}]}
(out / "metrics.json").write_text(json.dumps(made_up))
"""
SEEDS = [1, 2, 3]


def accuracy_of(rows: list[tuple[float, str]], train: int) -> float:
    """What the nearest class mean of the training rows gets right of the rest, in per cent."""
    means = {
        y: sum(x for x, label in rows[:train] if label == y)
        / sum(label == y for _, label in rows[:train])
        for y in "01"
    }
    right = [min("01", key=lambda y: abs(means[y] - x)) == label for x, label in rows[train:]]
    return 100 * sum(right) / len(right)


def write_bundle(folder: Path, boast: str = "") -> float:
    """The bundle; returns the accuracy that the method has by its definition."""
    draw = random.Random(7)
    rows = [(draw.gauss(float(y), 0.6), y) for y in [draw.choice("01") for _ in range(600)]]
    (folder / "code").mkdir(parents=True)
    shown = [f"{x},{y if n < 200 else ''}" for n, (x, y) in enumerate(rows)]
    (folder / "points.csv").write_text("x,y\n" + "\n".join(shown) + "\n")
    hidden = [f"{n},{y}" for n, (_, y) in enumerate(rows) if n >= 200]
    (folder / "labels.csv").write_text("row_id,label\n" + "\n".join(hidden) + "\n")
    (folder / "train.idx").write_text("\n".join(str(n) for n in range(200)))
    (folder / "test.idx").write_text("\n".join(str(n) for n in range(200, 600)))
    expected = accuracy_of(rows, 200)
    table = (
        f"Table 1: Accuracy (%).\n\n| Data | Accuracy |\n|---|---|\n| Points | {expected:.1f} |\n"
    )
    (folder / "paper.md").write_text(f"# Class means\n\n## Results\n\n{table}")
    claim = {
        "id": "points-accuracy",
        "metric": "accuracy",
        "dataset": "points",
        "unit": "percent",
        "direction": "higher",
        "reported": {"table": "Table 1", "row": ["Points"], "column": ["Accuracy"]},
        "key": True,
    }
    data = {
        "name": "points",
        "path": "points.csv",
        "roles": {"train": "train.idx", "test": "test.idx"},
        "sealed_labels": "labels.csv",
    }
    task = {"schema": 1, "claims": [claim], "data": [data], "seeds": SEEDS}
    (folder / "task.yaml").write_text(yaml.safe_dump(task))
    (folder / "code" / "experiment.py").write_text(CODE.replace("CLAIM", boast))
    (folder / "code" / "config.json").write_text("{}")
    experiments = [{"id": "points", "claims": ["points-accuracy"], "config": "config.json"}]
    spec = {"schema": 1, "entry": ["python", "experiment.py"], "experiments": experiments}
    (folder / "code" / "experiment.yaml").write_text(yaml.safe_dump(spec))
    return expected


@pytest.mark.parametrize("boast", ["", BOAST])
def test_values_are_computed_and_labels_stay_sealed(project, opened, boast):
    expected = write_bundle(project / "papers" / "points", boast)
    assert main(["run", "points"]) == 0
    scores = output_of(opened, latest(opened, "points", "scores"), Scores)
    (verdict,) = scores.verdicts
    assert verdict.source is ValueSource.RECOMPUTED
    assert verdict.n == 3 and verdict.value == pytest.approx(expected, abs=3)
    leakage = next(d for d in scores.dimensions if d.id == "no_leakage")
    labels = next(check for check in leakage.checks if check.id == "labels")
    assert "are sealed" in labels.sentence
    if not boast:
        grave = [(f.kind, f.evidence) for f in scores.findings if f.severity != "info"]
        assert (str(scores.integrity), str(scores.overall)) == ("clean", "pass"), grave
    boasted = [finding for finding in scores.findings if finding.kind == "self_report_differs"]
    assert [(f.severity, f.claims) for f in boasted] == (
        [("suspect", ("points-accuracy",))] if boast else []
    )


TIE = """
import argparse, pathlib

parser = argparse.ArgumentParser()
for name in ("--config", "--seed", "--out"):
    parser.add_argument(name)
options = parser.parse_args()
other = OTHERS[int(options.seed) % len(OTHERS)]
with open(pathlib.Path(options.out) / "predictions.csv", "w") as stream:
    print("claim,split,row_id,prediction", file=stream)
    for row in range(200, 600):
        print(f"points-accuracy,test,{row},{int(row != other)}", file=stream)
"""


def test_the_same_share_of_other_rows_is_a_tie(project, opened, capsys):
    folder = project / "papers" / "points"
    write_bundle(folder)
    labels = (folder / "labels.csv").read_text().split()[1:]
    zeros = [int(row) for row, y in (line.split(",") for line in labels) if y == "0"][:3]
    (folder / "code" / "experiment.py").write_text(TIE.replace("OTHERS", str(zeros)))
    main(["run", "points"])
    (verdict,) = output_of(opened, latest(opened, "points", "scores"), Scores).verdicts
    assert len(set(verdict.values.values())) == 1
    assert verdict.tied and not verdict.deterministic
    assert verdict.interval90[0] < verdict.value < verdict.interval90[1]
    capsys.readouterr()
    assert main(["why", "points", "points-accuracy"]) == 0
    said = capsys.readouterr().out
    assert "gave the same value" in said and "same bits" not in said
