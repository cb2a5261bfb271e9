"""Why a claim did not reproduce: only causes that stored evidence speaks for, and what would decide.

No cause is inferred from a result's nearness to the reported value: that an assumption moves a claim
shows that it matters, not that its alternative is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from repro_pipeline.bundle.terms import Influence
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import Frozen
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.scoring.model import ClaimVerdict, Outcome, Scores
from repro_pipeline.scoring.sensitivity import Movement, movements
from repro_pipeline.status import Verdict
from repro_pipeline.wording import counted


class Strength(StrEnum):
    """How much evidence speaks for a cause."""

    DIRECT = "direct"
    """It was seen."""
    MEASURED = "measured"
    """An experiment showed that it moves the claim, or that the seeds scatter over the edge."""
    CIRCUMSTANTIAL = "circumstantial"
    """It is there, and whether it matters was not tested."""
    NONE = "none"


_ORDER = list(Strength)
_OF_DATA = {"data-source", "data-size", "data-cleaning", "split", "preprocessing", "data-formula"}
_OF_ENVIRONMENT = {"library", "library-versions"}


class Cause(Frozen):
    """A cause that the evidence speaks for."""

    claim: str
    cause: str
    """One of: not_run, unit, implementation, assumption, seed_variance, paper, data, environment,
    not_determinable."""
    evidence: str
    next_step: str
    """The experiment or the look that would decide."""
    strength: Strength = Strength.NONE


class Attribution(Frozen):
    """The causes per claim that is not reproduced, those first that the evidence speaks for most."""

    causes: tuple[Cause, ...] = ()


def attribute(
    evidence: Evidence, scores: Scores, ledger: AssumptionLedger | None = None
) -> Attribution:
    """The causes for every claim whose verdict is not `reproduced`.

    `ledger` is what was assumed, and what was left open, before anything was implemented.
    """
    causes: list[Cause] = []
    moved = movements(evidence)
    for verdict in scores.verdicts:
        if verdict.verdict is Verdict.NOT_RUN:
            causes.append(_not_run(verdict))
        elif verdict.verdict is not Verdict.REPRODUCED:
            found = [
                *_unit(verdict),
                *_implementation(verdict.claim, evidence),
                *_assumptions(verdict.claim, moved),
                *_seeds(verdict),
                *_circumstances(verdict.claim, scores, ledger),
            ]
            if all(cause.strength is Strength.CIRCUMSTANTIAL for cause in found):
                found.append(_not_determinable(verdict.claim, moved, ledger))
            causes += sorted(found, key=lambda cause: _ORDER.index(cause.strength))
    return Attribution(causes=tuple(causes))


def _not_run(verdict: ClaimVerdict) -> Cause:
    return Cause(
        claim=verdict.claim,
        cause="not_run",
        evidence=verdict.reason,
        next_step="Mend what stopped the run, and run again.",
        strength=Strength.DIRECT,
    )


def _unit(verdict: ClaimVerdict) -> Iterator[Cause]:
    if verdict.unit_error is not None:
        yield Cause(
            claim=verdict.claim,
            cause="unit",
            evidence=f"The values differ by a factor of {verdict.unit_error:g}.",
            next_step="Compare the claim's unit with what the code reports.",
            strength=Strength.DIRECT,
        )


def _implementation(claim: str, evidence: Evidence) -> Iterator[Cause]:
    """Points of the paper that, by every valid sample of the judge, the code does not do at all."""
    alignment = evidence.integrity.alignment
    for level in alignment.levels if alignment else ():
        for number, point in enumerate(level.points, start=1):
            given = [
                one.judgement.points
                for sample in level.samples
                for one in sample
                if one.fault is None and one.judgement.point == number
            ]
            if given and not any(given):
                yield Cause(
                    claim=claim,
                    cause="implementation",
                    evidence=f"The code does not do what the {level.level} says: {point.statement}",
                    next_step="Look at the code there; mend it, and run again with fresh seeds.",
                    strength=Strength.CIRCUMSTANTIAL,
                )


def _assumptions(claim: str, moved: Sequence[Movement]) -> list[Cause]:
    """The assumptions whose alternative moves the claim beyond the noise of the seeds, widest first."""
    moving = [
        one
        for one in moved
        if one.claim == claim and one.interval95 and not one.interval95[0] <= 0 <= one.interval95[1]
    ]
    return [
        Cause(
            claim=claim,
            cause="assumption",
            evidence=(
                f"The alternative to '{one.experiment.assumption or one.experiment.id}' moves it by "
                f"{one.difference:+.3g} (95 % interval {one.interval95[0]:+.3g} to "
                f"{one.interval95[1]:+.3g}, n = {one.n})."
            ),
            next_step="Look the detail up in the cited source; a result near the reported value "
            "is no reason to choose it.",
            strength=Strength.MEASURED,
        )
        for one in sorted(moving, key=lambda one: -abs(one.difference or 0.0))
    ]


def _seeds(verdict: ClaimVerdict) -> Iterator[Cause]:
    if verdict.verdict is Verdict.INCONCLUSIVE and verdict.seeds_to_decide:
        yield Cause(
            claim=verdict.claim,
            cause="seed_variance",
            evidence=f"The interval of {verdict.n} seeds reaches over the tolerance's edge.",
            next_step=f"Run {verdict.seeds_to_decide} seeds in all.",
            strength=Strength.MEASURED,
        )


def _circumstances(claim: str, scores: Scores, ledger: AssumptionLedger | None) -> Iterator[Cause]:
    """What may be behind it and was not tested: the paper's own words, data, environment."""
    if ledger is None:
        return
    for sentence in ledger.contradictions:
        yield _circumstance(
            claim, "paper", sentence, "Run once with each of the two, as a sensitivity experiment."
        )
    gaps = {gap.item for gap in ledger.gaps}
    if data := sorted(gaps & _OF_DATA):
        yield _circumstance(
            claim,
            "data",
            f"The paper does not say, and no source does: {', '.join(data)}.",
            "Compare sizes and label counts with what the paper prints; ask its authors.",
        )
    parity = [one for one in scores.dimensions if one.id == "environment_parity"]
    lacks = [one.sentence for one in parity if one.outcome is Outcome.FAIL]
    if unsaid := sorted(gaps & _OF_ENVIRONMENT):
        lacks.append(f"The paper does not say: {', '.join(unsaid)}.")
    if lacks:
        yield _circumstance(
            claim,
            "environment",
            " ".join(lacks),
            "Run the baseline once more with the libraries' versions of the paper's date.",
        )


def _circumstance(claim: str, cause: str, evidence: str, next_step: str) -> Cause:
    return Cause(
        claim=claim,
        cause=cause,
        evidence=evidence,
        next_step=next_step,
        strength=Strength.CIRCUMSTANTIAL,
    )


def _not_determinable(
    claim: str, moved: Sequence[Movement], ledger: AssumptionLedger | None
) -> Cause:
    tried = [one for one in moved if one.claim == claim and one.n > 0]
    varied = {one.experiment.assumption for one in tried}
    untried = [
        one.id
        for one in (ledger.assumptions if ledger else ())
        if one.influence is Influence.HIGH
        and one.id not in varied
        and (not one.claims or claim in one.claims)
    ]
    first = f" First: {', '.join(untried[:3])}." if untried else ""
    return Cause(
        claim=claim,
        cause="not_determinable",
        evidence=f"{counted(len(tried), 'sensitivity experiment')} varied what it may rest on; "
        "none moved it beyond the seeds' noise."
        if tried
        else "No experiment varied anything that it rests on.",
        next_step=f"Declare a sensitivity experiment for what the paper leaves unsaid.{first}",
    )
