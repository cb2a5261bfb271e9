"""Numbers and outcomes as they stand in the sentences of scoring, which are stored with the scores.

Tools read them too, so a minus is a hyphen and a space is a space. Digits do not depend on how the paper
prints its values, as those of tables do (`report.words`): five, so that values a per mille apart differ.
"""

from __future__ import annotations

from repro_pipeline.statistics import Interval


def number(value: float) -> str:
    """At most five significant digits."""
    return f"{value:.5g}"


def percent(share: float) -> str:
    """A share as per cent, with at most three significant digits."""
    return f"{100 * share:.3g} %"


def span(interval: Interval) -> str:
    """An interval: `3.8 to 4.1`."""
    return f"{number(interval[0])} to {number(interval[1])}"


def counted(count: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def duration(seconds: float) -> str:
    """About how long, in seconds, minutes or hours, whichever reads best: what is estimated, anywhere."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.2g} s"


def plain(outcome: object) -> str:
    """An outcome as people write it: `not reproduced`."""
    return str(outcome).replace("_", " ")
