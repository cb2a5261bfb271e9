"""How often verdicts err where the truth is known, and what scoring costs.

    python benchmarks/verdicts.py [--trials 2000] [--drawn 150] [--papers 250 1000] [--json]

Errors. Runs are drawn around a truth; the reported value is fixed and its tolerance zone with it.
`false` is the share of trials that say `reproduced` where the truth lies on the zone's border (any
truth outside gives less), `alarm` the share that says `not_reproduced` there (any truth inside gives
less). Both should be at most 5 %, the nominal size of each one-sided test. `found` is the share that
says `reproduced` where the truth is the reported value: what the seeds are good for. `missed` is the
share that says so where the truth lies at twice the tolerance.

Many claims. Papers of 20 claims, of which most have their truth on the zone's border and the rest on
the reported value; the noise of the claims is independent, shared (all claims of a run move
together), or shared with opposite signs. `fdr` is the mean share of border claims among those that
are called reproduced and stand, `found` the share of the others that are called so.

Time. A ledger in SQLite is filled with papers of 20 claims and 5 seeds, every run with its start and
its end, and the rest of the evidence with an artifact store. Then every paper is read from both and
scored; the ratio of both sizes says how it grows.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np

from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.environment.model import DataManifest
from repro_pipeline.evidence.model import Evidence, IntegrityEvidence
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import AttemptFinished, AttemptStarted
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.ledger.projections import runs as runs_of
from repro_pipeline.ledger.runs import Attempt, ExperimentKind, Purpose, Run
from repro_pipeline.paper.address import TextAddress
from repro_pipeline.scoring.multiple import control
from repro_pipeline.scoring.rubric import FalseDiscoveryRule, MetricParityRule, Rubric
from repro_pipeline.scoring.score import score
from repro_pipeline.scoring.verdict import judge_claim
from repro_pipeline.status import Status, Verdict
from resources.artifact_store import FsspecArtifactStore
from resources.ledger_sql import SqlLedger

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


PROCEDURES = ("none", "benjamini_hochberg", "benjamini_yekutieli")
DEPENDENCE = ("independent", "shared", "opposite")
CLAIMS = 20


def discovery_rates(trials: int) -> list[dict]:
    """One row per n, spread, dependence, number of border claims and procedure."""
    rows = []
    for n in SEEDS:
        for spread in SPREADS[:3]:
            for dependence in DEPENDENCE:
                for border in (10, 18):
                    rows += _discoveries(n, spread, dependence, border, trials)
    return rows


def _discoveries(n: int, spread: float, dependence: str, border: int, trials: int) -> list[dict]:
    rng = np.random.default_rng([n, round(100 * spread), DEPENDENCE.index(dependence), border])
    truth = REPORTED + TOLERANCE * np.where(np.arange(CLAIMS) < border, 1.0, 0.0)
    signs = np.where(np.arange(CLAIMS) % 2, -1.0, 1.0) if dependence == "opposite" else 1.0
    share = 0.0 if dependence == "independent" else 0.9
    false: dict[str, list[float]] = {name: [] for name in PROCEDURES}
    found: dict[str, list[float]] = {name: [] for name in PROCEDURES}
    claims = [
        reported("mean", QUANTA[0]).model_copy(update={"id": f"claim-{i}"}) for i in range(CLAIMS)
    ]
    for _ in range(trials):
        common = rng.standard_normal((n, 1)) * signs
        own = rng.standard_normal((n, CLAIMS))
        noise = math.sqrt(share) * common + math.sqrt(1 - share) * own
        samples = (truth + spread * TOLERANCE * noise).T.tolist()
        verdicts = {
            claim.id: judge_claim(claim, dict(enumerate(row)), n, RULE)
            for claim, row in zip(claims, samples, strict=True)
        }
        for name in PROCEDURES:
            after, _ = control(verdicts, FalseDiscoveryRule(procedure=name))
            standing = [
                index
                for index, one in enumerate(after.values())
                if one.verdict is Verdict.REPRODUCED and one.stands is not False
            ]
            wrong = sum(index < border for index in standing)
            false[name].append(wrong / max(len(standing), 1))
            found[name].append((len(standing) - wrong) / (CLAIMS - border))
    common = {"n": n, "spread": spread, "dependence": dependence, "border": border}
    return [
        {
            **common,
            "procedure": name,
            "fdr": float(np.mean(false[name])),
            "error": float(np.std(false[name]) / math.sqrt(trials)),
            "found": float(np.mean(found[name])),
        }
        for name in PROCEDURES
    ]


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


def scoring_seconds(sizes: tuple[int, ...]) -> dict[int, float]:
    """CPU seconds to read so many papers from ledger and store and score them; the best of two."""
    taken: dict[int, float] = {}
    with tempfile.TemporaryDirectory(prefix="verdicts-") as place:
        store = FsspecArtifactStore(str(Path(place, "store")))
        for size in sizes:
            ledger = SqlLedger(f"sqlite:///{Path(place, f'{size}.sqlite')}")
            kept = [_keep(one, ledger, store) for one in papers(size)]
            _score_all(kept[:1], ledger, store)  # imports and tables, once
            tries = []
            for _ in range(2):
                clock = time.process_time()
                _score_all(kept, ledger, store)
                tries.append(time.process_time() - clock)
            taken[size] = min(tries)
            ledger.close()
    return taken


def _keep(evidence: Evidence, ledger: SqlLedger, store: FsspecArtifactStore) -> tuple[str, str]:
    """Runs into the ledger, all other evidence into the store; the paper and that digest."""
    for run in evidence.runs:
        attempt = run.attempts[0]
        started = AttemptStarted(
            run_key=run.run_key,
            number=1,
            experiment=run.experiment,
            experiment_kind=run.kind,
            purpose=run.purpose,
            seed=run.seed,
            started_at=attempt.started_at,
            code_tree="0" * 64,
            environment="0" * 64,
            data_manifest="0" * 64,
            command=("python", "experiment.py"),
            config={},
            runner="bubblewrap",
        )
        ledger.append(evidence.paper, started, actor="code:benchmark")
        ledger.append(evidence.paper, AttemptFinished(attempt=attempt), actor="code:benchmark")
    rest = evidence.model_copy(update={"runs": ()})
    return evidence.paper, store.put(rest.model_dump_json().encode())


def _score_all(kept: list[tuple[str, str]], ledger: SqlLedger, store: FsspecArtifactStore) -> None:
    rubric = Rubric()
    for paper, rest in kept:
        events = list(ledger.events(paper))
        evidence = Evidence.model_validate_json(store.get(rest))
        evidence = evidence.model_copy(update={"runs": runs_of(events)})
        score(evidence, rubric, digest(rubric), attempts(events))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--drawn", type=int, default=150, help="papers a cell of many claims")
    parser.add_argument("--papers", type=int, nargs="+", default=[250, 1000])
    parser.add_argument("--many-only", action="store_true", help="only the part of many claims")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    discoveries = discovery_rates(options.drawn)
    if options.many_only:
        _print_discoveries(discoveries, options.drawn)
        return
    seconds = scoring_seconds(tuple(options.papers))
    small, large = min(seconds), max(seconds)
    growth = seconds[large] / seconds[small] / (large / small)
    rows = error_rates(options.trials)
    if options.json:
        report = {"errors": rows, "discoveries": discoveries, "seconds": seconds, "growth": growth}
        print(json.dumps(report, indent=2))
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
    _print_discoveries(discoveries, options.drawn)
    told = "; ".join(f"{count} papers: {taken:.2f} s" for count, taken in seconds.items())
    print(
        f"\nRead from the ledger and scored, CPU: {told}. {large // small} times the papers take "
        f"{growth * large / small:.2f} times as long."
    )


def _print_discoveries(rows: list[dict], drawn: int) -> None:
    print(
        f"\n{CLAIMS} claims a paper, {drawn} papers a cell (controlled rates have standard errors up "
        f"to {max(row['error'] for row in rows if row['procedure'] != 'none'):.1%}); worst "
        "false-discovery rate, and mean share found."
    )
    for n in SEEDS:
        for name in PROCEDURES:
            of = [row for row in rows if (row["n"], row["procedure"]) == (n, name)]
            worst = {
                kind: max(row["fdr"] for row in of if row["dependence"] == kind)
                for kind in DEPENDENCE
            }
            found = {
                (spread, border): np.mean(
                    [r["found"] for r in of if (r["spread"], r["border"]) == (spread, border)]
                )
                for spread in SPREADS[:3]
                for border in (10, 18)
            }
            rates = ", ".join(f"{kind} {rate:.1%}" for kind, rate in worst.items())
            parts = ", ".join(f"{s:g}/{b} {share:.0%}" for (s, b), share in found.items())
            print(f"n={n:<3} {name:20} fdr {rates}  found (spread/border claims) {parts}")


if __name__ == "__main__":
    main()
