"""Plots as PNG, for where a page of ours is not at hand: the metadata of assets in the UI."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

from repro_pipeline.scoring.model import Scores
from repro_pipeline.status import Verdict
from repro_pipeline.sweeps.trend import ClaimTrend, Trend

_LOOKS = {
    Verdict.REPRODUCED: ("o", "#0b6b4f"),
    Verdict.NOT_REPRODUCED: ("X", "#a3211d"),
    Verdict.INCONCLUSIVE: ("D", "#7a5200"),
}


def forest_markdown(scores: Scores, threshold: float) -> str:
    """A forest plot as Markdown with the image in it: relative deviation of each claim, in per cent,
    with its 90 % interval and the tolerance; claims without a value are left out of the plot.
    """
    if not any(verdict.value is not None and verdict.reported for verdict in scores.verdicts):
        return "No claim has a value."
    image = base64.b64encode(_forest_png(scores, threshold)).decode()
    return f"![reproduced minus reported, in per cent](data:image/png;base64,{image})"


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
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)
    return buffer.getvalue()


def _forest_png(scores: Scores, threshold: float) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = [v for v in scores.verdicts if v.value is not None and v.reported]
    figure = Figure(figsize=(7, 1 + 0.28 * len(shown)), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    axes.axvspan(-100 * threshold, 100 * threshold, color="#e4e4e0")
    axes.axvline(0, color="#555", linewidth=0.8)
    for row, verdict in enumerate(shown):
        marker, colour = _LOOKS[verdict.verdict]
        scale = 100 / abs(verdict.reported)
        if verdict.interval90:
            ends = [(end - verdict.reported) * scale for end in verdict.interval90]
            axes.plot(ends, [row, row], color=colour, linewidth=1.5)
        axes.plot((verdict.value - verdict.reported) * scale, row, marker, color=colour)
    axes.set_yticks(range(len(shown)), [verdict.claim for verdict in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlabel("reproduced − reported, % of the reported value (grey: tolerance)")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)
    return buffer.getvalue()
