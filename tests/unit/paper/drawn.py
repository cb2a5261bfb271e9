"""Small PDF files drawn with pdfium itself, for what no typesetter makes: scans, blank pages."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import pypdfium2
from pypdfium2 import raw

Text = tuple[float, float, float, str]
"""x, y (from the bottom), size, text."""


def draw(
    path: Path, pages: Sequence[Sequence[Text]], *, pictures: Sequence[int] = (), mode: int = 0
) -> Path:
    """A file of pages with texts; those numbered (from 0) in `pictures` hold a full-page picture.

    `mode` is the rendering mode of the texts; 3 is invisible, as recognised text is.
    """
    document = pypdfium2.PdfDocument.new()
    for number, texts in enumerate(pages):
        page = document.new_page(612, 792)
        if number in pictures:
            _picture(document, page)
        for x, y, size, text in texts:
            _text(document, page, x, y, size, text, mode)
        page.gen_content()
    document.save(path)
    document.close()
    return path


def _text(document, page, x: float, y: float, size: float, text: str, mode: int) -> None:
    item = raw.FPDFPageObj_NewTextObj(document.raw, b"Helvetica", size)
    encoded = (text + "\0").encode("utf-16-le")
    buffer = ctypes.create_string_buffer(encoded)
    raw.FPDFText_SetText(item, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
    raw.FPDFTextObj_SetTextRenderMode(item, mode)
    raw.FPDFPageObj_Transform(item, 1, 0, 0, 1, x, y)
    raw.FPDFPage_InsertObject(page.raw, item)


def _picture(document, page) -> None:
    bitmap = pypdfium2.PdfBitmap.new_native(10, 10, raw.FPDFBitmap_BGR)
    bitmap.fill_rect((200, 200, 200, 255), 0, 0, 10, 10)
    image = pypdfium2.PdfImage.new(document)
    image.set_bitmap(bitmap)
    image.set_matrix(pypdfium2.PdfMatrix().scale(600, 780).translate(6, 6))
    page.insert_obj(image)


def rotated(source: Path, target: Path, quarter_turns: int) -> Path:
    """A copy of a file whose pages are shown turned by quarter turns clockwise."""
    document = pypdfium2.PdfDocument(source)
    for index in range(len(document)):
        page = document[index]
        page.set_rotation(90 * quarter_turns)
    document.save(target)
    document.close()
    return target
