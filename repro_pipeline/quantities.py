"""Durations, sizes and shares as people write them in YAML: `2h`, `90s`, `4GiB`, `0.15`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_AMOUNT = r"\d{1,12}(\.\d{1,6})?"


def _amount(value: str, units: Mapping[str, int], example: str) -> Decimal:
    match = re.fullmatch(rf"({_AMOUNT})\s*([A-Za-z]+)", value.strip(), flags=re.ASCII)
    if not match or match[3] not in units:
        raise ValueError(f"'{value}' is not understood; write it as {example}")
    return Decimal(match[1]) * units[match[3]]


def _seconds(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return float(_amount(value, _SECONDS, "90s, 10m, 2h or 1d"))


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    size = _amount(value, _BYTES, "512MiB or 4GiB")
    if size != int(size):
        raise ValueError(f"'{value}' is no whole number of bytes")
    return int(size)


def _schema(number: str, units: Mapping[str, int]) -> WithJsonSchema:
    text = {"type": "string", "pattern": rf"^\s*{_AMOUNT}\s*({'|'.join(units)})\s*$"}
    return WithJsonSchema({"anyOf": [{"type": number, "exclusiveMinimum": 0}, text]})


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError("must be a fraction from 0 to 1 (0.15 is 15 %)")
    return value


def _fraction(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError("must be a fraction above 0 and below 1 (0.15 is 15 %)")
    return value


Share = Annotated[
    float,
    AfterValidator(_share),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
"""A part of a whole, none and all included: 0.15 is 15 %."""

Fraction = Annotated[
    float,
    AfterValidator(_fraction),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
"""A relative tolerance, or a part that is neither none nor all: 0.15 is 15 %."""

Seconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0), _schema("number", _SECONDS)]
"""A duration; in YAML a number of seconds or a text such as `10m`."""

Bytes = Annotated[int, BeforeValidator(_bytes), Field(gt=0), _schema("integer", _BYTES)]
"""A size; in YAML a number of bytes or a text such as `4GiB`."""
