"""Tiny named submissions: `trivial`, `impossible`, `partial`, … and the parts they are made of.

Each is evidence as the ledger would give it, made by hand, so that the scorer is tested without any
paper or run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from repro_pipeline.claims.model import Claim, ClaimPair, PairKind, ReportedClaims
from repro_pipeline.environment.model import (
    BuiltEnvironment,
    DataManifest,
    EnvironmentLock,
    Fingerprint,
)
from repro_pipeline.evidence.model import Evidence, IntegrityEvidence
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.findings import Probe
from repro_pipeline.forensics.literals import literal_scan
from repro_pipeline.forensics.probes import response_probe
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.runs import Attempt, ExperimentKind, Purpose, Run, ValueSource
from repro_pipeline.paper.address import TextAddress
from repro_pipeline.status import Reason, Status

HASH = "0" * 64
SEEDS = (1, 2, 3, 4, 5)


def claim(claim_id: str = "error", value: float | None = 3.9, **more) -> Claim:
    """A claim, by default an error of 3.9 printed with one decimal."""
    fields = {"metric": "test_error", "direction": "lower", "quantum": 0.1, "key": True, **more}
    quote = TextAddress(quote="an error of 3.9")
    return Claim(id=claim_id, value=value, address=quote, text=str(value), **fields)


def pair(full: str, variant: str, sign: int | None = 1, **more) -> ClaimPair:
    """An ablation of two claims."""
    fields = {"id": f"{full}-{variant}", "kind": PairKind.ABLATION, **more}
    return ClaimPair(full=full, variant=variant, expected_sign=sign, **fields)


def attempt(
    seed: int | None,
    values: Mapping[str, float] | None,
    *,
    experiment: str = "main",
    purpose: Purpose = Purpose.EVAL,
    kind: ExperimentKind = ExperimentKind.BASELINE,
    number: int = 1,
    salt: str = "",
    **more,
) -> Attempt:
    """One attempt; without values it failed."""
    ok = values is not None
    fields = {
        "status": Status.OK if ok else Status.FAILED,
        "reason": None if ok else Reason(code="crashed", sentence="ZeroDivisionError in train."),
        "seconds": 60.0,
        "cpu_seconds": 55.0,
        "log": HASH,
        "value_source": ValueSource.RECOMPUTED if ok else None,
        "outputs": {"predictions.csv": digest(values)} if ok else {},
        **more,
    }
    return Attempt(
        run_key=digest([experiment, purpose, seed, salt]),
        number=number,
        experiment=experiment,
        kind=kind,
        purpose=purpose,
        seed=seed,
        values=dict(values or {}),
        started_at=datetime(2024, 5, 1, tzinfo=UTC),
        **fields,
    )


def run(*attempts: Attempt) -> Run:
    """A run with its attempts."""
    first = attempts[0]
    names = ("run_key", "experiment", "kind", "purpose", "seed")
    return Run(attempts=attempts, **{name: getattr(first, name) for name in names})


def runs(
    table: Mapping[int | None, Mapping[str, float] | None],
    *,
    experiment: str = "main",
    purpose: Purpose = Purpose.EVAL,
) -> tuple[Run, ...]:
    """One run a seed, from values per seed; None for a run that failed."""
    return tuple(
        run(attempt(seed, values, experiment=experiment, purpose=purpose))
        for seed, values in table.items()
    )


def experiment(claims: Sequence[str], experiment_id: str = "main", **more) -> Experiment:
    """An experiment that covers claims."""
    fields = {"kind": ExperimentKind.BASELINE, "config": {"depth": 3}, "timeout": 60.0, **more}
    return Experiment(id=experiment_id, claims=tuple(claims), **fields)


ENVIRONMENT = BuiltEnvironment(
    lock=EnvironmentLock(
        sha256=HASH,
        python="3.11",
        packages=12,
        hashed=True,
        source="given",
        requirements="requirements.txt",
    ),
    path="env",
    fingerprint=Fingerprint(
        python="3.11.9",
        implementation="CPython",
        platform="Linux",
        libc="glibc 2.36",
        cpu="x86_64",
        cpu_flags=HASH,
        packages={"numpy": "2.0.0"},
        variables={},
    ),
)

CODE = {"experiment.py": "depth = 3\nprint(train(depth))\n"}


def probes(claims: Sequence[Claim], files: Mapping[str, str] = CODE) -> tuple[Probe, ...]:
    """A scan of the code, and a changed setting that moved every value."""
    values = {one.id: 1.0 for one in claims}
    moved = {one.id: 2.0 for one in claims}
    return (
        literal_scan(files, claims),
        response_probe("config_sensitivity", "depth 4", values, moved),
    )


def evidence(
    claims: Sequence[Claim],
    table: Mapping[int | None, Mapping[str, float] | None],
    *,
    pairs: Sequence[ClaimPair] = (),
    main: str | None = None,
    **more,
) -> Evidence:
    """One experiment that covers all claims, with a repetition of its first seed."""
    ids = [one.id for one in claims]
    eval_runs = runs(table)
    first = next((one for one in eval_runs if one.values), None)
    parity = runs({first.seed: first.values}, purpose=Purpose.PARITY) if first else ()
    fields = {
        "paper": "paper",
        "mode": "code",
        "experiments": (experiment(ids),),
        "runs": eval_runs,
        "seeds": tuple(seed for seed in table if seed is not None),
        "environment": ENVIRONMENT,
        "data": DataManifest(),
        "integrity": IntegrityEvidence(parity=parity, probes=probes(claims)),
        "code_tree": HASH,
        "runner": "bubblewrap",
        **more,
    }
    return Evidence(
        claims=ReportedClaims(
            claims=tuple(claims), pairs=tuple(pairs), main=main or ids[0], proposed_by="task.yaml"
        ),
        **fields,
    )


def seeded(*values: float) -> dict[int, float]:
    """Values by the seeds 1, 2, 3, …"""
    return dict(enumerate(values, 1))


CLOSE = (3.88, 3.91, 3.94, 3.87, 3.92)
"""Five seeds near 3.9: mean 3.904, sd 0.0288."""


def trivial() -> Evidence:
    """One claim, five seeds close to the reported value."""
    return evidence([claim()], {s: {"error": v} for s, v in seeded(*CLOSE).items()})


def impossible() -> Evidence:
    """The reported value cannot be: every seed lies far above it."""
    values = seeded(24.1, 23.8, 24.4, 24.0, 23.9)
    return evidence([claim()], {s: {"error": v} for s, v in values.items()})


def partial() -> Evidence:
    """Two claims; two of five seeds failed, and the second claim has no value at all."""
    table = {s: {"error": v} for s, v in seeded(*CLOSE).items()} | {2: None, 4: None}
    return evidence([claim(), claim("other", 4.9)], table)


def all_failed() -> Evidence:
    """Every run failed."""
    return evidence([claim()], dict.fromkeys(SEEDS))


def better_than_paper() -> Evidence:
    """An error far below the reported one."""
    values = seeded(2.0, 2.1, 2.05, 1.95, 2.0)
    return evidence([claim()], {s: {"error": v} for s, v in values.items()})


def unit_error() -> Evidence:
    """A fraction where the paper prints per cent."""
    return evidence([claim()], {s: {"error": v / 100} for s, v in seeded(*CLOSE).items()})


def deterministic() -> Evidence:
    """The same bits for every seed."""
    return evidence([claim()], {seed: {"error": 3.92} for seed in SEEDS})


BREIMAN = {
    # data set: (AdaBoost, selection, one input, one tree), reported and by an independent run
    "waveform": ((17.8, 17.2, 17.3, 34.0), (17.7, 17.4, 17.6, 34.5)),
    "twonorm": ((4.9, 3.9, 3.9, 24.7), (4.6, 4.0, 3.7, 23.9)),
    "threenorm": ((18.8, 17.5, 17.5, 38.4), (18.8, 18.0, 17.5, 36.3)),
    "ringnorm": ((6.9, 4.9, 4.9, 25.7), (7.0, 4.5, 4.5, 26.0)),
}
"""Breiman 2001, Random Forests, Table 2 (test error in per cent), and means over 40 draws."""
METHODS = ("adaboost", "selection", "single-input", "one-tree")


def breiman_claims() -> list[Claim]:
    """The sixteen claims; the selected forest is key."""
    return [
        claim(f"{dataset}-{method}", value, unit="percent", key=method == "selection")
        for dataset, (reported, _) in BREIMAN.items()
        for method, value in zip(METHODS, reported, strict=True)
    ]


def breiman() -> Evidence:
    """The independent run's sixteen values, as one run of code that takes no seed."""
    values = {
        f"{dataset}-{method}": value
        for dataset, (_, measured) in BREIMAN.items()
        for method, value in zip(METHODS, measured, strict=True)
    }
    return evidence(breiman_claims(), {None: values})
