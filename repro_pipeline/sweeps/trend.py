"""Each claim over time: the reproduction, and every sweep since, none left out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from repro_pipeline.frozen import Frozen
from repro_pipeline.ledger.events import PROJECT_CHAIN, SweepEnded, SweepStarted
from repro_pipeline.project import Project
from repro_pipeline.scoring.model import ClaimVerdict, Scores
from repro_pipeline.sweeps.model import ClaimComparison, SweepResult


class TrendPoint(Frozen):
    """One claim in one sweep, or in the reproduction itself."""

    label: str
    at: datetime
    verdict: str
    value: float | None
    interval90: tuple[float, float] | None
    n: int
    sentence: str
    """How it compares with the reproduction; empty for the reproduction."""


class ClaimTrend(Frozen):
    """One claim over time."""

    claim: str
    reported: float | None
    tolerance: tuple[float, float] | None
    points: tuple[TrendPoint, ...]


class SweepRow(Frozen):
    """One sweep of a paper, in a line."""

    number: int
    at: datetime
    fresh_dependencies: bool
    status: str
    sentence: str
    packages: str
    """What differs from the reproduction's packages."""


class Trend(Frozen):
    """A paper over time."""

    sweeps: tuple[SweepRow, ...]
    """Every one, also those that came to nothing."""
    claims: tuple[ClaimTrend, ...]


def swept(project: Project, paper: str) -> tuple[tuple[datetime, SweepEnded], ...]:
    """Every sweep that ended for a paper, in order; of one that was gone on with, its last end."""
    rows: dict[int, tuple[datetime, SweepEnded]] = {}
    for event in project.ledger.events(PROJECT_CHAIN, kinds={"sweep_ended"}):
        if event.payload["paper"] == paper:
            rows.pop(event.payload["number"], None)
            rows[event.payload["number"]] = event.at, event.content
    return tuple(rows.values())


def never_ended(project: Project, paper: str) -> tuple[tuple[datetime, SweepStarted], ...]:
    """The sweeps that were begun for a paper and left nothing: at work, waiting, or killed."""
    ended = {row.number for _, row in swept(project, paper)}
    return tuple(
        (event.at, event.content)
        for event in project.ledger.events(PROJECT_CHAIN, kinds={"sweep_started"})
        if paper in event.payload["papers"] and event.payload["number"] not in ended
    )


def trend_of(project: Project, paper: str, scores: Scores) -> Trend | None:
    """A paper's claims over all sweeps, from its reproduction on; None where it was never swept."""
    rows, open_ones = swept(project, paper), never_ended(project, paper)
    if not rows and not open_ones:
        return None
    results = [
        (at, row, row.result and SweepResult.model_validate_json(project.store.get(row.result)))
        for at, row in rows
    ]
    gathered = latest_at(project, paper)
    return Trend(
        sweeps=tuple(
            sorted(
                (
                    *(_row(at, row, result) for at, row, result in results),
                    *(_open_row(at, row) for at, row in open_ones),
                ),
                key=lambda row: (row.number, row.at),
            )
        ),
        claims=tuple(_claim(one, gathered, results) for one in scores.verdicts),
    )


def latest_at(project: Project, paper: str) -> datetime:
    """When the evidence that stands was gathered."""
    return [
        event.at
        for event in project.ledger.events(paper, kinds={"stage_finished"})
        if event.payload["stage"] == "experiment_ledger"
    ][-1]


def trend_rows(trend: Trend) -> list[dict[str, object]]:
    """The trend as a table: a line per claim and point."""
    return [
        {
            "claim": claim.claim,
            "in": point.label,
            "value": point.value,
            "n": point.n,
            "verdict": point.verdict.replace("_", " "),
            "compared": point.sentence or "-",
        }
        for claim in trend.claims
        for point in claim.points
    ]


def label(row: SweepEnded | SweepRow) -> str:
    """A sweep's name."""
    return f"sweep {row.number}" + (", new packages" if row.fresh_dependencies else "")


def _row(at: datetime, row: SweepEnded, result: SweepResult | None) -> SweepRow:
    changes = result.packages if result else ()
    return SweepRow(
        number=row.number,
        at=at,
        fresh_dependencies=row.fresh_dependencies,
        status=row.status,
        sentence=" ".join(
            dict.fromkeys([row.sentence, *([row.reason.sentence] if row.reason else [])])
        ),
        packages=", ".join(f"{p.name} {p.before or '-'} → {p.after or '-'}" for p in changes)
        or "none",
    )


def _open_row(at: datetime, row: SweepStarted) -> SweepRow:
    return SweepRow(
        number=row.number,
        at=at,
        fresh_dependencies=row.fresh_dependencies,
        status="no result",
        sentence="It was begun and left no result: it is at work, waits, or was killed.",
        packages="–",
    )


def _claim(
    standing: ClaimVerdict,
    at: datetime,
    results: Sequence[tuple[datetime, SweepEnded, SweepResult | None]],
) -> ClaimTrend:
    points = [_point("reproduction", at, standing, None)]
    for when, row, result in results:
        for verdict in result.verdicts if result else ():
            if verdict.claim == standing.claim:
                compared = next(c for c in result.comparisons if c.claim == standing.claim)
                points.append(_point(label(row), when, verdict, compared))
    return ClaimTrend(
        claim=standing.claim,
        reported=standing.reported,
        tolerance=standing.tolerance,
        points=tuple(points),
    )


def _point(
    name: str, at: datetime, verdict: ClaimVerdict, compared: ClaimComparison | None
) -> TrendPoint:
    return TrendPoint(
        label=name,
        at=at,
        verdict=verdict.verdict,
        value=verdict.value,
        interval90=verdict.interval90,
        n=verdict.n,
        sentence=compared.sentence if compared else "",
    )
