"""What is known of runs and experiments: one row each, projected from the ledger."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from repro_pipeline.frozen import Frozen, Sha256, Slug
from repro_pipeline.status import Reason, Status


class ExperimentKind(StrEnum):
    """What an experiment is for."""

    BASELINE = "baseline"
    ABLATION = "ablation"
    SENSITIVITY = "sensitivity"
    COMPARISON = "comparison"
    PROBE = "probe"


SUPPLYING = (ExperimentKind.BASELINE, ExperimentKind.COMPARISON, ExperimentKind.ABLATION)
"""The kinds whose runs supply a claim's values, the first of them that covers it. A sensitivity
experiment runs with another assumption, a probe with a spoilt input: their values are no reproduction."""


class Purpose(StrEnum):
    """Why a run is made; a part of its identity."""

    DEV = "dev"
    EVAL = "eval"
    PARITY = "parity"
    PROBE = "probe"
    SWEEP = "sweep"


class ValueSource(StrEnum):
    """Where a value of a run comes from, shown beside every verdict."""

    RECOMPUTED = "recomputed"
    PARSED = "parsed"
    SELF_REPORTED = "self_reported"


NOT_STARTED = "failed_alike"
"""The code of the reason why a run was left out: the first of its experiment had failed alike."""


class Attempt(Frozen):
    """One execution of a run, whatever its end; or that it was left out, and why."""

    run_key: Sha256
    number: int
    """From 1; rerun count is the highest number - 1."""
    experiment: Slug
    kind: ExperimentKind
    purpose: Purpose
    seed: int | None
    status: Status
    reason: Reason | None = None
    exit_code: int | None = None
    values: dict[str, float] = {}
    """Value per claim; empty unless the status is ok."""
    value_source: ValueSource | None = None
    """The weakest source among the values."""
    self_reported: dict[str, float] = {}
    """What the run itself says of claims whose value was computed from its predictions: for comparison
    only."""
    started_at: datetime
    seconds: float
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    written_bytes: int | None = None
    """In the working and output folders and the log together, at the end."""
    log: Sha256 | None = None
    """The run's whole output in the artifact store."""
    outputs: dict[str, Sha256] = {}
    """The files that the run left, by their path in its output folder, in the artifact store."""
    seedless: Sha256 | None = None
    """Digest of these files, or of the log where there are none, without the run's own seed."""
    record: Sha256 | None = None
    """What the code did, as the hook in the run wrote it down, in the artifact store."""
    runner: str | None = None
    """What ran it: `unsafe_local` is no sandbox."""
    limits: dict[str, str] = {}
    """Which sandbox limit held how: hard, watched, unavailable."""

    @property
    def started(self) -> bool:
        """Whether anything was executed."""
        return self.reason is None or self.reason.code != NOT_STARTED


class Run(Frozen):
    """Experiment × seed × purpose: its identity, and the attempt that counts."""

    run_key: Sha256
    experiment: Slug
    kind: ExperimentKind
    purpose: Purpose
    seed: int | None
    attempts: tuple[Attempt, ...]

    @property
    def counted(self) -> Attempt:
        """The attempt that counts: the first that is ok, else the latest."""
        ok = [attempt for attempt in self.attempts if attempt.status is Status.OK]
        return ok[0] if ok else self.attempts[-1]

    @property
    def values(self) -> dict[str, float]:
        """Value per claim of the attempt that counts; empty where none is ok."""
        return self.counted.values


class RunSet(Frozen):
    """The runs that a stage asked for. Fewer than planned where a budget ended it."""

    runs: tuple[Run, ...] = ()
    planned: int = 0

    @property
    def failed(self) -> tuple[Run, ...]:
        """The runs of which no attempt counts."""
        return tuple(run for run in self.runs if run.counted.status is not Status.OK)
