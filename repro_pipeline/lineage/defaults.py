"""What a library does by default at a paper's date, and what the field does by convention: data."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field

from repro_pipeline.frozen import Frozen, Slug
from repro_pipeline.lineage.checklist import Pattern, compiled
from repro_pipeline.yamlfile import parse_model


class Default(Frozen):
    """What holds where nothing is said."""

    item: Slug
    """Of the checklist."""
    library: Pattern | None = None
    """Words of a paper that uses the library; None for a convention."""
    when: Pattern | None = None
    """Words of a paper that uses the part of it."""
    kinds: tuple[str, ...] = ()
    """Kinds of experiment that it holds for; empty: all."""
    value: str
    since: int | None = None
    """The first year of papers that it holds for; None where it always held, so also for `until`."""
    until: int | None = None
    source: str
    """Where it is said."""


class Defaults(Frozen):
    """The whole of `defaults.yaml`."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    defaults: tuple[Default, ...]


@lru_cache(maxsize=1)
def load_defaults() -> tuple[Default, ...]:
    """The package's own defaults and conventions."""
    text = (files("repro_pipeline.lineage") / "defaults.yaml").read_text(encoding="utf-8")
    return parse_model(text, Defaults, name="defaults.yaml").defaults


def holds(default: Default, said: str, kinds: tuple[str, ...], year: int | None) -> bool:
    """Whether a default holds for a paper that says these words, at its year.

    One that changed at some date holds for no paper whose year is not known.
    """
    dated = default.since is not None or default.until is not None
    if dated and year is None:
        return False
    return (
        (default.library is None or bool(compiled(default.library).search(said)))
        and (default.when is None or bool(compiled(default.when).search(said)))
        and (not default.kinds or bool(set(default.kinds) & set(kinds)))
        and (default.since is None or year >= default.since)
        and (default.until is None or year <= default.until)
    )


_PART = re.compile(r",\s+(?![^(]*\))")
_SETTING = re.compile(r"([a-z][a-z ]*[a-z]) -?[\d.]+(?:e-?\d+)?")


def unsaid(value: str, said: str) -> str:
    """A default without the settings that a paper says itself: `weight decay 0.01` where it has 0.5.

    A setting is a name and a number, set apart by commas; it is said where a number stands beside its name.
    """
    return ", ".join(part for part in _PART.split(value) if not _says(said, part))


def _says(said: str, part: str) -> bool:
    setting = _SETTING.fullmatch(part)
    if setting is None:
        return False
    name = r"[-\s]+".join(map(re.escape, setting[1].split()))
    either = rf"\b{name}\b[^.,;\d]{{0,30}}\d|\d\s+{name}\b"
    return re.search(either, said, re.IGNORECASE) is not None
