"""Read what a run left, and refuse what cannot count: absent, stale, not finite, or not asked for."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repro_pipeline.bundle.task import CsvColumn, OutputMapping
from repro_pipeline.choices import MOST_LISTED, listed, nearest, short
from repro_pipeline.errors import FileFormatError, UserError
from repro_pipeline.experiment.spec import MetricsFile
from repro_pipeline.jsonfile import NotFiniteError, read_json
from repro_pipeline.jsonpath import parse_path, values_at
from repro_pipeline.ledger.runs import ValueSource
from repro_pipeline.yamlfile import described

METRICS_NAME = "metrics.json"
_LARGEST = 1e100
"""A larger value is none: sums of such overflow, and no metric is meant."""
LARGEST_METRICS = 16 << 20
"""Bytes of a metrics.json."""
LARGEST_OUTPUT = 256 << 20
"""Bytes of a file or a log in which a mapping looks for values: it is read whole."""


_MOST = 10
"""Faults that are told of one run."""
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*%?\s*", re.ASCII)
"""A number that was written as a text."""
_WANTED = {"metrics": "a list", "notes": "a text", "claim": "a text"}


class MetricsError(UserError):
    """A run left no metrics that can count."""

    code = "bad_metrics"

    def __init__(self, code: str, what: str, *, where: str = METRICS_NAME, hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.code = code


def read_values(
    out: Path,
    log: Path,
    *,
    claims: Sequence[str],
    outputs: Sequence[OutputMapping],
    started_ns: int,
    optional: Sequence[str] = (),
) -> tuple[dict[str, float], ValueSource]:
    """The value of each of `claims` that a run left in `out`, and where the values come from.

    A `metrics.json` may hold values of `optional` claims as well; they are returned with the others.
    `started_ns` is the run's start on the clock of the file system that holds `out`: a file with an
    older stamp was not written by the run. Raises MetricsError.
    """
    if outputs:
        mapped = [mapping for mapping in outputs if mapping.claim in claims]
        return _checked(_all_mapped(mapped, out, log, started_ns), claims), ValueSource.PARSED
    text = _fresh_text(out / METRICS_NAME, METRICS_NAME, started_ns, LARGEST_METRICS)
    metrics = _metrics_file(text, (*claims, *optional))
    values = [(metric.claim, metric.value) for metric in metrics.metrics]
    return _checked(values, claims, optional), ValueSource.SELF_REPORTED


def _metrics_file(text: str, known: Sequence[str]) -> MetricsFile:
    try:
        value = read_json(text, METRICS_NAME)
        return MetricsFile.model_validate_json(text, strict=True)
    except NotFiniteError as error:
        raise MetricsError("metrics_not_finite", error.what, where=error.where) from None
    except FileFormatError as error:
        raise MetricsError("metrics_malformed", error.what, where=error.where) from None
    except ValidationError as error:
        faults = error.errors(include_url=False)
        told = [_schema_fault(fault, value, known) for fault in faults[:_MOST]]
        more = [f"{len(faults) - _MOST} more faults."] if len(faults) > _MOST else []
        raise MetricsError(
            "metrics_no_number" if any(map(_of_a_value, faults)) else "metrics_malformed",
            " ".join([*dict.fromkeys(told), *more]),
            hint='It must be {"metrics": [{"claim": "<id>", "value": 3.9}], "notes": ""}.',
        ) from None


def _of_a_value(fault: Any) -> bool:
    """Whether a fault lies in what was measured: such a one may come of the seed."""
    return fault["loc"][-1:] == ("value",) and fault["type"] != "missing"


def _schema_fault(fault: Any, whole: Any, known: Sequence[str]) -> str:
    """A sentence of what was found, and where; `known` are the claims that may be reported."""
    place, found = fault["loc"], fault["input"]
    item = f"the item {place[1] + 1} of `metrics`" if len(place) > 1 else "the file"
    if fault["type"] == "missing":
        return f"{item} lacks `{place[-1]}`."
    if fault["type"] == "extra_forbidden":
        return f"{item} has the unknown key '{short(str(place[-1]))}'."
    key = place[-1] if len(place) in {1, 3} else None
    if key == "claim" and isinstance(found, str):
        return _stranger(found, known)
    if key == "value":
        claim = whole["metrics"][place[1]].get("claim")
        of = short(claim) if isinstance(claim, str) else item
        number = _NUMBER.fullmatch(found) if isinstance(found, str) else None
        return f"the value of {of} is {described(found)}; write a number{f': {number[1]}' if number else ''}."
    wanted = _WANTED.get(key, "a mapping")
    return f"{f'`{key}` of {item}' if key else item} must be {wanted}, not {described(found)}."


def _stranger(claim: str, known: Sequence[str]) -> str:
    near = nearest(claim, known)
    meant = f"; did you mean '{near}'?" if near else "."
    return f"the claim '{short(claim)}' is not one of the experiment's: {listed(known)}{meant}"


def _checked(
    values: list[tuple[str, float]], claims: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, float]:
    if claims and not values:
        raise MetricsError(
            "metrics_empty", "holds no values.", hint=f"Expected: {', '.join(claims)}."
        )
    result: dict[str, float] = {}
    for claim, value in values:
        if claim not in claims and claim not in optional:
            raise MetricsError(
                "metrics_unknown_claim",
                _stranger(claim, (*claims, *optional)),
            )
        if claim in result:
            raise MetricsError("metrics_repeated_claim", f"reports '{claim}' twice.")
        if not math.isfinite(value) or abs(value) > _LARGEST:
            raise MetricsError("metrics_not_finite", f"the value of '{claim}' is {value:.6g}.")
        result[claim] = value
    missing = [claim for claim in claims if claim not in result]
    if missing:
        raise MetricsError("metrics_incomplete", f"lacks the claims {', '.join(missing)}.")
    return result


def fresh_file(path: Path, name: str, started_ns: int, largest: int) -> None:
    """Raise MetricsError for what is no regular file that the run wrote, or is too large."""
    if path.is_symlink():
        raise MetricsError("metrics_missing", "is a link, and no file of the run.", where=name)
    if not path.is_file():
        raise MetricsError("metrics_missing", "the run did not write it.", where=name)
    stamp = path.stat()
    if stamp.st_mtime_ns < started_ns:
        raise MetricsError(
            "metrics_stale",
            "is older than the run: it was not written by it.",
            where=name,
            hint="A run must compute its values, not carry over a file.",
        )
    if stamp.st_size > largest:
        what = f"has {stamp.st_size} bytes, more than the {largest} that are read."
        raise MetricsError("metrics_too_large", what, where=name)


def _fresh_text(path: Path, name: str, started_ns: int, largest: int) -> str:
    """The text of a regular file that the run wrote."""
    fresh_file(path, name, started_ns, largest)
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise MetricsError(
            "metrics_missing", f"cannot be read: {error.strerror}.", where=name
        ) from None
    if not text.strip():
        raise MetricsError("metrics_empty", "is empty.", where=name)
    return text


def _all_mapped(
    mapped: Sequence[OutputMapping], out: Path, log: Path, started_ns: int
) -> list[tuple[str, float]]:
    """Each claim's value. Raises MetricsError of all mappings that find none, each once."""
    values, faults = [], []
    for mapping in mapped:
        try:
            values.append((mapping.claim, _mapped(mapping, out, log, started_ns)))
        except MetricsError as fault:
            faults.append(fault)
    if not faults:
        return values
    told = list(dict.fromkeys(str(fault) for fault in faults))
    if len(told) == 1:
        raise faults[0]
    more = [f"{len(told) - _MOST} more faults."] if len(told) > _MOST else []
    raise MetricsError(faults[0].code, "\n".join([*told[:_MOST], *more]), where="")


def _mapped(mapping: OutputMapping, out: Path, log: Path, started_ns: int) -> float:
    name = mapping.file
    path = log if name == "stdout" else out / name
    if name != "stdout" and not path.resolve().is_relative_to(out.resolve()):
        raise MetricsError("metrics_missing", "leaves the output folder.", where=name)
    text = _fresh_text(path, name, started_ns, LARGEST_OUTPUT)
    found = values_found(mapping, text, name)
    if not found:
        raise MetricsError(
            "metrics_not_found",
            f"holds nothing for the claim '{mapping.claim}' by {_way(mapping)}.",
            where=name,
            hint=_what_is_there(text, mapping.csv) if mapping.csv is not None else "",
        )
    used = found if mapping.stat == "mean" else found[-1:]
    numbers = [_number(value, mapping.claim, name) for value in used]
    return sum(numbers) / len(numbers)


def _way(mapping: OutputMapping) -> str:
    """How a mapping looks for its value, as `task.yaml` says it."""
    if mapping.csv is not None:
        rows = ", ".join(f"{column} = {text}" for column, text in mapping.csv.where.items())
        return f"the column {mapping.csv.column} where {rows or 'any'}"
    return f"json: {mapping.json_path}" if mapping.json_path else f"regex: {mapping.regex}"


def _what_is_there(text: str, wanted: CsvColumn) -> str:
    """The columns of a CSV file, and the texts in those that were searched."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    there: dict[str, dict[str, None]] = {column: {} for column in wanted.where}
    for row in rows:
        for column, texts in there.items():
            if len(texts) <= MOST_LISTED:
                texts[row[column] or ""] = None
    held = [f"{column} is: {listed([*texts]) or 'nothing'}." for column, texts in there.items()]
    return " ".join([f"Columns: {listed(rows.fieldnames or ())}.", *held])


def values_found(mapping: OutputMapping, text: str, name: str) -> list[Any]:
    """All that a mapping finds in the text of the file `name`, in order. Raises MetricsError."""
    if mapping.json_path is not None:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise MetricsError(
                "metrics_malformed", f"is no usable JSON: {error}.", where=name
            ) from None
        return values_at(value, parse_path(mapping.json_path))
    if mapping.csv is not None:
        return _column(text, mapping.csv.where, mapping.csv.column, name)
    matches = re.finditer(mapping.regex, text, flags=re.MULTILINE)
    return [match[1] if match.re.groups else match[0] for match in matches]


def _column(text: str, where: dict[str, str], column: str, name: str) -> list[str | None]:
    """The texts of a CSV file's column, in the rows that hold the wanted texts."""
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        header = rows.fieldnames or ()
        absent = [wanted for wanted in (*where, column) if wanted not in header]
        if absent:
            raise MetricsError(
                "metrics_missing",
                f"has no column '{absent[0]}'.",
                where=name,
                hint=f"Columns: {listed(header)}.",
            )
        return [row[column] for row in rows if all(row[c] == v for c, v in where.items())]
    except csv.Error as error:
        raise MetricsError("metrics_malformed", f"is no usable CSV: {error}.", where=name) from None


def _number(value: Any, claim: str, name: str) -> float:
    try:
        if isinstance(value, bool):
            raise ValueError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise MetricsError(
            "metrics_no_number",
            f"the value of '{claim}' is no number: '{short(str(value))}'.",
            where=name,
        ) from None
