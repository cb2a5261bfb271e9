"""What a report says beside its tables, in words, whatever its format: open questions, costs, sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from repro_pipeline.bundle.terms import AssumptionSource
from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.ledger.runs import SUPPLYING, Attempt, Run
from repro_pipeline.report import words
from repro_pipeline.report.model import ReportData
from repro_pipeline.report.rows import ClaimRow, PairRow
from repro_pipeline.status import Outcome, Sign, Status, Verdict
from repro_pipeline.wording import counted
from repro_pipeline.wording import duration as about


@dataclass(frozen=True)
class Open:
    """Something that could not be decided."""

    what: str
    outcome: str
    why: str
    needs: str
    """What would decide it, where that is known."""


def undecided(
    data: ReportData, claims: tuple[ClaimRow, ...], pairs: tuple[PairRow, ...]
) -> tuple[Open, ...]:
    """Claims, pairs and checks that are neither passed nor failed; a check of one claim is the claim."""
    names = {row.claim.id for row in claims}
    of_claims = [
        Open(row.label, row.verdict.verdict, row.verdict.reason, _needs(row))
        for row in claims
        if row.verdict.verdict in {Verdict.INCONCLUSIVE, Verdict.NOT_RUN}
    ]
    of_pairs = [
        Open(row.label, row.result.sign, row.result.reason, "")
        for row in pairs
        if row.result.sign in {Sign.UNDECIDED, Sign.NOT_RUN}
    ]
    alike: dict[tuple[str, Outcome, str], list[str]] = {}
    for dimension in data.scores.dimensions:
        for check in dimension.checks:
            unclear = check.outcome in {Outcome.INCONCLUSIVE, Outcome.NOT_CHECKABLE}
            if unclear and check.id not in names:
                alike.setdefault((dimension.id, check.outcome, check.sentence), []).append(check.id)
    of_checks = [
        Open(words.words(f"{dimension}: {', '.join(checks)}"), outcome, sentence, "")
        for (dimension, outcome, sentence), checks in alike.items()
    ]
    return tuple(of_claims + of_pairs + of_checks)


def claim_runs(evidence: Evidence, claim: str) -> tuple[Run, ...]:
    """The runs that the claim's verdict rests on, failed ones included, in the order of seeds."""
    covering = {
        experiment.id
        for experiment in evidence.experiments
        if claim in experiment.claims and experiment.kind in SUPPLYING
    }
    runs = [run for run in evidence.runs if run.experiment in covering]
    return tuple(
        sorted(runs, key=lambda run: (run.purpose, run.seed is None, run.seed or 0, run.run_key))
    )


@dataclass(frozen=True)
class Cost:
    """What the reproduction cost, in words."""

    attempts: str
    wall: str
    cpu: str
    stages: str
    models: str


def cost(data: ReportData) -> Cost:
    """What all attempts, stages and calls of models took."""
    attempts, calls = [one for one in data.attempts if one.started], data.model_cost
    measured = [attempt.cpu_seconds for attempt in attempts if attempt.cpu_seconds is not None]
    cpu = words.duration(sum(measured)) if measured else "not measured"
    if 0 < len(measured) < len(attempts):
        cpu += f" ({len(attempts) - len(measured)} of {len(attempts)} attempts not measured)"
    models = "none called"
    if calls is not None:
        usd = "price not known" if calls.usd is None else f"US$ {calls.usd:,.2f}"
        if calls.usd is not None and calls.unpriced:
            usd += f" and {calls.unpriced:,} calls of unknown price,"
        models = f"{usd} for {calls.calls:,} calls, {calls.tokens:,} tokens"
    cancelled = sum(one.status is Status.CANCELLED for one in attempts)
    failed = sum(one.status is not Status.OK for one in attempts) - cancelled
    ended = f", {cancelled} cancelled" if cancelled else ""
    left_out = len(data.attempts) - len(attempts)
    ended += f"; {counted(left_out, 'run')} left out" if left_out else ""
    return Cost(
        attempts=f"{len(attempts)}, {failed or 'none'} failed{ended}" if attempts else "none",
        wall=words.duration(data.run_seconds),
        cpu=cpu,
        stages=words.duration(sum(stage.seconds for stage in data.stages)),
        models=models,
    )


def review_words(data: ReportData) -> str:
    """How far people have looked at what was drawn for them."""
    if data.review is None or not data.review.items:
        return "nothing drawn"
    drawn = len(data.review.items)
    decided = sum(1 for item in data.review.items if item.decisions)
    return f"{decided} of {drawn} claims that were drawn have a decision"


def image_words(built: BuiltEnvironment | None) -> str:
    """Which image runs had, by its digest in the engine that built it, and upon which other."""
    if built is None or built.image is None:
        return "none, runs use an environment that is built from the lock alone"
    image = built.image
    return f"{image.id}, built from the lock alone upon {image.base} ({image.base_id})"


def sandbox_limits(attempts: Iterable[Attempt]) -> dict[str, str]:
    """Per limit how it held over all attempts; how many of each where attempts differ."""
    held: dict[str, Counter[str]] = {}
    for attempt in attempts:
        for limit, how in attempt.limits.items():
            held.setdefault(limit, Counter())[how] += 1
    return {
        limit: ", ".join(
            how if len(hows) == 1 else f"{how} ({n} attempts)" for how, n in hows.items()
        )
        for limit, hows in sorted(held.items())
    }


def moment(at: datetime) -> str:
    """A point in time, in UTC, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def source_words(source: AssumptionSource) -> str:
    """Where an assumption comes from: its kind, and the place."""
    place = source.file or ""
    if source.file and source.line is not None:
        place += f":{source.line}"
    parts = [words.words(source.kind), source.reference, place]
    return ", ".join(part for part in parts if part)


def claims_words(claims: Collection[str], names: dict[str, str]) -> str:
    """Some of the claims by name; all of them in two words."""
    if set(claims) == set(names):
        return "all claims"
    return "; ".join(names.get(claim, claim) for claim in claims)


def _needs(row: ClaimRow) -> str:
    verdict = row.verdict
    if verdict.seeds_to_decide is None:
        return ""
    seconds = verdict.seconds_to_decide
    more = "" if seconds is None else f", {about(seconds)} more of runs"
    return f"{verdict.seeds_to_decide} seeds would decide{more}"
