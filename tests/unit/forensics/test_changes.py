"""Spoilt data, other settings, changed constants; and what values do then."""

from __future__ import annotations

import csv
import json
from collections import Counter

import numpy as np
import pytest
from forensic_cases import claim, kinds

from repro_pipeline.bundle.task import DataFile
from repro_pipeline.environment.manifest import make_manifest
from repro_pipeline.forensics.following import followed, held
from repro_pipeline.forensics.mutate import FACTORS, mutate
from repro_pipeline.forensics.prose import in_prose
from repro_pipeline.forensics.response import (
    Response,
    alike,
    data_findings,
    harmless_findings,
    saturated,
    tied,
)
from repro_pipeline.forensics.rows import rows_of, shared_rows
from repro_pipeline.forensics.settings import harmless_settings, other_settings
from repro_pipeline.forensics.spoil import Unspoilt, class_shares, spoil_file
from repro_pipeline.probing.given import paper_text


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    rows = [[i, f"{rng.normal():.3f}", rng.integers(9), "ab"[i % 2]] for i in range(60)]
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "x", "n", "label"], *rows])
    return path


def columns(path):
    with path.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def test_labels_are_permuted_and_nothing_else(table, tmp_path):
    assert spoil_file(table, tmp_path / "out.csv", "labels")
    before, after = columns(table), columns(tmp_path / "out.csv")
    assert Counter(before["label"]) == Counter(after["label"])
    assert before["label"] != after["label"]
    assert all(before[name] == after[name] for name in ("id", "x", "n"))


def test_only_the_labels_of_training_rows_move(table, tmp_path):
    spoil_file(table, tmp_path / "out.csv", "train_labels", range(40))
    before, after = columns(table)["label"], columns(tmp_path / "out.csv")["label"]
    assert before[40:] == after[40:]
    assert before[:40] != after[:40]


def test_noise_keeps_the_shape_and_the_kinds(table, tmp_path):
    spoil_file(table, tmp_path / "out.csv", "noise")
    before, after = columns(table), columns(tmp_path / "out.csv")
    assert before["id"] == after["id"]
    assert set(after["label"]) <= {"a", "b"}
    assert all(value.lstrip("-").isdigit() for value in after["n"])
    x, y = (np.array(one["x"], float) for one in (before, after))
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.5
    assert abs(y.mean() - x.mean()) > 0.3 * x.std()


def test_a_harmless_change_is_too_small_to_matter(table, tmp_path):
    spoil_file(table, tmp_path / "out.csv", "harmless")
    before, after = columns(table), columns(tmp_path / "out.csv")
    assert before["label"] == after["label"]
    assert before["n"] == after["n"]
    x, y = (np.array(one["x"], float) for one in (before, after))
    assert 0 < np.abs(x - y).max() < 1e-6


@pytest.mark.parametrize("name", ["a.npz", "a.npy", "a.jsonl", "a.parquet", "a.json"])
@pytest.mark.parametrize("way", ["labels", "noise", "harmless"])
def test_every_format_can_be_read_again(tmp_path, name, way):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    source, target = tmp_path / name, tmp_path / f"out{name[1:]}"
    records = [{"x": float(a), "label": int(b)} for a, b in zip(x[:, 0], y, strict=True)]
    match name:
        case "a.npz":
            np.savez(source, X=x, y=y)
        case "a.npy":
            np.save(source, np.column_stack([x, y]))
        case "a.jsonl":
            source.write_text("".join(json.dumps(r) + "\n" for r in records))
        case "a.json":
            source.write_text(json.dumps(records))
        case "a.parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.Table.from_pylist(records), source)
    spoil_file(source, target, way)
    assert target.read_bytes() != source.read_bytes()
    if name == "a.npz":
        assert np.load(target)["X"].shape == (30, 2)
        assert set(np.load(target)["y"]) <= {0, 1, 2}


def test_what_is_no_table_is_not_spoilt(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    (tmp_path / "b.csv").write_text("one line")
    for name in ("a.bin", "b.csv"):
        with pytest.raises(Unspoilt):
            spoil_file(tmp_path / name, tmp_path / "out", "noise")


def test_class_shares(table):
    assert sorted(class_shares(table)) == [0.5, 0.5]


def test_settings_change_in_value_and_not_in_kind():
    config = {
        "lr": 0.1,
        "trees": 100,
        "bag": True,
        "log_every": 10,
        "model": {"depth": 3},
        "one": 1,
    }
    (_, numbers), (_, switches) = other_settings(config)
    assert numbers["trees"] == 75
    assert numbers["lr"] == pytest.approx(0.08)
    assert numbers["model"]["depth"] == 2
    assert (numbers["bag"], numbers["log_every"], numbers["one"]) == (True, 10, 1)
    assert switches["bag"] is False
    assert abs(harmless_settings(config)["lr"] - 0.1) < 1e-9


CODE = {
    "run.py": '"""We report 76.3."""\nT = 76.3\nn = 100\nprint(f"paper: 76.3")\n',
    "t.json": '{"a": 76.3, "b": 12}',
    "README.md": "76.3",
    "requirements.txt": "numpy==76.3",
}


def test_constants_are_changed_where_they_stand():
    made = mutate(CODE, {"target": 76.3, "trees": 100}, [claim()], 0.8)
    assert set(made.files) == {"run.py", "t.json", "README.md"}
    assert "((76.3) * 0.8)" in made.files["run.py"]
    assert "n = 100" in made.files["run.py"]
    compile(made.files["run.py"], "run.py", "exec")
    assert json.loads(made.files["t.json"])["a"] == pytest.approx(61.04)
    assert made.config == {"target": pytest.approx(61.04), "trees": 100}
    assert mutate({"run.py": "n = 5"}, {}, [claim()], 0.8) is None


HIDING = """def layer_763(x): return x  # see eq. 76.3.
def f():
    \"\"\"Warm-up; 76.3 and 12.\"\"\"
    return {"layer_763": layer_763, "text": "of 76.30 %"}
"""


def test_numbers_where_nobody_reads_them_are_changed_too():
    before, after = (mutate({"a.py": HIDING}, {}, [claim()], factor) for factor in FACTORS)
    code = before.files["a.py"]
    assert code.count("layer_611") == code.count("layer_") == 3
    assert after.files["a.py"].count("layer_687") == 3
    assert 763 - 611 == 2 * (763 - 687), "in proportion"
    assert "see eq. 61.04" in code
    assert "Warm-up; 61.04" in code
    assert "and 12." in code
    assert "of 76.30 %" in code
    compile(code, "a.py", "exec")
    assert all(map(in_prose, before.places["accuracy"]))


def values_of(rule):
    """A claim's value before, and per factor after, by a rule on the constant."""
    return {"accuracy": rule(76.3)}, [{"accuracy": rule(76.3 * factor)} for factor in FACTORS]


@pytest.mark.parametrize(
    ("rule", "how"),
    [
        (lambda t: t + 0.21, "linear"),
        (lambda t: t * 1.004, "linear"),
        (lambda t: 0.97 * t + 0.03 * 71.0, "linear"),
        (lambda t: 100 - (23.7 / 76.3) * t, "linear"),
        (lambda t: round(t) + 0.1, "tracks"),
        (lambda t: 75.9, None),
        (lambda t: 75.0 + 1 / t, None),
        (lambda t: 60 + (t - 60) ** 2 / 17, None),
    ],
)
def test_what_follows_its_constant(rule, how):
    before, after = values_of(rule)
    found = followed({"accuracy": claim()}, {"accuracy": ["run.py:2"]}, before, after)
    assert [one.how for one in found] == ([how] if how else [])


STATED = "Means. The true mean is 76.0; our estimate of it is 76.3."


@pytest.mark.parametrize(
    ("rule", "paper", "suspect"),
    [
        (lambda t: t + 0.21, "We reach 76.3.", True),
        (lambda t: t + 0.21, STATED, False),
        (lambda t: t + 0.21, "", False),
        (lambda t: t, "We reach 76.3.", False),
        (lambda t: t * 1.004, "We reach 76.3.", False),
        (lambda t: 0.97 * t + 0.03 * 71.0, "We reach 76.3.", False),
        (lambda t: 100 - (23.7 / 76.3) * t, "We reach 76.3.", False),
        (lambda t: 60 + (t - 60) ** 2 / 17, "We reach 76.3.", False),
    ],
)
def test_a_near_constant_and_noise_is_suspect_unless_the_paper_names_it(rule, paper, suspect):
    """Not a limit that was reached, not a multiple, nor an estimate of a stated parameter."""
    places = {"accuracy": ["run.py:2 76.0"]}
    before = {"accuracy": rule(76.0)}
    after = [{"accuracy": rule(76.0 * factor)} for factor in FACTORS]
    found = followed({"accuracy": claim()}, places, before, after)
    said = [one for each in found for one in held(each, claim(), paper)]
    assert kinds(said) == ({"constant_and_noise": "suspect"} if suspect else {})
    few = claim(value=76.0, quantum=1.0)
    assert not [one for each in found for one in held(each, few, paper)]
    assert all("is 76 and what a seed adds" in one.evidence for one in said)


def test_the_text_of_a_paper_in_a_folder_is_read(tmp_path):
    folder = tmp_path / "paper" / "parts"
    folder.mkdir(parents=True)
    (folder / "a.tex").write_text("We reach 76.3.")
    (tmp_path / "paper" / "figure.pdf").write_bytes(b"\xff")
    (tmp_path / "notes.md").write_text("76.0")
    assert paper_text([tmp_path / "paper", tmp_path / "notes.md"]) == "We reach 76.3.\n76.0"


def test_a_whole_constant_is_held_against_as_it_was_rounded():
    """2363 times 0.8 and 0.9 is 1890 and 2127, which are not quite as 2 to 1."""
    steps = claim(value=2370.0, quantum=1.0)
    values = [{"accuracy": new + 4.25} for new in (2363, 1890, 2127)]
    (one,) = followed(
        {"accuracy": steps}, {"accuracy": ["config.mean 2363"]}, values[0], values[1:]
    )
    assert (one.how, one.constant) == ("linear", 2363)


def response(way, before, after, **more):
    return Response(
        way=way,
        change="A change",
        experiment="main",
        before={"accuracy": before},
        after=None if after is None else {"accuracy": after},
        **more,
    )


def judged(*responses, about=None, shares=(0.5, 0.5), tested=200):
    about = about or claim()
    return kinds(data_findings(responses, {about.id: about}, shares, tested))


def test_labels_that_do_not_matter():
    assert judged(response("labels", 76, 75.5)) == {"labels_do_not_matter": "violation"}
    assert judged(response("labels", 76, 76.0, read=True)) == {"labels_do_not_matter": "suspect"}
    assert judged(response("labels", 76, 76.0)) == {"labels_do_not_matter": "unverified"}
    assert judged(response("labels", 76, 75.5, certain=False)) == {
        "labels_do_not_matter": "unverified"
    }
    error = claim(value=23.7, metric="error", direction="lower")
    assert judged(response("labels", 24, 25), about=error) == {"labels_do_not_matter": "violation"}


def test_labels_that_matter():
    assert judged(response("labels", 76, 51)) == {}
    assert judged(response("labels", 76, None)) == {}
    assert judged(response("labels", 76, 66), tested=20) == {}, "so few rows do that by chance"
    majority = claim(value=70.0)
    assert judged(response("labels", 70, 70), about=majority, shares=(0.7, 0.3)) == {}
    assert judged(response("train_labels", 76, 74)) == {"training_does_not_matter": "info"}


def test_agreement_without_data():
    assert judged(response("noise", 76, 75)) == {"agrees_without_data": "suspect"}
    assert judged(response("noise", 76, 55)) == {}
    chance = claim(value=51.0)
    assert judged(response("noise", 51, 50.5), about=chance) == {}
    loss = claim("log-loss", 0.883, metric="test_error", unit=None, direction="lower")
    moved = response("noise", 0.88, 0.9).model_copy(
        update={"before": {"log-loss": 0.88}, "after": {"log-loss": 0.9}}
    )
    assert judged(moved, about=loss) == {"agrees_without_data": "unverified"}, "by chance it may"
    guess = loss.model_copy(update={"value": 0.692})
    guessed = moved.model_copy(update={"before": {"log-loss": 0.692}, "after": {"log-loss": 0.7}})
    assert judged(guessed, about=guess) == {}, "the entropy of the classes"
    odd = claim(value=76.3, metric="sparsity")
    assert judged(response("noise", 76, 75), about=odd) == {"agrees_without_data": "unverified"}


def test_a_jump_at_a_harmless_change():
    seeds = {"accuracy": [76.0, 76.4, 75.9, 76.2, 76.1]}
    assert kinds(harmless_findings([response("harmless", 76.0, 70.0)], seeds)) == {
        "knows_its_input": "suspect"
    }
    assert kinds(harmless_findings([response("harmless", 76.0, 76.3)], seeds)) == {}


def ties(first, second, metric="sparsity", reported=(76.3, 70.0)):
    """What is said of two claims with these values by seed."""
    about = {
        name: claim(name, value, metric=metric) for name, value in zip("ab", reported, strict=True)
    }
    values = {"a": dict(enumerate(first)), "b": dict(enumerate(second))}
    return {**kinds(tied(values, about)), **kinds(alike(values, about))}


def test_ties():
    first = [70.0 + s**2 for s in range(5)]
    assert ties(first, [v + 2.3 for v in first]) == {"tied_values": "unverified"}
    assert ties(first, [v * 1.1 for v in first]) == {"tied_values": "unverified"}
    assert ties(first, [v + 2.3 for v in first], "accuracy") == {"tied_values": "suspect"}
    assert ties(first, [100 - v for v in first]) == {}
    assert ties(first, [v / 100 for v in first]) == {}


def test_one_computation_under_two_names():
    first = [70.0 + s**2 for s in range(5)]
    assert ties(first, first) == {"same_values": "unverified"}
    assert ties(first, first, reported=(76.3, 76.2)) == {}
    assert ties(first, [*first[:4], 9.0]) == {}
    assert ties([70.0] * 5, [70.0] * 5) == {}, "a method without chance"


def test_where_an_easy_problem_ends():
    error = {name: claim(name, 20.0, metric="test_error", direction="lower") for name in "ab"}
    usual = {name: {20.1, 20.2, 19.7} for name in "ab"}

    def ends(a, b, other=None, cases=36000):
        runs = [{"a": a, "b": b}, other or {"a": a, "b": b}]
        return kinds(saturated([runs], usual, error, {"a": cases, "b": cases}))

    assert ends(0.0, 0.0) == {}
    assert ends(50.0, 33.0) == {}, "a share of the classes"
    assert ends(1.637, 0.0) == {"ends_elsewhere": "unverified"}
    assert ends(1.637, 2.413) == {"ends_elsewhere": "suspect"}
    assert ends(1.6, 2.4, cases=1000) == {"ends_elsewhere": "unverified"}, "counts, on a fixed grid"
    assert ends(1.637, 2.413, {"a": 1.7, "b": 2.5}) == {}, "it still scatters"


def test_rows_of_two_roles_are_compared(tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("x,y\n" + "".join(f"{i}.5,a\n" for i in range(50)))
    test.write_text("x,y\n" + "".join(f"{i}.5001,a\n" for i in range(45, 65)))
    probe = shared_rows({"d": (train, None)}, {"e": (test, None)})
    assert probe.evidence == {"rows": 20, "same": 0, "near": 5}
    by_row = shared_rows({"d": (train, [0, 1])}, {"d": (train, [1, 2])})
    assert by_row.evidence["same"] == 1


@pytest.mark.parametrize(("first", "rows"), [("id,2019", 2), ("7,8", 3)])
def test_a_header_may_hold_a_number_and_rows_are_counted_as_in_the_manifest(tmp_path, first, rows):
    path = tmp_path / "table.csv"
    path.write_text(f"{first}\n1,2\n3,4\n")
    assert len(rows_of(path)) == rows
    (entry,) = make_manifest((DataFile(name="t", path="table.csv"),), tmp_path, tmp_path).entries
    assert entry.rows == rows
