"""A PDF file as a paper."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro_pipeline.paper.citations import link_citations
from repro_pipeline.paper.model import (
    Caption,
    Cell,
    Paper,
    Provenance,
    Section,
    Source,
    SourceFormat,
    Table,
)
from repro_pipeline.paper.pdf import layout
from repro_pipeline.paper.pdf.captions import CaptionAt, captions
from repro_pipeline.paper.pdf.chars import open_pdf, read_page
from repro_pipeline.paper.pdf.flow import (
    FlowLine,
    Passage,
    Style,
    body_style,
    flow,
    passages,
    vocabulary,
)
from repro_pipeline.paper.pdf.front import front_matter, year_of
from repro_pipeline.paper.pdf.grids import read_grid
from repro_pipeline.paper.pdf.legible import check, garbled_pages
from repro_pipeline.paper.pdf.lines import Frame, bounding, frames
from repro_pipeline.paper.pdf.references import references
from repro_pipeline.paper.pdf.regions import Region, regions
from repro_pipeline.paper.pdf.ruled import Boxes, ruled_boxes
from repro_pipeline.paper.tables import About, make_table

READER = "repro-pdf 2"
"""Name and version of this reader: a change of what it reads makes a new version."""


def read_pdf(path: Path) -> Paper:
    """The paper in a PDF file, read from its text layer; nothing is recognised from pictures.

    Raises PaperError, naming which, for a file that is missing, empty, no PDF, encrypted,
    truncated or malformed, has no pages or too many, or has no text to read: pictures only
    (a scan), or fonts that do not say which characters they print. Single pages like that are
    named in the paper's warnings.
    """
    path = Path(path)
    with open_pdf(path) as document:
        pages = [_frames(document, index) for index in range(len(document))]
    warnings = check(path, [found[0] if found else None for found in pages])
    sheets = _sheets([found for found in pages if found])
    style = body_style(sheet.frame for sheet in sheets)
    text = [line for sheet in sheets for line in _flow(sheet, style)]
    known = vocabulary(line.text for line in text)
    first = [line for line in text if line.frame.page.number == sheets[0].frame.page.number]
    title, authors, head = front_matter(first, style, known)
    head_ids = {id(line) for line in head}
    found = passages([line for line in text if id(line) not in head_ids], style)
    abstract, rest = _abstract(found)
    cited_lines, rest = _reference_lines(rest)
    cited = references(cited_lines, known)
    sections = _sections(rest, path.name)
    figures = [
        caption for sheet in sheets for caption in sheet.captions if caption.kind == "figure"
    ]
    tables = _tables(sheets, path.name, known, garbled_pages([f[0] for f in pages if f]))
    margins = sheets[0].margins if sheets else ()
    return Paper(
        source=Source(
            file=path.name,
            format=SourceFormat.PDF,
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
            reader=READER,
        ),
        title=title or path.stem,
        abstract=abstract,
        authors=authors,
        year=year_of(margins, head),
        sections=sections,
        tables=tables,
        figures=tuple(Caption(number=figure.number, text=figure.text) for figure in figures),
        references=link_citations([*sections, *_citing(tables, figures)], cited),
        warnings=tuple(warnings),
    )


@dataclass(frozen=True)
class Sheet:
    """One frame of a page, its lines placed, its captions and tables found."""

    frame: Frame
    placed: tuple[layout.Placed, ...]
    captions: tuple[CaptionAt, ...]
    regions: tuple[Region, ...]
    margins: tuple[str, ...]
    """Texts of the paper's running heads and feet."""


def _frames(document: Any, index: int) -> list[Frame]:
    page = read_page(document, index)
    return frames(page) if page is not None else []


def _sheets(by_page: Sequence[Sequence[Frame]]) -> list[Sheet]:
    mains, margins = layout.without_running_heads([found[0] for found in by_page])
    gutters = layout.gutters(mains)
    boxes: list[Boxes] = []
    for main, gutter, found in zip(mains, gutters, by_page, strict=True):
        for frame, middle in ((main, gutter), *((frame, None) for frame in found[1:])):
            placed = layout.placed(frame.words, middle)
            boxes.append(ruled_boxes(frame, placed, captions(frame, placed)))
    return [
        Sheet(page.frame, tuple(page.placed), tuple(page.captions), tuple(found), margins)
        for page, found in zip(boxes, regions(boxes), strict=True)
    ]


def _flow(sheet: Sheet, style: Style) -> list[FlowLine]:
    barriers = [
        box[3]
        for box in [region.box for region in sheet.regions]
        if any(
            item.side == layout.LEFT and item.line.x1 > box[0] + 5 and box[2] > item.line.x1 + 40
            for item in sheet.placed
        )
    ]
    ordered = layout.reading_order(sheet.placed, barriers)
    tables = [region.box for region in sheet.regions]
    return flow(sheet.frame, ordered, sheet.captions, tables, style)


def _tables(
    sheets: Sequence[Sheet], file: str, known: frozenset[str], garbled: frozenset[int]
) -> tuple[Table, ...]:
    tables: list[Table] = []
    for region in (region for sheet in sheets for region in sheet.regions):
        doubts = ["The page's fonts give wrong characters."]
        doubtful = region.frame.page.number in garbled
        table = _table(region, len(tables) + 1, file, known, doubts if doubtful else [])
        if table is not None:
            tables.append(table)
    return tuple(tables)


def _table(
    region: Region, index: int, file: str, known: frozenset[str], doubts: Sequence[str]
) -> Table | None:
    grid = read_grid(region, file, known)
    if grid is None:
        return None
    caption = region.caption
    about = About(
        number=caption.number if caption else None,
        caption=caption.text if caption else "",
        provenance=Provenance(
            file=file, page=region.frame.page.number, box=region.frame.on_page(region.box)
        ),
    )
    doubts = [*doubts, *grid.doubts]
    if caption is None:
        doubts.append("No caption names the table.")
    if not region.ruled:
        doubts.append("No rules frame the table; its rows were found by alignment.")
    if region.unusual:
        doubts.append("Its caption stands on the other side than those of most tables.")
    if caption is not None and _ENDS_IN_ROW.search(caption.text):
        doubts.append("Its caption ends in numbers, as a row of a table does.")
    if region.shared:
        doubts.append("Another table stands under the same caption.")
    if region.frame.page.scanned:
        doubts.append("The page is a scan with recognised text.")
    table = make_table(index, grid.rows, about, rules=grid.rules, doubts=doubts)
    merged = [cell.text for row in table.grid for cell in row if _is_merged(cell)]
    if not merged:
        return table
    doubts.append(f"'{merged[0]}' may be the values of two cells.")
    return make_table(index, grid.rows, about, rules=grid.rules, doubts=doubts)


_ENDS_IN_ROW = re.compile(r"(?:\s[-−–+]?\d*\.\d+%?){3}$")
_NUMBERS = re.compile(r"(?:[-−–+]?[\d.,]*\d%?(?: ?(?:± ?|\()[^ )]*\d\)?)?(?:\s|$)){2,}")


def _is_merged(cell: Cell) -> bool:
    """Whether a cell is a row of numbers that cannot be read as one value, or as value and change."""
    change = re.search(r"\d%? [-−–+]\.?\d", cell.text)
    return bool(change or not cell.numbers) and _NUMBERS.fullmatch(cell.text) is not None


def _citing(tables: Sequence[Table], figures: Sequence[CaptionAt]) -> list[Section]:
    """What tables and figures say in words, as text that may cite."""
    texts = [
        (
            str(table),
            [table.caption]
            + [
                " ".join(cell.text for cell in row if not cell.numbers and not cell.spanned)
                for row in table.grid
            ],
        )
        for table in tables
    ]
    texts += [(figure.number, [figure.text]) for figure in figures]
    return [Section(title=title, text="\n\n".join(parts)) for title, parts in texts]


# Parts of the text


def _abstract(found: Sequence[Passage]) -> tuple[str, list[Passage]]:
    """The abstract, and the passages without it."""
    for index, passage in enumerate(found[:12]):
        if passage.level > 0 and re.fullmatch(r"abstract|summary", passage.text, re.IGNORECASE):
            end = index + 1
            while end < len(found) and found[end].level <= 0:
                end += 1
            parts = [part.text for part in found[index + 1 : end] if part.level == 0]
            return "\n\n".join(parts), [*found[:index], *found[end:]]
        run_in = re.match(r"Abstract\s*[.:—–-]+\s*(?P<rest>\S.*)", passage.text, re.DOTALL)
        if passage.level == 0 and run_in:
            return run_in["rest"], [*found[:index], *found[index + 1 :]]
    return "", list(found)


def _reference_lines(found: Sequence[Passage]) -> tuple[list[FlowLine], list[Passage]]:
    """The lines of the list of references, and the passages without it."""
    for index in range(len(found) - 1, -1, -1):
        title = re.sub(r"^[\dIVX.]+\s+", "", found[index].text)
        if found[index].level > 0 and re.fullmatch(
            r"references(?: and notes)?|bibliography|literature cited|works cited", title, re.I
        ):
            end = index + 1
            while end < len(found) and (found[end].level <= 0 or _is_entry(found[end])):
                end += 1
            lines = [line for part in found[index + 1 : end] for line in part.lines]
            return lines, [*found[:index], *found[end:]]
    return [], list(found)


def _is_entry(passage: Passage) -> bool:
    return passage.level > 0 and re.match(r"\d{1,3}\.? .+,", passage.text) is not None


def _sections(found: Sequence[Passage], file: str) -> tuple[Section, ...]:
    sections: list[Section] = []
    heading: Passage | None = None
    texts: list[str] = []
    notes: list[str] = []

    def close() -> None:
        if heading is not None or texts or notes:
            sections.append(
                Section(
                    title=heading.text if heading else "",
                    level=heading.level if heading else 1,
                    text="\n\n".join([*texts, *notes]),
                    provenance=_provenance(heading, file) if heading else None,
                )
            )

    for passage in found:
        if passage.level > 0:
            close()
            heading, texts, notes = passage, [], []
        elif passage.level == 0:
            texts.append(passage.text)
        else:
            notes.append(passage.text)
    close()
    return tuple(sections)


def _provenance(passage: Passage, file: str) -> Provenance:
    first = passage.lines[0]
    same = [line for line in passage.lines if line.frame is first.frame]
    box = first.frame.on_page(bounding(line.line.box for line in same))
    return Provenance(file=file, page=first.frame.page.number, box=box)
