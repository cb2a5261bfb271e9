"""How often verdicts err where the truth is known, and what scoring costs.

    python benchmarks/verdicts.py [--trials 2000] [--json]

Errors. Runs are drawn around a truth; the reported value is fixed and its tolerance zone with it.
`false` is the share of trials that say `reproduced` where the truth lies on the zone's border (any
truth outside gives less), `alarm` the share that says `not_reproduced` there (any truth inside gives
less). Both should be at most 5 %, the nominal size of each one-sided test. `found` is the share that
says `reproduced` where the truth is the reported value: what the seeds are good for. `missed` is the
share that says so where the truth lies at twice the tolerance.

Time. Scoring 100 and 200 papers of 20 claims and 5 seeds each, and the ratio of both.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.environment.model import DataManifest
from repro_pipeline.experiment.model import Attempt, Run
from repro_pipeline.experiment.spec import Experiment, ExperimentKind, Purpose
from repro_pipeline.frozen import digest
from repro_pipeline.paper.address import TextAddress
from repro_pipeline.scoring.model import Evidence, IntegrityEvidence
from repro_pipeline.scoring.rubric import MetricParityRule, Rubric
from repro_pipeline.scoring.score import score
from repro_pipeline.scoring.verdict import judge_claim
from repro_pipeline.status import Status, Verdict

NOMINAL = 0.05
SEEDS = (3, 5, 10)
REPORTED = 20.0
TOLERANCE = 0.05 * REPORTED
SPREADS = (0.25, 0.5, 1.0, 2.0)
"""Standard deviation of the runs, in tolerances."""
QUANTA = (0.001, 0.1, 1.0)
"""Unit of the last printed digit: far finer than the tolerance, a tenth of it, as large."""
CASES = (("mean", "normal"), ("mean", "skewed"), ("median", "normal"), ("best", "normal"))
RULE = MetricParityRule()


def reported(statistic: str, quantum: float, value: float = REPORTED) -> Claim:
    """The claim of the simulation."""
    return Claim(
        id="error",
        metric="error",
        direction="higher",
        statistic=statistic,
        quantum=quantum,
        value=value,
        address=TextAddress(quote="an error of 20"),
        n_runs=None,
    )


def noise(rng: np.random.Generator, kind: str, shape: tuple[int, int]) -> np.ndarray:
    """Standardised noise (trials × seeds): mean 0, sd 1."""
    if kind == "normal":
        return rng.standard_normal(shape)
    drawn = np.exp(0.5 * rng.standard_normal(shape))
    mean = math.exp(0.125)
    return (drawn - mean) / (mean * math.sqrt(math.exp(0.25) - 1))


@lru_cache
def truth_of(statistic: str, kind: str, n: int) -> float:
    """The statistic's truth for n runs of standardised noise."""
    drawn = noise(np.random.default_rng(1), kind, (200_000, n))
    match statistic:
        case "median":
            return float(np.median(drawn))
        case "best":
            return float(drawn.max(axis=1).mean())
        case _:
            return 0.0


def shares(
    statistic: str, kind: str, n: int, spread: float, quantum: float, offset: float, trials: int
) -> dict[Verdict, float]:
    """The share of each verdict where the statistic's truth is `offset` tolerances off."""
    seed = [n, round(100 * spread), round(1000 * quantum), round(10 * (offset + 2))]
    rng = np.random.default_rng(seed)
    sd = spread * TOLERANCE
    shift = truth_of(statistic, kind, n)
    half = max(TOLERANCE, quantum / 2)
    samples = REPORTED + offset * half - shift * sd + sd * noise(rng, kind, (trials, n))
    claim = reported(statistic, quantum)
    counts = dict.fromkeys(Verdict, 0)
    for row in samples.tolist():
        counts[judge_claim(claim, dict(enumerate(row)), n, RULE).verdict] += 1
    return {verdict: count / trials for verdict, count in counts.items()}


def error_rates(trials: int) -> list[dict]:
    """One row per statistic, noise, n, spread and print."""
    rows = []
    for statistic, kinds in (
        ("mean", ("normal", "skewed")),
        ("median", ("normal",)),
        ("best", ("normal",)),
    ):
        for kind in kinds:
            quanta = QUANTA if (statistic, kind) == ("mean", "normal") else QUANTA[:1]
            for n in SEEDS:
                for spread in SPREADS:
                    for quantum in quanta:
                        rows.append(_row(statistic, kind, n, spread, quantum, trials))
    return rows


def _row(statistic: str, kind: str, n: int, spread: float, quantum: float, trials: int) -> dict:
    def at(offset: float) -> dict[Verdict, float]:
        return shares(statistic, kind, n, spread, quantum, offset, trials)

    border = [at(-1.0), at(1.0)]
    return {
        "statistic": statistic,
        "noise": kind,
        "n": n,
        "spread": spread,
        "quantum": quantum,
        "false": max(side[Verdict.REPRODUCED] for side in border),
        "alarm": max(side[Verdict.NOT_REPRODUCED] for side in border),
        "found": at(0.0)[Verdict.REPRODUCED],
        "missed": max(at(-2.0)[Verdict.REPRODUCED], at(2.0)[Verdict.REPRODUCED]),
    }


def papers(count: int, claims: int = 20, seeds: int = 5) -> list[Evidence]:
    """Evidence of so many papers, one experiment each."""
    rng = np.random.default_rng(3)
    return [_paper(f"paper-{index}", claims, seeds, rng) for index in range(count)]


def _paper(name: str, claims: int, seeds: int, rng: np.random.Generator) -> Evidence:
    values = rng.uniform(5, 40, claims).round(1).tolist()
    table = ReportedClaims(
        claims=tuple(
            reported("mean", 0.1, value).model_copy(update={"id": f"claim-{i}"})
            for i, value in enumerate(values)
        ),
        main="claim-0",
        proposed_by="benchmark",
    )
    ids = tuple(claim.id for claim in table.claims)
    measured = np.array(values) * (1 + 0.03 * rng.standard_normal((seeds, claims)))
    return Evidence(
        paper=name,
        mode="code",
        claims=table,
        experiments=(Experiment(id="main", kind="baseline", claims=ids, config={}, timeout=60.0),),
        runs=tuple(
            _run(name, seed, dict(zip(ids, row, strict=True)))
            for seed, row in enumerate(measured.tolist())
        ),
        seeds=tuple(range(seeds)),
        environment=None,
        data=DataManifest(),
        integrity=IntegrityEvidence(),
        code_tree=None,
        runner="bubblewrap",
    )


def _run(paper: str, seed: int, values: dict[str, float]) -> Run:
    identity = {
        "run_key": digest([paper, seed]),
        "experiment": "main",
        "kind": ExperimentKind.BASELINE,
        "purpose": Purpose.EVAL,
        "seed": seed,
    }
    attempt = Attempt(
        **identity,
        number=1,
        status=Status.OK,
        values=values,
        started_at=datetime(2024, 1, 1, tzinfo=UTC),
        seconds=60.0,
    )
    return Run(**identity, attempts=(attempt,))


def scoring_seconds(count: int) -> float:
    """CPU seconds to score so many papers; the best of three."""
    evidence, rubric = papers(count), Rubric()
    score(evidence[0], rubric, digest(rubric))  # imports and tables, once
    taken = []
    for _ in range(3):
        clock = time.process_time()
        for one in evidence:
            score(one, rubric, digest(rubric))
        taken.append(time.process_time() - clock)
    return min(taken)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = error_rates(options.trials)
    seconds = {count: scoring_seconds(count) for count in (100, 200)}
    growth = seconds[200] / seconds[100]
    if options.json:
        print(json.dumps({"errors": rows, "seconds": seconds, "growth": growth}, indent=2))
        return
    error = math.sqrt(NOMINAL * (1 - NOMINAL) / options.trials)
    print(f"{options.trials} trials a cell; standard error of a share of 5 % is {error:.2%}.\n")
    for statistic, kind in dict.fromkeys((row["statistic"], row["noise"]) for row in rows):
        for n in SEEDS:
            of = [r for r in rows if (r["statistic"], r["noise"], r["n"]) == (statistic, kind, n)]
            found = ", ".join(f"{r['found']:.0%}" for r in of if r["quantum"] == QUANTA[0])
            print(
                f"{statistic:7} {kind:7} n={n:<3} false {max(r['false'] for r in of):6.2%}  "
                f"alarm {max(r['alarm'] for r in of):6.2%}  "
                f"missed {max(r['missed'] for r in of):6.2%}  found {found} "
                f"(spread {', '.join(f'{s:g}' for s in SPREADS)} tolerances)"
            )
    # The largest of many shares lies above their common truth; the mean shows where that is.
    normal = [r for r in rows if r["noise"] == "normal"]
    mean = sum(r["false"] + r["alarm"] for r in normal) / (2 * len(normal))
    print(f"\nMean error over nominal, normal noise: {mean / NOMINAL:.2f}")
    worst = max(max(r["false"], r["alarm"]) for r in normal) / NOMINAL
    print(f"Worst error over nominal, normal noise: {worst:.2f}")
    print(
        f"Scoring 100 papers: {seconds[100]:.2f} s; 200 papers: {seconds[200]:.2f} s; growth {growth:.2f}"
    )


if __name__ == "__main__":
    main()
