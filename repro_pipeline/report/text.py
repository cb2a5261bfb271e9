"""The table of claims for a terminal, as plain text without control characters."""

from __future__ import annotations

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.report.rows import claim_rows
from repro_pipeline.report.words import unit, words
from repro_pipeline.scoring.model import ReviewQueue, Scores
from repro_pipeline.status import Verdict

_HEADER = ("claim", "reported", "reproduced", "seeds", "error", "verdict")


def claims_rows(
    scores: Scores, claims: ReportedClaims, review: ReviewQueue | None = None
) -> list[tuple[str, ...]]:
    """The header, and one row per claim by its id; a ★ marks key claims. The error is relative.

    The texts are the paper's: print them without markup.
    """
    rows = [
        (
            row.claim.id + (" ★" if row.claim.key else ""),
            f"{row.reported} {unit(row.claim)}".rstrip(),
            row.reproduced,
            row.seeds,
            row.error,
            ", ".join((row.verdict_words, *row.doubts, *row.tags, *_reviewed(row.reviewed))),
        )
        for row in claim_rows(claims, scores, review)
    ]
    return [_HEADER, *rows]


def _reviewed(verdict: Verdict | None) -> tuple[str, ...]:
    return (f"by review {words(verdict)}",) if verdict else ()
