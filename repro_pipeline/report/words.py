"""Numbers, durations and outcomes as people read them in tables: of pages, and in the terminal.

Outcomes read as in the sentences of scoring. Digits differ on purpose (`wording`): a table shows a
value beside the printed one, with one digit more than that, and a time that was measured.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from repro_pipeline import wording as sentences
from repro_pipeline.bundle.terms import Statistic
from repro_pipeline.claims.model import Claim
from repro_pipeline.scoring.estimate import over_seeds
from repro_pipeline.scoring.model import ClaimVerdict
from repro_pipeline.scoring.observations import UNCOVERED

MINUS = "−"
_UNITS = {"percent": "%", "fraction": "", "ratio": ""}
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
_BREAKS = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0)))) + "\u2028\u2029"
"""Control characters, and what separates lines and paragraphs."""
_MORE = range(1, 7)
"""Digits beyond the printed ones, as many as it takes."""
SPREAD = "Reproduced: mean ± standard deviation over seeds, without a ± where no spread showed."
RESTS_ON = "Verdicts rest on the 90 % interval."
INTERVALS = (
    "95 % interval: of what the claim states (a mean, a median, …), as is usual in print. The verdict "
    "rests on the narrower 90 % interval, that of an equivalence test at 5 %, which the reason names."
)
"""What every table of claims says, so that no spread or interval is taken for another."""
_PLAIN = str.maketrans(_BREAKS, " " * len(_BREAKS), _BIDI)


def plain(text: str) -> str:
    """The text on one line, without control characters and marks that change its direction."""
    return " ".join(text.translate(_PLAIN).split())


def as_printed(line: str) -> str:
    """A line of a log so that nothing in it steers a terminal, with every sign in its column."""
    return line.expandtabs().translate(_PLAIN).rstrip()


words = sentences.plain
"""An outcome as the sentences of scoring write it: `not_run` reads 'not run'."""


def unit(claim: Claim) -> str:
    """The claim's unit as a sign: '%' for percent; empty where it has none."""
    return _UNITS.get(claim.unit or "", claim.unit or "")


def number(value: float, quantum: float | None = None, *, more: int = 1) -> str:
    """A number with `more` digits beyond the printed ones, or with 4 significant ones.

    `quantum` is one unit of the last printed digit.
    """
    if quantum is None or quantum < 1e-6 or abs(value) >= 1e9:
        return f"{value:.4g}".replace("-", MINUS)
    decimals = max(0, more - math.floor(math.log10(quantum) + 1e-9))
    return _no_negative_zero(f"{value:.{decimals}f}").replace("-", MINUS)


def difference(value: float, quantum: float | None = None) -> str:
    """A signed number."""
    text = number(value, quantum)
    return text if value < 0 or float(text.replace(MINUS, "-")) == 0 else f"+{text}"


def percent(fraction: float, *, signed: bool = False) -> str:
    """A fraction in per cent, with as many digits as its size deserves."""
    value = 100 * fraction
    size = abs(value)
    decimals = 0 if size >= 99.5 else 1 if size >= 0.1 or size == 0 else 2
    text = _no_negative_zero(f"{value:{'+' if signed and value else ''},.{decimals}f}")
    return f"{text.replace('-', MINUS)}\u00a0%"


def threshold(fraction: float) -> str:
    """A threshold in per cent, exactly as it was set."""
    return f"{100 * fraction:g}\u00a0%"


def tied(text: str) -> str:
    """The text with each number tied to its per cent sign, so that no line parts them."""
    return re.sub(r"(\d) %", "\\1\u00a0%", text)


def span(ends: tuple[float, float] | None, quantum: float | None = None) -> str:
    """An interval, with as many digits as tell its ends apart; a dash where there is none.

    One without width is its value alone.
    """
    if ends is None:
        return "–"
    low, high = ends
    if low == high:
        return number(low, quantum)
    shown = ((number(low, quantum, more=more), number(high, quantum, more=more)) for more in _MORE)
    return " to ".join(next((pair for pair in shown if pair[0] != pair[1]), (f"{low}", f"{high}")))


def spread(sd: float, quantum: float | None = None) -> str:
    """A standard deviation; one that these digits would show as 0 has two of its own."""
    text = number(sd, quantum)
    return text if not sd or text.strip("0.") else f"{sd:.2g}".replace("-", MINUS)


def duration(seconds: float) -> str:
    """A duration in its two largest units."""
    if seconds < 0.95:
        return f"{seconds:.2g} s" if seconds else "0 s"
    if seconds < 59.95:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    for size, name, part, part_name in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {name}" + (f" {rest} {part_name}" if rest else "")
    raise AssertionError(seconds)


def reported(claim: Claim) -> str:
    """The claim's value as the paper prints it; without a number, says so."""
    if claim.value is None:
        return "no number"
    text = plain(claim.text) or number(claim.value, claim.quantum, more=0)
    text = re.sub(r"\s*_\{\s*(±[^{}]*?)\s*\}", r" \1", text)  # an uncertainty set as an index
    if claim.uncertainty is None or "±" in text or "(" in text:
        return text
    return f"{text} ± {number(claim.uncertainty, claim.quantum, more=0)}"


def reproduced(claim: Claim, verdict: ClaimVerdict) -> str:
    """Mean ± standard deviation over seeds; before it the statistic, where seeds are not averaged.

    Equal values have no ±: they have no spread, or one that they hide.
    """
    if verdict.mean is None:
        return "–"
    text = number(verdict.mean, claim.quantum)
    if verdict.sd and not (verdict.deterministic or verdict.tied):
        text += f" ± {spread(verdict.sd, claim.quantum)}"
    statistic = over_seeds(claim)
    if statistic in {Statistic.MEAN, Statistic.SINGLE} or verdict.value is None:
        return text
    return f"{statistic} {number(verdict.value, claim.quantum)} (mean {text})"


def seeds(verdict: ClaimVerdict) -> str:
    """Seeds with a value out of those planned; where no run of the claim was planned, that."""
    if not verdict.n and UNCOVERED in verdict.missing:
        return "not planned"
    return f"{verdict.n}/{verdict.planned}"


def labels(claims: tuple[Claim, ...]) -> dict[str, str]:
    """A readable name per claim, no two alike: data set and method, where needed metric or id."""
    names: dict[str, str] = {}
    for parts in (("dataset", "method"), ("dataset", "method", "metric"), ("dataset", "id")):
        left = [claim for claim in claims if claim.id not in names]
        found = {claim.id: _joined(claim, parts) for claim in left}
        often = Counter([*found.values(), *names.values()])
        names |= {name: text for name, text in found.items() if often[text] == 1}
    return {claim.id: names.get(claim.id, claim.id) for claim in claims}


def _joined(claim: Claim, parts: tuple[str, ...]) -> str:
    if not plain(f"{claim.dataset or ''}{claim.method or ''}"):
        return claim.id
    texts = (plain(getattr(claim, part) or "") for part in parts)
    return " · ".join(text for text in texts if text)


def _no_negative_zero(text: str) -> str:
    return text.lstrip("-+") if not text.strip("-+0.,") else text
