"""Values that trusted code computes from a run's predictions and from labels that no run is given.

`task.yaml` names a file of sealed labels for an input, a CSV with the columns `row_id` (the row's
number in the input, from 0) and `label`. A run leaves `predictions.parquet` or `predictions.csv` with
the columns `claim`, `split`, `row_id`, `prediction` and, for ROC AUC, `score`. What the run reports
itself for such a claim does not count.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.bundle.task import DataFile, Task, TaskClaim
from repro_pipeline.environment.manifest import is_number
from repro_pipeline.environment.model import DataManifest
from repro_pipeline.errors import BundleError
from repro_pipeline.experiment.metric_registry import (
    METRICS_VERSION,
    Metric,
    NotComputable,
    accuracy,
    metric_named,
    metric_names,
)
from repro_pipeline.experiment.metrics import LARGEST_OUTPUT, MetricsError, fresh_file
from repro_pipeline.experiment.spec import PREDICTIONS
from repro_pipeline.frozen import Frozen

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_COLUMNS = ("claim", "split", "row_id", "prediction")
_MOST_ROWS = 20_000_000
_MOST_BYTES = 1 << 30
"""Of the columns of a Parquet file, unpacked."""


class SealedClaim(Frozen):
    """A claim whose value is computed from predictions: by which metric, on which data."""

    claim: str
    data: str
    metric: str
    percent: bool
    version: int = METRICS_VERSION


@dataclass(frozen=True)
class SealedLabels:
    """The labels of the test rows of each sealed input: data name → row number → label."""

    claims: tuple[SealedClaim, ...] = ()
    labels: Mapping[str, Mapping[int, str]] | None = None

    def of(self, claims: Sequence[str]) -> tuple[SealedClaim, ...]:
        """The sealed ones among some claims."""
        return tuple(sealed for sealed in self.claims if sealed.claim in claims)


NOTHING_SEALED = SealedLabels()


def sealed_claims(task: Task) -> tuple[SealedClaim, ...]:
    """The claims whose values are computed: those on data with sealed labels.

    A claim's `dataset` names its data; where only one input is sealed and no input has that name, it
    is that one. Raises BundleError for a metric that is not computed here.
    """
    sealed = [item for item in task.data if item.sealed_labels is not None]
    made = []
    for claim in task.claims:
        data = _data_of(claim, sealed, task.data)
        if data is None:
            continue
        metric = metric_named(claim.metric)
        if metric is None:
            raise BundleError(
                f"the labels of '{data.name}' are sealed, and the metric '{claim.metric}' is none "
                "that is computed from predictions.",
                where=f"task.yaml: claim {claim.id}",
                hint=f"Computed are: {', '.join(metric_names())}.",
            )
        percent = metric.share and claim.unit in {"percent", "%"}
        made.append(
            SealedClaim(claim=claim.id, data=data.name, metric=claim.metric, percent=percent)
        )
    return tuple(made)


def _data_of(
    claim: TaskClaim, sealed: Sequence[DataFile], every: Sequence[DataFile]
) -> DataFile | None:
    named = next((item for item in every if item.name == claim.dataset), None)
    if named is not None:
        return named if named.sealed_labels is not None else None
    return sealed[0] if len(sealed) == 1 else None


def check_sealed(task: Task, manifest: DataManifest, bundle: Path) -> None:
    """Raise BundleError where sealed labels cannot serve, or the input itself gives them away."""
    sealed_claims(task)
    labels = read_labels(manifest, bundle)
    for entry in manifest.entries:
        if entry.sealed or entry.name not in labels:
            continue
        table = _as_table(bundle / entry.file)
        column = table and _giving_away(table, labels[entry.name])
        if column:
            raise BundleError(
                f"the column '{column}' holds the sealed labels of the test rows.",
                where=entry.file,
                hint="Empty the cells of the test rows: runs read this file.",
            )


def _as_table(path: Path) -> dict[str, list[str]] | None:
    """The columns of a CSV, TSV or Parquet file as texts; None for other files."""
    if path.suffix.lower() == ".parquet":
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table

        try:
            columns = read_table(path).to_pydict()
        except (ArrowException, OSError) as error:
            raise BundleError(f"is no usable Parquet file: {error}.", where=path.name) from None
        return {name: [str(value) for value in values] for name, values in columns.items()}
    if path.suffix.lower() not in {".csv", ".tsv"}:
        return None
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        header, *body = [row for row in rows if row] or [[]]
    if all(map(is_number, header)):
        header, body = [f"number {n + 1}" for n in range(len(header))], [header, *body]
    return {name: [row[n] if n < len(row) else "" for row in body] for n, name in enumerate(header)}


def _giving_away(table: Mapping[str, Sequence[str]], labels: Mapping[int, str]) -> str | None:
    """The column whose cells are the labels, row by row; None where no column is, or all are alike."""
    if len(set(labels.values())) < 2:
        return None
    for name, cells in table.items():
        shown = {row: cells[row] for row in labels if row < len(cells)}
        if len(shown) == len(labels) and accuracy([*labels.values()], [*shown.values()]) == 1:
            return name
    return None


def read_labels(manifest: DataManifest, bundle: Path) -> dict[str, dict[int, str]]:
    """The sealed labels of each input. Raises BundleError naming file and line."""
    return {
        entry.name: _labels(bundle / entry.file, entry.file)
        for entry in manifest.entries
        if entry.sealed
    }


def _labels(path: Path, file: str) -> dict[int, str]:
    labels: dict[int, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            if set(rows.fieldnames or ()) != {"row_id", "label"}:
                raise BundleError(
                    f"has the columns {', '.join(rows.fieldnames or ()) or 'of an empty file'}.",
                    where=f"{file}:1",
                    hint="Sealed labels have the columns row_id and label.",
                )
            for row in rows:
                number, where = (row["row_id"] or "").strip(), f"{file}:{rows.line_num}"
                if not (number.isascii() and number.isdigit()) or row["label"] is None:
                    raise BundleError(f"'{number[:40]}' is no row number.", where=where)
                if int(number) in labels:
                    raise BundleError(f"labels row {number} twice.", where=where)
                labels[int(number)] = row["label"]
    except (csv.Error, UnicodeDecodeError) as error:
        raise BundleError(f"is no usable CSV: {error}.", where=file) from None
    if not labels:
        raise BundleError("holds no labels.", where=file)
    return labels


def recompute(
    out: Path, sealed: SealedLabels, claims: Sequence[str], *, started_ns: int, whole: bool
) -> dict[str, float]:
    """The value of each sealed claim among `claims`, in the claim's unit, from the predictions in `out`.

    `whole`: each labelled row must be predicted, and once; a small run may predict some. Raises
    MetricsError: no predictions, stale or unreadable ones, rows missing, repeated or unknown.
    """
    wanted = sealed.of(claims)
    if not wanted:
        return {}
    name = next((name for name in PREDICTIONS if (out / name).exists()), None)
    if name is None:
        raise MetricsError(
            "metrics_missing", "the run wrote neither.", where=" or ".join(PREDICTIONS)
        )
    fresh_file(out / name, name, started_ns, LARGEST_OUTPUT)
    rows = _test_rows(out / name, name)
    return {
        one.claim: _value(
            one, rows.get(one.claim, []), (sealed.labels or {})[one.data], name, whole
        )
        for one in wanted
    }


_Row = tuple[int, str, str]
"""Row number, prediction, score."""


def _test_rows(path: Path, name: str) -> dict[str, list[_Row]]:
    """The rows of the split `test`, by claim."""
    columns = _parquet(path, name) if path.suffix == ".parquet" else _csv(path, name)
    absent = [column for column in _COLUMNS if column not in columns]
    if absent:
        raise MetricsError(
            "predictions_malformed",
            f"has no column '{absent[0]}'.",
            where=name,
            hint=f"The columns are {', '.join(_COLUMNS)} and, for ROC AUC, score.",
        )
    scores = columns.get("score") or [""] * len(columns["claim"])
    rows: dict[str, list[_Row]] = {}
    for claim, split, row_id, prediction, score in zip(
        *(columns[column] for column in _COLUMNS), scores, strict=True
    ):
        if split == "test":
            rows.setdefault(str(claim), []).append(
                (_row_id(row_id, name), str(prediction), str(score))
            )
    return rows


def _row_id(value: object, name: str) -> int:
    try:
        return int(str(value))
    except ValueError:
        shown = str(value)[:40]
        raise MetricsError(
            "predictions_malformed", f"the row_id '{shown}' is no row number.", where=name
        ) from None


def _parquet(path: Path, name: str) -> dict[str, list]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(path)
        _refuse_large(file, name)
        present = [c for c in (*_COLUMNS, "score") if c in file.schema_arrow.names]
        return file.read(columns=present).to_pydict()
    except (ArrowException, OSError) as error:
        raise MetricsError(
            "predictions_malformed", f"is no usable Parquet file: {error}.", where=name
        ) from None


def _refuse_large(file: ParquetFile, name: str) -> None:
    groups = range(file.metadata.num_row_groups)
    unpacked = sum(file.metadata.row_group(group).total_byte_size for group in groups)
    if file.metadata.num_rows > _MOST_ROWS or unpacked > _MOST_BYTES:
        what = f"has {file.metadata.num_rows} rows of {unpacked} bytes, more than is read."
        raise MetricsError("metrics_too_large", what, where=name)


def _csv(path: Path, name: str) -> dict[str, list]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            columns: dict[str, list] = {column: [] for column in rows.fieldnames or ()}
            for row in rows:
                for column, values in columns.items():
                    values.append(row[column])
        return columns
    except (csv.Error, UnicodeDecodeError) as error:
        raise MetricsError(
            "predictions_malformed", f"is no usable CSV: {error}.", where=name
        ) from None


def _value(
    sealed: SealedClaim, rows: list[_Row], labels: Mapping[int, str], name: str, whole: bool
) -> float:
    by_row = {row_id: (prediction, score) for row_id, prediction, score in rows}
    if fault := _misfit(rows, by_row, labels, whole):
        raise MetricsError(
            "predictions_incomplete",
            f"'{sealed.claim}' {fault}.",
            where=name,
            hint="One row of the split `test` for each row whose label is sealed.",
        )
    metric = metric_named(sealed.metric)
    assert isinstance(metric, Metric)
    used = [row_id for row_id in labels if row_id in by_row]
    place = 1 if metric.of_scores else 0
    try:
        value = metric.compute(
            [labels[row_id] for row_id in used], [by_row[row_id][place] for row_id in used]
        )
    except NotComputable as error:
        raise MetricsError(
            "predictions_malformed", f"'{sealed.claim}' {error}.", where=name
        ) from None
    return value * 100 if sealed.percent else value


def _misfit(
    rows: list[_Row], by_row: Mapping[int, tuple[str, str]], labels: Mapping[int, str], whole: bool
) -> str:
    """What is wrong with the rows that are predicted; empty if nothing is."""
    if not rows:
        return "has no prediction for the split `test`"
    if len(by_row) < len(rows):
        return f"has {len(rows) - len(by_row)} rows predicted twice"
    unknown = next((row_id for row_id in by_row if row_id not in labels), None)
    if unknown is not None:
        return f"predicts row {unknown}, whose label is not sealed"
    missing = len(labels) - len(by_row)
    return f"lacks {missing} of {len(labels)} test rows" if whole and missing else ""
