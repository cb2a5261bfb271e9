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

from repro_pipeline.bundle.task import OutputMapping
from repro_pipeline.errors import FileFormatError, UserError
from repro_pipeline.experiment.spec import MetricsFile, ValueSource
from repro_pipeline.jsonfile import NotFiniteError, read_json
from repro_pipeline.jsonpath import parse_path, values_at

METRICS_NAME = "metrics.json"
_LARGEST = 1e100
"""A larger value is none: sums of such overflow, and no metric is meant."""
LARGEST_METRICS = 16 << 20
"""Bytes of a metrics.json."""
LARGEST_OUTPUT = 256 << 20
"""Bytes of a file or a log in which a mapping looks for values: it is read whole."""


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
        values = [(mapping.claim, _mapped(mapping, out, log, started_ns)) for mapping in mapped]
        return _checked(values, claims), ValueSource.PARSED
    text = _fresh_text(out / METRICS_NAME, METRICS_NAME, started_ns, LARGEST_METRICS)
    metrics = _metrics_file(text)
    values = [(metric.claim, metric.value) for metric in metrics.metrics]
    return _checked(values, claims, optional), ValueSource.SELF_REPORTED


def _metrics_file(text: str) -> MetricsFile:
    try:
        read_json(text, METRICS_NAME)
        return MetricsFile.model_validate_json(text, strict=True)
    except NotFiniteError as error:
        raise MetricsError("metrics_not_finite", error.what, where=error.where) from None
    except FileFormatError as error:
        raise MetricsError("metrics_malformed", error.what, where=error.where) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise MetricsError(
            "metrics_malformed",
            f"does not follow its schema: {place}: {first['msg']}.".replace(": :", ":"),
            hint='It must be {"metrics": [{"claim": "<id>", "value": 3.9}], "notes": ""}.',
        ) from None


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
                f"reports '{claim}', which this experiment does not cover.",
                hint=f"It covers: {', '.join((*claims, *optional))}.",
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


def _mapped(mapping: OutputMapping, out: Path, log: Path, started_ns: int) -> float:
    name = mapping.file
    path = log if name == "stdout" else out / name
    if name != "stdout" and not path.resolve().is_relative_to(out.resolve()):
        raise MetricsError("metrics_missing", "leaves the output folder.", where=name)
    text = _fresh_text(path, name, started_ns, LARGEST_OUTPUT)
    found = values_found(mapping, text, name)
    if not found:
        raise MetricsError(
            "metrics_missing",
            f"holds nothing for the claim '{mapping.claim}' by {_way(mapping)}.",
            where=name,
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
                hint=f"Columns: {', '.join(header)}.",
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
        shown = str(value)[:80]
        raise MetricsError(
            "metrics_malformed", f"the value of '{claim}' is no number: '{shown}'.", where=name
        ) from None
