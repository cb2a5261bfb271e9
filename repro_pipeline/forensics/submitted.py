"""What a submission says of its own runs. None of it counts; all of it is held against re-runs."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from repro_pipeline.frozen import Frozen


class ClaimedRun(Frozen):
    """One folder `runs/<experiment>/<seed>/`."""

    experiment: str
    seed: int
    values: dict[str, float] = {}
    """Value per claim; empty where there is no readable metrics.json."""
    fault: str | None = None
    """Why its metrics.json says nothing."""
    log: str | None = None
    modified: float | None = None
    """When its metrics.json was last written, in seconds since the epoch."""

    @property
    def name(self) -> str:
        """As a person finds it."""
        return f"runs/{self.experiment}/{self.seed}"


class ListedAttempt(Frozen):
    """One line of `attempts.jsonl`."""

    experiment: str
    seed: int | None
    status: Literal["ok", "failed"]
    purpose: str = "eval"
    started_at: datetime | None = None
    seconds: float | None = None
    reason: str | None = None
    values: dict[str, float] = {}

    @property
    def reported(self) -> bool:
        """Whether it was an evaluation, whose result must be among the runs."""
        return self.purpose in {"eval", "sweep", "evaluation", "final"}


class Submission(Frozen):
    """What a submission's folder says beside its code."""

    runs: tuple[ClaimedRun, ...] = ()
    no_runs: tuple[str, ...] = ()
    """Folders in `runs/` that are no claimed run and hold none, by what they are called."""
    attempts: tuple[ListedAttempt, ...] | None = None
    """None where there is no attempts.jsonl: selective reporting is not checkable."""
