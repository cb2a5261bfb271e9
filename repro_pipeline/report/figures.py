"""The geometry of the two figures, as plain numbers that the template draws as SVG.

The forest plot shows (reproduced - reported) / max(|reported|, eps) per claim with the 90 % interval
that the verdict rests on; its positions are per cent of the strip's width, so that it follows the
page's. The scatter plot shows reproduced against reported values, one panel per metric and unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from repro_pipeline.claims.model import Claim
from repro_pipeline.report.rows import ClaimRow
from repro_pipeline.report.strip import Strip, step, strip_for
from repro_pipeline.report.words import number, percent, threshold, unit
from repro_pipeline.scoring.rubric import MetricParityRule
from repro_pipeline.scoring.verdict import denominator as rubric_denominator
from repro_pipeline.sweeps.trend import ClaimTrend


@dataclass(frozen=True)
class Mark:
    """One claim in the forest plot; positions in per cent of the width, None where not drawn."""

    row: ClaimRow
    x: float | None
    low: float | None
    high: float | None
    beyond: str
    """'low' or 'high' where the value itself lies off the scale, else empty."""
    text: str
    """The difference in words."""
    description: str
    """What the mark shows, for those who do not see it."""


@dataclass(frozen=True)
class Forest:
    """The forest plot."""

    marks: tuple[Mark, ...]
    band: tuple[float, float]
    """Left end and width of the tolerance, in per cent of the width."""
    ticks: tuple[tuple[float, str], ...]
    tolerance: str


@dataclass(frozen=True)
class Point:
    """One claim in the scatter plot, in the panel's pixels."""

    row: ClaimRow
    x: float
    y: float
    low: float | None
    high: float | None
    label: str
    """Printed beside the point; only for what did not reproduce."""
    label_y: float
    left: bool
    """Whether the label stands to the left of the point."""


@dataclass(frozen=True)
class Panel:
    """Reproduced against reported for the claims of one metric and unit."""

    index: int
    title: str
    logarithmic: bool
    points: tuple[Point, ...]
    ticks: tuple[tuple[float, str], ...]
    """Offset from the axes' origin in pixels, and text; the same for both axes."""
    margin: float
    """Room to the left of the frame, for the ticks' texts and the axis' name beside them."""
    band: str
    """Corners of the tolerance, as an SVG polygon."""
    description: str


def forest(rows: tuple[ClaimRow, ...], rule: MetricParityRule) -> Forest:
    """The forest plot of all claims, in their order."""
    spans = [_relative(row, rule) for row in rows]
    ends = (end for values in spans if values for end in values if end is not None)
    strip = strip_for(ends, rule.threshold)
    return Forest(
        marks=tuple(_mark(row, values, strip) for row, values in zip(rows, spans, strict=True)),
        band=strip.band,
        ticks=strip.ticks,
        tolerance=threshold(rule.threshold),
    )


def denominator(claim: Claim, rule: MetricParityRule) -> float | None:
    """The denominator of the rubric's relative error; None where there is none."""
    return (rubric_denominator(claim, rule) or None) if claim.value is not None else None


def panels(rows: tuple[ClaimRow, ...], rule: MetricParityRule) -> tuple[Panel, ...]:
    """One scatter plot per metric and unit that has at least one reproduced value.

    A claim without a unit stands with those of its metric, where these have but one.
    """
    shown = [r for r in rows if r.claim.value is not None and r.verdict.value is not None]
    units: dict[str, list[str]] = {}
    for row in shown:
        if sign := unit(row.claim):
            units.setdefault(row.claim.metric, []).append(sign)
    groups: dict[tuple[str, str], list[ClaimRow]] = {}
    for row in shown:
        known = set(units.get(row.claim.metric, ()))
        sign = unit(row.claim) or (known.pop() if len(known) == 1 else "")
        groups.setdefault((row.claim.metric, sign), []).append(row)
    return tuple(
        _panel(index, metric, sign, members, rule)
        for index, ((metric, sign), members) in enumerate(groups.items(), start=1)
    )


@dataclass(frozen=True)
class TrendMark:
    """One point of a claim over time; positions in per cent of the strip."""

    x: float
    y: float | None
    low: float | None
    high: float | None
    verdict: str


@dataclass(frozen=True)
class TrendStrip:
    """One claim over its reproduction and all sweeps."""

    claim: str
    marks: tuple[TrendMark, ...]
    band: tuple[float, float] | None
    """Upper end and height of the tolerance."""
    reported: float | None
    description: str


def trends(claims: Iterable[ClaimTrend]) -> tuple[TrendStrip, ...]:
    """A strip per claim that has a value: the value, its 90 % interval, the tolerance, over time."""
    shown = [one for one in claims if any(point.value is not None for point in one.points)]
    return tuple(_strip(one) for one in shown)


def _strip(one: ClaimTrend) -> TrendStrip:
    points = one.points
    values = [v for p in points for v in (p.value, *(p.interval90 or ())) if v is not None]
    values += [*(one.tolerance or ()), *([] if one.reported is None else [one.reported])]
    low, high = min(values), max(values)
    room = (high - low) * 0.1 or abs(high) * 0.1 or 1.0

    def y(value: float | None) -> float | None:
        share = None if value is None else (value - low + room) / (high - low + 2 * room)
        return None if share is None else round(100 - 100 * share, 1)

    said = "; ".join(
        f"{p.label}: {'no value' if p.value is None else number(p.value)}, {p.verdict}"
        for p in points
    )
    ends = [p.interval90 or (None, None) for p in points]
    return TrendStrip(
        claim=one.claim,
        marks=tuple(
            TrendMark(
                x=round(100 * (place + 0.5) / len(points), 1),
                y=y(point.value),
                low=y(ends[place][0]),
                high=y(ends[place][1]),
                verdict=point.verdict,
            )
            for place, point in enumerate(points)
        ),
        band=None
        if one.tolerance is None
        else (y(one.tolerance[1]), round(y(one.tolerance[0]) - y(one.tolerance[1]), 1)),
        reported=y(one.reported),
        description=said.replace("_", " "),
    )


# --- forest plot


def _relative(
    row: ClaimRow, rule: MetricParityRule
) -> tuple[float, float | None, float | None] | None:
    """Value and 90 % interval, relative to the reported value."""
    verdict, below = row.verdict, denominator(row.claim, rule)
    if verdict.value is None or below is None:
        return None
    low, high = verdict.interval90 or (None, None)
    values = ((end - row.claim.value) / below if end is not None else None for end in (low, high))
    return (verdict.value - row.claim.value) / below, *values


def _mark(
    row: ClaimRow,
    values: tuple[float, float | None, float | None] | None,
    strip: Strip,
) -> Mark:
    if values is None:
        why = "no value" if row.verdict.value is None else "no reported number"
        return Mark(row, None, None, None, "", why, f"{why}: nothing is drawn")
    point, low, high = values
    text = percent(point, signed=True)
    shown = f"differs by {text} from the reported value"
    if low is None or high is None:
        shown += "; no interval"
    else:
        shown += f"; 90 % interval {percent(low, signed=True)} to {percent(high, signed=True)}"
    inside = f"tolerance ±{threshold(strip.tolerance)}"
    return Mark(
        row=row,
        x=strip.at(point),
        low=None if low is None else strip.at(low),
        high=None if high is None else strip.at(high),
        beyond=strip.beyond(point),
        text=text,
        description=f"{shown}; {inside}",
    )


# --- scatter plot

PANEL = 340
"""Side of a panel's square, in SVG units."""
_DIGIT, _BESIDE_TICKS = 7, 26
"""Width of a digit of a tick's text; the gap before it and the axis' name after it."""


def _panel(
    index: int, metric: str, sign: str, rows: list[ClaimRow], rule: MetricParityRule
) -> Panel:
    values = [
        value
        for row in rows
        for value in (row.claim.value, row.verdict.value, *(row.verdict.interval90 or ()))
    ]
    logarithmic = min(values) > 0 and max(values) / min(values) > 5
    axis = _axis(min(values), max(values), logarithmic)
    lowest, highest = axis.ends
    named = metric.replace("_", " ")
    title = f"{named}, {sign}" if sign and sign.lower() != named.lower() else named
    ticks = tuple((axis.offset(tick), f"{tick:g}".replace("-", "−")) for tick in axis.ticks)
    corners = sorted({lowest, highest, *([0.0] if lowest < 0 < highest else [])})
    upper = [(x, x + rule.threshold * abs(x)) for x in corners]
    lower = [(x, x - rule.threshold * abs(x)) for x in reversed(corners)]
    return Panel(
        index=index,
        title=title,
        logarithmic=logarithmic,
        points=_spread(_point(row, axis) for row in rows),
        ticks=ticks,
        margin=_BESIDE_TICKS + _DIGIT * max((len(text) for _, text in ticks), default=0),
        band=" ".join(f"{axis.offset(x)},{PANEL - axis.offset(y)}" for x, y in upper + lower),
        description=(
            f"Reproduced against reported {title}, {len(rows)} claims; the band is the tolerance "
            f"of {threshold(rule.threshold)} about equality. The same numbers stand in the table "
            "of claims."
        ),
    )


@dataclass(frozen=True)
class _Axis:
    ends: tuple[float, float]
    logarithmic: bool
    ticks: tuple[float, ...]

    def offset(self, value: float) -> float:
        """Pixels from the axis' start."""
        low, high = (self._scaled(end) for end in self.ends)
        return round(PANEL * (self._scaled(value) - low) / (high - low), 1)

    def _scaled(self, value: float) -> float:
        # A tolerance of 100 % or more reaches below zero, where a logarithmic axis has no place.
        return math.log(max(value, self.ends[0] / 10)) if self.logarithmic else value


def _axis(lowest: float, highest: float, logarithmic: bool) -> _Axis:
    if logarithmic:
        ends = (lowest / 1.25, highest * 1.25)
        decades = range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)
        bases = (1, 2, 3, 5) if len(decades) <= 3 else (1,)
        ticks = [base * 10.0**power for power in decades for base in bases]
    else:
        room = (highest - lowest) * 0.12 or abs(highest) * 0.1 or 1.0
        ends = (lowest - room, highest + room)
        size = step(ends[1] - ends[0], most=6)
        first, last = math.ceil(ends[0] / size), math.floor(ends[1] / size)
        ticks = [round(index * size, 12) for index in range(first, last + 1)]
    return _Axis(ends, logarithmic, tuple(tick for tick in ticks if ends[0] <= tick <= ends[1]))


def _point(row: ClaimRow, axis: _Axis) -> Point:
    interval = row.verdict.interval90
    x, y = axis.offset(row.claim.value), PANEL - axis.offset(row.verdict.value)
    label = row.label if row.verdict.verdict == "not_reproduced" else ""
    return Point(
        row=row,
        x=x,
        y=y,
        low=None if interval is None else PANEL - axis.offset(interval[0]),
        high=None if interval is None else PANEL - axis.offset(interval[1]),
        label=label if len(label) <= 32 else f"{label[:31]}…",
        label_y=y + 4,
        left=x > PANEL / 2,
    )


def _spread(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points with their labels moved down where they would lie on another label."""
    spread, lowest = [], {True: -math.inf, False: -math.inf}
    for point in sorted(points, key=lambda point: point.y):
        y = max(point.label_y, lowest[point.left] + 14)
        if point.label:
            lowest[point.left] = y
        spread.append(replace(point, label_y=y))
    return tuple(spread)


def describe(row: ClaimRow) -> str:
    """A point's tooltip."""
    reproduced = number(row.verdict.value, row.claim.quantum)
    return f"{row.label}: reported {row.reported}, reproduced {reproduced}, {row.verdict_words}"
