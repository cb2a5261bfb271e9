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
from repro_pipeline.paper.pdf.drawings import Box, Rule, View, drawings

MOST_PAGES = 1000
MOST_GLYPHS = 30_000
"""More on one page are a drawing, not text: a full page of small type has some 8,000."""


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
    guessed: bool = False
    """True where pdfium guesses a space before it, from the gap."""


@dataclass(frozen=True)
class Page:
    """What stands on one page. `number` counts from 1; `letters` is the number of glyphs."""

    number: int
    width: float
    height: float
    glyphs: tuple[Glyph, ...]
    rules: tuple[Rule, ...]
    pictures: tuple[Box, ...]
    letters: int
    scanned: bool = False
    """True where the text was laid invisibly over a picture (by character recognition)."""
    crowded: bool = False
    """True where it has more than MOST_GLYPHS, none of which is read."""
    undecodable: int = 0
    """Glyphs whose font does not say which character they are."""


@contextlib.contextmanager
def open_pdf(path: Path) -> Iterator[Any]:
    """The opened document (pypdfium2). Raises PaperError for what is no readable PDF."""
    import pypdfium2

    _check_file(path)
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise _unreadable(path, error) from None
    try:
        count = len(document)
        if count == 0:
            raise PaperError("the PDF has no pages.", where=path.name)
        if count > MOST_PAGES:
            raise PaperError(
                f"the PDF has {count} pages; no more than {MOST_PAGES} are read as one paper.",
                where=path.name,
                hint="Cut out the paper's own pages.",
            )
        yield document
    finally:
        document.close()


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise PaperError("there is no such file.", where=path.name)
    with path.open("rb") as file:
        head = file.read(1024)
        file.seek(max(0, path.stat().st_size - 2048))
        tail = file.read()
    if not head:
        raise PaperError("the PDF is empty (0 bytes).", where=path.name)
    if b"%PDF-" not in head:
        raise PaperError("the file is not a PDF.", where=path.name)
    if b"%%EOF" not in tail:
        # Pages may be lost without a word where only the beginning of a file is there.
        raise PaperError(
            "the PDF is truncated: its end is missing.",
            where=path.name,
            hint="Fetch the file again.",
        )


def _unreadable(path: Path, error: Exception) -> PaperError:
    from pypdfium2 import raw

    if getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD:
        return PaperError(
            "the PDF is encrypted and asks for a password.",
            where=path.name,
            hint="Save a copy without a password.",
        )
    with path.open("rb") as file:
        if re.search(rb"/Type\s*/Pages\b[^>]{0,200}/Count\s+0\b", file.read(1 << 20)):
            return PaperError("the PDF has no pages.", where=path.name)
    return PaperError("the PDF is malformed: its page tree cannot be read.", where=path.name)


def read_page(document: Any, index: int) -> Page | None:
    """The page at `index` (from 0); None where the page itself is damaged."""
    import pypdfium2
    from pypdfium2 import raw

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
        view = View(page)
        pictures, rules = drawings(page, view)
        count = raw.FPDFText_CountChars(textpage)
        crowded = count > MOST_GLYPHS
        glyphs, invisible, undecodable = _glyphs(textpage, view, 0 if crowded else count)
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
        letters=count if crowded else len(glyphs),
        crowded=crowded,
        scanned=covered and invisible > 0.5 * max(1, len(glyphs)),
        undecodable=undecodable,
    )


_LIGATURES = {
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
}  # fmt: skip
_CODES = {
    2: "-",  # what pdfium gives for a hyphen that it takes to part a word at a line's end
    # TeX's own encodings, in old fonts that do not name their characters
    11: "ff", 12: "fi", 13: "fl", 14: "ffi", 15: "ffl",
    16: "“", 17: "”", 21: "–", 22: "—", 27: "ff", 28: "fi", 29: "fl", 30: "ffi", 31: "ffl",
}  # fmt: skip


def _glyphs(textpage: Any, view: View, count: int) -> tuple[list[Glyph], int, int]:
    """The page's first glyphs in the file's order; those invisible; those without a character."""
    from pypdfium2 import raw

    box, matrix = raw.FS_RECTF(), raw.FS_MATRIX()
    x, y = ctypes.c_double(), ctypes.c_double()
    fonts = _Fonts(textpage)
    glyphs: list[Glyph] = []
    invisible = undecodable = 0
    spaced = guessed = False
    for index in range(count):
        if raw.FPDFText_IsGenerated(textpage, index) == 1:
            guessed = True
            continue
        text = _character(raw.FPDFText_GetUnicode(textpage, index))
        if text is None:
            undecodable += 1
            continue
        if text.isspace():
            spaced = True
            continue
        if not raw.FPDFText_GetLooseCharBox(textpage, index, box):
            continue
        raw.FPDFText_GetCharOrigin(textpage, index, x, y)
        raw.FPDFText_GetMatrix(textpage, index, matrix)
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
                guessed=guessed,
            )
        )
        spaced = guessed = False
    return glyphs, invisible, undecodable


def _character(code: int) -> str | None:
    """The text of a character code; None for one that stands for no character."""
    if code in _CODES:
        return _CODES[code]
    if code in (0, 0xFFFD, 0xFFFE, 0xFFFF) or 0xD800 <= code < 0xE000:
        return None
    text = chr(code)
    if code < 32 and not text.isspace():
        return None
    return _LIGATURES.get(text, text)


def _turn(angle: float) -> int | None:
    quarter = round(angle / 90)
    return quarter % 4 if abs(angle - 90 * quarter) < 2 else None


def _advance(view: View, box: Any, x: float, y: float, turn: int | None, size: float) -> float:
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
