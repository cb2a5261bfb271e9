"""Tables in Markdown, for the report. Texts of papers are escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.report.rows import pair_rows
from repro_pipeline.report.words import plain, span
from repro_pipeline.scoring.model import Scores


def ablations_markdown(scores: Scores, claims: ReportedClaims) -> str:
    """The table of ablations and comparisons; a sentence where the paper has none."""
    pairs = pair_rows(claims, scores)
    if not pairs:
        return "The claims hold no ablation and no comparison."
    header = ("pair", "kind", "paper", "reproduced", "95 % interval", "n", "direction", "reason")
    rows = [
        (
            row.label,
            row.pair.kind,
            row.expected,
            row.found,
            span(row.result.interval95, claims.claim(row.pair.full).quantum),
            str(row.result.n),
            row.sign_words,
            row.result.reason,
        )
        for row in pairs
    ]
    says = "Interval: of the mean of the differences, paired by seed; the direction rests on it."
    return f"{table(header, rows)}\n{says}\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the texts of its rows are escaped."""
    lines = [header, ["---"] * len(header)]
    cells = [*lines, *([escaped(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: no table border, emphasis, link, image, HTML or formula."""
    safe = html.escape(plain(text), quote=False)
    return re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", safe)
