"""JSON read strictly: no NaN, no number beyond a float's range, no repeated key, no bottomless depth."""

from __future__ import annotations

import json
import math
from typing import Any

from repro_pipeline.errors import FileFormatError


class NotFiniteError(FileFormatError):
    """A JSON text holds NaN, Infinity, or a number beyond the range of floats."""

    code = "not_finite"


def read_json(text: str, name: str) -> Any:
    """The value of a JSON text; `name` stands for its file in errors.

    Raises NotFiniteError, and FileFormatError for all else that is wrong, with the line where known.
    """
    try:
        return json.loads(
            text, parse_constant=_number, parse_float=_number, object_pairs_hook=_mapping
        )
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"is no valid JSON: {error.msg}.", where=f"{name}:{error.lineno}"
        ) from None
    except OverflowError as error:
        raise NotFiniteError(f"holds {error}, which is no finite number.", where=name) from None
    except RecursionError:
        raise FileFormatError("is no usable JSON: it is nested too deeply.", where=name) from None
    except ValueError as error:
        raise FileFormatError(f"is no usable JSON: {error}.", where=name) from None


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise OverflowError(text[:40])
    return value


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key '{twice}' stands twice")
    return value
