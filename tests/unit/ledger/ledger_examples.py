"""Events as tests need them: one of most kinds, and strategies that draw any of them."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from repro_pipeline.bundle.terms import AssumptionSource
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.chain import head_of, link, start
from repro_pipeline.ledger.events import (
    AssumptionRecorded,
    AttemptFinished,
    AttemptStarted,
    BundleSeen,
    CellCorrected,
    CellPosition,
    Event,
    ModelCalled,
    Payload,
    ReviewDecided,
    ReviewSampled,
    Scored,
    StageFinished,
    WarningRecorded,
)
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.status import Reason, Status

NOON = datetime(2024, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC)
CHAIN = "forests"


def warning(text: str) -> WarningRecorded:
    return WarningRecorded(code="weak", sentence=text)


def chained(payloads: list[Payload], chain: str = CHAIN) -> list[Event]:
    """The events that the payloads become; the clock stands still every other time."""
    events: list[Event] = []
    for number, payload in enumerate(payloads):
        head = head_of(events[-1]) if events else start(chain)
        at = NOON + timedelta(seconds=number // 2)
        events.append(link(head, payload, at=at, actor="code:0.1.0"))
    return events


def attempt_pair(
    experiment: str = "twonorm",
    seed: int | None = 0,
    number: int = 1,
    *,
    status: Status = Status.OK,
    values: dict[str, float] | None = None,
    kind: str = "baseline",
    purpose: str = "eval",
    code: str = "code",
    seconds: float = 2.0,
    reason: Reason | None = None,
) -> tuple[AttemptStarted, AttemptFinished]:
    run_key = digest([experiment, seed, purpose, code])
    shared = {
        "run_key": run_key,
        "number": number,
        "experiment": experiment,
        "purpose": purpose,
        "seed": seed,
        "started_at": NOON,
    }
    started = AttemptStarted(
        **shared,
        experiment_kind=kind,
        code_tree=digest(code),
        environment=digest("lock"),
        data_manifest=digest("data"),
        command=("python", "run.py"),
        config={"n": 1},
        runner="bubblewrap",
    )
    attempt = Attempt(
        **shared,
        kind=kind,
        status=status,
        reason=reason,
        values=({"error": 3.5} if values is None else values) if status is Status.OK else {},
        seconds=seconds,
    )
    return started, AttemptFinished(attempt=attempt)


def assumption(name: str, value: float | str | None = None, claims: tuple[str, ...] = ()):
    source = AssumptionSource(kind="paper", quote="we train", line=3)
    made = Assumption(
        id=name,
        topic="training",
        statement=f"{name} is {value}",
        value=value,
        source=source,
        claims=claims,
        proposed_by="human:ada",
    )
    return AssumptionRecorded(assumption=made)


def stage(name: str, launch: str, status: Status = Status.OK, content: str = "x") -> StageFinished:
    return StageFinished(
        stage=name,
        inputs=digest(launch),
        status=status,
        reason=None if status is Status.OK else Reason(code="broken", sentence="It broke."),
        output=digest(content),
        code_version="1",
        launch=launch,
        seconds=1.5,
    )


def model_call(
    role: str = "planner",
    ordinal: int = 0,
    *,
    model: str = "small",
    usd: float | None = 0.25,
    tokens: tuple[int, int, int] = (1000, 200, 50),
) -> ModelCalled:
    tokens_in, cached, out = tokens
    return ModelCalled(
        step="implementation",
        role=role,
        ordinal=ordinal,
        model=model,
        prompt=digest("prompt"),
        request=digest(["request", role, ordinal]),
        answer=digest("answer"),
        tokens_in=tokens_in,
        tokens_cached=cached,
        tokens_out=out,
        usd=usd,
        priced=usd is not None,
        seconds=1.25,
    )


def correction(
    address: CellAddress | CellPosition, after: str, replaces: str | None = None
) -> CellCorrected:
    return CellCorrected(
        source=digest("paper"),
        address=address,
        before="3.g",
        after=after,
        reason="the scan",
        replaces=replaces,
    )


_cells = st.sampled_from(
    [
        CellAddress(table="Table 2", row=("Twonorm",), column=("Selection",)),
        CellPosition(table=2, row=3, column=1),
    ]
)
_words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
_names = st.sampled_from(["a", "b", "c"])
_seeds = st.sampled_from([None, 0, 1, 2])
_statuses = st.sampled_from([Status.OK, Status.FAILED, Status.TIMED_OUT])
_attempt = st.builds(
    attempt_pair,
    experiment=_names,
    seed=_seeds,
    number=st.integers(1, 3),
    status=_statuses,
    values=st.dictionaries(_names, st.floats(-1e6, 1e6), max_size=2),
    kind=st.sampled_from(["baseline", "ablation", "sensitivity"]),
    purpose=st.sampled_from(["dev", "eval", "sweep"]),
    code=st.sampled_from(["one", "two"]),
    seconds=st.floats(0, 100),
)
payloads = st.one_of(
    _attempt.map(lambda pair: pair[0]),
    _attempt.map(lambda pair: pair[1]),
    st.builds(assumption, _names, st.floats(-10, 10)),
    st.builds(stage, _names, st.sampled_from(["l1", "l2", "l3"]), _statuses),
    _words.map(warning),
    st.builds(BundleSeen, path=st.just("papers/x"), content=_names.map(digest), files=st.just(1)),
    st.builds(
        Scored,
        rubric=_names.map(digest),
        evidence=_names.map(digest),
        scores=_names.map(digest),
        overall=st.sampled_from(["pass", "fail"]),
        headline=_words,
    ),
    st.builds(
        ReviewSampled,
        claim=_names,
        scores=_names.map(digest),
        rate=st.floats(0, 1),
        why=st.just("sampled"),
    ),
    st.builds(
        ReviewDecided,
        claim=_names,
        scores=_names.map(digest),
        reviewer=st.sampled_from(["ada", "emil"]),
        decision=st.sampled_from(["confirmed", "overturned", "unclear"]),
        reason=_words,
        blind=st.booleans(),
    ),
    st.builds(
        model_call,
        role=st.sampled_from(["planner", "coder"]),
        ordinal=st.integers(0, 3),
        model=st.sampled_from(["small", "large"]),
        usd=st.none() | st.floats(0, 10),
    ),
    st.builds(correction, _cells, _words, st.none() | _names.map(digest)),
)
chains = st.lists(payloads, max_size=12, unique_by=lambda payload: payload.key).map(chained)
long_chains = st.lists(
    payloads, min_size=4, max_size=12, unique_by=lambda payload: payload.key
).map(chained)
