"""Markdown papers, written by hand or by converters (MinerU, docling, pandoc)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.blocks import Block, blocks_of, pipe_cells
from repro_pipeline.paper.captions import CAPTION, number_of
from repro_pipeline.paper.citations import (
    cite,
    mark,
    marked_keys,
    reference_from_text,
)
from repro_pipeline.paper.html_tables import HtmlTable, html_tables, read_rows
from repro_pipeline.paper.inline_markdown import cell_text, plain_text
from repro_pipeline.paper.model import (
    Caption,
    Paper,
    Provenance,
    Reference,
    Section,
    Source,
    SourceFormat,
    Table,
)
from repro_pipeline.paper.tables import About, RawCell, make_table

READER = "markdown 2"
LARGEST = 20 << 20


def read_markdown(path: Path) -> Paper:
    """A paper from a Markdown file. Raises PaperError for a file that is empty or no text."""
    try:
        data = path.read_bytes()[: LARGEST + 1]
    except OSError as error:
        raise PaperError(f"cannot be read ({error.strerror}).", where=str(path)) from None
    if len(data) > LARGEST:
        raise PaperError("larger than a paper can be.", where=str(path))
    if b"\0" in data:
        raise PaperError("not a text file.", where=str(path))
    text = data.decode("utf-8-sig", errors="replace")
    meta, blocks = blocks_of(text)
    document = _Document(path.name, title=meta.get("title", ""))
    document.read(_without_captions(blocks, document))
    if not document.sections and not document.tables:
        raise PaperError("holds no text.", where=path.name)
    return _paper(document, meta, path.name, hashlib.sha256(data).hexdigest())


@dataclass
class _Document:
    """A document in the making."""

    file: str
    title: str = ""
    sections: list[Section] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Caption] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    in_references: bool = False

    def read(self, blocks: Sequence[tuple[Block, str | None, str]]) -> None:
        """Blocks with, for tables, the caption that belongs to them."""
        readers: dict[str, Callable[[Block, str | None, str], None]] = {
            "heading": self.heading,
            "pipe": self.pipe_table,
            "html": self.html_table,
            "math": self.equation,
            "text": self.paragraph,
            "code": self.paragraph,
            "image": self.image,
        }
        for block, number, caption in blocks:
            readers[block.kind](block, number, caption)

    def heading(self, block: Block, number: str | None, caption: str) -> None:
        title = plain_text(block.text)
        if not self.title and not self.sections and not _FIRST_SECTION.match(title):
            self.title = title
            return
        self.in_references = _REFERENCES.fullmatch(title) is not None
        place = Provenance(file=self.file, line=block.line)
        self.sections.append(Section(title=title, level=_level(title, block), provenance=place))

    def paragraph(self, block: Block, number: str | None, caption: str) -> None:
        if self.in_references:
            self.entries += _entries(block.text)
            return
        text = block.text if block.kind == "code" else plain_text(block.text, mark=mark)
        if not text:
            return
        if not self.sections:
            place = Provenance(file=self.file, line=block.line)
            self.sections.append(Section(title="", provenance=place))
        last = self.sections[-1]
        joined = f"{last.text}\n\n{text}" if last.text else text
        self.sections[-1] = last.model_copy(update={"text": joined})

    def image(self, block: Block, number: str | None, caption: str) -> None:
        """A picture has no text; its caption is a paragraph."""

    def equation(self, block: Block, number: str | None, caption: str) -> None:
        self.equations.append(" ".join(block.text.split()))
        self.paragraph(replace(block, text=f"${block.text}$"), None, "")

    def pipe_table(self, block: Block, number: str | None, caption: str) -> None:
        lines = block.text.split("\n")
        rows = [
            [
                replace(
                    cell_text(text), provenance=Provenance(file=self.file, line=block.line + at)
                )
                for text in pipe_cells(line)
            ]
            for at, line in enumerate(lines)
            if at != 1
        ]
        doubts = []
        width = len(rows[0])
        if any(len(row) > width and any(cell.text for cell in row[width:]) for row in rows):
            doubts.append("A row has more cells than the header.")
        width = max(len(row) for row in rows) if doubts else width
        rows = [[*row, *[RawCell("")] * (width - len(row))][:width] for row in rows]
        rows = _with_header_spans(rows) if any(cell.text for cell in rows[0]) else rows[1:]
        self.add(HtmlTable(rows, None, tuple(doubts)), block, number, caption)

    def html_table(self, block: Block, number: str | None, caption: str) -> None:
        whole = block.text.lower().count("<table") == block.text.lower().count("</table")
        for table in html_tables(block.text):
            found = read_rows(table, self.file, block.line, cell_text)
            captions = [" ".join(text.itertext()) for text in table.iter("caption")]
            own = CAPTION.match(captions[0].strip()) if captions else None
            if own:
                number, caption = number_of(own), plain_text(own["text"])
            elif captions and not caption:
                caption = plain_text(captions[0])
            if not whole:
                found = replace(found, doubts=(*found.doubts, "<table> has no </table>."))
            self.add(found, block, number, caption)

    def add(self, found: HtmlTable, block: Block, number: str | None, caption: str) -> None:
        if not found.rows:
            return
        place = Provenance(file=self.file, line=block.line)
        about = About(number=number, caption=caption, provenance=place)
        self.tables.append(
            make_table(
                len(self.tables) + 1,
                found.rows,
                about,
                header_rows=found.header_rows,
                rules=() if found.header_rows is not None or block.kind == "html" else (1,),
                doubts=found.doubts,
            )
        )


_FIRST_SECTION = re.compile(r"abstract\b|summary$|(?:1\.?\s+)?introduction$", re.I)
_REFERENCES = re.compile(r"(?:\d+\.?\s*)?(?:references|bibliography|literature(?: cited)?)", re.I)


def _with_header_spans(rows: list[list[RawCell]]) -> list[list[RawCell]]:
    """Rows in which header texts that converters repeat over their places span these again.

    The header goes on below the line for as long as its corner is repeated.
    """
    corner = rows[0][0].text
    head = 1
    while corner and head < len(rows) - 1 and rows[head][0].text == corner:
        head += 1
    texts = [[cell.text for cell in row] for row in rows[:head]]
    tall = {
        column: next((at for at in range(1, head) if texts[at][column] != text), head)
        for column, text in enumerate(texts[0])
    }
    spread: list[list[RawCell]] = []
    for at, row in enumerate(rows[:head]):
        cells: list[RawCell] = []
        before: tuple[int, str] | None = None
        for column, cell in enumerate(row):
            height = tall[column] if at == 0 else 1
            if at and at < tall[column]:
                before = None
            elif cell.text and before == (height, cell.text):
                cells[-1] = replace(cells[-1], columns=cells[-1].columns + 1)
            else:
                cells.append(replace(cell, rows=height))
                before = (height, cell.text)
        spread.append(cells)
    return spread + rows[head:]


def _level(title: str, block: Block) -> int:
    """Numbered headings show their level; converters give all headings the same mark."""
    numbered = re.match(r"(?:\d+|[A-Z])((?:\.\d+)*)\.?\s", title)
    return 1 + numbered[1].count(".") if numbered else max(1, block.level - 1)


def _entries(text: str) -> list[str]:
    """The entries of a block of references; a line that starts one begins a new entry.

    Entries begin with a number or a bullet, or are lines that each end with a full stop.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    apart = all(_YEAR.search(line) and line.rstrip()[-1] in ".)" for line in lines)
    found: list[str] = []
    for line in lines:
        if not found or apart or _ENTRY.match(line) or _BULLET.match(line):
            found.append(line.strip())
        else:
            found[-1] += " " + line.strip()
    return found


_YEAR = re.compile(r"\b(?:19|20)\d\d")
_BULLET = re.compile(r"\s*[-*+]\s+\S")
_ENTRY = re.compile(
    r"\s*(?:[-*+]\s+)?(?:\[(\d{1,4})\]|\\\[(\d{1,4})\\\]|(\d{1,4})[.)]|\[@?([\w:./-]+)\]:?)\s"
)


def _references(entries: Sequence[str]) -> list[Reference]:
    references: list[Reference] = []
    for place, entry in enumerate(entries, start=1):
        numbered = _ENTRY.match(entry + " ")
        key = next((group for group in numbered.groups() if group), None) if numbered else None
        text = plain_text(entry[numbered.end() :] if numbered else entry.lstrip("-*+ "))
        if text:
            references.append(reference_from_text(key or str(place), text))
    return references


def _paper(document: _Document, meta: dict[str, str], file: str, sha256: str) -> Paper:
    abstract, sections = _abstract(document.sections)
    references = _references(document.entries)
    known = {reference.key for reference in references}
    keys = [key for section in sections for key in marked_keys(section.text) if key not in known]
    references += [Reference(key=key, text="") for key in dict.fromkeys(keys)]
    sections, references = cite(sections, references, lambda keys: f"[{', '.join(keys)}]")
    year = re.search(r"\b(?:19|20)\d\d\b", meta.get("date", ""))
    authors = re.split(r"\s*(?:,|;|\band\b)\s*", meta.get("author", ""))
    return Paper(
        source=Source(file=file, format=SourceFormat.MARKDOWN, sha256=sha256, reader=READER),
        title=document.title,
        abstract=abstract,
        authors=tuple(author for author in authors if author),
        year=int(year[0]) if year else None,
        sections=tuple(section for section in sections if section.title or section.text),
        equations=tuple(document.equations),
        tables=tuple(document.tables),
        figures=tuple(document.figures),
        references=references,
        warnings=() if document.title else ("The source has no title.",),
    )


def _abstract(sections: list[Section]) -> tuple[str, list[Section]]:
    """The abstract, which is a section or a paragraph that begins with the word, and the rest."""
    for place, section in enumerate(sections):
        if re.fullmatch(r"abstract|summary", section.title.strip(" .:"), re.I):
            return section.text, [*sections[:place], *sections[place + 1 :]]
    for place, section in enumerate(sections[:2]):
        paragraphs = section.text.split("\n\n")
        for at, paragraph in enumerate(paragraphs):
            if found := re.match(r"abstract\W+(?=\w)", paragraph, re.I):
                kept = "\n\n".join(paragraphs[:at] + paragraphs[at + 1 :])
                rest = section.model_copy(update={"text": kept})
                text = paragraph[found.end() :]
                return text, [*sections[:place], rest, *sections[place + 1 :]]
    return "", sections


# Captions


def _without_captions(
    blocks: Sequence[Block], document: _Document
) -> list[tuple[Block, str | None, str]]:
    """Blocks without caption paragraphs, and the caption with the table that it belongs to.

    Where a table has captions on both sides, the side decides that other tables of the paper use.
    """
    captions = {
        at: found
        for at, block in enumerate(blocks)
        if block.kind == "text" and (found := CAPTION.match(block.text))
    }
    owned = _owners(blocks, {at for at, found in captions.items() if number_of(found)[0] == "T"})
    kept: list[tuple[Block, str | None, str]] = []
    for at, block in enumerate(blocks):
        if at in captions:
            if number_of(captions[at])[0] == "F":
                text = plain_text(captions[at]["text"])
                document.figures.append(Caption(number=number_of(captions[at]), text=text))
                continue
            if at in owned.values():
                continue
        if at in owned:
            found = captions[owned[at]]
            kept.append((block, number_of(found), plain_text(found["text"])))
        else:
            kept.append((block, None, ""))
    return kept


def _owners(blocks: Sequence[Block], captions: set[int]) -> dict[int, int]:
    """For each table with a caption, the place of the caption."""
    tables = [at for at, block in enumerate(blocks) if block.kind in {"pipe", "html"}]
    above = sum(at - 1 in captions and at + 1 not in captions for at in tables)
    below = sum(at + 1 in captions and at - 1 not in captions for at in tables)
    sides = (-1, 1) if above >= below else (1, -1)
    owners: dict[int, int] = {}
    for side in sides:
        for at in tables:
            place = at + side
            if at not in owners and place in captions and place not in owners.values():
                owners[at] = place
    return owners
