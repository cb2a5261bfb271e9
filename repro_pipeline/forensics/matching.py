"""When a number is a reported one: to its printed digits, or nearly."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from repro_pipeline.claims.model import Claim
from repro_pipeline.forensics.literals import telling_digits

NEAR = 0.03
_PRINTED = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")
_SCALES = (1.0, 100.0, 0.01)


def exact(number: float, claim: Claim) -> bool:
    """Whether a number rounds to the claim's printed digits, as it is or as a fraction of per cent."""
    if not claim.value:
        return False
    half = (claim.quantum or 0) / 2 * (1 + 1e-9) + 1e-12 * abs(claim.value)
    return any(abs(number * scale - claim.value) <= half for scale in _SCALES)


def near(number: float, claim: Claim, within: float = NEAR) -> bool:
    """Whether a number lies within a share of the reported value, or is its printed digits."""
    if not claim.value or not number or is_factor(number):
        return False
    if exact(number, claim):
        return True
    return any(abs(number * scale - claim.value) <= within * abs(claim.value) for scale in _SCALES)


def complements(number: float, claim: Claim) -> bool:
    """Whether a number is what is left of 100 % or of 1, as an accuracy for an error."""
    if not claim.value or is_factor(number) or not number:
        return False
    half = (claim.quantum or 0) / 2 * (1 + 1e-9) + 1e-12
    whole = 100.0 if abs(claim.value) > 1 else 1.0
    rest = whole - claim.value
    return rest > 0 and any(abs(number * scale - rest) <= half for scale in _SCALES)


def stated_elsewhere(number: float, claim: Claim, paper: str) -> bool:
    """Whether a paper's text states a number in another place than the reported value's one.

    So it does with the true parameter of a simulation, which an estimate of it is held against.
    """
    text = re.sub(r"(?<=\d)(?:\{,\}|,)(?=\d{3})", "", paper)
    places = sum(
        any(math.isclose(float(found) * scale, abs(number), rel_tol=1e-9) for scale in _SCALES)
        for found in _PRINTED.findall(text)
    )
    return places > exact(number, claim)


def is_factor(number: float) -> bool:
    """Whether a number is 0 or a power of ten: a unit, and no value of anybody's table."""
    if number == 0:
        return True
    power = math.log10(abs(number))
    return abs(power - round(power)) < 1e-9


def exactly_reported(numbers: Iterable[float], claims: Iterable[Claim], digits: int) -> list[Claim]:
    """The claims of at least so many telling digits whose printed value is among the numbers."""
    found = list(numbers)
    return [
        claim
        for claim in claims
        if telling_digits(claim) >= digits and any(exact(number, claim) for number in found)
    ]
