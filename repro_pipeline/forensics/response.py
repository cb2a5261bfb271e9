"""What values do when what they must depend on is changed: judged from the values alone."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from repro_pipeline.claims.model import Claim
from repro_pipeline.findings import Finding
from repro_pipeline.forensics.counts import as_share, is_count, is_rate
from repro_pipeline.frozen import Frozen
from repro_pipeline.statistics import prediction_interval
from repro_pipeline.wording import number

Values = Mapping[str, float]

_BOUNDED_ERROR = re.compile(
    r"^(test_?|val_?|mean_?)?(error|err|misclass\w*|error_?rate|wer|cer)(_?rate)?$", re.I
)
_KEPT = 0.6
"""Of what a method gains over guessing: so much is left only where the labels were known."""
_LEAST_GAIN = 0.1
_ZONE = 0.05
_FEW_ROWS = 50


class Response(Frozen):
    """One changed run: how it was changed, and what the same seed then gave."""

    way: str
    """labels, train_labels, noise, config, fit_labels."""
    change: str
    """In words, the subject of a sentence."""
    experiment: str
    before: dict[str, float]
    after: dict[str, float] | None
    """None where the changed run failed."""
    certain: bool = True
    """Whether it is known that the labels were the labels."""
    read: bool = False
    """Whether the run was seen to read the input data."""


def data_findings(
    responses: Sequence[Response],
    claims: Mapping[str, Claim],
    shares: Sequence[float],
    tested: int | None = None,
    inputless: Collection[str] = (),
) -> Iterator[Finding]:
    """What spoilt data show. `shares` are those of the classes, where there are classes; `tested`
    is the number of rows for evaluation, where it is known; `inputless` are the claims that keep
    their bits with other inputs and answer to other labels, as those of a constant guess do.
    """
    moved = {
        claim
        for response in responses
        if response.way == "train_labels" and response.after is not None
        for claim, value in response.after.items()
        if response.before.get(claim) != value
    }
    for response in responses:
        after = response.after
        if after is None:
            continue
        known = [claims[c] for c in response.before if c in claims and c in after]
        if response.way in {"labels", "train_labels"}:
            yield from _labels(response, known, shares, tested or _FEW_ROWS, moved)
        elif response.way == "noise":
            yield from _noise(response, known, shares, tested or _FEW_ROWS, inputless)


def _labels(
    response: Response,
    claims: Sequence[Claim],
    shares: Sequence[float],
    tested: int,
    moved: Collection[str],
) -> Iterator[Finding]:
    """`moved` are the claims that some order of the training labels changed."""
    kept = []
    for claim in claims:
        before, after = response.before[claim.id], response.after[claim.id]
        if _still_good(claim, before, after, shares, tested):
            kept.append(claim.id)
    if not kept:
        return
    first = kept[0]
    gave = (
        f"{first} gives {number(response.after[first])}, "
        f"with the real ones {number(response.before[first])}"
    )
    if response.way == "labels":
        same = all(response.before[c] == response.after[c] for c in kept)
        certain = response.certain
        yield Finding(
            kind="labels_do_not_matter",
            evidence=f"{response.change}: {gave}. "
            + (
                "The value does not come from these labels."
                if same
                else "Labels in random order cannot be predicted unless they are seen."
            ),
            severity="violation"
            if certain and not same
            else "suspect"
            if certain and response.read
            else "unverified",
            claims=tuple(kept),
        )
    else:
        # By luck, a simple model of random labels may point the right way, and count as many rows.
        yield Finding(
            kind="training_does_not_matter",
            evidence=f"{response.change}: {gave}. What is tested may not have learnt from them.",
            severity="info" if first in moved else "unverified",
            claims=tuple(kept),
        )


def harmless_findings(
    responses: Sequence[Response], evaluated: Mapping[str, Sequence[float]]
) -> Iterator[Finding]:
    """Values that jump when nothing of weight was changed: the code knew its input by heart.

    `evaluated` are the values of each claim over the seeds; a jump leaves their prediction interval
    (99.9 % over all claims) and is more than a tenth of the value.
    """
    for response in responses:
        if response.way != "harmless" or response.after is None:
            continue
        level = 1 - 1e-3 / max(len(response.after), 1)
        jumped = []
        for claim, after in response.after.items():
            sample = evaluated.get(claim, ())
            before = response.before.get(claim)
            if before is None or len(sample) < 3:
                continue
            low, high = prediction_interval(sample, level)
            if not low <= after <= high and abs(after - before) > 0.02 * abs(before):
                jumped.append(claim)
        if jumped:
            first = jumped[0]
            yield Finding(
                kind="knows_its_input",
                evidence=f"{response.change}: {first} jumps from "
                f"{number(response.before[first])} to "
                f"{number(response.after[first])}, far beyond what seeds do.",
                severity="suspect",
                claims=tuple(jumped),
            )


def tied(
    values: Mapping[str, Mapping[int | None, float]], claims: Mapping[str, Claim]
) -> Iterator[Finding]:
    """Two claims whose values differ by one number, or in one ratio, whatever the seed.

    An error is what an accuracy leaves of 1 or 100, and one metric may stand under two claims: these
    are no ties. Two error rates of different methods are never tied where both scatter. Per claim, the
    values by seed.
    """
    for one, other, first, second in _pairs(values):
        differences = [b - a for a, b in zip(first, second, strict=True)]
        ratios = [b / a for a, b in zip(first, second, strict=True) if a]
        for numbers, neutral in (
            (differences, (0.0,)),
            (ratios, (1.0, 100.0, 0.01, 1000.0, 0.001)),
        ):
            spread = max(numbers) - min(numbers) if len(numbers) == len(first) else 1.0
            scale = max(map(abs, numbers))
            if spread <= 1e-9 * scale and not any(abs(numbers[0] - n) <= 1e-9 for n in neutral):
                yield Finding(
                    kind="tied_values",
                    evidence=f"{one} and {other} differ by the same amount or factor "
                    f"({number(numbers[0])}) for "
                    "every seed: one may be made of the other.",
                    severity="suspect" if _both_rates(one, other, claims) else "unverified",
                    claims=(one, other),
                )
                break


def _pairs(values: Mapping[str, Mapping[int | None, float]]):
    """Two claims each, with their values over the seeds that they share, where both scatter."""
    for one, other in itertools.combinations(sorted(values), 2):
        seeds = sorted(set(values[one]) & set(values[other]), key=str)
        first = [values[one][s] for s in seeds]
        second = [values[other][s] for s in seeds]
        if len(set(first)) >= 4 and len(set(second)) >= 4:
            yield one, other, first, second


def _both_rates(one: str, other: str, claims: Mapping[str, Claim]) -> bool:
    pair = [claims[name] for name in (one, other) if name in claims and is_rate(claims[name])]
    return len(pair) == 2 and pair[0].metric == pair[1].metric and pair[0].unit == pair[1].unit


def alike(
    values: Mapping[str, Mapping[int | None, float]], claims: Mapping[str, Claim]
) -> Iterator[Finding]:
    """Two claims with the same bits for every seed, for which the paper prints different values."""
    for one, other, first, second in _pairs(values):
        printed = [claims[name].value for name in (one, other) if name in claims]
        if first != second or len(printed) < 2 or None in printed:
            continue
        if abs(printed[0] - printed[1]) > _ZONE * max(map(abs, printed)):
            yield Finding(
                kind="same_values",
                evidence=f"{one} and {other} are the same to the bit for every seed, and the paper "
                f"prints {number(printed[0])} and {number(printed[1])}: one computation may stand "
                "under both names.",
                severity="unverified",
                claims=(one, other),
            )


def saturated(
    far: Sequence[Sequence[Values]],
    evaluated: Mapping[str, Collection[float]],
    claims: Mapping[str, Claim],
    cases: Mapping[str, int | None],
) -> Iterator[Finding]:
    """Rates that no longer depend on the seed once the problem is made easy, and end nowhere.

    `far` are the values of two seeds per experiment. A rate of cases that are all alike is 0, 1 or
    the share of a class, the same for every method; `evaluated` are the values with the real settings,
    `cases` how many cases a value counts, where the settings say it.
    """
    ends: dict[str, float] = {}
    for runs in far:
        if len(runs) < 2:
            continue
        for name, value in runs[0].items():
            scatters = len(evaluated.get(name, ())) > 2
            if name in claims and is_rate(claims[name]) and scatters and runs[1].get(name) == value:
                ends[name] = as_share(claims[name], value)
    odd = {name: share for name, share in ends.items() if not _of_few(share)}
    counts = all((n := cases.get(name)) is None or is_count([odd[name]], n) for name in odd)
    different = not counts and len({round(min(share, 1 - share), 9) for share in odd.values()}) > 1
    if odd:
        first = next(iter(odd))
        yield Finding(
            kind="ends_elsewhere",
            evidence=f"With settings that make all cases alike, {first} is {number(odd[first])} as a "
            "share for every seed, which is neither none, nor all, nor a simple share of them"
            f"{', and other methods end elsewhere' if different else ''}.",
            severity="suspect" if different else "unverified",
            claims=tuple(odd),
        )


def _of_few(share: float) -> bool:
    """Whether a share is one of few equal parts."""
    return any(abs(share * n - round(share * n)) < 1e-9 for n in range(1, 101))


def _still_good(
    claim: Claim, before: float, after: float, shares: Sequence[float], tested: int
) -> bool:
    """Whether a value keeps most of its gain over guessing, beyond what so few rows give by chance."""
    good = _as_accuracy(claim, before), _as_accuracy(claim, after)
    if None in good or len(shares) < 2:
        return _keeps_score(claim, before, after)
    chance = max(shares)
    gain = good[0] - chance
    luck = 4 * math.sqrt(chance * (1 - chance) / tested)
    return gain > _LEAST_GAIN * (1 - chance) + 0.02 and good[1] - chance > max(_KEPT * gain, luck)


def _keeps_score(claim: Claim, before: float, after: float) -> bool:
    """The same for a score whose guess is about 0, such as R²."""
    if not re.search(r"r2|r_?squared|kappa|mcc", claim.metric, re.I):
        return False
    return before > 0.3 and after > _KEPT * before


def _as_accuracy(claim: Claim, value: float) -> float | None:
    """A value as a share of right answers; None for metrics that are no such thing."""
    percent = (claim.unit or "").startswith(("percent", "%")) or abs(claim.value or value) > 1.5
    share = value / 100 if percent else value
    if not -0.01 <= share <= 1.01:
        return None
    if _BOUNDED_ERROR.match(claim.metric):
        return 1 - share
    return share if re.search(r"acc|f1|precision|recall|top_?\d", claim.metric, re.I) else None


def _noise(
    response: Response,
    claims: Sequence[Claim],
    shares: Sequence[float],
    tested: int,
    inputless: Collection[str],
) -> Iterator[Finding]:
    """Values that agree with the paper although the data mean nothing."""
    agree, plain = [], []
    for claim in claims:
        before, after = response.before[claim.id], response.after[claim.id]
        if (
            before == after
            or not claim.value
            or not (_agrees(claim, before) and _agrees(claim, after))
        ):
            continue
        if _near_chance(claim, shares):
            continue
        # An unbounded error of such data may be anything, the paper's value too.
        beyond = _beyond_guessing(claim, after, shares, tested)
        (agree if beyond and claim.id not in inputless else plain).append(claim.id)
    for ids, severity in ((agree, "suspect"), (plain, "unverified")):
        if ids:
            yield Finding(
                kind="agrees_without_data",
                evidence=f"{response.change}: {ids[0]} is {number(response.after[ids[0]])} "
                "and still agrees "
                "with the paper, although there is nothing to be learnt from such data.",
                severity=severity,
                claims=tuple(ids),
            )


def _beyond_guessing(claim: Claim, value: float, shares: Sequence[float], tested: int) -> bool:
    """Whether an accuracy is more than guessing gives by chance, by 4 standard errors."""
    good = _as_accuracy(claim, value)
    if good is None or re.search(r"loss|nll|entropy", claim.id, re.I):
        return False
    chance = max(shares, default=0.5)
    return good - chance > 4 * math.sqrt(chance * (1 - chance) / tested)


def _agrees(claim: Claim, value: float) -> bool:
    return abs(value - claim.value) <= _ZONE * abs(claim.value)


def _near_chance(claim: Claim, shares: Sequence[float]) -> bool:
    if re.search(r"loss|nll|entropy", f"{claim.id} {claim.metric}", re.I) and shares:
        entropy = -math.fsum(share * math.log(share) for share in shares if share)
        return any(abs(claim.value - e) < 0.1 * e for e in (entropy, math.log(len(shares))) if e)
    good = _as_accuracy(claim, claim.value)
    if good is None:
        return False
    guesses = [max(shares), 1 / len(shares)] if shares else [0.5]
    return any(abs(good - guess) < 0.1 for guess in guesses)
