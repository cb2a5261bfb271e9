"""Align scores from a judge's answers: pure, so that another rubric asks no model again.

AutoReproduce (Zhao et al. 2025) has three levels: five key points of the paper worth 20 each, four of
the reference code worth 25 each, five of both worth 20 each. A point's score is the mean over the
samples whose quotes were found; a level is scored where every point has one, and never 0 for want of
answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

from repro_pipeline.evidence.alignment import SCALES, Alignment, Level, LevelEvidence
from repro_pipeline.frozen import Frozen
from repro_pipeline.scoring.model import Measure
from repro_pipeline.statistics import mean
from repro_pipeline.wording import counted, number

NO_JUDGE = "No judge model was asked."


class LevelScore(Frozen):
    """The align score of one level."""

    level: Level
    score: float | None
    """0 to 100; None where it is not scored."""
    points: tuple[float | None, ...]
    """Mean over the samples that count, per key point."""
    agreement: float | None
    """Krippendorff's alpha (interval) over the samples; None where it cannot be formed."""
    samples: int
    void: int
    """Judgements whose quotes were not found."""
    reason: str


def level_score(evidence: LevelEvidence) -> LevelScore:
    """The score of one level, with the samples' agreement."""
    scale = SCALES[evidence.level]
    given: list[list[int]] = [[] for _ in range(scale.points)]
    void = 0
    for sample in evidence.samples:
        for one in sample:
            if one.fault is None:
                given[one.judgement.point - 1].append(one.judgement.points)
            else:
                void += 1
    means = tuple(mean(points) if points else None for points in given)
    scored = all(one is not None for one in means)
    alpha = krippendorff_alpha(given)
    return LevelScore(
        level=evidence.level,
        score=sum(means) if scored else None,
        points=means,
        agreement=alpha,
        samples=len(evidence.samples),
        void=void,
        reason=_reason(evidence, means, alpha, void),
    )


def krippendorff_alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for interval data: 1 - observed / expected disagreement.

    Each unit holds the values that it was given, in any number: it is made for samples that are void
    here and there. Units with one value show nothing. None where there is no pair, or where all
    values are the same, for then nothing could have disagreed. Source: Krippendorff (2011),
    "Computing Krippendorff's Alpha-Reliability".
    """
    paired = [unit for unit in units if len(unit) > 1]
    values = [value for unit in paired for value in unit]
    expected = 2 * sum((a - b) ** 2 for a, b in combinations(values, 2))
    if not expected:
        return None
    observed = sum(
        sum((a - b) ** 2 for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in paired
    )
    return 1 - (len(values) - 1) * observed / expected


def align_measures(alignment: Alignment | None) -> tuple[Measure, ...]:
    """The three align scores as measures; without a judge's answers none has a value."""
    found = {one.level: one for one in alignment.levels} if alignment else {}
    made = []
    for level, scale in SCALES.items():
        scored = level_score(found[level]) if level in found else None
        made.append(
            Measure(
                id=f"align_{level}",
                label=f"Align score, {level} level",
                value=scored.score if scored else None,
                evidence=scored.reason if scored else NO_JUDGE,
                definition=f"sum of {scale.points} key points of {_SOURCES[level]} worth "
                f"{scale.worth} each, every one the mean over the judge's samples whose quotes were "
                "found in the files (AutoReproduce; 0 to 100).",
                change="code that does what the lowest points ask for; other judgements, since a "
                "model gave these."
                if scored and scored.score is not None
                else "answers of a judge model.",
            )
        )
    return tuple(made)


_SOURCES = {
    Level.PAPER: "the paper",
    Level.CODE: "the reference code",
    Level.MIXED: "the paper and the reference code",
}


def _reason(
    evidence: LevelEvidence, means: Sequence[float | None], alpha: float | None, void: int
) -> str:
    if not evidence.samples:
        return evidence.stopped or NO_JUDGE
    said = [f"{counted(len(evidence.samples), 'sample')} of {evidence.wanted}"]
    said.append("no agreement can be told" if alpha is None else f"alpha {number(alpha)}")
    if void:
        said.append(f"{counted(void, 'judgement')} void, for no quote of theirs was found")
    open_points = [str(n) for n, one in enumerate(means, start=1) if one is None]
    if open_points:
        said.append(f"no judgement counts for point {', '.join(open_points)}")
    if evidence.stopped:
        said.append(evidence.stopped.rstrip("."))
    return f"{'; '.join(said)}."
