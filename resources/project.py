"""The project as a Dagster resource: opened in the process that needs it, from its folder."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path

import dagster as dg
from pydantic import Field

from repro_pipeline.config import ProjectConfig
from repro_pipeline.project import Project
from resources.opening import PROJECT_VARIABLE, locate_project, open_project


class LaunchBudget(dg.Config):
    """What a launch may spend on a paper; a task can only lower it. null is no limit of its own."""

    usd: float | None = None
    tokens: int | None = None
    wall_clock: float | None = Field(default=None, description="Seconds.")
    experiments: int | None = None
    steps: int | None = None


class LaunchModels(dg.Config):
    """The model of each role, by its litellm name; keys come from the environment only."""

    reader: str | None = None
    planner: str | None = None
    coder: str | None = None
    judge: str | None = None


class ProjectResource(dg.ConfigurableResource):
    """The folder with `repro.yaml`, and what one launch has otherwise: its values are the defaults."""

    root: str = Field(
        default="", description="Its folder; by default $REPRO_PROJECT, or the one at hand."
    )
    runner: str | None = Field(
        default=None,
        description="unsafe_local runs code without a sandbox: recorded, and shown in every report.",
    )
    agent: bool = Field(
        default=False, description="An agent writes the code, even where there is some."
    )
    replay: str | None = Field(
        default=None,
        description="A recorded session that answers the agent's questions, in place of any model.",
    )
    seeds: int | None = Field(
        default=None, description="Evaluation seeds per experiment, where the task fixes none."
    )
    budget: LaunchBudget | None = None
    models: LaunchModels | None = None

    @classmethod
    def of(cls, root: Path, config: ProjectConfig) -> ProjectResource:
        """The resource with what `repro.yaml` says as its defaults, for the launchpad to show."""
        roles = {name: getattr(config.models, name) for name in LaunchModels.model_fields}
        return cls(
            root=str(root),
            runner=config.runner,
            seeds=config.seeds,
            budget=LaunchBudget(**config.budget.model_dump()),
            models=LaunchModels(**{name: role and role.model for name, role in roles.items()}),
        )

    def open(self) -> Project:
        """The project behind the folder; opened once per process and configuration.

        Raises UserError for a value that `repro.yaml` could not have either.
        """
        changes = {
            "seeds": self.seeds,
            "budget": self.budget and self.budget.model_dump(),
            "models": self.models and self.models.model_dump(exclude_none=True),
        }
        given = {name: value for name, value in changes.items() if value is not None}
        root = self.root or str(
            locate_project(Path(os.environ.get(PROJECT_VARIABLE) or Path.cwd()))
        )
        return _open(root, self.runner, self.agent, self.replay, json.dumps(given))


@lru_cache(maxsize=4)
def _open(root: str, runner: str | None, agent: bool, replay: str | None, changes: str) -> Project:
    return open_project(
        Path(root), runner=runner, agent=agent, replay=replay, changes=json.loads(changes)
    )
