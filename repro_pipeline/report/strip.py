"""The strip on which a forest plot places its claims: one scale for the page and for images.

Positions are per cent of the strip's width; values are fractions of the reported one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

_FARTHEST = 6
"""The scale ends at this many tolerances: what lies beyond is drawn at the edge, with an arrow."""


class Strip(NamedTuple):
    """A scale from -limit to +limit, and the tolerance about its middle."""

    limit: float
    tolerance: float

    def at(self, fraction: float) -> float:
        """Where a value is drawn."""
        return round(50 + 50 * max(-1.0, min(1.0, fraction / self.limit)), 2)

    def beyond(self, fraction: float) -> Literal["low", "high", ""]:
        """The side on which a value lies off the scale."""
        return "high" if fraction > self.limit else "low" if fraction < -self.limit else ""

    @property
    def band(self) -> tuple[float, float]:
        """Left end and width of the tolerance."""
        return self.at(-self.tolerance), 100 * self.tolerance / self.limit

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Position and text, in per cent of the reported value."""
        size = step(self.limit, most=2.9)
        count = math.floor(self.limit / size)
        fractions = (index * size for index in range(-count, count + 1))
        return tuple((self.at(one), _percent(one)) for one in fractions)


def strip_for(values: Iterable[float], tolerance: float) -> Strip:
    """The scale for these values and ends of intervals."""
    farthest = max([*map(abs, values), 2 * tolerance])
    return Strip(min(farthest, _FARTHEST * tolerance) * 1.06, tolerance)


def step(width: float, *, most: float) -> float:
    """The least step of 1, 2 or 5 times a power of ten that fits at most `most` times."""
    size = 10.0 ** math.floor(math.log10(width))
    return next(size * part for part in (0.1, 0.2, 0.5, 1, 2, 5) if width / (size * part) <= most)


def _percent(fraction: float) -> str:
    """Signed, without needless digits."""
    return f"{100 * fraction:+.4g}".replace("-", "−") if fraction else "0"
