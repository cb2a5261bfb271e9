"""TEI as GROBID writes it (and plain TEI tables): prose and references; tables with due doubt.

GROBID builds a table's rows from the words on a page and loses much: numbers run together, rows of
unequal length, text in place of rows, data among the caption. Such tables are recognised here and
have a confidence of at most `BROKEN`; those that look whole have at most `DOUBTED`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.captions import caption_number
from repro_pipeline.paper.citations import cite, print_marks, reference_from_text
from repro_pipeline.paper.markup import (
    PLAIN,
    Reading,
    child,
    inline,
    local_name,
    named,
    parse_xml,
    text_of,
)
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
from repro_pipeline.paper.numbers import parse_numbers
from repro_pipeline.paper.tables import About, RawCell, make_table

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

READER = "tei 1"

BROKEN = 0.1
"""The confidence in a table whose rows or cells are not those of the page."""

_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"


def read_tei(path: Path) -> Paper:
    """A paper from a TEI file.

    Raises PaperError for a file that is not well-formed, is no TEI, or holds no text.
    """
    root, sha256 = parse_xml(path)
    tei = root if local_name(root) == "tei" else next(named(root, "tei"), None)
    if tei is None:
        raise PaperError("holds no <TEI>.", where=path.name)
    header, text = child(tei, "teiheader"), child(tei, "text")
    references = list(_references(text)) if text is not None else []
    body = _Body(path.name, {reference.key for reference in references})
    for part in ("body", "back"):
        if (found := child(text, part)) is not None:
            body.read(found)
    body.footnotes(text)
    sections, references = cite(body.sections, references, lambda keys: "")
    sections = tuple(section for section in sections if section.title or section.text)
    figures = list(named(text, "figure")) if text is not None else []
    software = next(named(header, "application"), None) if header is not None else None
    grobid = software is not None and (software.get("ident") or "").upper() == "GROBID"
    tables = _tables(text, path.name, grobid=grobid)
    abstract = _abstract(header, body)
    if not sections and not tables and not abstract:
        raise PaperError("holds no text.", where=path.name)
    title = text_of(child(header, "filedesc", "titlestmt", "title"))
    version = f" on GROBID {software.get('version', '')}".rstrip() if grobid else ""
    return Paper(
        source=Source(
            file=path.name, format=SourceFormat.TEI, sha256=sha256, reader=READER + version
        ),
        title=title,
        abstract=abstract,
        authors=tuple(_people(child(header, "filedesc", "sourcedesc"), "author")),
        year=_year(child(header, "filedesc")),
        sections=sections,
        equations=tuple(body.equations),
        tables=tables,
        figures=tuple(_figure(figure) for figure in figures if figure.get("type") != "table"),
        references=references,
        warnings=() if title else ("The source has no title.",),
    )


# Text


@dataclass
class _Body:
    """The sections in the making; `known` are the keys of the references."""

    file: str
    known: set[str]
    sections: list[Section] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)

    @property
    def reading(self) -> Reading:
        """Text with the works that it cites."""
        return Reading(PLAIN.skipped | {"figure", "table", "listbibl", "note"}, self.cited)

    def cited(self, element: Element) -> Sequence[str]:
        """The works that a `<ref type="bibr">` points at."""
        if local_name(element) != "ref" or element.get("type") != "bibr":
            return ()
        targets = (target.lstrip("#") for target in (element.get("target") or "").split())
        return [target for target in targets if target in self.known]

    def read(self, part: Element) -> None:
        """The divisions of a part of the text, and text that stands in none."""
        for element in part:
            name = local_name(element)
            if name == "div" and element.get("type") != "references":
                self.division(element)
            elif name in {"p", "formula", "list"}:
                self.paragraph(element)

    def footnotes(self, text: Element | None) -> None:
        """The feet of the pages as a last section: settings and addresses of code stand there."""
        notes = (
            [n for n in named(text, "note") if n.get("place") == "foot"] if text is not None else []
        )
        if notes:
            place = _place(notes[0], self.file)
            self.sections.append(Section(title="Footnotes", level=1, provenance=place))
        for note in notes:
            words = text_of(note, Reading(PLAIN.skipped, self.cited))
            self.add_text(f"{note.get('n', '')} {words}".strip() if words else "")

    def division(self, division: Element) -> None:
        """A heading and its text; GROBID's divisions do not nest, others do."""
        head = child(division, "head")
        number = (head.get("n") or "").rstrip(".") if head is not None else ""
        title = f"{number} {text_of(head)}".strip()
        depth = sum(local_name(around) == "div" for around in division.iterancestors())
        place = _place(head if head is not None else division, self.file)
        level = number.count(".") + 1 if number else depth + 1
        self.sections.append(Section(title=title, level=level, provenance=place))
        for element in division:
            if local_name(element) == "div":
                self.division(element)
            elif local_name(element) != "head":
                self.paragraph(element)

    def paragraph(self, element: Element) -> None:
        """A paragraph, list or formula of the section that is open."""
        if local_name(element) in self.reading.skipped:
            return
        if local_name(element) == "formula":
            text = text_of(element, self.reading.without("label"))
            self.equations += [text] if text else []
        else:
            text = text_of(element, self.reading)
        if text and not self.sections:
            self.sections.append(Section(title="", provenance=_place(element, self.file)))
        self.add_text(text)

    def add_text(self, text: str) -> None:
        """One more paragraph of the last section."""
        if not text:
            return
        last = self.sections[-1]
        joined = f"{last.text}\n\n{text}" if last.text else text
        self.sections[-1] = last.model_copy(update={"text": joined})


def _abstract(header: Element | None, body: _Body) -> str:
    abstract = child(header, "profiledesc", "abstract")
    if abstract is None:
        return ""
    paragraphs = [text_of(p, body.reading) for p in named(abstract, "p")]
    text = "\n\n".join(p for p in paragraphs if p) or text_of(abstract, body.reading)
    return print_marks(text, lambda keys: "")


def _place(element: Element, file: str) -> Provenance:
    """Page and box where GROBID was asked for coordinates (`page,x,y,width,height;…`), else a line."""
    boxes = [box.split(",") for box in (element.get("coords") or "").split(";")]
    found = [(int(box[0]), *map(float, box[1:])) for box in boxes if _is_box(box)]
    if not found:
        return Provenance(file=file, line=element.sourceline)
    page = found[0][0]
    here = [box[1:] for box in found if box[0] == page]
    around = (
        min(x for x, _, _, _ in here),
        min(y for _, y, _, _ in here),
        max(x + width for x, _, width, _ in here),
        max(y + height for _, y, _, height in here),
    )
    return Provenance(file=file, page=page, box=around)


def _is_box(box: Sequence[str]) -> bool:
    number = re.compile(r"-?\d{1,6}(?:\.\d{1,9})?")
    return len(box) == 5 and box[0].isdigit() and all(number.fullmatch(part) for part in box[1:])


# Tables and figures


def _tables(text: Element | None, file: str, *, grobid: bool) -> tuple[Table, ...]:
    if text is None:
        return ()
    found: list[Table] = []
    for element in named(text, "table"):
        figure = element.getparent()
        inside = figure is not None and local_name(figure) == "figure"
        about, spoilt = _about(figure if inside else element, element, file)
        rows = _rows(element, about.provenance)
        doubts = spoilt + _doubts(rows) if rows else []
        if not rows:
            rows, about, doubts = _text_alone(element, about)
        if grobid and not doubts and not about.number:
            doubts.append("It has no number, so it may be a piece of another table or of text.")
        confidence = BROKEN if doubts else 1.0
        if grobid:
            doubts.append("GROBID built its rows and columns from the words on the page.")
        table = make_table(
            len(found) + 1,
            rows,
            about,
            header_rows=_marked_header(element),
            confidence=confidence,
            doubts=doubts,
        )
        broken = any("shorter than" in doubt or "overlap" in doubt for doubt in table.doubts)
        found.append(table.model_copy(update={"confidence": BROKEN}) if broken else table)
    return tuple(found)


def _rows(table: Element, place: Provenance | None) -> list[list[RawCell]]:
    rows: list[list[RawCell]] = []
    for row in named(table, "row"):
        cells: list[RawCell] = []
        for cell in row:
            if local_name(cell) == "cell":
                found = inline(cell)
                here = _place(cell, place.file) if place and cell.get("coords") else place
                cells.append(
                    RawCell(
                        found.text,
                        rows=_span(cell, "rows"),
                        columns=_span(cell, "cols"),
                        bold=found.bold,
                        underline=found.underline,
                        provenance=here,
                    )
                )
        if cells:
            rows.append(cells)
    return rows


def _span(cell: Element, name: str) -> int:
    text = cell.get(name) or "1"
    return max(1, int(text)) if text.isdigit() and len(text) < 5 else 1


def _marked_header(table: Element) -> int | None:
    """Leading rows that TEI marks as labels; GROBID marks none."""
    head = 0
    for row in named(table, "row"):
        if row.get("role") != "label":
            break
        head += 1
    return head or None


def _doubts(rows: Sequence[Sequence[RawCell]]) -> list[str]:
    """What shows that the cells are not those of the page."""
    doubts: list[str] = []
    merged = [at for at, row in enumerate(rows, 1) if any(_runs_together(c.text) for c in row)]
    if merged:
        shown = ", ".join(map(str, merged[:5]))
        doubts.append(f"Several numbers stand in one cell in row {shown}.")
    if max(len(row) for row in rows) < 2 or len(rows) < 2:
        doubts.append("It has a single row or a single column.")
    if len({sum(cell.columns for cell in row) for row in rows}) > 1 and not _spans(rows):
        doubts.append("Its rows differ in length.")
    return doubts


def _spans(rows: Sequence[Sequence[RawCell]]) -> bool:
    return any(cell.rows > 1 for row in rows for cell in row)


def _runs_together(text: str) -> bool:
    """`84.2 88.4`, `0.93 -`: tokens that are each a number or a dash, at least two of them."""
    tokens = text.split()
    if len(tokens) < 2 or parse_numbers(text):
        return False
    numbers = sum(bool(parse_numbers(token)) for token in tokens)
    dashes = sum(token in {"-", "–", "—"} for token in tokens)
    return numbers >= 1 and numbers + dashes >= max(2, 0.7 * len(tokens))


def _text_alone(table: Element, about: About) -> tuple[list[list[RawCell]], About, list[str]]:
    """A table that came as text: its lines, of which the first are the caption if there is none."""
    text = "".join(table.itertext()).strip()
    blocks = re.split(r"\n\s*\n", text)
    given = "as text without rows and cells" if text else "without any of its cells"
    doubts = [f"The source gives it {given}."]
    if not about.caption and blocks[0]:
        about = About(about.number, about.label, " ".join(blocks.pop(0).split()), about.provenance)
    lines = [" ".join(line.split()) for block in blocks for line in block.split("\n")]
    rows = [[RawCell(line, provenance=about.provenance)] for line in lines if line]
    return rows, about, doubts


def _about(figure: Element, table: Element, file: str) -> tuple[About, list[str]]:
    """The table's names, and a doubt where its data stand in the caption."""
    head, label = text_of(child(figure, "head")), text_of(child(figure, "label"))
    caption = text_of(child(figure, "figdesc"))
    if local_name(figure) == "figure" and not caption:
        caption = text_of(child(figure, "note"))
    number, text = caption_number(re.sub(r"\s*[:.]\s*$", "", head), caption)
    if not re.fullmatch(r"(?:Table|Figure) \S{1,8}", number or ""):
        printed = caption_number(f"Table {label}", "")[0] if re.search(r"\d", label) else None
        number, text = printed, f"{head} {caption}".strip()
    tokens = caption.split()
    numbers = sum(bool(parse_numbers(token.strip("(),;"))) for token in tokens)
    doubts = []
    if numbers >= 5 and 3 * numbers >= len(tokens):
        doubts.append("Its caption holds rows of numbers.")
    place = _place(figure if figure.get("coords") else table, file)
    about = About(number=number, label=figure.get(_XML_ID), caption=text, provenance=place)
    return about, doubts


def _figure(figure: Element) -> Caption:
    head = re.sub(r"\s*[:.]\s*$", "", text_of(child(figure, "head")))
    text = text_of(child(figure, "figdesc"))
    number, rest = caption_number(head, text)
    repeated, without = caption_number("", rest)
    text = without if repeated and repeated == number else rest
    return Caption(number=number, label=figure.get(_XML_ID), text=text)


# References and people


def _references(text: Element) -> Iterator[Reference]:
    for lists in named(text, "listbibl"):
        for at, entry in enumerate(named(lists, "biblstruct", "bibl"), start=1):
            yield _reference(entry.get(_XML_ID) or str(at), entry)


def _reference(key: str, entry: Element) -> Reference:
    raw = next((n for n in named(entry, "note") if n.get("type") == "raw_reference"), None)
    titles = sorted(
        named(entry, "title"), key=lambda title: "amj".find(title.get("level") or "j") % 9
    )
    title = next((t for title in titles if (t := text_of(title))), None)
    authors = tuple(_people(entry, "author"))
    year = _year(entry)
    venue = [t for part in titles[1:] if (t := text_of(part)) and t != title]
    parts = (", ".join(authors), title or "", *venue, str(year or ""))
    printed = text_of(raw) or ". ".join(part for part in parts if part)
    addresses = " ".join(
        f"{'arXiv:' if (part.get('type') or '').lower() == 'arxiv' else ''}{text_of(part)}"
        for part in named(entry, "idno", "ptr", "note")
    )
    plain = reference_from_text(key, printed, addresses=addresses)
    return Reference(
        key=key,
        text=printed,
        title=title or plain.title,
        authors=authors or plain.authors,
        year=year or plain.year,
        doi=plain.doi,
        arxiv=plain.arxiv,
    )


def _people(place: Element | None, role: str) -> Iterator[str]:
    for person in named(place, role) if place is not None else ():
        name = next(named(person, "persname"), None)
        parts = [text_of(part) for part in named(person, "forename", "surname")]
        text = " ".join(part for part in parts if part) or text_of(name)
        if text:
            yield text


def _year(place: Element | None) -> int | None:
    """The year of publication: of the first date that has one."""
    for date in named(place, "date") if place is not None else ():
        if found := re.search(r"(?:19|20)\d\d", f"{date.get('when') or ''} {text_of(date)}"):
            return int(found[0])
    return None
