"""Values from predictions and sealed labels: what the run says of itself does not count."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repro_pipeline.bundle.task import Task
from repro_pipeline.environment.manifest import make_manifest
from repro_pipeline.errors import BundleError
from repro_pipeline.experiment.metrics import MetricsError
from repro_pipeline.experiment.sealed import (
    SealedLabels,
    check_sealed,
    read_labels,
    recompute,
    sealed_claims,
)

DATA = "x,y\n0.1,cat\n0.2,dog\n0.3,\n0.4,\n0.5,\n0.6,\n"
LABELS = "row_id,label\n2,cat\n3,dog\n4,dog\n5,cat\n"


def task(metric: str = "accuracy", unit: str | None = "percent", **data) -> Task:
    claim = {
        "id": "pets",
        "metric": metric,
        "unit": unit,
        "reported": {"value": 90.0, "quantum": 0.1, "source": "human"},
    }
    item = {"name": "pets", "path": "pets.csv", "sealed_labels": "labels.csv", **data}
    return Task.model_validate({"claims": [claim], "data": [item]})


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "pets.csv").write_text(DATA)
    (folder / "labels.csv").write_text(LABELS)
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def sealed_of(bundle: Path, one: Task) -> SealedLabels:
    manifest = make_manifest(one.data, bundle, bundle / "cache")
    return SealedLabels(claims=sealed_claims(one), labels=read_labels(manifest, bundle))


def predict(out: Path, rows: list[tuple], *, name: str = "predictions.parquet") -> None:
    columns = ["claim", "split", "row_id", "prediction"]
    if name.endswith(".csv"):
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        (out / name).write_text("\n".join(lines) + "\n")
        return
    table = {
        column: list(values)
        for column, values in zip(columns, zip(*rows, strict=True), strict=True)
    }
    pq.write_table(pa.table(table), out / name)


def rows(*guesses: str, first: int = 2) -> list[tuple]:
    return [("pets", "test", first + n, guess) for n, guess in enumerate(guesses)]


def value(out: Path, sealed: SealedLabels, whole: bool = True) -> dict[str, float]:
    return recompute(out, sealed, ["pets"], started_ns=0, whole=whole)


@pytest.mark.parametrize("name", ["predictions.parquet", "predictions.csv"])
def test_the_value_comes_from_the_predictions(bundle, out, name):
    train = [("pets", "train", 0, "cat"), ("pets", "train", 1, "cat")]
    predict(out, [*train, *rows("cat", "dog", "cat", "cat")], name=name)
    assert value(out, sealed_of(bundle, task())) == {"pets": 75.0}
    assert value(out, sealed_of(bundle, task("test_error", None))) == {"pets": 0.25}


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (rows("cat", "dog", "cat"), "lacks 1 of 4 test rows"),
        ([*rows("cat", "dog", "cat", "cat"), *rows("cat")], "1 rows predicted twice"),
        (rows("cat", "dog", "cat", "cat", first=1), "predicts row 1, whose label is not sealed"),
        ([("pets", "train", 2, "cat")], "no prediction for the split `test`"),
        ([("pets", "test", "two", "cat")], "'two' is no row number"),
    ],
)
def test_predictions_of_other_rows_than_the_sealed_ones_do_not_count(bundle, out, made, says):
    predict(out, made)
    with pytest.raises(MetricsError, match=says):
        value(out, sealed_of(bundle, task()))


def test_a_small_run_may_predict_some_rows(bundle, out):
    predict(out, rows("cat", "cat"))
    assert value(out, sealed_of(bundle, task()), whole=False) == {"pets": 50.0}


def test_no_predictions_or_unreadable_ones_are_a_sentence(bundle, out):
    sealed = sealed_of(bundle, task())
    with pytest.raises(MetricsError, match=r"parquet or predictions\.csv: the run wrote neither"):
        value(out, sealed)
    (out / "predictions.parquet").write_bytes(b"PAR1 nonsense PAR1")
    with pytest.raises(MetricsError, match="no usable Parquet file"):
        value(out, sealed)
    (out / "predictions.parquet").unlink()
    (out / "predictions.csv").write_text("claim,row_id\n")
    with pytest.raises(MetricsError, match="has no column 'split'"):
        value(out, sealed)


def test_predictions_older_than_the_run_were_not_written_by_it(bundle, out):
    predict(out, rows("cat", "dog", "dog", "cat"))
    with pytest.raises(MetricsError, match="older than the run"):
        recompute(out, sealed_of(bundle, task()), ["pets"], started_ns=2**62, whole=True)


def test_a_metric_that_is_not_computed_here_is_refused(bundle):
    with pytest.raises(BundleError, match="the metric 'BLEU' is none that is computed"):
        sealed_claims(task("BLEU"))


def test_a_claim_on_other_data_is_not_sealed():
    one = task().model_dump(by_alias=True)
    one["claims"][0]["dataset"] = "birds"
    one["data"] = [*one["data"], {"name": "birds", "path": "birds.csv"}]
    assert sealed_claims(Task.model_validate(one)) == ()


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ("row,label\n2,cat\n", r"labels\.csv:1: has the columns row, label"),
        ("row_id,label\nx,cat\n", r"labels\.csv:2: 'x' is no row number"),
        ("row_id,label\n2,cat\n2,dog\n", r"labels\.csv:3: labels row 2 twice"),
        ("row_id,label\n", "holds no labels"),
    ],
)
def test_unfit_labels_are_a_sentence(bundle, labels, says):
    (bundle / "labels.csv").write_text(labels)
    one = task()
    with pytest.raises(BundleError, match=says):
        check_sealed(one, make_manifest(one.data, bundle, bundle / "cache"), bundle)


@pytest.mark.parametrize("header", ["x,y\n", ""])
def test_an_input_that_gives_the_labels_away_is_refused(bundle, header):
    body = "0.1,1\n0.2,0\n0.3,1\n0.4,0\n0.5,0\n0.6,1.0\n"
    (bundle / "pets.csv").write_text(header + body)
    (bundle / "labels.csv").write_text("row_id,label\n2,1\n3,0\n4,0\n5,1\n")
    one = task()
    manifest = make_manifest(one.data, bundle, bundle / "cache")
    with pytest.raises(BundleError, match="holds the sealed labels"):
        check_sealed(one, manifest, bundle)
    (bundle / "pets.csv").write_text(
        header + body.replace("0.3,1", "0.3,").replace("0.4,0", "0.4,")
    )
    check_sealed(one, make_manifest(one.data, bundle, bundle / "cache"), bundle)


def test_an_input_whose_pages_are_broken_is_told(bundle):
    table = pa.table({"x": list(range(5000)), "y": ["cat"] * 5000})
    pq.write_table(table, bundle / "pets.parquet", compression="zstd", use_dictionary=False)
    content = (bundle / "pets.parquet").read_bytes()
    half = len(content) // 2
    (bundle / "pets.parquet").write_bytes(content[:8] + bytes(half) + content[8 + half :])
    one = task(path="pets.parquet")
    manifest = make_manifest(one.data, bundle, bundle / "cache")  # the rows' number is at the end
    with pytest.raises(BundleError, match=r"pets\.parquet: is no usable Parquet file"):
        check_sealed(one, manifest, bundle)
