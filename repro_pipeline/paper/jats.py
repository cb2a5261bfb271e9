"""JATS (and its forerunner NLM) articles, as PubMed Central, PLOS, eLife and BMC give them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.cals import cals_rows
from repro_pipeline.paper.captions import caption_number
from repro_pipeline.paper.citations import cite, print_marks
from repro_pipeline.paper.html_tables import HtmlTable, read_rows
from repro_pipeline.paper.inline_markdown import plain_text
from repro_pipeline.paper.jats_references import read_references
from repro_pipeline.paper.markup import (
    PLAIN,
    Reading,
    child,
    local_name,
    named,
    parse_xml,
    replace,
    text_of,
)
from repro_pipeline.paper.model import (
    Caption,
    Paper,
    Provenance,
    Section,
    Source,
    SourceFormat,
    Table,
)
from repro_pipeline.paper.tables import About, make_table

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

READER = "jats 2"

_FLOATS = ("table-wrap", "table-wrap-group", "fig", "fig-group", "supplementary-material", "media")
_BACK = ("ack", "app", "sec", "notes", "bio")
_DOCUMENT = re.compile(r".*\\begin\{document\}|\\end\{document\}.*", re.S)


def read_jats(path: Path) -> Paper:
    """A paper from a JATS file; answers and reviews that are attached to it are left out.

    Raises PaperError for a file that is not well-formed, holds no article, or holds no text.
    """
    root, sha256 = parse_xml(path)
    article = root if local_name(root) == "article" else next(named(root, "article"), None)
    if article is None:
        raise PaperError("holds no <article>.", where=path.name)
    for name in ("sub-article", "response"):
        for attached in list(named(article, name)):
            replace(attached, "")
    _settle_alternatives(article)
    back = child(article, "back")
    references = read_references(back if back is not None else article)
    body = _Body(path.name, {reference.key: at for at, reference in enumerate(references)})
    body.read(article)
    meta = child(article, "front", "article-meta")
    abstract = _abstract(meta, body)
    texts = [*body.sections, *body.floating(article)]
    cited, references = cite(texts, references, lambda keys: "")
    tables = _tables(article, path.name)
    sections = tuple(text for text in cited[: len(body.sections)] if text.title or text.text)
    if not sections and not tables and not abstract:
        raise PaperError("holds no text.", where=path.name)
    title = text_of(child(meta, "title-group", "article-title"), PLAIN.without("xref"))
    return Paper(
        source=Source(file=path.name, format=SourceFormat.JATS, sha256=sha256, reader=READER),
        title=title,
        abstract=abstract,
        authors=_authors(meta),
        year=_year(meta),
        sections=sections,
        equations=tuple(body.equations),
        tables=tables,
        figures=tuple(_figure(figure) for figure in named(article, "fig")),
        references=references,
        warnings=() if title else ("The source has no title.",),
    )


def _settle_alternatives(article: Element) -> None:
    """One of several forms of the same thing: a table or MathML before TeX, before a picture."""
    for several in list(named(article, "alternatives")):
        forms = {local_name(form) for form in several}
        better = forms & {"table", "math"}
        if better or "tex-math" in forms:
            for form in list(several):
                if local_name(form) not in (better or {"tex-math"}):
                    replace(form, "")
    for formula in list(named(article, "tex-math")):
        replace(formula, _printed(formula.text or ""))


def _printed(tex: str) -> str:
    """A formula of TeX, often a document of its own, as it is printed."""
    inside = _DOCUMENT.sub("", tex).strip().strip("$")
    inside = inside.removeprefix("\\[").removesuffix("\\]").strip()
    return plain_text(f"${inside}$") if inside else ""


# Text


@dataclass
class _Body:
    """The sections in the making; `order` is the place of each reference in the list."""

    file: str
    order: dict[str, int]
    sections: list[Section] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)

    @property
    def reading(self) -> Reading:
        """Text with the works that it cites, without what floats beside it."""
        return Reading(PLAIN.skipped | set(_FLOATS), self.cited)

    def cited(self, element: Element) -> Sequence[str]:
        """The works that an element cites; the end of `3–5` cites those between as well."""
        if local_name(element) != "xref" or element.get("ref-type") != "bibr":
            return ()
        keys = [key for key in (element.get("rid") or "").split() if key in self.order]
        before = element.getprevious()
        tail = (before.tail or "").strip() if before is not None else ""
        if keys and tail in {"-", "–", "—", "−"} and before.get("ref-type") == "bibr":
            last = (before.get("rid") or "").rpartition(" ")[2]
            start, end = self.order.get(last, len(self.order)), self.order[keys[0]]
            keys = [key for key, at in self.order.items() if start < at < end] + keys
        return keys

    def read(self, article: Element) -> None:
        """The body, and what of the back matter is text."""
        body = child(article, "body")
        if body is not None:
            self.section(body, "", 0)
        back = child(article, "back")
        for part in back if back is not None else ():
            name = local_name(part)
            if name in _BACK:
                self.section(part, "Acknowledgements" if name == "ack" else "", 1)
            elif name == "app-group":
                for appendix in part:
                    self.section(appendix, "", 1)

    def section(self, element: Element, title: str, level: int) -> None:
        """An element with a heading, its own text, and the sections in it."""
        heading = child(element, "title")
        label = text_of(child(element, "label"))
        title = f"{label} {text_of(heading)}".strip() if heading is not None else title
        place = Provenance(file=self.file, line=element.sourceline)
        at = len(self.sections)
        self.sections.append(Section(title=title, level=max(level, 1), provenance=place))
        paragraphs: list[str] = []
        for inner in element:
            name = local_name(inner)
            if name in {"sec", "app"}:
                self.section(inner, "", level + 1)
            elif name not in {"title", "label", "sec-meta", "ref-list", *_FLOATS}:
                paragraphs += self.paragraphs(inner)
        text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
        self.sections[at] = self.sections[at].model_copy(update={"text": text})

    def paragraphs(self, element: Element) -> Iterator[str]:
        """The paragraphs in a paragraph, a list, a formula, a box."""
        name = local_name(element)
        if name in {"disp-formula", "disp-formula-group"}:
            text = text_of(element, PLAIN.without("label", "graphic"))
            if text:
                self.equations.append(text)
                yield text
        elif name == "list":
            for item in element:
                if text := text_of(item, self.reading.without("label")):
                    yield f"- {text}"
        elif name in {"boxed-text", "disp-quote", "verse-group", "speech", "statement", "def-list"}:
            for inner in element:
                yield from self.paragraphs(inner)
        else:
            for formula in named(element, "disp-formula"):
                if text := text_of(formula, PLAIN.without("label", "graphic")):
                    self.equations.append(text)
            yield text_of(element, self.reading)

    def floating(self, article: Element) -> Iterator[Section]:
        """Captions and rows of tables as texts, for the works that are cited there."""
        for wrap in named(article, "table-wrap", "fig"):
            texts = [text_of(child(wrap, "caption"), self.reading)]
            texts += [text_of(row, self.reading) for row in named(wrap, "tr", "row")]
            texts += [text_of(foot, self.reading) for foot in named(wrap, "table-wrap-foot")]
            yield Section(title=text_of(child(wrap, "label")), text="\n\n".join(texts))


def _abstract(meta: Element | None, body: _Body) -> str:
    """The abstract itself, not the authors' summary or a graphical one."""
    found = [part for part in (meta if meta is not None else ()) if local_name(part) == "abstract"]
    found.sort(key=lambda part: part.get("abstract-type") is not None)
    reading = body.reading.without("title", "label")
    paragraphs: list[str] = []
    for part in found[:1]:
        sections = [inner for inner in part if local_name(inner) == "sec"]
        for section in sections or [part]:
            title = text_of(child(section, "title")) if sections else ""
            text = text_of(section, reading)
            paragraphs.append(f"{title.rstrip(':.')}: {text}" if title else text)
    return print_marks("\n\n".join(paragraphs), lambda keys: "")


# Tables and figures


def _tables(article: Element, file: str) -> tuple[Table, ...]:
    tables: list[Table] = []
    for wrap in named(article, "table-wrap"):
        about = _about(wrap, file)
        grids = [grid for grid in named(wrap, "table") if not _inside_cell(grid, wrap)]
        for grid in grids:
            found = cals_rows(grid, file) if child(grid, "tgroup") is not None else None
            found = found or read_rows(grid, file)
            if found.rows:
                tables.append(_table(len(tables) + 1, found, about))
        if not grids:
            tables.append(_picture(len(tables) + 1, wrap, about))
    return tuple(tables)


def _inside_cell(grid: Element, wrap: Element) -> bool:
    around = grid.getparent()
    while around is not None and around is not wrap:
        if local_name(around) in {"td", "th", "entry"}:
            return True
        around = around.getparent()
    return False


def _table(index: int, found: HtmlTable, about: About) -> Table:
    return make_table(index, found.rows, about, header_rows=found.header_rows, doubts=found.doubts)


def _picture(index: int, wrap: Element, about: About) -> Table:
    """A table without a grid, so that its numbers are known to be missing."""
    picture = next(named(wrap, "graphic", "inline-graphic", "media"), None)
    what = "as a picture, which is not read" if picture is not None else "in a form not known here"
    return make_table(
        index, [], about, confidence=0.0, doubts=[f"The source holds this table {what}."]
    )


def _about(wrap: Element, file: str) -> About:
    """The table's name, and its caption with the notes below it, which say what brackets hold."""
    label = child(wrap, "label")
    around = wrap.getparent()
    captions = [child(wrap, "caption")]
    reading_label = PLAIN.without("xref")
    number = text_of(label, reading_label)
    if around is not None and local_name(around) == "table-wrap-group":
        number = f"{text_of(child(around, 'label'), reading_label)}{_part(number)}"
        captions.insert(0, child(around, "caption"))
    parts = [*captions, *(p for p in wrap if local_name(p) == "table-wrap-foot")]
    reading = Reading(PLAIN.skipped - {"fn"} | {"object-id"})
    caption = " ".join(text for part in parts if (text := text_of(part, reading)))
    number, caption = caption_number(number, caption)
    return About(
        number=number,
        label=wrap.get("id"),
        caption=caption,
        provenance=Provenance(file=file, line=wrap.sourceline),
    )


def _part(label: str) -> str:
    """How the part of a group of tables is named behind the group's number: `(A)` as `a`."""
    letter = re.fullmatch(r"\W*([A-Za-z])\W*", label)
    return letter[1].lower() if letter else label and f" {label}"


def _figure(figure: Element) -> Caption:
    text = text_of(child(figure, "caption"))
    number, text = caption_number(text_of(child(figure, "label")), text)
    return Caption(number=number, label=figure.get("id"), text=text)


# Title page


def _authors(meta: Element | None) -> tuple[str, ...]:
    names: list[str] = []
    for person in named(meta, "contrib") if meta is not None else ():
        if person.get("contrib-type") not in {"author", None} or _nested(person):
            continue
        several = child(person, "name-alternatives")
        name = next(
            (
                n
                for n in [*person, *(several if several is not None else ())]
                if local_name(n) in _NAMES
            ),
            None,
        )
        if name is not None:
            given, family = (text_of(child(name, part)) for part in ("given-names", "surname"))
            names.append(f"{given} {family}".strip() or text_of(name))
        else:
            names.append(text_of(child(person, "collab"), PLAIN.without("contrib-group")))
    return tuple(name for name in names if name)


_NAMES = {"name", "string-name"}


def _nested(person: Element) -> bool:
    """Whether someone is a member of a group that is an author itself."""
    return any(local_name(around) == "collab" for around in person.iterancestors())


def _year(meta: Element | None) -> int | None:
    """The year of the first publication."""
    years = [
        int(text)
        for date in (meta if meta is not None else ())
        if local_name(date) == "pub-date"
        and re.fullmatch(r"(?:19|20)\d\d", text := text_of(child(date, "year")))
    ]
    return min(years, default=None)
