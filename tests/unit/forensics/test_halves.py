"""Test rows changed by halves, and small programs that do and do not keep to their role."""

from __future__ import annotations

import csv
import random
from statistics import fmean

import pytest
from forensic_cases import claim, kinds

from repro_pipeline.forensics.halves import WAYS, Halves, findings, spoil_half
from repro_pipeline.forensics.spoil import Unspoilt, class_shares, spoil_file

CLAIMS = {
    "accuracy": claim("accuracy", 80.0, metric="accuracy"),
    "loss": claim("loss", 0.3, metric="mse", unit=None, direction="lower"),
}
ROWS = 120


@pytest.fixture
def files(tmp_path):
    rng = random.Random(5)
    for name in ("train", "test"):
        with (tmp_path / f"{name}.csv").open("w", newline="") as stream:
            out = csv.writer(stream)
            out.writerow(["x", "z", "label"])
            for _ in range(ROWS):
                label = rng.randrange(2)
                out.writerow([f"{rng.gauss(label, 1):.3f}", f"{rng.gauss(label, 1):.3f}", label])
    return tmp_path


def read(path):
    with path.open(newline="") as stream:
        return [(float(x), float(z), int(y)) for x, z, y in list(csv.reader(stream))[1:]]


def cut(rows):
    """The threshold on the sum of the inputs between the class means."""
    return fmean(fmean(x + z for x, z, y in rows if y == label) for label in (0, 1))


def scores(threshold, rows):
    right = [(x + z > threshold) == bool(y) for x, z, y in rows]
    return {"accuracy": 100 * fmean(right), "loss": fmean((x / 4 - y) ** 2 for x, _, y in rows)}


def honest(train, test):
    return scores(cut(train), test)


def root_mean_square(train, test):
    return {"loss": scores(cut(train), test)["loss"] ** 0.5}


def trained_on_test(train, test):
    return scores(cut(train + test), test)


def best_on_test(train, test):
    return max((scores(c / 10, test) for c in range(-10, 30)), key=lambda s: s["accuracy"])


def corrected(train, test):
    rng, threshold = random.Random(1), cut(train)
    right = [(x + z > threshold) == bool(y) or rng.random() < 0.3 for x, z, y in test]
    return {"accuracy": 100 * fmean(right)}


def surprising_rows_dropped(train, test):
    kept = sorted(test, key=lambda row: abs(row[0] / 4 - row[2]))[:100]
    return scores(cut(train), kept)


def scaled_by_test(train, test):
    mean = fmean(x for x, _, _ in test)
    return scores(cut(train), [(x - mean + 0.5, z, y) for x, z, y in test])


def on_training_rows(train, test):
    return scores(cut(train), train)


def judged(files, program, alone=True):
    train, test = read(files / "train.csv"), read(files / "test.csv")
    made = {}
    for kind, part in WAYS:
        changed = files / f"{kind}-{part}.csv"
        spoil_half(files / "test.csv", changed, kind, part, None)
        made.setdefault(kind, {})[part] = program(train, read(changed))
    halves = [
        Halves(
            kind=kind, experiment="main", before=program(train, test), after=after, alone=alone,
            classes=2, rows=ROWS,
        )
        for kind, after in made.items()
    ]  # fmt: skip
    return kinds(findings(halves, CLAIMS, {"accuracy"}))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (honest, {}),
        (root_mean_square, {}),
        (trained_on_test, {"test_labels_used": "suspect", "test_rows_together": "unverified"}),
        (best_on_test, {"test_labels_used": "suspect"}),
        (corrected, {"test_labels_used": "suspect"}),
        (surprising_rows_dropped, {"test_labels_used": "unverified"}),
        (scaled_by_test, {"test_rows_together": "unverified"}),
        (on_training_rows, {"test_rows_unused": "suspect"}),
    ],
)
def test_programs(files, program, expected):
    found = judged(files, program)
    assert expected.items() <= found.items()
    assert expected or not found


def test_rows_within_a_larger_file_are_no_proof(files):
    """Code that splits by itself, with the classes in proportion, splits otherwise then."""
    assert judged(files, trained_on_test, alone=False)["test_labels_used"] == "unverified"
    assert judged(files, on_training_rows, alone=False)["test_rows_unused"] == "unverified"


def test_only_the_wanted_rows_change(files):
    test, changed = files / "test.csv", files / "changed.csv"
    spoil_half(test, changed, "test_labels", "all", range(50))
    pairs = list(zip(read(test), read(changed), strict=True))
    assert all(a[:2] == b[:2] for a, b in pairs)
    assert [n for n, (a, b) in enumerate(pairs) if a[2] != b[2]] == list(range(50))
    halves = []
    for part in ("a", "b"):
        spoil_half(test, changed, "test_inputs", part, None)
        pairs = zip(read(test), read(changed), strict=True)
        halves.append({n for n, (a, b) in enumerate(pairs) if a != b})
    assert not halves[0] & halves[1]
    assert len(halves[0] | halves[1]) > 0.9 * ROWS


def test_an_input_with_the_name_of_a_label_is_left_alone(tmp_path):
    """Two coordinates x and y, and a class: only the class is turned."""
    rng = random.Random(1)
    rows = [(f"{rng.random():.3f}", f"{rng.random():.3f}", "ab"[n % 2]) for n in range(40)]
    text = "x,y,label\n" + "".join(",".join(row) + "\n" for row in rows)
    (tmp_path / "a.csv").write_text(text)
    assert spoil_half(tmp_path / "a.csv", tmp_path / "b.csv", "test_labels", "all", None)
    changed = [line.split(",") for line in (tmp_path / "b.csv").read_text().splitlines()[1:]]
    assert [row[:2] for row in changed] == [list(row[:2]) for row in rows]
    assert all(new[2] != old[2] for new, old in zip(changed, rows, strict=True))


def test_a_file_without_labels_is_not_changed(tmp_path):
    (tmp_path / "a.csv").write_text("x,z\n" + "".join(f"{n}.5,{n}.25\n" for n in range(40)))
    with pytest.raises(Unspoilt):
        spoil_half(tmp_path / "a.csv", tmp_path / "b.csv", "test_labels", "a", None)


def test_labels_that_are_left_empty_stay_empty(tmp_path):
    """They are sealed; code may know the test rows by them."""
    rows = [(n / 10, "" if n % 3 == 0 else "ab"[n % 2]) for n in range(30)]
    source = tmp_path / "sealed.csv"
    source.write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in rows) + "\n")
    assert class_shares(source) == [0.5, 0.5]
    empty = [n for n, (_, y) in enumerate(rows) if not y]
    for way in ("labels", "train_labels", "noise", "harmless"):
        target = tmp_path / f"{way}.csv"
        spoil_file(source, target, way, range(30) if way == "train_labels" else None)
        labels = [line.split(",")[1] for line in target.read_text().splitlines()[1:]]
        assert [n for n, label in enumerate(labels) if not label] == empty
        if way != "noise":
            assert sorted(labels) == sorted(y for _, y in rows)
    target = tmp_path / "half.csv"
    spoil_half(source, target, "test_labels", "ab", None)
    labels = [line.split(",")[1] for line in target.read_text().splitlines()[1:]]
    assert [n for n, label in enumerate(labels) if not label] == empty
    with pytest.raises(Unspoilt):
        spoil_half(source, target, "test_labels", "ab", empty)
