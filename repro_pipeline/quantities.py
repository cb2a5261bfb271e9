"""Durations and sizes as people write them in YAML: `2h`, `90s`, `4GiB`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def _reader(units: dict[str, int], example: str):
    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", value.strip())
        if not match or match[2] not in units:
            raise ValueError(f"'{value}' is not understood; write it as {example}")
        return float(match[1]) * units[match[2]]

    return read


Seconds = Annotated[float, BeforeValidator(_reader(_SECONDS, "90s, 10m, 2h or 1d")), Field(gt=0)]
"""A duration; in YAML a number of seconds or a text such as `10m`."""

Bytes = Annotated[
    int,
    BeforeValidator(lambda value: _whole(_reader(_BYTES, "512MiB or 4GiB")(value))),
    Field(gt=0),
]
"""A size; in YAML a number of bytes or a text such as `4GiB`."""


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value
