"""Which runner runs the code of a command, and within which limits."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.sandbox.names import RUNNERS

if TYPE_CHECKING:
    from repro_pipeline.config import ProjectConfig


def add_runner(one: argparse.ArgumentParser) -> None:
    """Add `--runner` and its short form `--unsafe-local`; None where neither is given."""
    group = one.add_mutually_exclusive_group()
    group.add_argument(
        "--runner",
        choices=RUNNERS,
        help="what runs the code: by default what repro.yaml names, else bubblewrap",
    )
    group.add_argument(
        "--unsafe-local",
        dest="runner",
        action="store_const",
        const="unsafe_local",
        help="run the code WITHOUT a sandbox; it is recorded, and shown in the report",
    )


def add_execution(one: argparse.ArgumentParser) -> None:
    """Add `--runner`, and `--config` for a command that works outside of a project."""
    add_runner(one)
    one.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="a repro.yaml whose runner, docker, limits and workers hold (nothing else of it does)",
    )


def execution(options: argparse.Namespace) -> ProjectConfig:
    """The configuration of a project that such a command makes. Raises UserError."""
    from repro_pipeline.config import ProjectConfig
    from repro_pipeline.yamlfile import load_model

    given = load_model(options.config, ProjectConfig) if options.config else ProjectConfig()
    parts = {name: getattr(given, name) for name in ("runner", "docker", "limits", "workers")}
    made = ProjectConfig(**{**parts, "runner": options.runner or given.runner})
    if made.runner == "unsafe_local":
        print("The code runs WITHOUT a sandbox (unsafe_local).", file=sys.stderr)
    return made
