"""What runs say of themselves, held against what their own predictions give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repro_pipeline.findings import Finding
from repro_pipeline.ledger.runs import Run, ValueSource
from repro_pipeline.scoring.model import ClaimVerdict
from repro_pipeline.wording import counted

_TOLERANCE = 0.05
"""Relative; a run without the test labels can only guess, from a validation split for example."""


def self_evaluated(verdicts: Iterable[ClaimVerdict]) -> Iterator[Finding]:
    """A finding for the values that the code under test measured itself.

    Whoever writes the evaluation can test on easier data, on luckier rows or on what was trained on,
    and every value still answers to every change. Only values that trusted code computes from
    predictions, of labels that no run had, are clean.
    """
    claims = tuple(v.claim for v in verdicts if v.n and v.source is not ValueSource.RECOMPUTED)
    if claims:
        yield Finding(
            kind="self_evaluated",
            evidence=(
                f"{counted(len(claims), 'value')} "
                f"{'comes' if len(claims) == 1 else 'come'} from the code's own evaluation, which nothing "
                "else repeated: sealed labels would."
            ),
            severity="unverified",
            claims=claims,
        )


def findings(runs: Iterable[Run]) -> Iterator[Finding]:
    """A finding for each claim that runs report otherwise than trusted code computes it.

    The reported value never counts; that it was made up is what is suspect.
    """
    differing: dict[str, list[str]] = {}
    for run in runs:
        for claim, said in run.counted.self_reported.items():
            computed = run.values[claim]
            if abs(said - computed) > _TOLERANCE * max(abs(said), abs(computed)):
                differing.setdefault(claim, []).append(f"{said:.6g} against {computed:.6g}")
    for claim, cases in differing.items():
        yield Finding(
            kind="self_report_differs",
            evidence=f"{counted(len(cases), 'run')} reported for {claim} another value than its "
            f"predictions give: {cases[0]}.",
            severity="suspect",
            claims=(claim,),
        )
