"""Whether a PDF's pages can be read at all: damage, scans, fonts without characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.pdf.chars import Page
from repro_pipeline.paper.pdf.lines import frames

_COMMON = re.compile(
    r"the|of|and|to|in|a|is|for|we|with|on|that|as|are|this|by|be|from|an|at|it|or|our|which|not|"
    r"der|die|und|das|von|den|mit|ist|des|zu|im|ein|eine|für|auf|nicht|als|le|la|les|et|en|un|une|"
    r"du|que|est|pour|dans|par|sur|el|los|de|y|las|se|por|con|una|il|di|che|per|si|del|della|o|da|"
    r"em|um|os|no|na",
    re.IGNORECASE,
)
"""The commonest words of the languages that papers are written in."""


def check(path: Path, pages: Sequence[Page | None]) -> list[str]:
    """Warnings about single pages. Raises PaperError where there is nothing to read."""
    damaged = [index + 1 for index, page in enumerate(pages) if page is None]
    whole = [page for page in pages if page is not None]
    if not whole:
        raise PaperError("the PDF is damaged: none of its pages can be read", where=path.name)
    blank = [page for page in whole if not page.glyphs]
    if len(blank) == len(whole):
        if any(page.undecodable for page in blank):
            raise _undecodable(path)
        if any(page.pictures for page in blank):
            raise PaperError(
                "the PDF is a scan: its pages are images without text",
                where=path.name,
                hint="Run it through text recognition first, or give the LaTeX source.",
            )
        raise PaperError("the PDF's pages hold no text and no images", where=path.name)
    garbled = [page for page in whole if page.glyphs and is_garbled(page)]
    judged = [page for page in whole if _latin_words(page) >= 120]
    if judged and len(garbled) >= max(1, 0.7 * len(judged)):
        raise _undecodable(path)
    scanned = [page.number for page in whole if page.scanned]
    sentences = (
        (damaged, "is damaged and was not read"),
        ([page.number for page in blank if page.pictures], "is an image without text"),
        (scanned, "is a scan with recognised text; its numbers may be wrong"),
        ([page.number for page in garbled], "has fonts that give wrong characters"),
    )
    return [f"Page {number} {words}." for numbers, words in sentences for number in numbers]


def _undecodable(path: Path) -> PaperError:
    return PaperError(
        "the PDF's fonts do not say which characters they print, so that its text reads as nonsense",
        where=path.name,
        hint="Run it through text recognition first, or give the LaTeX source.",
    )


def _latin_words(page: Page) -> int:
    return len(re.findall(r"[A-Za-z]{2,}", _spaced_text(page)))


def _spaced_text(page: Page) -> str:
    return " ".join(word.text for word in frames(page)[0].words)


def is_garbled(page: Page) -> bool:
    """Whether a page of words has next to none of the commonest ones of any likely language."""
    if page.undecodable > 0.2 * (len(page.glyphs) + page.undecodable):
        return True
    words = re.findall(r"[A-Za-zü]{1,}", _spaced_text(page))
    if sum(len(word) > 1 for word in words) < 120:
        return False
    return sum(_COMMON.fullmatch(word) is not None for word in words) < 0.03 * len(words)
