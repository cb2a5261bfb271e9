"""Input files that a value must answer to: data without meaning, or moved by next to nothing.

A spoilt file has the format, the columns, the row count and the kinds of values of the real one, so
that code which reads the real one reads it too, and cannot tell a probe from a run by its shape.

- `labels`: the labels in another order. What predicts them falls to chance, unless it has seen them.
- `train_labels`: only those of the training rows. What does not fall did not learn from them.
- `noise`: every column by itself in another order, and moved and stretched, classes redrawn evenly.
- `harmless`: fractions moved by less than anybody measures. What knows the file by heart is told.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Literal

Way = Literal["labels", "train_labels", "noise", "harmless"]

_LABEL = re.compile(
    r"^(y|ys|y_?(true|train|test|all)?|labels?|targets?|class(es)?|species|outcome|response|category"
    r"|diagnosis|digit|survived|income|quality|medv|price|output|truth|gold)$",
    re.I,
)
_TEST_FILE = re.compile(r"(^|[_\-./])(test|heldout|holdout)", re.I)
_LARGEST = 64 << 20
_MOST_COLUMNS = 4096


class Unspoilt(Exception):
    """The file's format is not known, or it has no labels to speak of."""


def spoil_file(source: Path, target: Path, way: Way, rows: Collection[int] | None = None) -> bool:
    """Write a spoilt copy of a data file. `rows` are the training rows, None for all.

    Raises Unspoilt where that is not possible.
    """
    return write_spoilt(source, target, Spoiler(way, rows, random.Random(f"{way}:{source.name}")))


def write_spoilt(source: Path, target: Path, spoiler: Spoiler) -> bool:
    """Write a copy changed as a spoiler says; returns whether the labels are surely the labels.

    Raises Unspoilt where that is not possible.
    """
    if source.stat().st_size > _LARGEST:
        raise Unspoilt
    spoil = _FORMATS.get(source.suffix.lower())
    if spoil is None:
        raise Unspoilt
    try:
        spoil(source, target, spoiler)
    except Unspoilt:
        raise
    except Exception:
        raise Unspoilt from None
    return spoiler.certain


class Spoiler:
    """How columns are changed: a deterministic choice, by a generator of its own."""

    by_column = False
    """Whether arrays too are changed column by column."""

    def __init__(self, way: Way, rows: Collection[int] | None, rng: random.Random) -> None:
        self.way, self.rng = way, rng
        self.rows = None if rows is None else frozenset(rows)
        self.certain = True

    def look(
        self, names: Sequence[str], columns: Sequence[Sequence[Any]], labels: Collection[int]
    ) -> None:
        """Be shown a whole table, and which of its columns hold labels, before its columns."""

    def order(self, count: int, left: Collection[int] = ()) -> list[int]:
        """A permutation of the rows, of the training rows alone where only they are meant, in which
        the rows that are `left` keep their places.
        """
        moved = [n for n in range(count) if n not in left and (self.rows is None or n in self.rows)]
        shuffled = moved[:]
        self.rng.shuffle(shuffled)
        places = dict(zip(moved, shuffled, strict=True))
        return [places.get(n, n) for n in range(count)]

    def column(self, values: Sequence[Any], *, label: bool) -> list[Any]:
        """A column of texts or numbers, changed. Labels that are left empty stay so: they are sealed."""
        if self.way == "harmless":
            return list(values) if label else [_shaken(value, self.rng) for value in values]
        blank = {n for n, value in enumerate(values) if label and is_blank(value)}
        if self.way != "noise":
            return [values[n] for n in self.order(len(values), blank)] if label else list(values)
        numbers = [as_number(value) for value in values]
        if label or any(number is None for number in numbers) or _few(values):
            by_text = {str(value): value for n, value in enumerate(values) if n not in blank}
            kinds = sorted(by_text)
            if len(kinds) > max(20, len(values) // 2):
                return self._moved(values, numbers, blank)
            drawn = [by_text[self.rng.choice(kinds)] for _ in values] if kinds else values
            return [value if n in blank else drawn[n] for n, value in enumerate(values)]
        return self._moved(values, numbers, blank)

    def _moved(
        self, values: Sequence[Any], numbers: list[float | None], left: Collection[int]
    ) -> list[Any]:
        order = self.order(len(values), left)
        known = [n for n in numbers if n is not None and math.isfinite(n)]
        if len(known) < len(values):
            return [values[n] for n in order]
        mean = math.fsum(known) / max(len(known), 1)
        spread = math.sqrt(math.fsum((n - mean) ** 2 for n in known) / max(len(known), 1)) or 1.0
        whole = all(float(n).is_integer() for n in known)
        moved = []
        for n in order:
            number = (
                mean + 1.7 * (numbers[n] - mean) + 0.9 * spread + self.rng.gauss(0, 0.3 * spread)
            )
            moved.append(_like(values[n], round(number) if whole else number))
        return moved


def _shaken(value: Any, rng: random.Random) -> Any:
    """A fraction, moved by some 1e-7 of itself; anything else as it is."""
    number = as_number(value)
    if number is None or not math.isfinite(number) or isinstance(value, int):
        return value
    if isinstance(value, str) and "." not in value:
        return value
    moved = number * (1 + 1e-7 * rng.uniform(-1, 1))
    return f"{moved:.12g}" if isinstance(value, str) else moved


def is_blank(value: Any) -> bool:
    """Whether a cell holds nothing."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def as_number(value: Any) -> float | None:
    """A cell as a number; None where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _few(values: Sequence[Any]) -> bool:
    return len(set(map(str, values))) <= 2


def _like(value: Any, number: float) -> Any:
    """A number as its place holds them: text in text, integers as integers."""
    if isinstance(value, str):
        if re.fullmatch(r"[-+]?\d+", value.strip()):
            return str(int(number))
        return f"{number:.6g}"
    return int(number) if isinstance(value, int) else float(number)


def label_columns(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> list[int]:
    """Which columns hold labels: those of such a name, else the last where it looks like classes."""
    named = [place for place, name in enumerate(names) if _LABEL.match(str(name).strip())]
    if named or not columns:
        return named
    last = columns[-1]
    kinds = len(set(map(str, last)))
    texts = any(as_number(value) is None for value in last)
    return [len(columns) - 1] if texts or kinds <= max(20, math.isqrt(len(last))) else []


def _table(names: Sequence[str], columns: list[list[Any]], spoiler: Spoiler) -> list[list[Any]]:
    labels = label_columns(names, columns)
    if spoiler.way in {"labels", "train_labels"} and not labels:
        raise Unspoilt
    spoiler.look(names, columns, labels)
    ends = [place for place in labels if place in (0, len(columns) - 1)]
    spoiler.certain = any(_LABEL.match(str(names[place]).strip()) for place in ends)
    changed = []
    for place, column in enumerate(columns):
        number_of_row = re.fullmatch(
            r"(row_?)?(id|index|idx|no|nr)|", str(names[place]).strip(), re.I
        )
        numbered = number_of_row and len(set(map(str, column))) == len(column)
        changed.append(column if numbered else spoiler.column(column, label=place in labels))
    return changed


def _csv(source: Path, target: Path, spoiler: Spoiler) -> None:
    text = source.read_text(encoding="utf-8-sig")
    delimiter = "\t" if source.suffix.lower() == ".tsv" else _delimiter(text)
    records = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if r]
    if len(records) < 3 or len({len(r) for r in records}) != 1:
        raise Unspoilt
    headed = any(as_number(cell) is None for cell in records[0]) and records[0] != records[1]
    names = records[0] if headed else [""] * len(records[0])
    rows = records[1:] if headed else records
    columns = _table(names, [list(column) for column in zip(*rows, strict=True)], spoiler)
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        if headed:
            writer.writerow(names)
        writer.writerows(zip(*columns, strict=True))


def _delimiter(text: str) -> str:
    first = text.split("\n", 1)[0]
    return max(",;\t ", key=first.count)


def _json_lines(source: Path, target: Path, spoiler: Spoiler) -> None:
    lines = source.read_text(encoding="utf-8").splitlines()
    _write_records(
        [json.loads(line) for line in lines if line.strip()],
        spoiler,
        lambda rows: target.write_text("".join(json.dumps(row) + "\n" for row in rows)),
    )


def _json(source: Path, target: Path, spoiler: Spoiler) -> None:
    content = json.loads(source.read_text(encoding="utf-8"))
    if isinstance(content, dict):
        columns = {k: v for k, v in content.items() if isinstance(v, list) and len(v) > 2}
        if not columns:
            raise Unspoilt
        flat = {k: v for k, v in columns.items() if not isinstance(v[0], list | dict)}
        names = list(flat)
        changed = dict(zip(names, _table(names, [flat[k] for k in names], spoiler), strict=True))
        for name, rows in columns.items():
            if name not in flat and spoiler.way == "noise":
                order = spoiler.order(len(rows))
                changed[name] = [rows[n] for n in order]
        target.write_text(json.dumps({**content, **changed}))
        return
    _write_records(content, spoiler, lambda rows: target.write_text(json.dumps(rows)))


def _write_records(records: Any, spoiler: Spoiler, write: Callable[[list], Any]) -> None:
    if not isinstance(records, list) or len(records) < 3 or not isinstance(records[0], dict):
        raise Unspoilt
    names = [
        n for n in records[0] if all(n in r and not isinstance(r[n], list | dict) for r in records)
    ]
    columns = _table(names, [[r[n] for r in records] for n in names], spoiler)
    by_name = dict(zip(names, columns, strict=True))
    write([{**r, **{n: by_name[n][place] for n in names}} for place, r in enumerate(records)])


def _npy(source: Path, target: Path, spoiler: Spoiler) -> None:
    import numpy as np

    array = np.load(source, allow_pickle=False)
    with target.open("wb") as stream:
        np.save(stream, _array(source.stem, array, spoiler, alone=True))


def _npz(source: Path, target: Path, spoiler: Spoiler) -> None:
    import numpy as np

    with np.load(source, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    changed = {name: _array(name, array, spoiler, alone=False) for name, array in arrays.items()}
    if all(changed[name] is arrays[name] for name in arrays):
        raise Unspoilt
    with zipfile.ZipFile(source) as archive:
        packed = archive.infolist()[0].compress_type != zipfile.ZIP_STORED
    with target.open("wb") as stream:
        (np.savez_compressed if packed else np.savez)(stream, **changed)


def _array(name: str, array: Any, spoiler: Spoiler, *, alone: bool) -> Any:
    """An array, changed; itself where this way does not concern it."""
    label = bool(re.search(r"(^|_)(y|label|labels|target|targets)(_|$|\d)|^y", name, re.I))
    if array.ndim and spoiler.by_column:
        return _array_by_column(array, spoiler, label=label)
    return _array_as_whole(name, array, spoiler, alone=alone, label=label)


def _array_as_whole(name: str, array: Any, spoiler: Spoiler, *, alone: bool, label: bool) -> Any:
    import numpy as np

    rng = np.random.default_rng(spoiler.rng.randrange(2**32))
    if spoiler.way == "harmless":
        if array.dtype.kind != "f" or label:
            return array
        return (array * (1 + 1e-7 * rng.uniform(-1, 1, array.shape))).astype(array.dtype)
    if spoiler.way != "noise":
        training = spoiler.way == "labels" or not _TEST_FILE.search(name)
        if label and array.ndim and training:
            return array[np.array(spoiler.order(len(array)))]
        if alone and array.ndim == 2 and training and array.shape[1] > 1:
            last = array[:, -1]
            if len(np.unique(last)) <= max(20, math.isqrt(len(last))):
                spoiler.certain = False
                array = array.copy()
                array[:, -1] = last[np.array(spoiler.order(len(array)))]
                return array
        if alone:
            raise Unspoilt
        return array
    if array.dtype.kind not in "fiub" or array.ndim == 0:
        return array[rng.permutation(len(array))] if array.ndim else array
    if label and array.dtype.kind in "iub":
        return rng.choice(np.unique(array), size=array.shape).astype(array.dtype)
    flat = array.reshape(len(array), -1).astype(float)
    spread = flat.std(axis=0, keepdims=True)
    changed = np.empty_like(flat)
    for column in range(flat.shape[1]):
        changed[:, column] = flat[rng.permutation(len(flat)), column]
    center = flat.mean(axis=0, keepdims=True)
    changed = center + 1.7 * (changed - center) + 0.9 * spread
    changed += 0.3 * spread * rng.standard_normal(changed.shape)
    if array.dtype.kind in "iub":
        kinds = np.iinfo(array.dtype) if array.dtype.kind != "b" else None
        changed = np.rint(changed)
        changed = changed > 0.5 if kinds is None else np.clip(changed, kinds.min, kinds.max)
        if alone and array.ndim == 2 and len(np.unique(array[:, -1])) <= 20:
            changed[:, -1] = rng.choice(np.unique(array[:, -1]), size=len(array))
    elif alone and array.ndim == 2 and len(np.unique(array[:, -1])) <= 20:
        changed[:, -1] = rng.choice(np.unique(array[:, -1]), size=len(array))
    return changed.reshape(array.shape).astype(array.dtype)


def _array_by_column(array: Any, spoiler: Spoiler, *, label: bool) -> Any:
    """An array of rows with each column changed by the spoiler."""
    import numpy as np

    flat = array.reshape(len(array), -1)
    if flat.shape[1] > _MOST_COLUMNS:
        raise Unspoilt
    changed = [spoiler.column(column.tolist(), label=label) for column in flat.T]
    return np.array(changed).T.reshape(array.shape).astype(array.dtype)


def _parquet(source: Path, target: Path, spoiler: Spoiler) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(source)
    columns = _table(table.column_names, [c.to_pylist() for c in table.columns], spoiler)
    arrays = [pa.array(c, type=f.type) for c, f in zip(columns, table.schema, strict=True)]
    pq.write_table(pa.table(arrays, schema=table.schema), target)


def _text(source: Path, target: Path, spoiler: Spoiler) -> None:
    """Numbers in columns, as numpy's `loadtxt` reads them; row numbers and prose are left alone."""
    _csv(source, target, spoiler)


_FORMATS: dict[str, Callable[[Path, Path, Spoiler], None]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".txt": _text,
    ".dat": _text,
    ".data": _text,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".npy": _npy,
    ".npz": _npz,
    ".parquet": _parquet,
}


def class_shares(source: Path) -> list[float]:
    """The shares of the classes among a file's labels; empty where they are none or unknown."""
    shares: list[float] = []

    class Looking(Spoiler):
        def column(self, values: Sequence[Any], *, label: bool) -> list[Any]:
            if label and not shares:
                known = [str(value) for value in values if not is_blank(value)]
                counts = Counter(known)
                if len(counts) <= max(20, math.isqrt(len(known))):
                    shares.extend(count / len(known) for count in counts.values())
            return list(values)

    if source.suffix.lower() in {".npy", ".npz"}:
        return _array_shares(source)
    spoil = _FORMATS.get(source.suffix.lower())
    if spoil is None or source.stat().st_size > _LARGEST:
        return []
    try:
        spoil(source, Path("/dev/null"), Looking("labels", None, random.Random(0)))
    except Exception:
        return shares
    return shares


def _array_shares(source: Path) -> list[float]:
    import numpy as np

    try:
        loaded = np.load(source, allow_pickle=False)
        named = (
            {source.stem: loaded}
            if source.suffix == ".npy"
            else {n: loaded[n] for n in loaded.files}
        )
    except (ValueError, OSError):
        return []
    for name, array in named.items():
        if re.search(r"^y|label|target", name, re.I) and array.ndim == 1:
            kinds, counts = np.unique(array, return_counts=True)
            if len(kinds) <= 20:
                return [float(count) / len(array) for count in counts]
    return []
