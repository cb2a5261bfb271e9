"""A PDF page as glyphs, ruled lines and pictures, in points from the page's top left corner."""

from __future__ import annotations

import contextlib
import ctypes
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro_pipeline.errors import PaperError

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

MOST_PAGES = 1000
MOST_GLYPHS = 200_000
"""More glyphs than this on one page are a drawing, not text."""
MOST_PATHS = 30_000
"""Paths read per page: charts hold more, tables do not."""
MOST_SEGMENTS = 400
"""A path of more segments is a curve of a chart, not a rule."""
THINNEST_BAR = 3.0
"""A filled rectangle thinner than this (points) is a rule."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """One character. `(x, y)` is its origin on the baseline, `advance` its width along the text."""

    text: str
    x: float
    y: float
    advance: float
    size: float
    font: str
    bold: bool
    turn: int | None
    """Quarter turns anticlockwise of its reading direction; None for slanted text."""
    angle: float
    """Reading direction in degrees, anticlockwise."""
    spaced: bool = False
    """True where the file prints a space before it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight horizontal or vertical line."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def horizontal(self) -> bool:
        return abs(self.x1 - self.x0) >= abs(self.y1 - self.y0)


@dataclass(frozen=True)
class Page:
    """What stands on one page. `number` counts from 1."""

    number: int
    width: float
    height: float
    glyphs: tuple[Glyph, ...]
    rules: tuple[Rule, ...]
    pictures: tuple[Box, ...]
    scanned: bool = False
    """True where the text was laid invisibly over a picture (by character recognition)."""
    undecodable: int = 0
    """Glyphs whose font does not say which character they are."""


@contextlib.contextmanager
def open_pdf(path: Path) -> Iterator[Any]:
    """The opened document (pypdfium2). Raises PaperError for what is no readable PDF."""
    import pypdfium2

    if not path.is_file():
        raise PaperError("there is no such file", where=path.name)
    if path.stat().st_size == 0:
        raise PaperError("the PDF is empty (0 bytes)", where=path.name)
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise _unreadable(path, error) from None
    try:
        count = len(document)
        if count == 0:
            raise PaperError("the PDF has no pages", where=path.name)
        if count > MOST_PAGES:
            raise PaperError(
                f"the PDF has {count} pages; no more than {MOST_PAGES} are read as one paper",
                where=path.name,
                hint="Cut out the paper's own pages.",
            )
        yield document
    finally:
        document.close()


def _unreadable(path: Path, error: Exception) -> PaperError:
    from pypdfium2 import raw

    code = getattr(error, "err_code", None)
    head = path.open("rb").read(1024)
    if code == raw.FPDF_ERR_PASSWORD:
        return PaperError(
            "the PDF is encrypted and asks for a password",
            where=path.name,
            hint="Save a copy without a password.",
        )
    if b"%PDF-" not in head:
        return PaperError("the file is not a PDF", where=path.name)
    tail = path.read_bytes()[-2048:]
    if b"%%EOF" not in tail:
        return PaperError(
            "the PDF is truncated: its end is missing",
            where=path.name,
            hint="Fetch the file again.",
        )
    return PaperError("the PDF is malformed: its page tree cannot be read", where=path.name)


def read_page(document: Any, index: int) -> Page | None:
    """The page at `index` (from 0); None where the page itself is damaged."""
    import pypdfium2

    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return None
    try:
        textpage = page.get_textpage()
    except pypdfium2.PdfiumError:
        page.close()
        return None
    try:
        view = _View(page)
        pictures, rules = _drawings(page, view)
        glyphs, invisible, undecodable = _glyphs(textpage, view)
    finally:
        textpage.close()
        page.close()
    covered = any(
        (right - left) * (bottom - top) > 0.5 * view.width * view.height
        for left, top, right, bottom in pictures
    )
    return Page(
        number=index + 1,
        width=view.width,
        height=view.height,
        glyphs=tuple(glyphs),
        rules=tuple(rules),
        pictures=tuple(pictures),
        scanned=covered and invisible > 0.5 * max(1, len(glyphs)),
        undecodable=undecodable,
    )


class _View:
    """From a page's user space (origin anywhere, y up, perhaps turned) to the page as seen."""

    def __init__(self, page: Any) -> None:
        self.width, self.height = page.get_size()
        self.rotation = page.get_rotation() % 360
        left, bottom, right, top = page.get_cropbox()
        media = page.get_mediabox()
        self.left, self.bottom = max(left, media[0]), max(bottom, media[1])
        self.right, self.top = min(right, media[2]), min(top, media[3])

    def point(self, x: float, y: float) -> tuple[float, float]:
        match self.rotation:
            case 90:
                return y - self.bottom, x - self.left
            case 180:
                return self.right - x, y - self.bottom
            case 270:
                return self.top - y, self.right - x
            case _:
                return x - self.left, self.top - y

    def angle(self, a: float, b: float) -> float:
        """Reading direction on the seen page, degrees anticlockwise in [0, 360)."""
        return (math.degrees(math.atan2(b, a)) - self.rotation) % 360


_LIGATURES = {
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
}  # fmt: skip
_HYPHEN = "\x02"
"""What pdfium gives for a hyphen that it takes to part a word at a line's end."""


def _glyphs(textpage: Any, view: _View) -> tuple[list[Glyph], int, int]:
    """The page's glyphs in the file's order; how many are invisible; how many have no character."""
    from pypdfium2 import raw

    count = min(raw.FPDFText_CountChars(textpage), MOST_GLYPHS)
    box, matrix = raw.FS_RECTF(), raw.FS_MATRIX()
    x, y = ctypes.c_double(), ctypes.c_double()
    fonts = _Fonts(textpage)
    glyphs: list[Glyph] = []
    invisible = undecodable = 0
    spaced = False
    for index in range(count):
        text = _character(raw.FPDFText_GetUnicode(textpage, index))
        if text is None:
            undecodable += 1
            continue
        if not text.strip() or text.isspace():
            # A generated space is pdfium's guess from a gap; gaps are judged later, with more known.
            spaced = spaced or raw.FPDFText_IsGenerated(textpage, index) == 0
            continue
        if raw.FPDFText_IsGenerated(textpage, index) == 1:
            continue
        if not raw.FPDFText_GetLooseCharBox(textpage, index, box):
            continue
        raw.FPDFText_GetCharOrigin(textpage, index, x, y)
        raw.FPDFText_GetMatrix(textpage, index, matrix)
        if raw.FPDFText_HasUnicodeMapError(textpage, index) == 1:
            undecodable += 1
        font = fonts.at(index)
        invisible += font.invisible
        size = raw.FPDFText_GetFontSize(textpage, index) * math.hypot(matrix.c, matrix.d)
        angle = view.angle(matrix.a, matrix.b)
        turn = _turn(angle)
        px, py = view.point(x.value, y.value)
        glyphs.append(
            Glyph(
                text=text,
                x=px,
                y=py,
                advance=_advance(view, box, px, py, turn, size),
                size=round(size, 2),
                font=font.name,
                bold=font.bold,
                turn=turn,
                angle=angle,
                spaced=spaced,
            )
        )
        spaced = False
    return glyphs, invisible, undecodable


def _character(code: int) -> str | None:
    """The text of a character code; None for one that stands for no character."""
    if code == ord(_HYPHEN):
        return "-"
    if code in (0, 0xFFFD, 0xFFFE, 0xFFFF) or 0xD800 <= code < 0xE000:
        return None
    text = chr(code)
    if code < 32 and not text.isspace():
        return None
    return _LIGATURES.get(text, text)


def _turn(angle: float) -> int | None:
    quarter = round(angle / 90)
    return quarter % 4 if abs(angle - 90 * quarter) < 2 else None


def _advance(
    view: _View, box: Any, x: float, y: float, turn: int | None, size: float
) -> float:
    """The glyph's width along its reading direction, from its loose box."""
    left, top = view.point(box.left, box.top)
    right, bottom = view.point(box.right, box.bottom)
    left, right = min(left, right), max(left, right)
    top, bottom = min(top, bottom), max(top, bottom)
    match turn:
        case 0:
            return right - x
        case 1:
            return y - top
        case 2:
            return x - left
        case 3:
            return bottom - y
        case _:
            return 0.5 * size


@dataclass(frozen=True, slots=True)
class _Font:
    name: str
    bold: bool
    invisible: bool


_BOLD = re.compile(
    r"bold|black|heavy|demi|semib|medi(?:ital)?$|[-,_ .]b(?:d|i|o)?$|^(?:cmbx|cmbsy|cmmib|cmssbx|ecbx|sfbx|"
    r"tcbx|lmbx|txb|pxb|t1xb)|(?:mtmib|mtsyb)|xbtx|rm(?:bx)\d",
    re.IGNORECASE,
)


class _Fonts:
    """The font of each character; asked once per text object."""

    def __init__(self, textpage: Any) -> None:
        self._textpage = textpage
        self._known: dict[int, _Font] = {}
        self._name = ctypes.create_string_buffer(256)
        self._flags = ctypes.c_int()

    def at(self, index: int) -> _Font:
        from pypdfium2 import raw

        text_object = raw.FPDFText_GetTextObject(self._textpage, index)
        address = ctypes.cast(text_object, ctypes.c_void_p).value or 0
        if address not in self._known or not address:
            self._known[address] = self._ask(index, text_object)
        return self._known[address]

    def _ask(self, index: int, text_object: Any) -> _Font:
        from pypdfium2 import raw

        length = raw.FPDFText_GetFontInfo(self._textpage, index, self._name, 256, self._flags)
        raw_name = self._name.value.decode("utf-8", "replace") if 0 < length <= 256 else ""
        name = re.sub(r"^[A-Z]{6}\+", "", raw_name)
        mode = raw.FPDFTextObj_GetTextRenderMode(text_object) if text_object else 0
        forced = bool(self._flags.value & (1 << 18))
        stroked = mode == raw.FPDF_TEXTRENDERMODE_FILL_STROKE
        return _Font(
            name=name,
            bold=bool(_BOLD.search(name)) or forced or stroked,
            invisible=mode == raw.FPDF_TEXTRENDERMODE_INVISIBLE,
        )


def _drawings(page: Any, view: _View) -> tuple[list[Box], list[Rule]]:
    """The page's pictures, and its straight lines and thin bars."""
    from pypdfium2 import raw

    pictures: list[Box] = []
    rules: list[Rule] = []
    paths = 0
    for item, matrix in _objects(page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject):
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            pictures.append(_picture(item, matrix, view))
        elif kind == raw.FPDF_PAGEOBJ_PATH:
            paths += 1
            if paths > MOST_PATHS:
                break
            rules += _rules(item, matrix, view)
    return pictures, rules


_Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: _Matrix = (1, 0, 0, 1, 0, 0)


def _objects(
    holder: Any, count: Any, get: Any, matrix: _Matrix = _IDENTITY, depth: int = 0
) -> Iterator[tuple[Any, _Matrix]]:
    """Page objects with the matrix of the forms that hold them."""
    from pypdfium2 import raw

    for index in range(count(holder)):
        item = get(holder, index)
        if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_FORM:
            if depth < 5:
                inner = _times(_matrix(item), matrix)
                yield from _objects(
                    item, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, inner, depth + 1
                )
        else:
            yield item, matrix


def _matrix(item: Any) -> _Matrix:
    from pypdfium2 import raw

    m = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, m)
    return m.a, m.b, m.c, m.d, m.e, m.f


def _times(first: _Matrix, then: _Matrix) -> _Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (
        a * p + b * r, a * q + b * s,
        c * p + d * r, c * q + d * s,
        e * p + f * r + t, e * q + f * s + u,
    )  # fmt: skip


def _apply(matrix: _Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _picture(item: Any, matrix: _Matrix, view: _View) -> Box:
    whole = _times(_matrix(item), matrix)
    corners = [view.point(*_apply(whole, x, y)) for x in (0, 1) for y in (0, 1)]
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _rules(item: Any, matrix: _Matrix, view: _View) -> list[Rule]:
    """The horizontal and vertical lines that a path draws, thin filled bars among them."""
    from pypdfium2 import raw

    if not 2 <= raw.FPDFPath_CountSegments(item) <= MOST_SEGMENTS:
        return []
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(item, fill, stroke)
    whole = _times(_matrix(item), matrix)
    rules = []
    for points in _subpaths(item):
        seen = [view.point(*_apply(whole, x, y)) for x, y in points]
        if stroke.value:
            rules += [
                rule
                for (x0, y0), (x1, y1) in zip(seen, seen[1:], strict=False)
                if (rule := _straight(x0, y0, x1, y1))
            ]
        elif fill.value and len(seen) >= 4:
            rules += _bar(seen)
    return rules


def _subpaths(item: Any) -> list[list[tuple[float, float]]]:
    """The polygons of a path; one that holds a curve is left out."""
    from pypdfium2 import raw

    x, y = ctypes.c_float(), ctypes.c_float()
    paths: list[list[tuple[float, float]]] = []
    curved: set[int] = set()
    for index in range(raw.FPDFPath_CountSegments(item)):
        segment = raw.FPDFPath_GetPathSegment(item, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO or not paths:
            paths.append([])
        if kind == raw.FPDF_SEGMENT_BEZIERTO:
            curved.add(len(paths) - 1)
        paths[-1].append((x.value, y.value))
        if raw.FPDFPathSegment_GetClose(segment):
            paths[-1].append(paths[-1][0])
    return [path for index, path in enumerate(paths) if index not in curved and len(path) > 1]


def _straight(x0: float, y0: float, x1: float, y1: float) -> Rule | None:
    if abs(y1 - y0) < 0.3 and abs(x1 - x0) >= 2:
        return Rule(min(x0, x1), (y0 + y1) / 2, max(x0, x1), (y0 + y1) / 2)
    if abs(x1 - x0) < 0.3 and abs(y1 - y0) >= 2:
        return Rule((x0 + x1) / 2, min(y0, y1), (x0 + x1) / 2, max(y0, y1))
    return None


def _bar(points: list[tuple[float, float]]) -> list[Rule]:
    """A thin filled rectangle as a rule."""
    xs, ys = zip(*points, strict=True)
    width, height = max(xs) - min(xs), max(ys) - min(ys)
    if height < THINNEST_BAR and width > max(4, 3 * height):
        middle = (min(ys) + max(ys)) / 2
        return [Rule(min(xs), middle, max(xs), middle)]
    if width < THINNEST_BAR and height > max(4, 3 * width):
        middle = (min(xs) + max(xs)) / 2
        return [Rule(middle, min(ys), middle, max(ys))]
    return []
