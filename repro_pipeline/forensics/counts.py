"""A share of right or wrong answers is a count over so many cases: what values show by that alone.

An error over n cases is a multiple of 1/n, and so is the mean of several such errors, of 1/(n m). It
stays one whatever the method; it no longer is one after a summand, a factor, or a pull towards a
constant, wherever that constant is hidden. And over fresh cases it scatters at least binomially.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repro_pipeline.claims.model import Claim
from repro_pipeline.findings import Finding
from repro_pipeline.wording import counted, number

_RATE = re.compile(
    r"^(test_?|val_?)?((error|err|misclass\w*|misclassification|error_?rate|wer|cer)(_?rate)?"
    r"|acc(uracy)?|(zero_?one_?loss))(_?(at_?)?\d+)?$",
    re.I,
)
_NO_RATE = re.compile(
    r"loss(?<!one_loss)(?<!one-loss)|log|nll|rmse|mse|mae|balanced|macro|weighted", re.I
)
_TESTED = re.compile(r"test|eval", re.I)
_REPEATED = re.compile(r"draw|repeat|trial|rep(s|lication)?$|fold|split|run", re.I)
_SEEDED = re.compile(r"seed|random_state", re.I)
_LEAST_STEP = 5e-7
"""Finer steps than this are not told from none."""
_MEANS = (*range(1, 13), 15, 16, 20, 25, 30, 50, 100)
"""A rate may be the mean of so many rates over the same rows."""
_LEAST = 5
_MOST_DECIMALS = 8
_BLUNT = 0.1
"""Of a step: rounding coarser than this hides what is counted."""
_CHANCE, _CHANCE_OF_PARTS = 1e-6, 1e-5


def is_rate(claim: Claim) -> bool:
    """Whether a claim is a share of right or wrong answers by its name."""
    return bool(_RATE.match(claim.metric)) and not _NO_RATE.search(f"{claim.id} {claim.metric}")


def as_share(claim: Claim, value: float) -> float:
    """A rate between 0 and 1, where it is printed in per cent or as a fraction."""
    percent = (claim.unit or "").startswith(("percent", "%")) or abs(claim.value or value) > 1.5
    return value / 100 if percent else value


def _surely(claim: Claim) -> bool:
    """Whether a rate is one beyond doubt: errors without a unit may be any distance."""
    percent = (claim.unit or "").startswith(("percent", "%"))
    return percent or bool(re.search("acc", claim.metric, re.I) and 0 < (claim.value or 0) <= 1)


def impossible(
    claims: Mapping[str, Claim], runs: Sequence[tuple[str, Mapping[str, float]]]
) -> Iterator[Finding]:
    """Rates below 0, or above 100 %, in any run; far above it is another unit. `runs` are what each was,
    and its values.
    """
    for said, values in runs:
        for name, value in values.items():
            claim = claims.get(name)
            if claim is None or not is_rate(claim):
                continue
            share = as_share(claim, value)
            if share < -1e-9 or (1 + 1e-9 < share < 2 and _surely(claim)):
                yield Finding(
                    kind="impossible_value",
                    evidence=f"{said}: {name} is {number(value)}, which no share of cases can be: "
                    "something is added to what was measured.",
                    severity="suspect",
                    claims=(name,),
                )
                return


def findings(
    samples: Mapping[str, Sequence[float]],
    claims: Mapping[str, Claim],
    configs: Mapping[str, dict[str, Any]],
    *,
    rows: int | None,
    drawn: bool,
) -> Iterator[Finding]:
    """What the values of each claim over seeds show.

    `configs` are the settings behind each claim; `rows` the number of rows for evaluation, where the
    data say it; `drawn` whether all cases are drawn anew inside each run.
    """
    for name, values in samples.items():
        claim = claims.get(name)
        if claim is None or not is_rate(claim):
            continue
        shares = [as_share(claim, value) for value in values]
        if not all(0 < share < 1 for share in shares) or _single(values):
            continue
        sure = _surely(claim)
        cases = (rows or cases_of(configs.get(name, {}))) if sure else None
        half = as_share(claim, _half_unit(values)) if sure else _half_unit(values)
        odd = None if half else _shifted(claim, shares)
        if odd is None and rows and sure:
            odd = _other_cases(claim, shares, rows, half)
        if odd is None and cases and cases * _LEAST_STEP < 0.3:
            odd = _no_count(claim, shares, cases, half)
        if odd is not None:
            yield odd
        if drawn and cases:
            yield from _too_even(claim, shares, cases)


def _half_unit(values: Sequence[float]) -> float:
    """Half a unit of the last decimal, where all values have few; 0 where they are not rounded."""
    for digits in range(_MOST_DECIMALS + 1):
        scale = 10.0**digits
        if all(abs(value * scale - round(value * scale)) < 1e-5 for value in values):
            return 0.5 / scale
    return 0.0


def cases_of(config: Mapping[str, Any]) -> int | None:
    """How many cases one value rests on, by the names of settings; None where they do not say."""
    whole = {
        key: value
        for key, value in config.items()
        if isinstance(value, int) and not isinstance(value, bool) and value > 0
    }
    tested = [value for key, value in whole.items() if _TESTED.search(key)]
    repeated = [value for key, value in whole.items() if _REPEATED.search(key)]
    fixed = any(_SEEDED.search(key) for key in config)
    if len(tested) != 1 or len(repeated) > 1 or fixed:
        return None
    return tested[0] * (repeated[0] if repeated else 1)


def step(numbers: Sequence[float]) -> float | None:
    """The largest number of which all differences are whole multiples; None where there is none."""
    distinct = sorted(set(numbers))
    differences = [b - distinct[0] for b in distinct[1:] if b - distinct[0] > 1e-12]
    if not differences:
        return None
    found = differences[0]
    for difference in differences[1:]:
        a, b = max(found, difference), min(found, difference)
        while b > 1e-10:
            a, b = b, math.fmod(a, b)
            if a - b < 1e-10:
                b = 0.0
        found = a
    if found < _LEAST_STEP:
        return None
    times = [round(d / found) for d in differences]
    found = math.fsum(t * d for t, d in zip(times, differences, strict=True)) / sum(
        t * t for t in times
    )
    fits = all(abs(d / found - t) < 1e-4 for d, t in zip(differences, times, strict=True))
    return found if fits else None


def _shifted(claim: Claim, shares: Sequence[float]) -> Finding | None:
    """Values that go in even steps, as counts do, and are no count."""
    if len(set(shares)) < _LEAST:
        return None
    found = step(shares)
    if found is None:
        return None
    for part in range(1, _most_parts(len(set(shares))) + 1):
        quotients = [part / found, *(part * share / found for share in shares)]
        if all(abs(q - round(q)) < 0.01 for q in quotients):
            return None
    return Finding(
        kind="shifted_counts",
        evidence=f"{claim.id} goes in even steps of {found:.6g}, as a count over cases does, and "
        "neither 1 nor its values are a whole number of them: a constant was added to the count, "
        "or multiplied by it.",
        severity="suspect",
        claims=(claim.id,),
    )


def _most_parts(values: int) -> int:
    """Of how many true steps all differences of so many values may be multiples by chance.

    k - 1 differences are all multiples of d with chance d^-(k-1).
    """
    part = 2
    while part ** (2 - values) > _CHANCE_OF_PARTS * (values - 2):
        part += 1
    return part


def is_whole(
    shares: Sequence[float], cases: int, half: float = 0.0, means: Sequence[int] = _MEANS
) -> bool:
    """Whether shares are counts over so many cases, or means of some of them; or may be, where they
    are rounded to within `half`.
    """
    for m in means:
        slack = 1e-6 * m + 1.001 * half * cases * m
        whole = all(abs(s * cases * m - round(s * cases * m)) < slack for s in shares)
        if whole or slack > _BLUNT:
            return True
    return False


def _single(values: Sequence[float]) -> bool:
    """Whether numbers are of single precision, whose rounding hides what they count."""
    return all(struct.unpack("f", struct.pack("f", value))[0] == value for value in values)


def _other_cases(claim: Claim, shares: Sequence[float], rows: int, half: float) -> Finding | None:
    """A rate over other rows than those that are declared for evaluation."""
    if is_whole(shares, rows, half):
        return None
    fewer = next((n for n in range(rows - 1, rows // 2, -1) if is_count(shares, n)), None)
    says = f"of {fewer} rows" if fewer else "of no number of rows near it"
    return Finding(
        kind="other_rows_counted",
        evidence=f"{claim.id} is no count over the {counted(rows, 'row')} declared for evaluation; "
        f"it is one {says}.",
        severity="unverified",
        claims=(claim.id,),
    )


def is_count(shares: Sequence[float], cases: int) -> bool:
    """Whether shares are counts over so many cases."""
    return all(abs(s * cases - round(s * cases)) < 1e-6 for s in shares)


def _no_count(claim: Claim, shares: Sequence[float], cases: int, half: float) -> Finding | None:
    found = step(shares)
    if found is not None and not half:
        return _fewer(claim, shares, cases, found)
    parts = 1 / (found * cases) if found else 0.5
    mean = abs(parts - round(parts)) < 1e-6 and parts <= max(_MEANS)
    if mean or is_whole(shares, cases, half, (1,) if half else _MEANS):
        return None
    return Finding(
        kind="not_a_count",
        evidence=f"{claim.id} is a share of some {cases} cases by its name and settings, and its "
        "values are no counts over any number of cases.",
        severity="unverified",
        claims=(claim.id,),
    )


def _fewer(claim: Claim, shares: Sequence[float], cases: int, found: float) -> Finding | None:
    """A count over fewer cases than the settings say: its steps are too large."""
    times = found * cases
    if len(set(shares)) < _LEAST or times < _most_parts(len(set(shares))) + 0.5:
        return None
    return Finding(
        kind="fewer_cases",
        evidence=f"{claim.id} goes in steps of 1/{1 / found:.6g}, where the settings say {cases} "
        "cases: fewer were counted, or the same ones again.",
        severity="unverified",
        claims=(claim.id,),
    )


def _too_even(claim: Claim, shares: Sequence[float], cases: int) -> Iterator[Finding]:
    """Less scatter over fresh seeds than so many fresh cases give.

    The variance of a share of n independent cases is at least p (1 - p) / n, but for cases drawn by
    class, which take a part of it away; (k - 1) s² / σ² of k values follows χ²(k - 1).
    """
    from scipy.special import chdtr

    if len(shares) < _LEAST or len(set(shares)) == 1:
        return
    mean = math.fsum(shares) / len(shares)
    spread = math.fsum((s - mean) ** 2 for s in shares)
    least = mean * (1 - mean) / cases
    chance = float(chdtr(len(shares) - 1, 2 * spread / least))
    if chance < _CHANCE:
        ratio = math.sqrt(spread / (len(shares) - 1) / least)
        yield Finding(
            kind="too_even",
            evidence=f"{claim.id} scatters over {counted(len(shares), 'seed')} by {ratio:.2f} of what "
            f"{cases} fresh cases a run must give (chance {chance:.1g}).",
            severity="unverified",
            claims=(claim.id,),
        )
