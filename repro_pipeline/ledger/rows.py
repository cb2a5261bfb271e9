"""The rows of the ledger's tables: what the projections make of a chain."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.events import CellCorrected, ModelCalled, ReviewDecided
from repro_pipeline.ledger.runs import ExperimentKind, Purpose, Run
from repro_pipeline.status import Reason, Status

ReviewStatus = Literal["not_sampled", "confirmed", "unclear", "waiting", "overturned"]
"""From best to worst known; an experiment has the worst of its claims'. `unclear` also where
reviewers differ."""


class AssumptionRow(Frozen):
    """An assumption as it stands."""

    assumption: Assumption
    earlier: int
    """How often it was written down before, with other content."""


class DecisionRow(ReviewDecided):
    """A decision of a person, and when it was recorded."""

    seq: int
    at: datetime
    actor: str


class ReviewRow(Frozen):
    """A claim that was drawn for review, and what people decided."""

    claim: str
    scores: Sha256
    rate: float
    why: str
    status: ReviewStatus
    decisions: tuple[DecisionRow, ...] = ()
    decided_on: Sha256 | None = None
    """Earlier scores that the decisions are bound to; None: these."""

    @property
    def bound_to(self) -> Sha256:
        """The scores that decisions are bound to."""
        return self.decided_on or self.scores


class ModelCallRow(ModelCalled):
    """A call of a language model, and when it was recorded."""

    seq: int
    at: datetime
    actor: str


class CorrectionRow(CellCorrected):
    """A corrected cell, when that was recorded, and whether it stands."""

    seq: int
    at: datetime
    actor: str
    stands: bool
    """No later correction of the same cell of the same source took its place."""


class EventRow(Frozen):
    """Any event: when, by whom, and what it cost."""

    seq: int
    kind: str
    key: str
    at: datetime
    actor: str
    seconds: float | None
    """Wall-clock seconds of the stage, the attempt or the call that ended with it."""
    usd: float | None
    """What it cost; None where nothing was paid or the price is not known."""
    hash: Sha256


class RunRow(Frozen):
    """A run as one flat row: its identity, and the attempt that counts."""

    run_key: Sha256
    experiment: str
    kind: str
    purpose: str
    seed: int | None
    status: Status
    values: dict[str, float]
    """Value per claim, in the claim's unit."""
    attempts: int
    seconds: float
    """Wall-clock seconds of the attempt that counts."""
    failure: str | None
    """The code of its reason; None where it is ok."""

    @classmethod
    def of(cls, run: Run) -> RunRow:
        """The row of a run."""
        counted = run.counted
        return cls(
            run_key=run.run_key,
            experiment=run.experiment,
            kind=run.kind,
            purpose=run.purpose,
            seed=run.seed,
            status=counted.status,
            values=counted.values,
            attempts=len(run.attempts),
            seconds=counted.seconds,
            failure=counted.reason.code if counted.reason else None,
        )


class ExperimentRow(Frozen):
    """An experiment under one code, configuration, environment, data and purpose."""

    experiment: str
    kind: ExperimentKind
    purpose: Purpose
    assumptions: tuple[str, ...]
    """Ids of those in force that may move a claim of the experiment."""
    code_tree: Sha256
    configuration: Sha256
    """Digest of command and configuration."""
    environment: Sha256
    data_manifest: Sha256
    seeds: tuple[int | None, ...]
    n: int
    """Seeds whose run gave a value of `claim`."""
    claim: str | None
    """The claim whose values are summed up: the main claim, else the experiment's first by name."""
    mean: float | None
    variance: float | None
    """Sample variance over the seeds; None for n < 2."""
    seconds: float
    """Wall-clock seconds of all attempts together."""
    failed: int
    """Runs of which no attempt is ok."""
    failure: Reason | None
    """The reason of the last of them."""
    reruns: int
    """Attempts beyond the first of each run."""
    review: ReviewStatus
