"""The result of scoring a submission: as JSON, and as a page of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from repro_pipeline.scoring.explain import explanations
from repro_pipeline.scoring.model import ClaimVerdict, IntegrityStatus, Scores
from repro_pipeline.submission.grade import Graded
from repro_pipeline.wording import number, plain


def as_json(graded: Graded) -> dict[str, Any]:
    """What docs/submission.md describes."""
    scores, evidence = graded.scores, graded.evidence
    environment = evidence.environment
    return {
        "paper": scores.paper,
        "overall": str(scores.overall),
        "headline": scores.headline,
        "score": scores.score,
        "seeds": list(evidence.seeds),
        "runner": evidence.runner,
        "rubric": scores.rubric,
        "code_tree": evidence.code_tree,
        "lock": environment.lock.sha256 if environment else None,
        "claims": [
            {**verdict.model_dump(mode="json"), "claimed": _claimed(graded, verdict.claim)}
            for verdict in scores.verdicts
        ],
        "pairs": [pair.model_dump(mode="json") for pair in scores.pairs],
        "dimensions": {
            one.id: one.model_dump(mode="json", exclude={"id"}) for one in scores.dimensions
        },
        "integrity": {
            "status": str(scores.integrity),
            "findings": [finding.model_dump(mode="json") for finding in scores.findings],
        },
        "false_discovery": scores.false_discovery
        and scores.false_discovery.model_dump(mode="json"),
        "measures": [measure.model_dump(mode="json") for measure in scores.measures],
        "explanations": [one.model_dump(mode="json") for one in explanations(scores)],
    }


def as_text(graded: Graded) -> str:
    """A table of the claims, the dimensions, the findings."""
    return "\n".join(_lines(graded))


def _lines(graded: Graded) -> Iterator[str]:
    scores = graded.scores
    seeds = ", ".join(map(str, graded.evidence.seeds))
    if scores.integrity in {IntegrityStatus.SUSPECT, IntegrityStatus.VIOLATION}:
        yield f"Integrity: {scores.integrity}. The values are not to be believed as they stand."
    yield scores.headline
    yield f"Fresh seeds: {seeds}. Runner: {graded.evidence.runner}."
    yield ""
    rows = [("claim", "reported", "claimed", "reproduced", "sd", "n", "verdict")]
    rows += [_row(graded, verdict) for verdict in scores.verdicts]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield ""
    for one in scores.dimensions:
        yield f"{one.id}: {plain(one.outcome)}. {one.sentence}"
    yield ""
    yield f"Integrity: {scores.integrity}."
    for finding in scores.findings:
        about = f" [{', '.join(finding.claims[:4])}]" if finding.claims else ""
        yield f"  {finding.severity}: {finding.kind}. {finding.evidence}{about}"


def _row(graded: Graded, verdict: ClaimVerdict) -> tuple[str, ...]:
    claimed = list(_claimed(graded, verdict.claim).values())
    mean = sum(claimed) / len(claimed) if claimed else None
    return (
        verdict.claim,
        _number(verdict.reported),
        _number(mean),
        _number(verdict.value),
        _number(verdict.sd),
        f"{verdict.n}/{verdict.planned}",
        ", ".join([plain(verdict.verdict), *_marks(graded.scores, verdict.claim)]),
    )


def _marks(scores: Scores, claim: str) -> list[str]:
    """How grave the gravest finding about a claim is, where it is a reproach or a doubt."""
    order = ("violation", "suspect", "unverified")
    found = {f.severity for f in scores.findings if claim in f.claims or not f.claims}
    return [severity for severity in order if severity in found][:1]


def _claimed(graded: Graded, claim: str) -> dict[str, float]:
    """What the submission claims for a claim, by seed."""
    return {
        str(run.seed): run.values[claim] for run in graded.submission.runs if claim in run.values
    }


def _number(value: float | None) -> str:
    return "-" if value is None else number(value)
