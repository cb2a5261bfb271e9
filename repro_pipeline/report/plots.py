"""Plots as images, for where a page of ours is not at hand: the metadata of assets in the UI.

The plot of a scoring is SVG that is written here: a batch makes one for each paper, and to have a library
draw it took more time than the scoring.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence

from repro_pipeline.report.strip import strip_for
from repro_pipeline.scoring.model import ClaimVerdict, Scores
from repro_pipeline.status import Verdict
from repro_pipeline.sweeps.trend import ClaimTrend, Trend

_LOOKS = {
    Verdict.REPRODUCED: ("o", "#0b6b4f"),
    Verdict.NOT_REPRODUCED: ("X", "#a3211d"),
    Verdict.INCONCLUSIVE: ("D", "#7a5200"),
}
_SHAPES = {
    "o": "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "X": "m-4 -4l8 8m0 -8l-8 8",
    "D": "m0 -5l5 5l-5 5l-5 -5z",
}
_ARROWS = {"low": "m-4 0l8 -4v8z", "high": "m4 0l-8 -4v8z"}
"""Point at what lies beyond the scale."""
_LABELS, _WIDTH, _EDGE, _ROW = 250, 450, 10, 24
_TEXT = '<text stroke="none" fill="#222" '


def forest_markdown(scores: Scores, threshold: float) -> str:
    """A forest plot as Markdown with the image in it: relative deviation of each claim, in per cent,
    with its 90 % interval and the tolerance; claims without a value are left out of the plot.
    """
    shown = [v for v in scores.verdicts if v.value is not None and v.reported]
    if not shown:
        return "No claim has a value."
    image = base64.b64encode(_forest_svg(shown, threshold).encode()).decode()
    return f"![reproduced minus reported, in per cent](data:image/svg+xml;base64,{image})"


def trend_markdown(trend: Trend) -> str:
    """Each claim over the reproduction and its sweeps as Markdown with the image in it: relative deviation
    from the reported value with its 90 % interval, one line of plots per claim.
    """
    shown = [
        one for one in trend.claims if one.reported and any(p.value is not None for p in one.points)
    ]
    if not shown:
        return "No claim has a value."
    image = base64.b64encode(_trend_png(shown)).decode()
    return f"![each claim over all sweeps](data:image/png;base64,{image})"


def _trend_png(shown: Sequence[ClaimTrend]) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 0.6 + 1.1 * len(shown)), dpi=100, layout="constrained")
    axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    labels = list(dict.fromkeys(point.label for one in shown for point in one.points))
    for place, one in zip(axes, shown, strict=True):
        if one.tolerance:
            place.axhspan(*one.tolerance, color="#e4e4e0")
        place.axhline(one.reported, color="#555", linewidth=0.8)
        for point in one.points:
            if point.value is None:
                continue
            x = labels.index(point.label)
            marker, colour = _LOOKS[Verdict(point.verdict)]
            if point.interval90:
                place.plot([x, x], point.interval90, color=colour, linewidth=1.5)
            place.plot(x, point.value, marker, color=colour)
        place.set_title(one.claim, fontsize=9, loc="left")
        place.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xticks(range(len(labels)), labels, fontsize=8)
    axes[-1].set_xlim(-0.5, len(labels) - 0.5)
    axes[-1].set_xlabel("line: 90 % interval; grey: tolerance", fontsize=8)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)
    return buffer.getvalue()


def _forest_svg(shown: Sequence[ClaimVerdict], threshold: float) -> str:
    """A line per claim on one scale, its marker shaped and coloured by the verdict."""
    spans = [_relative(verdict) for verdict in shown]
    strip = strip_for((end for span in spans for end in span), threshold)
    height = _ROW * len(shown)

    def place(per_cent: float) -> float:
        return round(_LABELS + _WIDTH * per_cent / 100, 1)

    left, width = strip.band
    parts = [
        f'<rect x="{place(left)}" width="{_WIDTH * width / 100:.1f}" height="{height}" fill="#e4e4e0"/>',
        f'<path d="M{place(50)} 0v{height}" stroke="#555"/>',
    ]
    for row, (verdict, (value, *ends)) in enumerate(zip(shown, spans, strict=True)):
        mark, colour = _LOOKS[verdict.verdict]
        y = _ROW * row + _ROW // 2
        parts.append(f'<text x="{_LABELS - 12}" y="{y + 4}">{html.escape(verdict.claim)}</text>')
        if ends:
            low, high = (place(strip.at(end)) for end in ends)
            parts.append(f'<path d="M{low} {y}H{high}" stroke="{colour}"/>')
        beyond = strip.beyond(value)
        shape = _ARROWS[beyond] if beyond else _SHAPES[mark]
        at = place(strip.at(value))
        parts.append(f'<path d="M{at} {y}{shape}" fill="{colour}" stroke="{colour}"/>')
    for tick, text in strip.ticks:
        parts.append(
            f'<text x="{place(tick)}" y="{height + 16}" text-anchor="middle">{text}</text>'
        )
    legend = (
        "deviation, % of the reported value",
        "line: 90 % interval; grey: tolerance; arrow: beyond the scale",
    )
    for y, text in zip((height + 34, height + 50), legend, strict=True):
        parts.append(f'<text x="{place(50)}" y="{y}" text-anchor="middle">{text}</text>')
    size = f'width="{_LABELS + _WIDTH + _EDGE}" height="{height + 56}"'
    style = 'font-family="sans-serif" font-size="12" text-anchor="end" stroke-width="1.5"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
        '<rect width="100%" height="100%" fill="#fff"/>'
        f"<g {style}>{''.join(parts).replace('<text ', _TEXT)}</g></svg>"
    )


def _relative(verdict: ClaimVerdict) -> tuple[float, ...]:
    """The value and, where there is one, both ends of its 90 % interval, relative to the reported."""
    values = (verdict.value, *(verdict.interval90 or ()))
    return tuple((one - verdict.reported) / abs(verdict.reported) for one in values)
