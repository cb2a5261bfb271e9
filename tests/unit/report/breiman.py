"""A realistic report: Breiman's table of synthetic data, five seeds each, with what went wrong.

The reproduced means are those of an independent run of 40 draws; the values per seed scatter about
them by a fixed pattern. The verdicts follow the rule of the rubric, so that the report under test
shows numbers that belong together.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from statistics import fmean, stdev

from scipy.stats import t

from repro_pipeline.bundle.terms import AssumptionSource
from repro_pipeline.claims.model import Claim, ClaimPair, ReportedClaims
from repro_pipeline.environment.model import (
    BuiltEnvironment,
    DataManifest,
    EnvironmentLock,
    Fingerprint,
)
from repro_pipeline.evidence.model import Evidence, IntegrityEvidence
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.findings import Finding, Probe
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.events import Head, WarningRecorded
from repro_pipeline.ledger.runs import Attempt, Run, ValueSource
from repro_pipeline.lineage.model import Lineage, OpenGap, RankedReference
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.model import Cell, Provenance, Quantity, Source, Table
from repro_pipeline.report.model import ClaimTable, ReportData, StageRow
from repro_pipeline.report.words import labels
from repro_pipeline.scoring.attribution import attribute
from repro_pipeline.scoring.model import (
    Check,
    ClaimVerdict,
    DimensionScore,
    PairResult,
    ReviewItem,
    ReviewQueue,
    Scores,
)
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.status import Reason, Status

METHODS = {
    "adaboost": "AdaBoost",
    "selection": "Selection",
    "single-input": "Single input",
    "one-tree": "One tree",
}
REPORTED = {
    "waveform": ("17.8", "17.2", "17.3", "34.0"),
    "twonorm": ("4.9", "3.9", "3.9", "24.7"),
    "threenorm": ("18.8", "17.5", "17.5", "38.4"),
    "ringnorm": ("6.9", "4.9", "4.9", "25.7"),
}
FOUND = {
    "waveform": (17.7, 17.4, 17.6, 34.5),
    "twonorm": (4.6, 4.0, 3.7, 23.9),
    "threenorm": (18.8, 18.0, 17.5, 36.3),
    "ringnorm": (7.0, 4.5, 4.5, 26.0),
}
SEEDS = (101, 102, 103, 104, 105)
SCATTER = (-1.1, 0.6, 0.1, 1.2, -0.8)
"""Standardised deviations of the five seeds; their sum is zero."""
START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
CODE = digest("code")


def breiman_claims() -> ReportedClaims:
    claims = tuple(
        Claim(
            id=f"{dataset}-{slug}",
            metric="test_error",
            dataset=dataset.capitalize(),
            method=method,
            unit="percent",
            direction="lower",
            over="seeds",
            key=slug in {"selection", "adaboost"},
            value=float(text),
            quantum=0.1,
            text=text,
            address=CellAddress(table="Table 1", row=(dataset.capitalize(),), column=(method,)),
            provenance=Provenance(file="paper.tex", line=88 + row),
        )
        for row, (dataset, texts) in enumerate(REPORTED.items())
        for (slug, method), text in zip(METHODS.items(), texts, strict=True)
    )
    by_id = {claim.id: claim for claim in claims}

    def pair(dataset: str, kind: str, full: str, variant: str) -> ClaimPair:
        gap = by_id[f"{dataset}-{variant}"].value - by_id[f"{dataset}-{full}"].value
        gap = round(gap, 6)
        return ClaimPair(
            id=f"{dataset}-{full}-against-{variant}",
            kind=kind,
            full=f"{dataset}-{full}",
            variant=f"{dataset}-{variant}",
            expected_sign=None if gap == 0 else 1 if gap > 0 else -1,
            expected_difference=gap,
            excluded=None if gap else "the printed difference of 0.0 lies within rounding",
        )

    pairs = [pair(name, "ablation", "selection", "one-tree") for name in REPORTED]
    pairs += [pair(name, "ablation", "selection", "single-input") for name in REPORTED]
    pairs += [pair(name, "comparison", "selection", "adaboost") for name in REPORTED]
    return ReportedClaims(
        claims=claims, pairs=tuple(pairs), main="waveform-selection", proposed_by="task.yaml"
    )


def breiman_table() -> ClaimTable:
    def number(text: str, line: int) -> Cell:
        quantity = Quantity(text=text, value=float(text), quantum=0.1)
        return Cell(
            text=text, numbers=(quantity,), provenance=Provenance(file="paper.tex", line=line)
        )

    head = tuple(Cell(text=text) for text in ("Data set", *METHODS.values()))
    body = tuple(
        (Cell(text=dataset.capitalize()), *(number(text, 88 + row) for text in texts))
        for row, (dataset, texts) in enumerate(REPORTED.items())
    )
    return ClaimTable(
        table=Table(
            index=1,
            number="Table 1",
            label="tab:synthetic",
            caption="Test set error (%)",
            grid=(head, *body),
        ),
        places={
            f"{dataset}-{slug}": (row, column)
            for row, dataset in enumerate(REPORTED, start=1)
            for column, slug in enumerate(METHODS, start=1)
        },
    )


def seed_values(dataset: str, *, moved: float = 0.0) -> dict[int, dict[str, float]]:
    """Value per seed and claim; `moved` shifts all, with a little noise of its own."""
    return {
        seed: {
            f"{dataset}-{slug}": mean
            + (moved and moved + 0.3 * SCATTER[index - 2])
            + (0.09 + 0.008 * mean) * SCATTER[(index + column) % 5]
            for column, (slug, mean) in enumerate(zip(METHODS, FOUND[dataset], strict=True))
        }
        for index, seed in enumerate(SEEDS)
    }


LIMITS = {
    "wall_clock": "watched",
    "memory": "hard",
    "processes": "hard",
    "open_files": "hard",
    "output": "watched",
    "network": "hard",
    "filesystem": "hard",
    "cpus": "unavailable",
}


def attempt(
    experiment: Experiment,
    seed: int,
    values: dict[str, float],
    *,
    minute: float,
    number: int = 1,
    purpose: str = "eval",
    failure: tuple[Status, Reason, int | None] | None = None,
) -> Attempt:
    status, reason, exit_code = failure or (Status.OK, None, 0)
    return Attempt(
        run_key=digest([experiment.id, seed, purpose]),
        number=number,
        experiment=experiment.id,
        kind=experiment.kind,
        purpose=purpose,
        seed=seed,
        status=status,
        reason=reason,
        exit_code=exit_code,
        values={} if failure else values,
        value_source=None if failure else ValueSource.SELF_REPORTED,
        started_at=START + timedelta(minutes=minute),
        seconds=41.5 + seed % 7,
        cpu_seconds=None if failure else 40.1 + seed % 7,
        log=digest(["log", experiment.id, seed, number]),
        outputs={} if failure else {"metrics.json": digest(["metrics", experiment.id, seed])},
        limits=LIMITS,
    )


KILLED = (
    Status.FAILED,
    Reason(code="killed", sentence="The run was killed with its worker; the next start found it."),
    None,
)
SLOW = (
    Status.TIMED_OUT,
    Reason(code="wall_clock", sentence="The run was ended after its limit of 10 min."),
    None,
)
CRASHED = (
    Status.FAILED,
    Reason(
        code="nonzero_exit",
        sentence="The run ended with exit status 1: ValueError: a tree without training error.",
    ),
    1,
)


def breiman_experiments() -> tuple[Experiment, ...]:
    config = {"n_train": 300, "n_test": 3000, "n_trees": 100}
    baselines = [
        Experiment(
            id=dataset,
            kind="baseline",
            claims=tuple(f"{dataset}-{slug}" for slug in METHODS),
            config={"dataset": dataset, **config},
            timeout=600,
        )
        for dataset in REPORTED
    ]
    alternatives = [
        ("ringnorm-half-mean", "ringnorm", "ringnorm-mean", {"mean_scale": 1.0}),
        ("threenorm-leaf-of-five", "threenorm", "unpruned-trees", {"min_samples_leaf": 5}),
    ]
    changed = [
        Experiment(
            id=name,
            kind="sensitivity",
            claims=tuple(f"{of}-{slug}" for slug in METHODS),
            config={"dataset": of, **config, **change},
            of=of,
            change=change,
            assumption=assumption,
            timeout=600,
        )
        for name, of, assumption, change in alternatives
    ]
    return (*baselines, *changed)


def breiman_runs(experiments: tuple[Experiment, ...]) -> tuple[Run, ...]:
    """Five seeds each; one run needed a second attempt, one never ended well."""
    runs = []
    for order, experiment in enumerate(experiments):
        dataset = experiment.of or experiment.id
        moved = {"ringnorm-half-mean": 3.1, "threenorm-leaf-of-five": 0.05}.get(experiment.id, 0)
        for index, (seed, values) in enumerate(seed_values(dataset, moved=moved).items()):
            minute = 5 * order + index
            first = attempt(experiment, seed, values, minute=minute)
            attempts = (first,)
            if (experiment.id, seed) == ("twonorm", 103):
                killed = attempt(experiment, seed, values, minute=minute, failure=KILLED)
                again = attempt(experiment, seed, values, minute=minute + 0.9, number=2)
                attempts = (killed, again)
            if (experiment.id, seed) == ("threenorm-leaf-of-five", 105):
                slow = attempt(experiment, seed, values, minute=minute, failure=SLOW)
                crashed = attempt(
                    experiment, seed, values, minute=minute + 11, number=2, failure=CRASHED
                )
                attempts = (slow, crashed)
            runs.append(
                Run(
                    run_key=first.run_key,
                    experiment=experiment.id,
                    kind=experiment.kind,
                    purpose="eval",
                    seed=seed,
                    attempts=attempts,
                )
            )
    return tuple(runs)


def verdict_of(claim: Claim, values: dict[int, float], planned: int = 5) -> ClaimVerdict:
    """The rubric's rule for a mean with Student's intervals, at a tolerance of 5 %."""
    numbers = list(values.values())
    n = len(numbers)
    blank = dict.fromkeys(
        ("value", "mean", "sd", "interval90", "interval95", "prediction95", "relative_error")
    )
    common = {
        "claim": claim.id,
        "reported": claim.value,
        "n": n,
        "planned": planned,
        "deterministic": n > 1 and len(set(numbers)) == 1,
        "seeds_to_decide": None,
        "seconds_to_decide": None,
        "values": {str(seed): value for seed, value in values.items()},
    }
    if n < 2:
        return ClaimVerdict(
            verdict="not_run",
            reason="No run gave a value for this claim.",
            within_threshold=None,
            agrees_at_printed_precision=False,
            better_than_reported=False,
            source=None,
            **common,
            **blank,
        )
    mean, sd = fmean(numbers), stdev(numbers)

    def interval(level: float, factor: float) -> tuple[float, float]:
        half = float(t.ppf((1 + level) / 2, n - 1)) * sd * factor
        return mean - half, mean + half

    low, high = interval(0.90, 1 / math.sqrt(n))
    bounds = (claim.value * 0.95, claim.value * 1.05)
    inside = bounds[0] <= low and high <= bounds[1]
    outside = high < bounds[0] or bounds[1] < low
    printed = abs(mean - claim.value) <= claim.quantum / 2
    word = "reproduced" if inside or printed else "not_reproduced" if outside else "inconclusive"
    where = {
        "reproduced": "lies inside"
        if inside
        else "rounds to the printed digits; it reaches beyond",
        "not_reproduced": "lies wholly outside",
        "inconclusive": "straddles an end of",
    }[word]
    open_ = word == "inconclusive"
    return ClaimVerdict(
        verdict=word,
        reason=f"The 90 % interval {low:.2f} to {high:.2f} {where} the tolerance of 5 % about "
        f"{claim.text}.",
        value=mean,
        mean=mean,
        sd=sd,
        interval90=(low, high),
        interval95=interval(0.95, 1 / math.sqrt(n)),
        prediction95=interval(0.95, math.sqrt(1 + 1 / n)),
        relative_error=abs(mean - claim.value) / claim.value,
        within_threshold=abs(mean - claim.value) <= 0.05 * claim.value,
        agrees_at_printed_precision=printed,
        better_than_reported=word == "not_reproduced" and mean < claim.value,
        source=ValueSource.SELF_REPORTED,
        **{**common, **({"seeds_to_decide": 14, "seconds_to_decide": 391.0} if open_ else {})},
    )


def pair_result(pair: ClaimPair, values: dict[str, dict[int, float]]) -> PairResult:
    gaps = {seed: values[pair.variant][seed] - values[pair.full][seed] for seed in SEEDS}
    mean = fmean(gaps.values())
    half = float(t.ppf(0.975, 4)) * stdev(gaps.values()) / math.sqrt(5)
    holds_zero = mean - half <= 0 <= mean + half
    if pair.excluded:
        sign, reason = "excluded", pair.excluded
    elif holds_zero:
        sign, reason = "undecided", "The 95 % interval of the paired differences holds 0."
    else:
        sign = "agree" if (mean > 0) == (pair.expected_sign > 0) else "opposite"
        reason = f"The sign of the difference is {'' if sign == 'agree' else 'not '}the paper's."
    return PairResult(
        pair=pair.id,
        kind=pair.kind,
        sign=sign,
        reason=reason,
        expected_difference=pair.expected_difference,
        difference=mean,
        interval95=(mean - half, mean + half),
        n=5,
        differences={str(seed): gap for seed, gap in gaps.items()},
    )


ASSUMPTIONS = (
    Assumption(
        id="ringnorm-mean",
        topic="data",
        statement="The second class of ringnorm has its mean at 2/sqrt(20) in each input.",
        value="2/sqrt(20)",
        alternatives=("1/sqrt(20)",),
        source=AssumptionSource(
            kind="reference",
            reference="breiman1996bias",
            file="references/bias-variance-arcing.md",
            line=62,
            quote="a = 2/sqrt(20). The best possible error is 1.3 %.",
            note="The descriptions of the data differ in this constant.",
        ),
        influence="high",
        claims=tuple(f"ringnorm-{slug}" for slug in METHODS),
        sensitivity="ringnorm-half-mean",
        proposed_by="task.yaml",
        source_found=True,
    ),
    Assumption(
        id="unpruned-trees",
        topic="model",
        statement="Trees are grown until every leaf is pure.",
        value=1,
        alternatives=(5,),
        source=AssumptionSource(
            kind="paper", file="paper.tex", line=44, quote="Trees are grown to full size"
        ),
        influence="medium",
        sensitivity="threenorm-leaf-of-five",
        proposed_by="task.yaml",
        source_found=True,
    ),
    Assumption(
        id="draws-per-seed",
        topic="protocol",
        statement="One value is the mean over ten draws of training and test sets.",
        value=10,
        source=AssumptionSource(kind="human", note="The paper does not say how many were drawn."),
        influence="low",
        proposed_by="task.yaml",
    ),
)


def dimensions(reproduced: int, key: int, agree: int, counted: int) -> tuple[DimensionScore, ...]:
    return (
        DimensionScore(
            id="environment_parity",
            outcome="pass",
            critical=True,
            value=0.0,
            threshold=1e-3,
            sentence="Two runs of one configuration and seed differ by 0 relatively.",
            checks=(
                Check(
                    id="locked_with_hashes",
                    outcome="pass",
                    sentence="All 11 packages are locked with hashes.",
                ),
                Check(
                    id="same_seed_rerun",
                    outcome="pass",
                    sentence="waveform, seed 101: 17.47 twice, a relative difference of 0 < 0.001.",
                ),
            ),
        ),
        DimensionScore(
            id="metric_parity",
            outcome="fail" if reproduced < key else "pass",
            critical=True,
            value=reproduced / key,
            threshold=None,
            sentence=f"{reproduced} of {key} key claims are reproduced.",
            checks=(
                Check(
                    id="key_claims",
                    outcome="fail",
                    sentence="Not reproduced: Ringnorm · Selection, Twonorm · AdaBoost.",
                ),
            ),
        ),
        DimensionScore(
            id="ablation_faithful",
            outcome="inconclusive",
            critical=False,
            value=agree / counted,
            threshold=0.8,
            sentence=f"{agree} of {counted} ablations have the paper's sign; 2 are excluded.",
            checks=(
                Check(
                    id="signs",
                    outcome="inconclusive",
                    sentence="Undecided ablations could still lift the share above 0.8.",
                ),
            ),
        ),
        DimensionScore(
            id="no_leakage",
            outcome="inconclusive",
            critical=True,
            value=None,
            threshold=None,
            sentence="No leak was found, but labels made by formula cannot be sealed.",
            checks=(
                Check(
                    id="training_and_evaluation_disjoint",
                    outcome="not_applicable",
                    sentence="There are no data files.",
                ),
                Check(
                    id="labels_sealed",
                    outcome="not_checkable",
                    sentence="The labels can be had by formula: not sealable.",
                ),
            ),
        ),
    )


def breiman_scores(
    claims: ReportedClaims,
    evidence: Evidence,
    verdicts: tuple[ClaimVerdict, ...],
    pairs: tuple[PairResult, ...],
) -> Scores:
    names = labels(claims.claims)
    failed = [names[verdict.claim] for verdict in verdicts if verdict.verdict == "not_reproduced"]
    reproduced = sum(verdict.verdict == "reproduced" for verdict in verdicts)
    return Scores(
        paper="random-forests-2001",
        mode="code",
        rubric=digest(Rubric()),
        evidence=digest(evidence),
        overall="fail",
        headline=f"{reproduced} of 16 claims reproduced within 5 %; not reproduced: "
        f"{', '.join(failed)}.",
        verdicts=verdicts,
        pairs=pairs,
        dimensions=dimensions(
            sum(
                verdict.verdict == "reproduced"
                for verdict, claim in zip(verdicts, claims.claims, strict=True)
                if claim.key
            ),
            8,
            sum(pair.sign == "agree" for pair in pairs if pair.kind == "ablation"),
            sum(pair.sign != "excluded" for pair in pairs if pair.kind == "ablation"),
        ),
        integrity="unverified",
        findings=(
            Finding(
                kind="no_probe",
                evidence="No label permutation applies to data made by formula.",
                severity="unverified",
                claims=("waveform-one-tree",),
            ),
            Finding(
                kind="literal_scan",
                evidence="No reported value stands in the code.",
                severity="info",
            ),
        ),
        score=0.25,
    )


def breiman_report() -> ReportData:
    """The whole report."""
    claims = breiman_claims()
    experiments = breiman_experiments()
    runs = breiman_runs(experiments)
    values: dict[str, dict[int, float]] = {claim.id: {} for claim in claims.claims}
    for run in runs:
        if run.kind == "baseline":
            for claim, value in run.values.items():
                values[claim][run.seed] = value
    verdicts = tuple(verdict_of(claim, values[claim.id]) for claim in claims.claims)
    pairs = tuple(pair_result(pair, values) for pair in claims.pairs)
    evidence = breiman_evidence(claims, experiments, runs)
    scores = breiman_scores(claims, evidence, verdicts, pairs)
    return ReportData(
        paper="random-forests-2001",
        title="Random Forests on Synthetic Data: A Restatement of One Experiment of Breiman (2001)",
        authors=("Leo Breiman",),
        year=2001,
        source=Source(
            file="paper.tex", format="latex", sha256=digest("paper"), reader="latex reader 1"
        ),
        scores=scores,
        evidence=evidence,
        rubric=Rubric(),
        attribution=attribute(evidence, scores),
        tables=(breiman_table(),),
        assumptions=ASSUMPTIONS,
        gaps=(
            OpenGap(
                item="number-of-runs",
                question="How many runs is each reported number over?",
                influence="high",
            ),
        ),
        contradictions=("The number of trees is 100 in section 2 and 50 in the caption.",),
        lineage=Lineage(
            ranked=(
                RankedReference(
                    key="breiman1996bias",
                    title="Bias, variance, and arcing classifiers",
                    score=0.91,
                    reasons=("cited where the data are described", "a file is at hand"),
                    local_file="references/bias-variance-arcing.md",
                ),
                RankedReference(
                    key="breiman1984cart",
                    title="Classification and Regression Trees",
                    score=0.64,
                    reasons=("cited for the method",),
                ),
            ),
            unread=("breiman1984cart",),
        ),
        attempts=tuple(attempt for run in runs for attempt in run.attempts),
        log_ends={
            attempt.log: ("Traceback (most recent call last):", f"    boom(seed={attempt.seed})")
            for run in runs
            for attempt in run.attempts
            if attempt.exit_code == CRASHED[2]
        },
        stages=(
            StageRow(stage="parsed_paper", status="ok", seconds=0.21),
            StageRow(stage="environment", status="ok", seconds=38.0),
            StageRow(stage="baseline", status="ok", seconds=890.0),
            StageRow(
                stage="sensitivity",
                status="partial",
                reason=Reason(
                    code="runs_failed", sentence="1 of 10 runs gave no value: see failed attempts."
                ),
                seconds=1104.0,
            ),
            StageRow(stage="scores", status="ok", seconds=0.4),
        ),
        review=ReviewQueue(
            items=(
                ReviewItem(
                    claim="ringnorm-selection", rate=0.5, why="Better than the reported value."
                ),
                ReviewItem(claim="twonorm-adaboost", rate=0.25, why="Drawn by the base rate."),
            ),
            sampled_from=16,
            seed=7,
        ),
        warnings=(
            WarningRecorded(
                code="limit_unavailable",
                sentence="This host does not limit the number of processors of a run.",
                stage="baseline",
            ),
        ),
        ledger=Head(chain="random-forests-2001", seq=143, hash=digest("head")),
        generated_at=START + timedelta(hours=1),
        version="0.1.0",
    )


def breiman_evidence(
    claims: ReportedClaims, experiments: tuple[Experiment, ...], runs: tuple[Run, ...]
) -> Evidence:
    return Evidence(
        paper="random-forests-2001",
        mode="code",
        claims=claims,
        experiments=experiments,
        runs=runs,
        seeds=SEEDS,
        environment=BuiltEnvironment(
            lock=EnvironmentLock(
                sha256=digest("lock"),
                python="3.11",
                packages=6,
                hashed=True,
                source="given",
                requirements="code/requirements.lock",
            ),
            path="ab12",
            fingerprint=Fingerprint(
                python="3.11.7",
                implementation="CPython",
                platform="Linux-6.8-x86_64",
                libc="glibc 2.36",
                cpu="AMD EPYC 7B13",
                cpu_flags=digest("flags"),
                packages={
                    "joblib": "1.5.2",
                    "numpy": "2.4.6",
                    "scikit-learn": "1.8.0",
                    "scipy": "1.17.1",
                    "threadpoolctl": "3.6.0",
                },
                variables={"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
                blas="openblas 0.3.30",
            ),
        ),
        data=DataManifest(),
        integrity=IntegrityEvidence(
            probes=(
                Probe(
                    id="literal_scan",
                    applies=True,
                    sentence="No reported value with three digits stands in the code.",
                ),
                Probe(
                    id="label_permutation",
                    applies=False,
                    sentence="The data are made by formula: there are no labels to permute.",
                ),
            )
        ),
        code_tree=CODE,
        runner="bubblewrap",
    )


HOSTILE = {
    "Waveform": "<script>alert('waveform')</script>",
    "Selection": "n" * 200,
    "Single input": "single</style><b>input|*x*",
    "Threenorm": "\u202eשלוש\u202c 三範数 ‖x‖₃ 🎲",
    "Table 1": "Table <1>",
    "Random Forests on Synthetic Data": "</title><img src=x onerror=alert(1)>\x07 & “Forests”",
}


def hostile_report() -> ReportData:
    """The same report with texts that break pages: markup, a 200-character word, other scripts."""

    def spoilt(value: object) -> object:
        if isinstance(value, dict):
            return {key: spoilt(item) for key, item in value.items()}
        if isinstance(value, list):
            return [spoilt(item) for item in value]
        if isinstance(value, str):
            for text, hostile in HOSTILE.items():
                value = value.replace(text, hostile)
        return value

    plain = breiman_report().model_dump(mode="json", by_alias=True)
    return ReportData.model_validate(spoilt(plain))


def bare_report() -> ReportData:
    """Nothing ran: the environment could not be built, in a paper with two claims and no ablation."""
    full = breiman_report()
    claims = full.evidence.claims.model_copy(
        update={"claims": full.evidence.claims.claims[:2], "pairs": ()}
    )
    evidence = full.evidence.model_copy(
        update={
            "claims": claims,
            "experiments": (),
            "runs": (),
            "environment": None,
            "integrity": IntegrityEvidence(),
            "code_tree": None,
            "runner": "unsafe_local",
            "failures": (
                Reason(
                    code="environment_failed",
                    sentence="environment: no version of scikit-learn fits Python 3.11.",
                ),
            ),
        }
    )
    scores = full.scores.model_copy(
        update={
            "overall": "inconclusive",
            "headline": "0 of 2 claims reproduced; nothing was run.",
            "verdicts": tuple(verdict_of(claim, {}) for claim in claims.claims),
            "pairs": (),
            "findings": (),
            "dimensions": (),
            "score": None,
        }
    )
    return full.model_copy(
        update={
            "scores": scores,
            "evidence": evidence,
            "authors": (),
            "year": None,
            "tables": (),
            "assumptions": (),
            "lineage": None,
            "attribution": None,
            "attempts": (),
            "stages": (),
            "review": None,
            "warnings": (),
            "ledger": None,
        }
    )
