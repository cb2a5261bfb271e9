"""What runs print, as lines for people while they run: few, short, harmless, whatever comes.

The whole output goes to the run's log; this is a look at its end. A flood costs no more than a trickle:
of each piece only the last part is looked at.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from repro_pipeline.sandbox.outputs import printable

_LOOKED_AT = 4096  # bytes of a piece
_WIDTH = 200  # characters of a line
_ENDS = re.compile(rb"[\r\n]+")


class Tail:
    """Takes a run's output piece by piece, and says some of its lines.

    At most one line in `pause` seconds is said, the latest, and no more than `most` in all; how many
    were left out stands before the next. A bar of progress, drawn over itself, is lines as well.
    """

    def __init__(
        self,
        name: str,
        say: Callable[[str], None],
        *,
        pause: float = 1.0,
        most: int = 300,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._say, self._pause, self._most, self._clock = name, say, pause, most, clock
        self._begun = b""
        self._left_out = self._said = 0
        self._due = float("-inf")

    def __call__(self, piece: bytes) -> None:
        """Take a piece of output."""
        self._left_out += piece.count(b"\n", 0, max(0, len(piece) - _LOOKED_AT))
        *lines, self._begun = _ENDS.split((self._begun + piece)[-_LOOKED_AT:])
        filled = [line for line in lines if line.strip()]
        self._left_out += len(filled)
        if filled and self._clock() >= self._due and self._said < self._most:
            self._due = self._clock() + self._pause
            self._said += 1
            others, self._left_out = self._left_out - 1, 0
            before = f"({others} lines) " if others else ""
            last = ", and no more of it here" if self._said == self._most else ""
            line = printable(filled[-1]).replace("\t", " ")[:_WIDTH].rstrip()
            self._say(f"{self._name} | {before}{line}{last}")
