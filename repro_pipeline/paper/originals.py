"""What a table looks like in the paper itself: pictures of a PDF's pages, or lines of the source.

The paper's file is opened in a process of its own, within the limits that reading has.
"""

from __future__ import annotations

import base64
import io
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any

from pydantic import TypeAdapter

from repro_pipeline.errors import PaperError
from repro_pipeline.frozen import Frozen
from repro_pipeline.paper.limits import DEFAULT_LIMITS, Limits, run_limited, serve
from repro_pipeline.paper.model import Paper, Table

Box = tuple[float, float, float, float]

MARGIN = 28.0
"""Points around a table that its picture shows: a line or two of what stands beside it."""
DOTS_PER_POINT = 2.0
MOST_DOTS = 4000
"""Along the longer side of a page."""
LINES_BESIDE = 2
MOST_LINES = 400
LONGEST_LINE = 300
LEAST_ALIKE = 0.5
"""A table of the markup that shares fewer of its words is another one."""


class Picture(Frozen):
    """A part of a page. Sizes in points; `box` is the part's place on the page, origin top left."""

    page: int
    box: Box
    png: str
    """Base64."""


class SourceLine(Frozen):
    """A line of the source, or a row of its markup, cut where it is long."""

    number: int
    text: str


class Original(Frozen):
    """How a table stands in the paper: pictures, lines, or why there is neither."""

    file: str = ""
    pictures: tuple[Picture, ...] = ()
    lines: tuple[SourceLine, ...] = ()
    by_row: bool = False
    """Whether `lines` are the rows of the table's markup, numbered from 1: XML may be one long line."""
    missing: str = ""


_ANSWER = TypeAdapter(tuple[Original, ...])


def originals(
    paper: Paper, folder: Path, sources: tuple[str, ...], limits: Limits = DEFAULT_LIMITS
) -> tuple[Original, ...]:
    """For each table of the document, in order, how it stands in the paper.

    `folder` holds the `sources` that the document was read from. Raises PaperError as reading does.
    """
    asked = _REQUESTS.dump_json(tuple(_request(table) for table in paper.tables))
    with tempfile.NamedTemporaryFile(prefix="repro-originals-") as file:
        file.write(asked)  # too long for a command line, where there are many tables
        file.flush()
        arguments = [str(folder.resolve()), "\n".join(sources), file.name]
        answer = run_limited(__name__, arguments, limits, what=folder.name)
    return _ANSWER.validate_python(answer)


class _Request(Frozen):
    """Where a table stands: a box a page, or its first and last line."""

    file: str = ""
    boxes: tuple[tuple[int, Box], ...] = ()
    lines: tuple[int, int] | None = None
    words: tuple[str, ...] = ()
    """What the table says: it tells the tables of a file of markup apart."""


_REQUESTS = TypeAdapter(tuple[_Request, ...])


def _request(table: Table) -> _Request:
    """Where the table and its cells say that they stand, in the table's own file."""
    if table.provenance is None:
        return _Request()
    file = table.provenance.file
    places = [table.provenance, *(cell.provenance for row in table.grid for cell in row)]
    here = [place for place in places if place is not None and place.file == file]
    by_page: dict[int, list[Box]] = defaultdict(list)
    for place in here:
        if place.page and place.box:
            by_page[place.page].append(place.box)
    lines = [place.line for place in here if place.line]
    return _Request(
        file=file,
        boxes=tuple((page, _union(boxes)) for page, boxes in sorted(by_page.items())),
        lines=(min(lines), max(lines)) if lines else None,
        words=_words(cell.text for row in table.grid for cell in row) if _is_xml(file) else (),
    )


def _is_xml(name: str) -> bool:
    return name.lower().endswith((".xml", ".nxml", ".tei"))


def _words(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({word for text in texts for word in re.findall(r"\w+", text.casefold())}))


def _union(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


# In the process of its own


def _work(folder: str, sources: str, requests: str) -> Any:
    asked = _REQUESTS.validate_json(Path(requests).read_bytes())
    names = sources.split("\n")
    found = [Original(missing="The reader did not note where the table stands.")] * len(asked)
    texts: dict[str, list[str]] = {}
    pictured: dict[str, dict[int, _Request]] = defaultdict(dict)
    for at, request in enumerate(asked):
        if request.words and request.lines and request.file in names:
            found[at] = _marked_up(Path(folder, request.file), request)
        elif request.lines:
            if request.file not in texts:
                texts[request.file] = _text(Path(folder), names, request.file).splitlines()
            found[at] = _lines(request.file, request.lines, texts[request.file])
        elif request.boxes and (pdf := _pdf_of(request.file, names)):
            pictured[pdf][at] = request
    for pdf, wanted in pictured.items():
        for at, original in _pictured(Path(folder, pdf), wanted).items():
            found[at] = original
    return [original.model_dump(mode="json") for original in found]


def _pdf_of(file: str, names: list[str]) -> str | None:
    """The PDF whose pages a file's boxes are of: itself, or for TEI the PDF beside it."""
    pdfs = [name for name in names if name.lower().endswith(".pdf")]
    return file if file in pdfs else next(iter(pdfs), None)


def _text(folder: Path, names: list[str], file: str) -> str:
    """A file of the paper: one of the bundle's sources, or of the LaTeX tree that is the first."""
    from repro_pipeline.paper.latex.tree import decode, open_tree

    if file in names and PurePath(file).suffix in {".md", ".markdown"}:
        return decode((folder / file).read_bytes())
    try:
        return open_tree(folder / names[0]).text(file)
    except PaperError:
        return ""


def _lines(file: str, between: tuple[int, int], text: list[str]) -> Original:
    first = max(1, between[0] - LINES_BESIDE)
    last = min(len(text), between[1] + LINES_BESIDE, first + MOST_LINES)
    lines = tuple(
        SourceLine(number=number, text=_cut(text[number - 1])) for number in range(first, last + 1)
    )
    if not lines:
        return Original(file=file, missing=f"{file} has no such lines.")
    return Original(file=file, lines=lines)


def _marked_up(path: Path, request: _Request) -> Original:
    """The rows of the markup of the table that says most nearly the same."""
    from repro_pipeline.paper.markup import local_name, named, parse_xml

    root, _ = parse_xml(path)
    wanted = set(request.words)

    def likeness(table: Any) -> float:
        words = set(_words(table.itertext()))
        return len(words & wanted) / max(1, len(words | wanted))

    tables = list(named(root, "table"))
    best = max(tables, key=likeness, default=None)
    if best is None or likeness(best) < LEAST_ALIKE:
        return Original(file=path.name, missing=f"Its markup was not found in {path.name}.")
    groups = {"thead": 0, "tfoot": 2}
    rows = sorted(
        named(best, "tr", "row"), key=lambda row: groups.get(local_name(row.getparent()), 1)
    )
    lines = [
        SourceLine(number=number, text=_markup(row))
        for number, row in enumerate(rows[:MOST_LINES], 1)
    ]
    return Original(file=path.name, lines=tuple(lines), by_row=True)


def _markup(row: Any) -> str:
    """A row as its source writes it, without what declares namespaces."""
    from lxml import etree

    text = etree.tostring(row, encoding="unicode", with_tail=False)
    plain = re.sub(r' xmlns(?::\w+)?="[^"]*"', "", text)
    return _cut(" ".join(plain.split()), 10 * LONGEST_LINE)


def _cut(text: str, longest: int = LONGEST_LINE) -> str:
    return text if len(text) <= longest else f"{text[:longest]} …"


def _pictured(path: Path, wanted: dict[int, _Request]) -> dict[int, Original]:
    """Each page is drawn once, whatever the number of its tables."""
    from repro_pipeline.paper.pdf.chars import open_pdf

    pictures: dict[int, list[Picture]] = defaultdict(list)
    with open_pdf(path) as document:
        for number in sorted({page for request in wanted.values() for page, _ in request.boxes}):
            page = document[number - 1]
            width, height = page.get_size()
            scale = min(DOTS_PER_POINT, MOST_DOTS / max(width, height))
            drawn = page.render(scale=scale, may_draw_forms=False).to_pil().convert("RGB")
            for at, request in wanted.items():
                for box in (box for page_, box in request.boxes if page_ == number):
                    around = _around(box, width, height)
                    part = drawn.crop(tuple(round(side * scale) for side in around))
                    pictures[at].append(Picture(page=number, box=around, png=_png(part)))
    return {at: Original(file=path.name, pictures=tuple(shown)) for at, shown in pictures.items()}


def _around(box: Box, width: float, height: float) -> Box:
    return (
        max(0.0, box[0] - MARGIN),
        max(0.0, box[1] - MARGIN),
        min(width, box[2] + MARGIN),
        min(height, box[3] + MARGIN),
    )


def _png(picture: Any) -> str:
    buffer = io.BytesIO()
    picture.quantize(64).save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


if __name__ == "__main__":
    serve(sys.argv[1:], _work)
