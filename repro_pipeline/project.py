"""A project: its configuration and its evidence, opened once and handed to every stage."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.config import ProjectConfig
from repro_pipeline.ports import ArtifactStore, Ledger, Runner


@dataclass(frozen=True)
class Project:
    """A folder with `repro.yaml`, and what stands behind it."""

    root: Path
    config: ProjectConfig
    ledger: Ledger
    store: ArtifactStore
    runner: Runner
    secret: bytes
    """From which evaluation seeds are derived; it never leaves the project."""

    @property
    def papers(self) -> Path:
        """The folder of the paper bundles."""
        return self.root / self.config.papers

    @property
    def rubric_file(self) -> Path:
        """The rubric."""
        return self.root / self.config.rubric

    @property
    def state(self) -> Path:
        """The folder of everything that the pipeline makes."""
        return self.root / ".repro"

    @property
    def workers(self) -> int:
        """How many runs happen at the same time."""
        return self.config.workers or len(os.sched_getaffinity(0))

    def bundle(self, paper: str) -> Path:
        """The folder of one paper."""
        return self.papers / paper

    def reports(self, paper: str) -> Path:
        """The folder of one paper's reports."""
        return self.root / "reports" / paper

    @contextmanager
    def locked(self, paper: str) -> Iterator[None]:
        """Hold a paper, so that two launches never work on one stage of it at the same time."""
        folder = self.state / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{paper}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
