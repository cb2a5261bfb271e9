"""Configurations that differ from the given one: by much, in one number, or by nothing of weight."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

_IDLE = re.compile(
    r"verbose|log|worker|n_?jobs|thread|device|gpu|print|save|path|dir|file|cache|timeout|sleep|name"
    r"|version|comment|note|plot|figure|tag|debug|schema",
    re.I,
)
FAR = 20


def other_settings(config: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Configurations that differ, each with a name for what was changed: most at once first.

    Numbers are changed to smaller ones of their kind, so that nothing takes longer; switches are
    turned. Settings that say where and how loudly to work are left alone.
    """
    leaves = [(path, value) for path, value in _leaves(config) if not _IDLE.search(path[-1])]
    numbers = [(p, v) for p, v in leaves if _changeable(v)]
    switches = [(p, v) for p, v in leaves if isinstance(v, bool) and p[-1] != "sample"]
    made = []
    if numbers:
        made.append((_named(numbers), _with(config, numbers, _smaller)))
    if switches:
        made.append((_named(switches), _with(config, switches, lambda v: not v)))
    return made


def harmless_settings(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration with its fractions moved by a billionth of themselves."""
    leaves = [(p, v) for p, v in _leaves(config) if isinstance(v, float) and v not in (0.0, 1.0)]
    return _with(config, leaves, lambda value: value * (1 + 1e-9))


def far_settings(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration with its fractions far larger: easy problems, or methods that diverge."""
    leaves = [
        (p, v)
        for p, v in _leaves(config)
        if isinstance(v, float) and v != 0.0 and not _IDLE.search(p[-1])
    ]
    return _with(config, leaves, lambda value: value * FAR)


def single_settings(config: dict[str, Any], most: int) -> list[tuple[str, dict[str, Any]]]:
    """Configurations in which one number differs, for code that refuses several at once."""
    leaves = [(p, v) for p, v in _leaves(config) if _changeable(v) and not _IDLE.search(p[-1])]
    return [(_named([leaf]), _with(config, [leaf], _smaller)) for leaf in leaves[:most]]


def _leaves(value: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        return [leaf for k, v in value.items() if k != "data" for leaf in _leaves(v, (*path, k))]
    if isinstance(value, list):
        return [leaf for n, v in enumerate(value) for leaf in _leaves(v, (*path, str(n)))]
    return [(path or ("",), value)]


def _changeable(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value not in (0, 1)


def _smaller(value: float) -> float:
    if isinstance(value, int):
        less = int(value - math.copysign(max(1, abs(value) // 4), value))
        return less if less not in (0, value) else value + 1
    return value * 0.8


def _with(
    config: dict[str, Any], leaves: Sequence[tuple[tuple[str, ...], Any]], change: Callable
) -> dict[str, Any]:
    changed = copy.deepcopy(config)
    for path, value in leaves:
        place: Any = changed
        for key in path[:-1]:
            place = place[int(key)] if isinstance(place, list) else place[key]
        last = int(path[-1]) if isinstance(place, list) else path[-1]
        place[last] = change(value)
    return changed


def _named(leaves: Sequence[tuple[tuple[str, ...], Any]]) -> str:
    return ", ".join(".".join(path) for path, _ in leaves[:6])
