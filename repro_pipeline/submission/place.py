"""The folder of a project that is made for one grading, or for one agent's work."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from repro_pipeline.config import CONFIG_NAME, ProjectConfig


def make_folder(
    root: Path, config: ProjectConfig, environments: Path, rubric: str | None = None
) -> None:
    """Make a project's folder, by default with the standard rubric.

    Built environments lie in `environments`, shared with other projects.
    """
    (root / "papers").mkdir(parents=True, exist_ok=True)
    (root / ".repro").mkdir(exist_ok=True)
    text = config.model_dump_json(by_alias=True, exclude_defaults=True)
    (root / CONFIG_NAME).write_text(json.dumps({"schema": 1, **json.loads(text)}), encoding="utf-8")
    (root / config.rubric).write_text(rubric or standard_rubric(), encoding="utf-8")
    shared = root / ".repro" / "environments"
    environments.mkdir(parents=True, exist_ok=True)
    if not shared.exists():
        shared.symlink_to(environments.resolve())


def standard_rubric() -> str:
    """The rubric that verdicts rest on where nobody gives another."""
    return (files("repro_pipeline") / "templates" / "rubric.yaml").read_text(encoding="utf-8")
