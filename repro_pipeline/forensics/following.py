"""Whether a value follows the constants near its reported value, and holds one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repro_pipeline.claims.model import Claim
from repro_pipeline.findings import Finding
from repro_pipeline.forensics.literals import telling_digits
from repro_pipeline.forensics.matching import near, stated_elsewhere
from repro_pipeline.forensics.mutate import FACTORS
from repro_pipeline.frozen import Frozen
from repro_pipeline.wording import number

Values = Mapping[str, float]


class Followed(Frozen):
    """How a claim moved when the constants near its reported value were changed."""

    claim: str
    how: str
    """linear: in exact proportion; tracks: it lands where they are moved to."""
    places: tuple[str, ...]
    constant: float | None = None
    """The near constant that it moves with by just as much, beside a rest that stays."""


def followed(
    claims: Mapping[str, Claim],
    places: Mapping[str, Sequence[str]],
    before: Values,
    after: Sequence[Values | None],
) -> list[Followed]:
    """The claims that follow their near constants. `after` are the values per factor of FACTORS.

    With factors f the shifts of a value that holds the constant by itself are in proportion to
    1 - f: exactly for sums and products around it, about so where a search looks for it.
    """
    if any(values is None for values in after):
        return []
    found = []
    for name, where in places.items():
        claim = claims[name]
        if name not in before or any(name not in values for values in after) or not claim.value:
            continue
        shifts = [before[name] - values[name] for values in after]
        expected = [(1 - factor) * claim.value for factor in FACTORS]
        constant = _held(claim, before[name], shifts, where)
        how = (
            "linear"
            if constant is not None
            else _how(claim, before[name], [values[name] for values in after], shifts, expected)
        )
        if how:
            found.append(Followed(claim=name, how=how, places=tuple(where), constant=constant))
    return found


def _held(
    claim: Claim, before: float, shifts: Sequence[float], places: Sequence[str]
) -> float | None:
    """The near constant that a value holds as a summand: it shifts by just what the constant does.

    None for a value that is the constant itself, as a count of steps or a limit that was reached is,
    or that is a multiple of it.
    """
    for text in (place.rpartition(" ")[2] for place in places):
        try:
            constant, whole = float(text), text.isdecimal()
        except ValueError:
            continue
        scaled = [constant * factor for factor in FACTORS]
        moves = [constant - (round(new) if whole else new) for new in scaled]
        least = 1e-6 * abs(constant)
        as_moved = all(
            abs(shift - move) <= least for shift, move in zip(shifts, moves, strict=True)
        )
        if near(constant, claim) and as_moved and abs(before - constant) > least:
            return constant
    return None


def _how(
    claim: Claim, before: float, after: list[float], shifts: list[float], expected: list[float]
) -> str | None:
    share = abs(shifts[0] / expected[0])
    complement = abs(shifts[0]) > 0 and shifts[0] * expected[0] < 0
    proportion = (1 - FACTORS[1]) / (1 - FACTORS[0])
    if (
        shifts[0]
        and abs(shifts[1] / shifts[0] - proportion) < 1e-4
        and (0.25 < share < 1.5 or complement)
    ):
        return "linear"
    off = 1.5 * abs(before - claim.value) + 0.02 * abs(claim.value)
    tracks = all(
        abs(value - factor * claim.value) <= off
        for value, factor in zip(after, FACTORS, strict=True)
    )
    return "tracks" if tracks and abs(before - claim.value) < 0.1 * abs(claim.value) else None


def held(one: Followed, claim: Claim, paper: str) -> Iterator[Finding]:
    """A value that is a constant near the reported one, plus what the seed gives.

    The true parameter of a simulation does the same, and honestly: but a paper states its parameters.
    So nothing is said without the paper's text, nor of a value of fewer than three telling digits.
    """
    if one.constant is None or telling_digits(claim) < 3 or not paper:
        return
    if stated_elsewhere(one.constant, claim, paper):
        return
    constant = number(one.constant)
    yield Finding(
        kind="constant_and_noise",
        evidence=f"{one.claim} is {constant} and what a seed adds to it: it moves with that constant "
        f"by as much, and no change of data moves it. The paper reports {number(claim.value)} and "
        f"names no parameter {constant}. {'; '.join(one.places[:3])}.",
        severity="suspect",
        claims=(one.claim,),
    )
