"""Numbers about the whole paper that others define: each under its name, none deciding anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repro_pipeline.scoring.model import ClaimVerdict, Measure
from repro_pipeline.statistics import mean
from repro_pipeline.status import Verdict
from repro_pipeline.wording import counted

DEFINITIONS = {
    "execution_rate": "values that runs gave which ran to their end / claims × planned seeds. "
    "AutoReproduce counts one run a task; a claim that no experiment covers counts as not executed.",
    "performance_gap": "mean over claims of |value - reported| / max(|value|, |reported|), where a "
    "seed without a value counts 1 (AutoReproduce; sizes instead of signed values, so that negative "
    "ones have a gap too).",
    "performance_gap_executed": "the same over claims with a value, missing seeds left out.",
    "relative_gap": "mean over claims with a value of |value - reported| / |reported|; claims that "
    "report 0 are left out.",
    "within_prediction_interval": "claims whose printed value, anywhere within its rounding, lies in "
    "mean ± t(n-1) sd √(1 + 1/n) of our seeds at 95 % / claims with such an interval (CORE-Bench, "
    "where the answer is held against the interval of the reference runs; without spread the "
    "interval is one point).",
}
"""Measure → formula and source. The verdicts hold the parts of each, claim by claim."""

_LABELS = {
    "execution_rate": "Execution rate",
    "performance_gap": "Performance gap",
    "performance_gap_executed": "Performance gap given execution",
    "relative_gap": "Relative gap",
    "within_prediction_interval": "Within the 95 % prediction interval",
}
_CHANGE = {
    "execution_rate": "runs that end well for the seeds and claims without a value.",
    "performance_gap": "values nearer to the reported ones, and runs for seeds without a value.",
    "performance_gap_executed": "values nearer to the reported ones.",
    "relative_gap": "values nearer to the reported ones.",
    "within_prediction_interval": "values around the reported ones; a wider spread also does it, so "
    "it is no verdict.",
}


def measures(verdicts: Sequence[ClaimVerdict]) -> tuple[Measure, ...]:
    """The measures in the order of DEFINITIONS; one that cannot be formed has no value."""
    return tuple(_measures(verdicts))


def _measures(verdicts: Sequence[ClaimVerdict]) -> Iterator[Measure]:
    planned = sum(max(verdict.planned, verdict.n) for verdict in verdicts)
    given = sum(verdict.n for verdict in verdicts)
    yield _measure(
        "execution_rate",
        given / planned if planned else None,
        f"{given} of {counted(planned, 'planned value')}.",
    )
    absent = sum(verdict.verdict is Verdict.NOT_RUN for verdict in verdicts)
    for name in ("performance_gap", "performance_gap_executed", "relative_gap"):
        gaps = [gap for verdict in verdicts if (gap := getattr(verdict, name)) is not None]
        without = absent if name == "performance_gap" else 0
        aside = f", {without} of them without a value" if without else ""
        yield _measure(
            name, mean(gaps) if gaps else None, f"Over {counted(len(gaps), 'claim')}{aside}."
        )
    inside = [
        v.reported_in_prediction95 for v in verdicts if v.prediction95 and v.reported is not None
    ]
    yield _measure(
        "within_prediction_interval",
        sum(map(bool, inside)) / len(inside) if inside else None,
        f"{sum(map(bool, inside))} of {counted(len(inside), 'claim')} with an interval.",
    )


def _measure(name: str, value: float | None, evidence: str) -> Measure:
    return Measure(
        id=name,
        label=_LABELS[name],
        value=value,
        evidence=evidence,
        definition=DEFINITIONS[name],
        change=_CHANGE[name],
    )
