"""What integrity's probes and readings say: facts and sentences, before any rubric judges them."""

from __future__ import annotations

from typing import Literal

from repro_pipeline.frozen import Frozen


class Probe(Frozen):
    """The result of one integrity probe; thresholds are the rubric's, not the probe's."""

    id: str
    applies: bool
    sentence: str
    evidence: dict[str, float | str | bool | None] = {}
    claims: tuple[str, ...] = ()
    unmoved: tuple[str, ...] = ()
    """Of a response probe, the claims that kept their value."""


class Finding(Frozen):
    """One thing that speaks against believing a value, or is worth a look."""

    kind: str
    evidence: str
    severity: Literal["info", "unverified", "suspect", "violation"]
    claims: tuple[str, ...] = ()
