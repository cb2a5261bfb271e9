"""The tables of a PDF by other tools, all that their strategies find, and by our reader."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from repro_pipeline.paper.model import Table
from repro_pipeline.paper.pdf import read_pdf
from repro_pipeline.paper.tables import RawCell, make_table


def ours(path: Path) -> list[Table]:
    """Our reader."""
    return list(read_pdf(path).tables)


def pdfplumber(path: Path) -> list[Table]:
    """By lines and by text."""
    import pdfplumber as tool

    with tool.open(path) as document:
        return [
            _table(grid)
            for page in document.pages
            for way in ("lines", "text")
            for grid in page.extract_tables({"vertical_strategy": way, "horizontal_strategy": way})
        ]


def camelot(path: Path) -> list[Table]:
    """Its ways for tables with and without rules."""
    import camelot as tool

    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    return [
        _table(found.df.to_numpy().tolist())
        for way in ("lattice", "stream")
        for found in tool.read_pdf(str(path), pages="all", flavor=way)
    ]


def pypdfium2(path: Path) -> list[Table]:
    """The text alone: each page is a table, its lines the rows, parted at blanks."""
    import pypdfium2 as tool

    document = tool.PdfDocument(path)
    pages = (document[at].get_textpage().get_text_bounded() for at in range(len(document)))
    return [_table([re.split(r"\s+", line) for line in text.splitlines()]) for text in pages]


def _table(grid: Iterable[Iterable[str | None]]) -> Table:
    rows = [[RawCell(" ".join((text or "").split())) for text in row] for row in grid]
    return make_table(1, rows)


OTHERS: dict[str, Callable[[Path], list[Table]]] = {
    "ours": ours,
    "pdfplumber": pdfplumber,
    "camelot": camelot,
    "pypdfium2": pypdfium2,
}
