"""Read what a run left, and refuse what cannot count: absent, stale, not finite, or not asked for."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repro_pipeline.bundle.task import OutputMapping
from repro_pipeline.errors import UserError
from repro_pipeline.experiment.spec import MetricsFile, ValueSource

METRICS_NAME = "metrics.json"
_CLOCK_SLACK_NS = 2_000_000_000
"""File systems may keep times in steps of up to two seconds."""


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
) -> tuple[dict[str, float], ValueSource]:
    """The value of each of `claims` that a run left in `out`, and where the values come from.

    `started_ns` is the run's start on the clock of the file system: an older file was not written
    by the run. Raises MetricsError.
    """
    if outputs:
        mapped = [mapping for mapping in outputs if mapping.claim in claims]
        values = [(mapping.claim, _mapped(mapping, out, log, started_ns)) for mapping in mapped]
        return _checked(values, claims), ValueSource.PARSED
    path = out / METRICS_NAME
    text = _fresh_text(path, METRICS_NAME, started_ns)
    try:
        metrics = MetricsFile.model_validate(json.loads(text, parse_constant=_refuse_constant))
    except json.JSONDecodeError as error:
        raise MetricsError(
            "metrics_malformed",
            f"is no valid JSON: {error.msg}.",
            where=f"{METRICS_NAME}:{error.lineno}",
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise MetricsError(
            "metrics_malformed",
            f"does not follow its schema: {place}: {first['msg']}.",
            hint='It must be {"metrics": [{"claim": "<id>", "value": 3.9}], "notes": ""}.',
        ) from None
    return _checked(
        [(m.claim, m.value) for m in metrics.metrics], claims
    ), ValueSource.SELF_REPORTED


def _checked(values: list[tuple[str, float]], claims: Sequence[str]) -> dict[str, float]:
    if not values:
        raise MetricsError(
            "metrics_empty", "holds no values.", hint=f"Expected: {', '.join(claims)}."
        )
    result: dict[str, float] = {}
    for claim, value in values:
        if claim not in claims:
            raise MetricsError(
                "metrics_unknown_claim",
                f"reports '{claim}', which this experiment does not cover.",
                hint=f"It covers: {', '.join(claims)}.",
            )
        if claim in result:
            raise MetricsError("metrics_repeated_claim", f"reports '{claim}' twice.")
        if not math.isfinite(value):
            raise MetricsError("metrics_not_finite", f"the value of '{claim}' is {value}.")
        result[claim] = value
    missing = [claim for claim in claims if claim not in result]
    if missing:
        raise MetricsError("metrics_incomplete", f"lacks the claims {', '.join(missing)}.")
    return result


def _fresh_text(path: Path, name: str, started_ns: int) -> str:
    if path.is_symlink() or not path.is_file():
        raise MetricsError("metrics_missing", "the run did not write it.", where=name)
    if path.stat().st_mtime_ns < started_ns - _CLOCK_SLACK_NS:
        raise MetricsError(
            "metrics_stale",
            "is older than the run: it was not written by it.",
            where=name,
            hint="A run must compute its values, not carry over a file.",
        )
    text = path.read_text(encoding="utf-8", errors="replace")
    if not text.strip():
        raise MetricsError("metrics_empty", "is empty.", where=name)
    return text


def _refuse_constant(name: str) -> float:
    raise MetricsError("metrics_not_finite", f"holds {name}, which is no finite number.")


def _mapped(mapping: OutputMapping, out: Path, log: Path, started_ns: int) -> float:
    name = mapping.file
    path = log if name == "stdout" else out / name
    if not path.resolve().is_relative_to(out.resolve()) and name != "stdout":
        raise MetricsError("metrics_missing", "leaves the output folder.", where=name)
    text = _fresh_text(path, name, started_ns)
    if mapping.json_path is not None:
        found = _from_json(text, mapping.json_path, name)
    elif mapping.csv is not None:
        found = _from_csv(text, mapping, name)
    else:
        found = [
            match[1] if match.re.groups else match[0] for match in _matches(mapping.regex, text)
        ]
    if not found:
        raise MetricsError(
            "metrics_missing", f"holds nothing for the claim '{mapping.claim}'.", where=name
        )
    numbers = [_number(value, mapping.claim, name) for value in found]
    return sum(numbers) / len(numbers) if mapping.stat == "mean" else numbers[-1]


def _matches(pattern: str, text: str) -> list[re.Match[str]]:
    try:
        return list(re.finditer(pattern, text, flags=re.MULTILINE))
    except re.error as error:
        raise MetricsError("bad_mapping", f"the regex {pattern!r} is not valid: {error}.") from None


def _from_csv(text: str, mapping: OutputMapping, name: str) -> list[str]:
    rows = csv.DictReader(text.splitlines())
    wanted = mapping.csv
    absent = [
        column for column in (*wanted.where, wanted.column) if column not in (rows.fieldnames or ())
    ]
    if absent:
        raise MetricsError(
            "metrics_missing",
            f"has no column '{absent[0]}'.",
            where=name,
            hint=f"Columns: {', '.join(rows.fieldnames or ())}.",
        )
    return [row[wanted.column] for row in rows if all(row[c] == v for c, v in wanted.where.items())]


def _from_json(text: str, path: str, name: str) -> list[Any]:
    """The values at a path such as `$.results[0].accuracy` or `$.runs[*].accuracy`."""
    try:
        values = [json.loads(text)]
    except json.JSONDecodeError as error:
        raise MetricsError(
            "metrics_malformed", f"is no valid JSON: {error.msg}.", where=name
        ) from None
    for part in re.findall(r"[^.\[\]$]+|\[\*\]", re.sub(r"^\$\.?", "", path)):
        values = [inner for value in values for inner in _step(value, part)]
    return values


def _step(value: Any, part: str) -> list[Any]:
    if part == "[*]":
        return list(value) if isinstance(value, list) else []
    if isinstance(value, list):
        return [value[int(part)]] if part.isdigit() and int(part) < len(value) else []
    return [value[part]] if isinstance(value, dict) and part in value else []


def _number(value: Any, claim: str, name: str) -> float:
    try:
        if isinstance(value, bool):
            raise ValueError
        return float(value)
    except (TypeError, ValueError):
        raise MetricsError(
            "metrics_malformed", f"the value of '{claim}' is no number: {value!r}.", where=name
        ) from None
