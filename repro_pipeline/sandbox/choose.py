"""The runner that a configuration names: that one or an error, never another."""

from __future__ import annotations

from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.ports import Runner
from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner
from repro_pipeline.sandbox.local import UnsafeLocalRunner

RUNNERS = {runner.name: runner for runner in (BubblewrapRunner, UnsafeLocalRunner)}


def make_runner(name: str) -> Runner:
    """The runner of that name. Raises SandboxUnavailable where there is none, or it cannot run."""
    if name not in RUNNERS:
        raise SandboxUnavailable(
            f"there is no runner '{name}'.", hint=f"Choose one of {', '.join(RUNNERS)}."
        )
    return RUNNERS[name]()
