"""ablation_faithful: the share of ablations that move the metric the way the paper says.

The sign of variant - full is computed here alone, from the values of both claims under the same
seed. Undecided signs and ablations that were not run stay in the denominator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repro_pipeline import statistics
from repro_pipeline.bundle.terms import Direction
from repro_pipeline.claims.model import Claim, ClaimPair, PairKind
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.ledger.runs import ExperimentKind
from repro_pipeline.scoring.estimate import tie_grain
from repro_pipeline.scoring.model import Check, ClaimVerdict, DimensionScore, PairResult
from repro_pipeline.scoring.rubric import AblationRule, Rubric
from repro_pipeline.statistics import Interval
from repro_pipeline.status import Outcome, Sign
from repro_pipeline.wording import number, percent, span


def judge_pairs(evidence: Evidence, verdicts: Mapping[str, ClaimVerdict]) -> tuple[PairResult, ...]:
    """The sign of every ablation and comparison, in the paper's order."""
    claims = {claim.id: claim for claim in evidence.claims.claims}
    return tuple(
        judge_pair(pair, claims[pair.full], verdicts[pair.full], verdicts[pair.variant])
        for pair in evidence.claims.pairs
    )


def judge_pair(
    pair: ClaimPair, claim: Claim, full: ClaimVerdict, variant: ClaimVerdict
) -> PairResult:
    """Hold the sign of variant - full against the paper's, over the seeds that both claims have.

    `claim` is the full one: its direction says which sign is worse. The 95 % interval is Student's
    over the paired differences, and without width where both claims are deterministic. Differences
    that are equal otherwise are a tie, as the values of a claim may be.
    """
    differences = statistics.paired_differences(full.values, variant.values)
    sample = tuple(differences.values())
    interval = statistics.t_interval(sample, 0.95)
    difference = statistics.mean(sample) if sample else None
    if sample and full.deterministic and variant.deterministic:
        interval = (sample[0], sample[0])
    elif len(sample) > 1 and statistics.constant(sample):
        half = tie_grain(claim, difference) * statistics.tied_shift(len(sample), 0.95)
        interval = (difference - half, difference + half)
    sign, reason = _sign(pair, full, variant, difference, interval)
    worse = _worse(claim.direction, difference)
    return PairResult(
        pair=pair.id,
        kind=pair.kind.value,
        sign=sign,
        reason=f"{reason}{worse}",
        expected_difference=pair.expected_difference,
        difference=difference,
        interval95=interval,
        n=len(sample),
        differences=differences,
    )


def score(evidence: Evidence, rubric: Rubric, pairs: Sequence[PairResult]) -> DimensionScore:
    """Score the dimension from judged pairs; its value is the share that agrees.

    It fails only where even all open ablations could not bring the share to the threshold.
    """
    rule = rubric.dimensions.ablation_faithful
    ablations = [pair for pair in pairs if pair.kind == PairKind.ABLATION]
    counting = [pair for pair in ablations if pair.sign is not Sign.EXCLUDED]
    agreeing = sum(pair.sign is Sign.AGREE for pair in counting)
    opposite = sum(pair.sign is Sign.OPPOSITE for pair in counting)
    share = agreeing / len(counting) if counting else None
    check = Check(
        id="signs",
        outcome=_outcome(rule, agreeing, opposite, len(counting)),
        sentence=_sentence(rule, ablations, counting, agreeing) + _where(evidence, counting),
    )
    return DimensionScore(
        id="ablation_faithful",
        outcome=check.outcome,
        critical=rule.critical,
        value=share,
        threshold=rule.threshold,
        sentence=check.sentence,
        checks=(check,),
    )


def _sign(
    pair: ClaimPair,
    full: ClaimVerdict,
    variant: ClaimVerdict,
    difference: float | None,
    interval: Interval | None,
) -> tuple[Sign, str]:
    if pair.excluded or pair.expected_sign is None:
        return Sign.EXCLUDED, f"Excluded: {pair.excluded or 'the paper states no sign'}."
    absent = [verdict.claim for verdict in (full, variant) if not verdict.n]
    if absent:
        return Sign.NOT_RUN, f"No value for {' and '.join(absent)}."
    if difference is None:
        return Sign.UNDECIDED, "The two claims have no seed in common."
    if interval is None:
        return Sign.UNDECIDED, "One pair of runs says nothing of the spread."
    paired = f"variant - full is {number(difference)}, 95 % interval {span(interval)}"
    if interval[0] <= 0 <= interval[1]:
        return Sign.UNDECIDED, f"{paired}, which holds 0."
    agrees = (difference > 0) == (pair.expected_sign > 0)
    expected = "positive" if pair.expected_sign > 0 else "negative"
    says = "as the paper says" if agrees else f"against the paper's {expected} sign"
    return (Sign.AGREE if agrees else Sign.OPPOSITE), f"{paired}, {says}."


def _worse(direction: Direction, difference: float | None) -> str:
    if not difference or direction is Direction.MATCH:
        return ""
    worse = (difference > 0) == (direction is Direction.LOWER)
    return f" The variant is {'worse' if worse else 'better'} ({direction} is better)."


def _outcome(rule: AblationRule, agreeing: int, opposite: int, total: int) -> Outcome:
    if not total:
        return Outcome.NOT_APPLICABLE
    if agreeing >= rule.threshold * total:
        return Outcome.PASS
    reachable = (total - opposite) >= rule.threshold * total
    return Outcome.INCONCLUSIVE if reachable else Outcome.FAIL


def _where(evidence: Evidence, counting: Sequence[PairResult]) -> str:
    """That ablations were measured by other experiments, where none is an experiment of its own."""
    apart = any(one.kind is ExperimentKind.ABLATION for one in evidence.experiments)
    measured = any(pair.sign is not Sign.NOT_RUN for pair in counting)
    return " Both sides are claims of the baseline." if measured and not apart else ""


def _sentence(
    rule: AblationRule,
    ablations: Sequence[PairResult],
    counting: Sequence[PairResult],
    agreeing: int,
) -> str:
    excluded = [pair.pair for pair in ablations if pair.sign is Sign.EXCLUDED]
    left_out = f" Excluded: {', '.join(excluded)}." if excluded else ""
    if not counting:
        return f"The paper's claims hold no ablation that counts.{left_out}"
    named = {
        "opposite": [pair.pair for pair in counting if pair.sign is Sign.OPPOSITE],
        "undecided": [pair.pair for pair in counting if pair.sign is Sign.UNDECIDED],
        "not run": [pair.pair for pair in counting if pair.sign is Sign.NOT_RUN],
    }
    rest = "".join(f" {word.capitalize()}: {', '.join(ids)}." for word, ids in named.items() if ids)
    return (
        f"{agreeing} of {len(counting)} ablations have the paper's sign, at least "
        f"{percent(rule.threshold)} are needed.{rest}{left_out}"
    )
