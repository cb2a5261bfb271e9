"""The folders of projects that the bench makes: one for each agent's work, one for each grading."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from repro_pipeline.config import CONFIG_NAME, ProjectConfig
from repro_pipeline.project import Project

OpenProject = Callable[[Path], Project]
"""Opens a project's folder: the adapters behind the ports are the caller's affair."""


def make_folder(root: Path, config: ProjectConfig, environments: Path) -> None:
    """Make a project's folder with the standard rubric; built environments are shared between all."""
    (root / "papers").mkdir(parents=True, exist_ok=True)
    (root / ".repro").mkdir(exist_ok=True)
    text = config.model_dump_json(by_alias=True, exclude_defaults=True)
    (root / CONFIG_NAME).write_text(json.dumps({"schema": 1, **json.loads(text)}), encoding="utf-8")
    (root / config.rubric).write_text(standard_rubric(), encoding="utf-8")
    shared = root / ".repro" / "environments"
    environments.mkdir(parents=True, exist_ok=True)
    if not shared.exists():
        shared.symlink_to(environments.resolve())


def suite_link(results: Path) -> Path:
    """Where a folder of results points to its suite."""
    return results / "suite"


def standard_rubric() -> str:
    """The rubric that all verdicts of a bench rest on."""
    return (files("repro_pipeline") / "templates" / "rubric.yaml").read_text(encoding="utf-8")
