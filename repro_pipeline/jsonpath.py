"""Paths into JSON: `$.results[0].accuracy`, `$.runs[*].loss`, `$.history[-1]['top-1 error']`."""

from __future__ import annotations

import re
from typing import Any

EACH = None
"""The step `[*]`: every value of a list or a mapping."""

Step = str | int | None
"""A key of a mapping, a position in a list (from the end, if negative), or EACH."""

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]'"\s*]+) | \[(?P<index>-?\d+)\] | (?P<each>\[\*\]|\.\*)
      | \['(?P<single>[^']*)'\] | \["(?P<double>[^"]*)"\]""",
    re.VERBOSE,
)


def parse_path(path: str) -> tuple[Step, ...]:
    """The steps of a path. Raises ValueError saying from where it is not understood."""
    steps: list[Step] = []
    rest = path.removeprefix("$")
    understood = rest != path
    while rest and understood:
        match = _STEP.match(rest)
        if match:
            steps.append(_read_step(match))
            rest = rest[match.end() :]
        understood = match is not None
    if not understood:
        raise ValueError(
            f"the path is not understood from '{rest}' on; "
            "write it as $.results[0].accuracy or $.runs[*]['top-1']"
        )
    return tuple(steps)


def values_at(value: Any, steps: tuple[Step, ...]) -> list[Any]:
    """The values that a path leads to, in order; empty where it leads to nothing."""
    found = [value]
    for step in steps:
        found = [inner for outer in found for inner in _step(outer, step)]
    return found


def _read_step(match: re.Match[str]) -> Step:
    if match["each"]:
        return EACH
    if match["index"]:
        return int(match["index"])
    return next(match[name] for name in ("name", "single", "double") if match[name] is not None)


def _step(value: Any, step: Step) -> list[Any]:
    if step is EACH:
        inner = value.values() if isinstance(value, dict) else value
        return list(inner) if isinstance(value, dict | list) else []
    if isinstance(step, int):
        inside = isinstance(value, list) and -len(value) <= step < len(value)
        return [value[step]] if inside else []
    return [value[step]] if isinstance(value, dict) and step in value else []
