"""A project: its configuration and its evidence, opened once and handed to every stage."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.config import ProjectConfig
from repro_pipeline.errors import UserError
from repro_pipeline.ports import (
    ArtifactStore,
    ChatModel,
    Images,
    Ledger,
    Literature,
    Runner,
    Slots,
    TeiService,
)


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
    slots: Slots
    """The host's places for runs."""
    tei_service: TeiService | None = None
    """Reads PDFs with the project's own reader, where one is configured."""
    literature: Literature | None = None
    """Brings cited works from outside, where the configuration allows it."""
    chat: ChatModel | None = None
    """The language models, or a recorded session of them; None where none is to be asked."""
    images: Images | None = None
    """Environments as images, where the runner runs in such."""
    agent: bool = False
    """Whether an agent is to write the code, even where there is some."""

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
    def locked(self, paper: str, *, wait: bool = True) -> Iterator[None]:
        """Hold a paper, so that two launches never work on one stage of it at the same time.

        Raises UserError where it is held and `wait` is false.
        """
        folder = self.state / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{paper}.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise UserError(
                    f"a launch is at work on '{paper}'.", hint="Run this again when it has ended."
                ) from None
            yield
