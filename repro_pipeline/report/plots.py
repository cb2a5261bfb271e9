"""Plots as PNG, for where a page of ours is not at hand: the metadata of assets in the UI."""

from __future__ import annotations

import base64
import io

from repro_pipeline.scoring.model import Scores
from repro_pipeline.status import Verdict

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
