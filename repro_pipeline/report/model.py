"""All that the report of one paper says, as data; the HTML page is a view of it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import AwareDatetime, model_validator

from repro_pipeline.bundle.terms import ClaimId
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import Frozen, Sha256, Slug
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.events import Head, ModelCalled, WarningRecorded
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.lineage.model import Lineage, OpenGap
from repro_pipeline.paper.model import Source, Table
from repro_pipeline.scoring.attribution import Attribution
from repro_pipeline.scoring.changes import ScoreChange
from repro_pipeline.scoring.explain import Explanation
from repro_pipeline.scoring.model import ReviewQueue, Scores
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.status import Reason, Status
from repro_pipeline.sweeps.trend import Trend


class ClaimTable(Frozen):
    """A table of the paper, and where in it the claims stand."""

    table: Table
    places: dict[ClaimId, tuple[int, int]]
    """Row and column of each claim in the table's grid, headers counted, from 0."""


class StageRow(Frozen):
    """How one stage ended, and how long it took."""

    stage: str
    status: Status
    reason: Reason | None = None
    seconds: float


class ModelCost(Frozen):
    """What the calls of language models cost, over all attempts."""

    usd: float | None
    """US dollars, of the calls whose price is known; None where no price is."""
    tokens: int
    calls: int
    unpriced: int = 0
    """How many of the calls have no known price."""

    @classmethod
    def of(cls, calls: Sequence[ModelCalled]) -> ModelCost:
        """What the calls cost together."""
        prices = [call.usd for call in calls if call.usd is not None]
        return cls(
            usd=sum(prices) if prices else None,
            tokens=sum(call.tokens_in + call.tokens_out for call in calls),
            calls=len(calls),
            unpriced=len(calls) - len(prices),
        )


class ReportData(Frozen):
    """The content of one paper's report. `model_dump_json` of it is the report in JSON."""

    paper: Slug
    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    source: Source
    scores: Scores
    evidence: Evidence
    rubric: Rubric
    tables: tuple[ClaimTable, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    gaps: tuple[OpenGap, ...] = ()
    """What the paper leaves unsaid and no assumption fills, the most influential first."""
    contradictions: tuple[str, ...] = ()
    """What the paper says in two ways, in sentences."""
    lineage: Lineage | None = None
    attribution: Attribution | None = None
    attempts: tuple[Attempt, ...] = ()
    """Every attempt in the paper's ledger, of every purpose, failed ones included."""
    log_ends: dict[Sha256, tuple[str, ...]] = {}
    """The last lines of failed attempts' logs, by the log's digest; none where data are private."""
    stages: tuple[StageRow, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    """Every score with its evidence, formula, threshold, and what would change it."""
    review: ReviewQueue | None = None
    change: ScoreChange | None = None
    """What these scores say otherwise than those before; None for the first."""
    trend: Trend | None = None
    """The claims over all sweeps; None where the paper was never swept."""
    warnings: tuple[WarningRecorded, ...] = ()
    model_cost: ModelCost | None = None
    """None where no model was called."""
    ledger: Head | None
    generated_at: AwareDatetime
    version: str
    """Version of this package."""

    @model_validator(mode="after")
    def _says_of_each_claim(self) -> ReportData:
        """A report neither leaves a claim out nor mixes papers."""
        claims = [claim.id for claim in self.evidence.claims.claims]
        verdicts = [verdict.claim for verdict in self.scores.verdicts]
        if sorted(claims) != sorted(verdicts):
            odd = set(claims).symmetric_difference(verdicts) or set(verdicts)
            raise ValueError(f"each claim needs one verdict; see: {', '.join(sorted(odd))}")
        if not self.paper == self.evidence.paper == self.scores.paper:
            raise ValueError("the scores, the evidence and the report are of different papers")
        if self.evidence.mode != self.scores.mode:
            raise ValueError("the scores and the evidence are of different modes")
        return self

    @property
    def mode_label(self) -> str:
        """How the code came about, in words."""
        return MODE_LABELS[self.scores.mode]

    @property
    def failed_attempts(self) -> tuple[Attempt, ...]:
        """The attempts that did not end well, in the order of their start."""
        failed = (attempt for attempt in self.attempts if attempt.status is not Status.OK)
        return tuple(sorted(failed, key=lambda attempt: (attempt.started_at, attempt.number)))

    @property
    def run_seconds(self) -> float:
        """Wall-clock seconds of all attempts together."""
        return sum(attempt.seconds for attempt in self.attempts)


MODE_LABELS = {
    "code": "given code, unblinded",
    "agent": "code written by a model from the blinded paper",
}
