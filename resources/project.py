"""The project as a Dagster resource: opened in the process that needs it, from its folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import dagster as dg

from repro_pipeline.project import Project
from resources.opening import open_project


class ProjectResource(dg.ConfigurableResource):
    """The folder with `repro.yaml`, and optionally another runner than it names."""

    root: str
    runner: str | None = None
    """`unsafe_local` runs code without a sandbox: recorded, and shown in every report."""

    agent: bool = False
    """An agent writes the code, even where there is some."""
    replay: str | None = None
    """A recorded session that answers the agent's questions, in place of any model."""

    def open(self) -> Project:
        """The project behind the folder; opened once per process."""
        return _open(self.root, self.runner, self.agent, self.replay)


@lru_cache(maxsize=4)
def _open(root: str, runner: str | None, agent: bool, replay: str | None) -> Project:
    return open_project(Path(root), runner=runner, agent=agent, replay=replay)
