"""Every kind of event that the ledger holds: its payload, and the key that makes it idempotent.

A reader can learn the whole audit trail from this module: it is one list on purpose, however long. An
event is appended once per `key` and chain: appending the same key again returns the event that stands.
Events of a paper form its chain; events that belong to none (rubric versions, sweeps) form the chain
`_project`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from repro_pipeline.bundle.task import Task, TaskClaim, TaskPair
from repro_pipeline.errors import LedgerError
from repro_pipeline.frozen import Frozen, Sha256, Slug, digest
from repro_pipeline.imports.record import ImportRecord
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.runs import Attempt, ExperimentKind, Purpose
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.sandbox.egress import EgressRequest, EgressRules
from repro_pipeline.status import AlertKind, Outcome, Reason, Status

PROJECT_CHAIN = "_project"
SCHEMA = 2

Count = Annotated[int, Field(ge=0)]


class Payload(Frozen):
    """What an event says. `key` identifies it within its chain."""

    # A NaN in free-form configuration must be refused, not become null.
    model_config = ConfigDict(ser_json_inf_nan="constants")

    version: ClassVar[int] = SCHEMA
    kind: str

    @property
    def key(self) -> str:
        """The idempotency key."""
        raise TypeError(f"{type(self).__name__} has no key")


class BundleSeen(Payload):
    """A paper's folder was added, or its content changed."""

    kind: Literal["bundle_seen"] = "bundle_seen"
    path: str
    content: Sha256
    files: int

    @property
    def key(self) -> str:
        """Once per content."""
        return f"bundle:{self.content}"


class PaperImported(Payload):
    """A paper came from a foreign layout, or with code of a repository: what was taken from where."""

    kind: Literal["paper_imported"] = "paper_imported"
    record: ImportRecord

    @property
    def key(self) -> str:
        """Once per content."""
        return f"import:{digest(self.record)}"


class StageFinished(Payload):
    """A stage ended, and left its output in the artifact store."""

    kind: Literal["stage_finished"] = "stage_finished"
    stage: str
    inputs: Sha256
    """Digest of the code version, the upstream outputs and the settings that the stage used."""
    status: Status
    reason: Reason | None = None
    output: Sha256 | None = None
    code_version: str
    launch: str
    """The Dagster run that it happened in."""
    seconds: float

    @property
    def key(self) -> str:
        """Once per stage and launch: a retry within a launch writes one more only if it differs."""
        result = digest([self.output, self.reason and self.reason.model_dump(mode="json")])
        return f"stage:{self.stage}:{self.launch}:{self.inputs}:{self.status}:{result}"


class AssumptionRecorded(Payload):
    """An assumption was written down, or written anew with another value."""

    kind: Literal["assumption_recorded"] = "assumption_recorded"
    assumption: Assumption

    @property
    def key(self) -> str:
        """Once per content."""
        return f"assumption:{self.assumption.id}:{digest(self.assumption)}"


class CellPosition(Frozen):
    """A cell by its place, where its headers do not name it alone."""

    table: Annotated[int, Field(ge=1)]
    """The table's order in the paper, from 1."""
    row: Count
    """In the table's grid, headers counted, from 0; so is `column`."""
    column: Count


class CellCorrected(Payload):
    """A person read a cell of the paper's tables otherwise than the reader did."""

    kind: Literal["cell_corrected"] = "cell_corrected"
    source: Sha256
    """Digest of the paper's source files as they were read: a changed source takes no old correction."""
    address: CellAddress | CellPosition
    before: str
    """The cell's text as it was read."""
    after: str
    reason: str
    replaces: Sha256 | None = None
    """Hash of the event that held the cell's correction so far, where there was one."""

    @property
    def key(self) -> str:
        """Once per source, cell, new text, and correction that it replaces."""
        where = digest([self.source, self.address.model_dump(mode="json"), self.replaces])
        return f"cell:{where}:{digest(self.after)}"


class ClaimsChosen(Payload):
    """A person confirmed the claims of a paper as they were proposed, or chose others."""

    kind: Literal["claims_chosen"] = "claims_chosen"
    base: Sha256
    """Digest of what `task.yaml` said of claims: a choice made for other words of it does not count."""
    how: Literal["confirmed", "edited"]
    claims: Annotated[tuple[TaskClaim, ...], Field(min_length=1)]
    ablations: tuple[TaskPair, ...] = ()
    comparisons: tuple[TaskPair, ...] = ()
    proposed_by: str
    """Who chose the claims: of confirmed ones, who proposed them."""
    reason: str = ""
    replaces: Sha256 | None = None
    """Hash of the event that held the choice so far, where there was one."""

    @property
    def task(self) -> Task:
        """The claims as `task.yaml` would say them."""
        return Task(claims=self.claims, ablations=self.ablations, comparisons=self.comparisons)

    @property
    def key(self) -> str:
        """Once per choice, and choice that it replaces."""
        said = [self.base, self.how, self.task.model_dump(mode="json"), self.replaces]
        return f"claims:{digest(said)}"


class ModelCalled(Payload):
    """A language model answered."""

    kind: Literal["model_called"] = "model_called"
    step: str
    """Where in the pipeline: a stage, or a step of the agent's loop."""
    role: str
    ordinal: Count
    """Which call of that role in that step."""
    model: str
    prompt: Sha256
    """Digest of the prompt's file."""
    request: Sha256
    """Digest of the whole request, and its address in the artifact store if it was kept."""
    answer: Sha256
    """Digest of the answer, and its address in the artifact store."""
    tokens_in: Count
    tokens_cached: Count = 0
    """How many of `tokens_in` the provider had cached."""
    tokens_out: Count
    usd: Annotated[float, Field(ge=0)] | None
    priced: bool
    """False where no price of the model is known; `usd` is None then, never 0."""
    seconds: Annotated[float, Field(ge=0)]

    @property
    def key(self) -> str:
        """Once per step, role, ordinal and request."""
        return f"model:{self.step}:{self.role}:{self.ordinal}:{self.request}"

    @model_validator(mode="after")
    def _priced_or_unknown(self) -> ModelCalled:
        if self.priced != (self.usd is not None):
            raise ValueError("a priced call has `usd`, one without a known price has none")
        return self


class ModelReserved(Payload):
    """The most that a question may cost was taken from the budget, before it was asked.

    Until an answer or an unbilled failure settles it, it counts as spent.
    """

    kind: Literal["model_reserved"] = "model_reserved"
    step: str
    role: str
    ordinal: Count
    model: str
    request: Sha256
    number: Annotated[int, Field(ge=1)]
    """Which try of that question, over all launches."""
    tokens: Count
    usd: Annotated[float, Field(ge=0)] | None
    """None where no price of the model is known."""

    @property
    def key(self) -> str:
        """Once per try of a question."""
        return f"model-reserved:{self.step}:{self.role}:{self.ordinal}:{self.request}:{self.number}"


class ModelFailed(Payload):
    """A question had no answer."""

    kind: Literal["model_failed"] = "model_failed"
    step: str
    role: str
    ordinal: Count
    model: str
    request: Sha256
    number: Annotated[int, Field(ge=1)]
    reason: Reason
    billed: bool
    """Whether the provider may have counted tokens all the same: then the reservation stays."""

    @property
    def key(self) -> str:
        """Once per try of a question."""
        return f"model-failed:{self.step}:{self.role}:{self.ordinal}:{self.request}:{self.number}"


class AgentStarted(Payload):
    """The agent began on a paper, or went on after a stop."""

    kind: Literal["agent_started"] = "agent_started"
    session: Sha256
    """Digest of all that the agent's work rests on: another session begins from nothing."""
    models: dict[str, str]
    """The model of each role."""
    limits: dict[str, float | None]
    estimate: str
    """What it may cost, in a sentence."""
    launch: str

    @property
    def key(self) -> str:
        """Once per session and launch."""
        return f"agent-started:{self.session}:{self.launch}"


class PatchApplied(Payload):
    """The coder changed a file of the workspace."""

    kind: Literal["patch_applied"] = "patch_applied"
    session: Sha256
    step: Count
    number: Count
    path: str
    patch: Sha256
    """A unified diff in the artifact store."""

    @property
    def key(self) -> str:
        """Once per change."""
        return f"patch:{self.session}:{self.step}:{self.number}:{self.patch}"


class AgentStepped(Payload):
    """One turn of the agent's loop: what was decided, what came of it, and the code after it."""

    kind: Literal["agent_stepped"] = "agent_stepped"
    session: Sha256
    step: Count
    decision: dict[str, Any]
    """The planner's decision; empty where it came to none."""
    status: Status
    reason: Reason | None = None
    """Why it failed; its signature tells whether the same failure came back."""
    said: str
    """What came of it, in a sentence."""
    facts: dict[str, Any] = {}
    """What later steps must know of it."""
    code_tree: Sha256
    """The workspace after the step, in the artifact store."""
    seconds: Annotated[float, Field(ge=0)]

    @property
    def key(self) -> str:
        """Once per step of a session."""
        return f"agent-step:{self.session}:{self.step}"


class EnvironmentBuilt(Payload):
    """An environment was built from its lock."""

    kind: Literal["environment_built"] = "environment_built"
    lock: Sha256
    fingerprint: Sha256
    image: str | None = None
    """Digest of the container image that holds it, if any."""

    @property
    def key(self) -> str:
        """Once per lock, host and image."""
        image = f":{self.image}" if self.image else ""
        return f"environment:{self.lock}:{self.fingerprint}{image}"


class EgressAsked(Payload):
    """A download step, or a program that a benchmark runs, asked the network for something.

    It is recorded before anything is passed on.
    """

    kind: Literal["egress_asked"] = "egress_asked"
    download: str
    """Which run of the step or program."""
    request: EgressRequest

    @property
    def key(self) -> str:
        """Once per request of a run."""
        return f"egress:{self.download}:{self.request.number}"


class DownloadFinished(Payload):
    """A download step ended; its files lie in the paper's folder, if it ended well."""

    kind: Literal["download_finished"] = "download_finished"
    download: str
    code_tree: Sha256
    environment: Sha256
    command: tuple[str, ...]
    rules: EgressRules
    status: Status
    reason: Reason | None = None
    files: dict[str, Sha256] = {}
    requests: Count
    bytes: Count
    """To and from the network."""
    seconds: float
    log: Sha256 | None = None
    """What the step printed, in the artifact store."""
    runner: str
    limits: dict[str, str] = {}
    """Which sandbox limit held how."""

    @property
    def key(self) -> str:
        """Once per run of the step."""
        return f"download:{self.download}"


class ImplementationFrozen(Payload):
    """The code that will be scored was frozen: from here on its claims and its hash are fixed."""

    kind: Literal["implementation_frozen"] = "implementation_frozen"
    code_tree: Sha256
    mode: Literal["code", "agent"]
    claims: Sha256
    """Digest of the claims as frozen before the implementation."""

    @property
    def key(self) -> str:
        """Once per tree and claims."""
        return f"implementation:{self.code_tree}:{self.claims}"


class RunsPlanned(Payload):
    """A stage wrote down all runs that it needs, before it executed the missing ones."""

    kind: Literal["runs_planned"] = "runs_planned"
    stage: str
    planned: tuple[Sha256, ...]
    """Run keys."""
    to_run: int
    """How many of them had not succeeded yet."""

    @property
    def key(self) -> str:
        """Once per stage, plan and number of missing runs."""
        return f"planned:{self.stage}:{digest(list(self.planned))}:{self.to_run}"


class AttemptStarted(Payload):
    """An attempt at a run began. One without an end was killed with its worker."""

    kind: Literal["attempt_started"] = "attempt_started"
    run_key: Sha256
    number: int
    experiment: Slug
    experiment_kind: ExperimentKind
    purpose: Purpose
    seed: int | None
    code_tree: Sha256
    environment: Sha256
    data_manifest: Sha256
    command: tuple[str, ...]
    config: dict[str, Any]
    runner: str
    started_at: datetime

    @property
    def key(self) -> str:
        """Once per run and number."""
        return f"attempt-start:{self.run_key}:{self.number}"


class AttemptFinished(Payload):
    """An attempt ended, well or badly."""

    kind: Literal["attempt_finished"] = "attempt_finished"
    attempt: Attempt

    @property
    def key(self) -> str:
        """Once per run and number."""
        return f"attempt-end:{self.attempt.run_key}:{self.attempt.number}"


class WarningRecorded(Payload):
    """Something was done in a weaker way than asked for, or a person should look at it."""

    kind: Literal["warning_recorded"] = "warning_recorded"
    code: str
    sentence: str
    stage: str | None = None

    @property
    def key(self) -> str:
        """Once per sentence."""
        return f"warning:{self.code}:{self.stage}:{digest(self.sentence)}"


class RubricSeen(Payload):
    """A rubric with new content was observed (project chain)."""

    kind: Literal["rubric_seen"] = "rubric_seen"
    rubric: Sha256
    """The digest of its settings, and their address in the artifact store; its file's, where `text` is
    missing, as earlier programs had it."""
    text: Sha256 | None = None
    """Its file, in the artifact store."""

    @property
    def key(self) -> str:
        """Once per content."""
        return f"rubric:{self.rubric}"


class Scored(Payload):
    """A paper was scored under a rubric."""

    kind: Literal["scored"] = "scored"
    rubric: Sha256
    evidence: Sha256
    """Digest of the experiment ledger that was scored."""
    scores: Sha256
    """The scores in the artifact store."""
    overall: Outcome
    headline: str

    @property
    def key(self) -> str:
        """Once per rubric, evidence and result."""
        return f"scored:{self.rubric}:{self.evidence}:{self.scores}"


class ScoresChanged(Payload):
    """A paper was scored again, and compared with its scores until then."""

    kind: Literal["scores_changed"] = "scores_changed"
    before: Sha256
    after: Sha256
    rubric_before: Sha256
    rubric_after: Sha256
    change: Sha256
    """Every outcome that differs, with its causes, in the artifact store."""
    sentence: str

    @property
    def key(self) -> str:
        """Once per pair of scores."""
        return f"scores-changed:{self.before}:{self.after}"


class ReviewSampled(Payload):
    """A claim was drawn for review by a person."""

    kind: Literal["review_sampled"] = "review_sampled"
    claim: str
    scores: Sha256
    rate: float
    why: str
    decided_on: Sha256 | None = None
    """Earlier scores of the same evidence with the same verdict on the claim: decisions are bound to
    those. None: to these."""

    @property
    def key(self) -> str:
        """Once per claim and scores."""
        return f"review-sample:{self.claim}:{self.scores}"


Decision = Literal["confirmed", "overturned", "unclear"]
"""Of the claim, not of its verdict, which a blind reviewer does not see: the evidence supports the
paper's value, contradicts it, or does neither."""


class ReviewOpened(Payload):
    """A person was shown verdict, scores, producer and other reviews before deciding on a claim."""

    kind: Literal["review_opened"] = "review_opened"
    claim: str
    scores: Sha256
    reviewer: str

    @property
    def key(self) -> str:
        """Once per claim, scores and reviewer."""
        return f"review-opened:{self.claim}:{self.scores}:{self.reviewer}"


class ReviewDecided(Payload):
    """A person decided on a sampled claim."""

    kind: Literal["review_decided"] = "review_decided"
    claim: str
    scores: Sha256
    reviewer: str
    decision: Decision
    reason: str
    blind: bool
    """Whether verdict, scores, producer and other reviews were hidden until the decision."""

    @property
    def key(self) -> str:
        """Once per claim, scores and reviewer."""
        return f"review:{self.claim}:{self.scores}:{self.reviewer}"


class StoreSwept(Payload):
    """Artifacts that no event referenced were removed (project chain)."""

    kind: Literal["store_swept"] = "store_swept"
    started_at: datetime
    older_than_seconds: float
    removed: Count
    bytes: Count
    """As stored, compressed."""

    @property
    def key(self) -> str:
        """Once per sweep."""
        return f"swept:{self.started_at.isoformat()}"


class BenchPlanned(Payload):
    """A comparison of agents was planned, or grew (project chain)."""

    kind: Literal["bench_planned"] = "bench_planned"
    plan: Sha256
    """Its conditions, in the artifact store."""

    @property
    def key(self) -> str:
        """Once per plan."""
        return f"bench:{self.plan}"


class BenchTrialEnded(Payload):
    """A trial of a comparison ended, well or not (project chain)."""

    kind: Literal["bench_trial_ended"] = "bench_trial_ended"
    trial: str
    """Task, contestant and repeat."""
    row: Sha256
    """What is known of it, in the artifact store."""
    status: Status
    reason: Reason | None = None
    tokens: Count
    usd: float | None
    """None where no price is known."""

    @property
    def key(self) -> str:
        """Once per trial: what ended is not run again."""
        return f"bench-trial:{self.trial}"


class SweepStarted(Payload):
    """Papers began to be reproduced again, with seeds of their own (project chain)."""

    kind: Literal["sweep_started"] = "sweep_started"
    number: Annotated[int, Field(ge=1)]
    """Of the sweep, over the whole project: its seeds follow from it."""
    fresh_dependencies: bool
    """With what its requirements resolve to now; else with the lock."""
    papers: tuple[Slug, ...]
    launch: str

    @property
    def key(self) -> str:
        """Once per number: of two that begin at once, one takes the next."""
        return f"sweep-started:{self.number}"


class SweepEnded(Payload):
    """A sweep is through with a paper, whatever came of it (project chain)."""

    kind: Literal["sweep_ended"] = "sweep_ended"
    number: Annotated[int, Field(ge=1)]
    paper: Slug
    fresh_dependencies: bool
    status: Status
    reason: Reason | None = None
    result: Sha256 | None = None
    """Runs, verdicts, and how they compare with earlier ones, in the artifact store."""
    changed: tuple[str, ...] = ()
    """Claims with another conclusion than before."""
    sentence: str
    launch: str

    @property
    def key(self) -> str:
        """Once per sweep, paper and launch."""
        return f"sweep-ended:{self.number}:{self.paper}:{self.launch}"

    @property
    def interrupted(self) -> bool:
        """Whether it awaits the paper still: it was ended from outside, and can be gone on with."""
        return self.reason is not None and self.reason.code == "interrupted"


class AlertTried(Payload):
    """Someone was told of what went wrong, or could not be (project chain)."""

    kind: Literal["alert_tried"] = "alert_tried"
    alert: Sha256
    """Its id: digest of what it is about."""
    about: AlertKind
    paper: str | None
    stage: str | None
    reason: str
    launch: str | None
    channel: str
    number: Annotated[int, Field(ge=1)]
    delivered: bool
    sentence: str = ""
    """Why it could not be delivered."""

    @property
    def key(self) -> str:
        """Once per alert, channel and try."""
        return f"alert:{self.alert}:{self.channel}:{self.number}"


AnyPayload = Annotated[
    BundleSeen
    | PaperImported
    | StageFinished
    | AssumptionRecorded
    | CellCorrected
    | ClaimsChosen
    | ModelCalled
    | ModelReserved
    | ModelFailed
    | AgentStarted
    | PatchApplied
    | AgentStepped
    | EnvironmentBuilt
    | EgressAsked
    | DownloadFinished
    | ImplementationFrozen
    | RunsPlanned
    | AttemptStarted
    | AttemptFinished
    | WarningRecorded
    | RubricSeen
    | Scored
    | ScoresChanged
    | ReviewSampled
    | ReviewOpened
    | ReviewDecided
    | StoreSwept
    | SweepStarted
    | SweepEnded
    | AlertTried
    | BenchPlanned
    | BenchTrialEnded,
    Field(discriminator="kind"),
]
PAYLOAD: TypeAdapter[AnyPayload] = TypeAdapter(AnyPayload)
KINDS = frozenset(one.model_fields["kind"].default for one in Payload.__subclasses__())

UPGRADES: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {
    ("review_decided", 1): lambda payload: {**payload, "blind": False},  # nothing was hidden then
}
"""What leads the payload of a kind from schema version n to n + 1. Stored events never change."""


class Event(Frozen):
    """One link of a chain. `hash` covers every other field."""

    chain: str
    seq: int
    """From 1 in each chain."""
    kind: str
    key: str
    at: datetime
    """UTC, by the appender's clock: it orders nothing; `seq` does."""
    actor: str
    """`human:<name>`, `model:<name>` or `code:<package version>`."""
    schema_version: int
    payload: dict[str, Any]
    prev: Sha256
    hash: Sha256

    @property
    def content(self) -> Payload:
        """The payload as its model of today.

        Raises LedgerError for one from a newer program, though its fields may be those of today.
        """
        if self.schema_version > SCHEMA:
            raise self._unknown("Update repro-pipeline.")
        payload = self.payload
        for version in range(self.schema_version, SCHEMA):
            payload = UPGRADES.get((self.kind, version), dict)(payload)
        try:
            return PAYLOAD.validate_python(payload)
        except ValidationError as error:
            hint = (
                "Update repro-pipeline; `repro ledger verify` says whether the event was altered."
            )
            raise self._unknown(hint) from error

    def _unknown(self, hint: str) -> LedgerError:
        return LedgerError(
            f"this program does not know the event (schema {self.schema_version})",
            where=f"event {self.seq} ({self.kind}) of chain '{self.chain}'",
            hint=hint,
        )


class Head(Frozen):
    """Where a chain ends; printed outside, it is an anchor."""

    chain: str
    seq: int
    hash: Sha256
