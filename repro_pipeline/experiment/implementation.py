"""What the implementation stage leaves: frozen code and its experiments."""

from __future__ import annotations

from typing import Literal

from repro_pipeline.bundle.task import OutputMapping
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.frozen import Frozen, Sha256


class Implementation(Frozen):
    """Code whose hash is fixed, and the experiments that it offers."""

    mode: Literal["code", "agent"]
    code_tree: Sha256
    """The code in the artifact store."""
    command: tuple[str, ...]
    experiments: tuple[Experiment, ...]
    sample: dict = {}
    """What the small first run changes in each configuration."""
    outputs: tuple[OutputMapping, ...] = ()
    """How the output of existing code maps to claims; empty for code that writes metrics.json."""
    uncovered: tuple[str, ...] = ()
    """Claims that no baseline experiment covers: they stay in the denominator as `not_run`."""
    seeded: bool = True
