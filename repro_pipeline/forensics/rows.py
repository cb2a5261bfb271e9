"""Rows that serve for training and for evaluation alike, by their content: the same, and nearly the same."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from repro_pipeline.environment.manifest import is_number
from repro_pipeline.findings import Probe
from repro_pipeline.wording import counted, percent

_LARGEST = 64 << 20

Row = tuple[str, ...]


def rows_of(path: Path) -> list[Row]:
    """The rows of a table, each as texts. Empty for a format that is not known, or a large file."""
    if path.stat().st_size > _LARGEST:
        return []
    try:
        match path.suffix.lower():
            case ".csv" | ".tsv" | ".txt" | ".dat" | ".data":
                text = path.read_text(encoding="utf-8-sig")
                delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
                rows = [tuple(r) for r in csv.reader(io.StringIO(text), delimiter=delimiter) if r]
                return rows[1:] if rows and not all(map(is_number, rows[0])) else rows
            case ".jsonl" | ".ndjson":
                lines = path.read_text(encoding="utf-8").splitlines()
                return [
                    (json.dumps(json.loads(line), sort_keys=True),)
                    for line in lines
                    if line.strip()
                ]
            case ".parquet":
                import pyarrow.parquet as pq

                return [tuple(map(str, row.values())) for row in pq.read_table(path).to_pylist()]
            case ".npy" | ".npz":
                return _array_rows(path)
    except Exception:
        return []
    return []


def _array_rows(path: Path) -> list[Row]:
    import numpy as np

    loaded: Any = np.load(path, allow_pickle=False)
    array = (
        loaded
        if path.suffix == ".npy"
        else max((loaded[n] for n in loaded.files), key=lambda a: a.size)
    )
    return [tuple(map(repr, row.ravel().tolist())) for row in array] if array.ndim > 1 else []


def _near(row: Row) -> Row:
    """A row with its numbers to three significant digits."""
    return tuple(f"{float(cell):.3g}" if is_number(cell) else cell.strip().lower() for cell in row)


def shared_rows(
    training: Mapping[str, tuple[Path, Collection[int] | None]],
    evaluation: Mapping[str, tuple[Path, Collection[int] | None]],
) -> Probe:
    """How many rows for evaluation are among those for training, of other rows or files.

    Each role's files by name, with their row numbers (None for all). Evidence: `rows`, `same` and
    `near` (to three significant digits), and which rows were compared.
    """
    train = [row for path, rows in training.values() for row in _chosen(rows_of(path), rows)]
    test = [row for path, rows in evaluation.values() for row in _chosen(rows_of(path), rows)]
    if not train or not test:
        return Probe(
            id="shared_rows",
            applies=False,
            sentence="The rows for training and evaluation cannot be read, so they were not "
            "compared.",
        )
    known, nearly = set(train), {_near(row) for row in train}
    same = sum(row in known for row in test)
    near = sum(_near(row) in nearly for row in test)
    return Probe(
        id="shared_rows",
        applies=True,
        sentence=f"{same} of {counted(len(test), 'row')} for evaluation "
        f"({percent(same / len(test))}) are among those "
        f"for training, {near} to three digits.",
        evidence={"rows": len(test), "same": same, "near": near},
    )


def _chosen(rows: Sequence[Row], numbers: Collection[int] | None) -> list[Row]:
    return list(rows) if numbers is None else [rows[n] for n in numbers if n < len(rows)]
