"""The checklist of what an experiment needs said: data in `checklist.yaml`, extensible by a file."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from repro_pipeline.bundle.terms import Influence
from repro_pipeline.frozen import Frozen, Misfit, Slug
from repro_pipeline.yamlfile import load_model, parse_model


def _is_pattern(text: str) -> str:
    try:
        compiled(text)
    except re.error as error:
        raise ValueError(f"is no valid regular expression: {error}") from None
    return text


Pattern = Annotated[str, AfterValidator(_is_pattern)]


class Kind(Frozen):
    """A kind of experiment, and the words by which it is known."""

    signs: Annotated[tuple[Pattern, ...], Field(min_length=1)]


class Item(Frozen):
    """One thing that must be known to repeat an experiment."""

    id: Slug
    question: str
    for_: Annotated[tuple[str, ...], Field(alias="for")] = ()
    """The kinds of experiment that it applies to; empty: all."""
    only: bool = False
    """Whether words that seem to state it count in no other kind of experiment."""
    anywhere: bool = False
    """Whether an introduction or a conclusion may state it as well, as where the code is."""
    taken: bool = True
    """Whether another work can say it for this one; not, for example, on which hardware it ran."""
    influence: Influence = Influence.MEDIUM
    """How far it is expected to move results, before anything was measured."""
    states: Annotated[tuple[Pattern, ...], Field(min_length=1)]
    """A sentence that holds one of these states the item."""
    unless: tuple[Pattern, ...] = ()
    named: Pattern | None = None
    """The heading of a table's row or column that states it."""
    cell: Pattern | None = None
    """What a cell beside that heading must hold; anything, if not given."""
    code: Pattern | None = None
    """The whole of a setting's name in code that states it, in snake_case."""
    value: Pattern | None = None
    """Its first group that is found is the value that a sentence states, the next the value's unit."""


class Contradictions(Frozen):
    """When two values are no contradiction."""

    never_about: Pattern
    """Words of a sentence that is about some of the experiments only."""
    same_names: Pattern
    """Names that two sentences about the same experiment need not share, as an optimiser's."""


class Checklist(Frozen):
    """The whole of `checklist.yaml`."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    kinds: dict[Slug, Kind]
    items: tuple[Item, ...]
    contradictions: Contradictions
    ignore: tuple[Pattern, ...] = ()
    """What is taken out of a sentence before patterns are searched in it."""
    unlike: Pattern
    """The beginning of a sentence about somebody else's experiment."""
    elsewhere: Pattern
    """Titles of sections that say nothing of the paper's own experiments."""
    setup: Pattern
    """Titles of sections that describe them: their sentences are shown first."""

    @model_validator(mode="after")
    def _kinds_are_there(self) -> Checklist:
        for position, item in enumerate(self.items):
            for number, kind in enumerate(item.for_):
                if kind not in self.kinds:
                    known = ", ".join(self.kinds)
                    where = ("items", position, "for", number)
                    raise Misfit(f"the kind '{kind}' is not among: {known}", *where)
        return self


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of a checklist, compiled: case does not matter. Raises re.error."""
    return re.compile(pattern, re.IGNORECASE)


def load_checklist(path: Path | None = None) -> Checklist:
    """The checklist in a file; the package's own without one. Raises FileFormatError."""
    if path is not None:
        return load_model(path, Checklist)
    text = (files("repro_pipeline.lineage") / "checklist.yaml").read_text(encoding="utf-8")
    return parse_model(text, Checklist, name="checklist.yaml")
