"""The verdict of one claim: an equivalence test at the rubric's tolerance, said in a sentence.

The claim is reproduced when the 90 % interval of its statistic lies wholly inside the tolerance
zone around the reported value (two one-sided tests at 5 %), not reproduced when it lies wholly
outside, and otherwise undecided. docs/scoring.md gives each formula with its source.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repro_pipeline import statistics
from repro_pipeline.bundle.terms import Direction, Statistic
from repro_pipeline.claims.model import Claim
from repro_pipeline.ledger.runs import ValueSource
from repro_pipeline.scoring.estimate import Estimate, estimate, over_seeds, tie_grain
from repro_pipeline.scoring.model import ClaimVerdict
from repro_pipeline.scoring.rubric import MetricParityRule
from repro_pipeline.statistics import Interval
from repro_pipeline.status import Verdict
from repro_pipeline.wording import counted, duration, number, percent, span

Seed = int | None
"""None is the seed of code that takes none."""

_LARGEST = 1e100
"""A value beyond this is no measurement, and would overflow the arithmetic."""

_FINE_PRINT = 0.2
"""Agreement at printed precision decides alone only where one unit of the last digit is at most
this share of the tolerance (three digits at 5 %). A value whose truth lies on the zone's border
then hits the printed digits by chance with a probability of at most 0.2 * 0.242 < 5 %, whatever the
spread: the maximum over s of (quantum / s) * phi(tolerance / s) lies at s = tolerance."""

_BY_CHANCE = 0.242
"""The greatest x phi(x): what a chance hit of the printed digits has per unit / tolerance."""

_NAMED = 5
_UNIT_FACTORS = (100.0, 1000.0, 0.01, 0.001)


@dataclass(frozen=True)
class Zone:
    """The values that count as the reported one: within the tolerance, or rounding to its digits."""

    reported: float
    half: float

    @classmethod
    def around(cls, claim: Claim, rule: MetricParityRule) -> Zone:
        """The zone of a claim that has a value."""
        tolerance = rule.threshold * denominator(claim, rule)
        return cls(claim.value, max(tolerance, (claim.quantum or 0) / 2))

    @property
    def interval(self) -> Interval:
        """Its borders."""
        return self.reported - self.half, self.reported + self.half

    def holds(self, value: float) -> bool:
        """Whether a value lies in the zone, its borders included up to floating-point error."""
        return abs(value - self.reported) <= self.half * (1 + 1e-9) + 1e-12 * abs(self.reported)

    def encloses(self, interval: Interval) -> bool:
        """Whether an interval lies wholly inside."""
        return self.holds(interval[0]) and self.holds(interval[1])

    def excludes(self, interval: Interval) -> bool:
        """Whether an interval lies wholly outside."""
        low, high = interval
        same_side = (low > self.reported) == (high > self.reported)
        return same_side and not self.holds(low) and not self.holds(high)

    def distance(self, value: float) -> float:
        """From a value to the nearer border."""
        return abs(self.half - abs(value - self.reported))


def denominator(claim: Claim, rule: MetricParityRule) -> float:
    """max(|reported|, eps), by which relative errors are measured; eps is half a printed unit."""
    eps = (claim.quantum or 0) / 2 if rule.eps == "printed" else rule.eps
    return max(abs(claim.value), eps)


def judge_claim(
    claim: Claim,
    values: Mapping[Seed, float],
    planned: int,
    rule: MetricParityRule,
    seconds_per_seed: float | None = None,
    *,
    source: ValueSource | None = None,
    repeats: Sequence[float] = (),
    same_outputs: bool = False,
    missing: Sequence[str] = (),
) -> ClaimVerdict:
    """Judge one claim from the value of each seed, in the claim's unit.

    `planned` seeds were to be run; `missing` says why each absent one is absent. `repeats` are the
    values of repetitions of unseeded code: they show whether it is deterministic, and add no seed.
    `same_outputs` says that all these runs are known to have left the same: without, equal values are a
    tie, which may be chance.
    A value that is not finite is none. Raises nothing.
    """
    seen, unusable = _usable(values)
    sample = tuple(seen.values())
    equal = _equal_runs(seen, repeats)
    fixed, tied = (equal > 0 and same_outputs), (equal > 0 and not same_outputs)
    estimated = estimate(claim, sample, fixed=fixed, tied=equal if tied else 0)
    zone = None if claim.value is None else Zone.around(claim, rule)
    verdict, sentence = _decide(claim, zone, estimated, len(sample))
    needed = _seeds_to_decide(verdict, zone, estimated, len(sample))
    known_cost = needed is not None and seconds_per_seed is not None
    draft = ClaimVerdict(
        claim=claim.id,
        verdict=verdict,
        reason=sentence,
        reported=claim.value,
        n=len(sample),
        planned=planned,
        missing=(*missing, *unusable),
        value=estimated.value,
        mean=statistics.mean(sample) if sample else None,
        sd=statistics.sample_sd(sample),
        interval90=estimated.interval90,
        interval95=estimated.interval95,
        tolerance=zone and zone.interval,
        prediction95=estimated.prediction95,
        deterministic=fixed,
        tied=tied,
        seeds_to_decide=needed,
        seconds_to_decide=(needed - len(sample)) * seconds_per_seed if known_cost else None,
        source=source,
        values={_key(seed): value for seed, value in seen.items()},
        **_compared(claim, zone, estimated, rule),
        **_gaps(claim, estimated, len(sample), planned),
        **_p_values(claim, zone, estimated),
    )
    return draft.model_copy(update={"reason": " ".join((sentence, *_asides(claim, draft)))})


def _compared(claim: Claim, zone: Zone | None, estimated: Estimate, rule: MetricParityRule) -> dict:
    """The fields that hold the value against the reported one."""
    if zone is None or estimated.value is None:
        return {
            "relative_error": None,
            "within_threshold": None,
            "agrees_at_printed_precision": False,
            "better_than_reported": False,
        }
    value, low, high = estimated.value, *zone.interval
    inside = zone.holds(value)
    factor = None if inside else _unit_factor(zone, value)
    beyond = {Direction.LOWER: value < low, Direction.HIGHER: value > high}
    half_print = (claim.quantum or 0) / 2
    predicted = estimated.prediction95
    return {
        "relative_error": _relative(value - claim.value, denominator(claim, rule)),
        "within_threshold": inside,
        "agrees_at_printed_precision": _agrees(claim, value),
        "better_than_reported": factor is None
        and not inside
        and beyond.get(claim.direction, False),
        "unit_error": factor,
        "reported_interval95": _reported_interval(claim),
        "reported_in_prediction95": predicted
        and predicted[0] - half_print <= claim.value <= predicted[1] + half_print,
    }


def _gaps(claim: Claim, estimated: Estimate, n: int, planned: int) -> dict:
    """The gaps as others define them; None where the paper prints no number."""
    if claim.value is None:
        return {}
    if estimated.value is None:
        return {"performance_gap": 1.0}
    difference = estimated.value - claim.value
    gap = _relative(difference, max(abs(estimated.value), abs(claim.value)))
    planned = max(planned, n)
    return {
        "relative_gap": _relative(difference, abs(claim.value)) if claim.value else None,
        "performance_gap": (n * gap + planned - n) / planned,
        "performance_gap_executed": gap,
    }


def _p_values(claim: Claim, zone: Zone | None, estimated: Estimate) -> dict:
    """The p-values of both verdicts: at most 5 % where the interval gives them."""
    if zone is None or estimated.value is None:
        return {}
    printed = _printed_digits_decide(claim, zone, estimated)
    by_print = _BY_CHANCE * claim.quantum / zone.half if printed else 1.0
    if estimated.confidence is None:
        fixed = estimated.interval90 is not None
        return {"p_equivalence": by_print if printed and not fixed else None}
    low, high = (estimated.confidence(border) for border in zone.interval)
    return {
        "p_equivalence": min(max(low, 1 - high), by_print),
        "p_difference": min(high, 1 - low),
    }


def _relative(difference: float, below: float) -> float | None:
    if difference == 0:
        return 0.0
    error = abs(difference) / below if below else math.inf
    return error if math.isfinite(error) else None


def _agrees(claim: Claim, value: float) -> bool:
    return abs(value - claim.value) <= (claim.quantum or 0) / 2 * (1 + 1e-9)


def _unit_factor(zone: Zone, value: float) -> float | None:
    if zone.holds(0.0):
        return None
    return next((factor for factor in _UNIT_FACTORS if zone.holds(value * factor)), None)


def _reported_interval(claim: Claim) -> Interval | None:
    """The reported value's own 95 % interval; None where the paper's ± is of an unstated kind."""
    given, kind, runs = claim.uncertainty, claim.uncertainty_kind, claim.n_runs or 1
    if given is None:
        return None
    if kind == "sd" and runs > 1:
        half = statistics.t_quantile(0.975, runs - 1) * given / math.sqrt(runs)
    elif kind == "se":
        half = 1.959964 * given
    elif kind == "ci":
        half = given
    else:
        return None
    return claim.value - half, claim.value + half


def _decide(claim: Claim, zone: Zone | None, estimated: Estimate, n: int) -> tuple[Verdict, str]:
    """The verdict with the sentence that carries it."""
    if not n:
        return Verdict.NOT_RUN, "No run gave a value."
    if zone is None:
        return Verdict.INCONCLUSIVE, "The paper prints no number for this claim."
    if estimated.value is None:
        return Verdict.INCONCLUSIVE, f"Nothing to compare: {estimated.why_none}."
    what, interval = _what(estimated, n), estimated.interval90
    where = f"{span(zone.interval)}, the tolerance around {number(zone.reported)}"
    held = f"The value of {what}, {number(estimated.value)},"
    if interval is not None and interval[0] < interval[1]:
        held = f"The 90 % interval of {what}, {span(interval)},"
    if interval is not None and zone.encloses(interval):
        return (
            Verdict.REPRODUCED,
            f"{held} is inside {where}.",
        )
    if _printed_digits_decide(claim, zone, estimated):
        spread = (
            "its spread is unknown" if interval is None else f"its interval is {span(interval)}"
        )
        return Verdict.REPRODUCED, (
            f"The value of {what}, {number(estimated.value)}, rounds to the printed digits; {spread}."
        )
    if interval is None:
        place = "inside" if zone.holds(estimated.value) else "outside"
        return Verdict.INCONCLUSIVE, (
            f"{held} is {place} {where}, but one run says nothing of its spread."
        )
    if zone.excludes(interval):
        return Verdict.NOT_REPRODUCED, f"{held} is outside {where}."
    return Verdict.INCONCLUSIVE, f"{held} crosses the border of {where}."


def _printed_digits_decide(claim: Claim, zone: Zone, estimated: Estimate) -> bool:
    fine_print = (claim.quantum or 0) <= _FINE_PRINT * zone.half
    return fine_print and _agrees(claim, estimated.value)


def _what(estimated: Estimate, n: int) -> str:
    if n == 1:
        return "the one run"
    if estimated.statistic is Statistic.SINGLE:
        return f"one further run, by {n} seeds"
    name = "standard deviation" if estimated.statistic is Statistic.SD else estimated.statistic
    return f"the {name} over {n} seeds"


def _seeds_to_decide(
    verdict: Verdict, zone: Zone | None, estimated: Estimate, n: int
) -> int | None:
    if verdict is not Verdict.INCONCLUSIVE or zone is None or estimated.half_width is None:
        return None
    return statistics.seeds_to_reach(estimated.half_width, zone.distance(estimated.value), n)


def _asides(claim: Claim, verdict: ClaimVerdict) -> list[str]:
    """What else a reader must know, a sentence each."""
    says = []
    of = f"All {verdict.n} seeds" if verdict.n > 1 else "All repetitions of the unseeded code"
    if verdict.deterministic:
        says.append(f"{of} gave the same bits.")
    if verdict.tied:
        step = number(tie_grain(claim, verdict.mean))
        says.append(
            f"{of} gave the same value, and are not known to have left the same outputs: a tie, "
            f"of a value in steps of at most {step}."
        )
    if verdict.better_than_reported:
        says.append(f"It is better than reported ({claim.direction} is better).")
    if verdict.unit_error is not None:
        says.append(
            f"Times {number(verdict.unit_error)} it would agree: a unit error is suspected."
        )
    if verdict.verdict is Verdict.INCONCLUSIVE and verdict.relative_error is not None:
        says.append(f"The value is {percent(verdict.relative_error)} off.")
    if verdict.seeds_to_decide is not None:
        cost = verdict.seconds_to_decide
        price = "" if cost is None else f", {duration(cost)} more"
        says.append(f"About {verdict.seeds_to_decide} seeds in all should decide{price}.")
    if verdict.reported_interval95 is not None and verdict.value is not None:
        low, high = verdict.reported_interval95
        holds = "holds" if low <= verdict.value <= high else "does not hold"
        says.append(f"The paper's own 95 % interval {span((low, high))} {holds} the value.")
    if over_seeds(claim) is Statistic.BEST and (claim.n_runs or 0) > verdict.n > 0:
        says.append(f"The paper's best is of {claim.n_runs} runs, this of {verdict.n}.")
    if verdict.n < verdict.planned:
        gone = verdict.planned - verdict.n
        more = len(verdict.missing) - _NAMED
        named = [*verdict.missing[:_NAMED], *([f"and {more} more"] if more > 0 else [])]
        why = f": {'; '.join(named)}" if named else ""
        says.append(f"{gone} of {counted(verdict.planned, 'planned seed')} gave no value{why}.")
    return says


def _equal_runs(seen: Mapping[Seed, float], repeats: Sequence[float]) -> int:
    """How many runs all gave the same value; 0 where they differ, or there is but one."""
    unseeded = tuple(repeats) if None in seen else ()
    sample = (*seen.values(), *unseeded)
    return len(sample) if len(sample) > 1 and statistics.constant(sample) else 0


def _usable(values: Mapping[Seed, float]) -> tuple[dict[Seed, float], list[str]]:
    """The values that are numbers, by seed in order, and why each other one is none."""
    ordered = {seed: values[seed] for seed in sorted(values, key=_order)}
    # Plus 0.0, which makes 0.0 of -0.0: they are equal, so which comes first must not show.
    seen = {seed: value + 0.0 for seed, value in ordered.items() if abs(value) <= _LARGEST}
    return seen, [
        f"{_seed_name(seed)} gave no usable number ({value})"
        for seed, value in ordered.items()
        if seed not in seen  # nan is not within the limit either
    ]


def _order(seed: Seed) -> int:
    return -1 if seed is None else seed


def _key(seed: Seed) -> str:
    return "unseeded" if seed is None else str(seed)


def _seed_name(seed: Seed) -> str:
    return "the unseeded run" if seed is None else f"seed {seed}"
