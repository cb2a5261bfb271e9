"""Whether a PDF's pages can be read at all: damage, scans, fonts without characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.pdf.lines import Frame

_COMMON = re.compile(
    r"the|of|and|to|in|is|for|we|with|on|that|as|are|this|by|be|from|an|at|it|or|our|which|not|"
    r"der|die|und|das|von|den|mit|ist|des|zu|im|ein|eine|für|auf|nicht|als|le|la|les|et|en|un|une|"
    r"du|que|est|pour|dans|par|sur|el|los|de|las|se|por|con|una|il|di|che|per|si|del|della|da|"
    r"em|um|os|no|na",
    re.IGNORECASE,
)
"""The commonest words of the languages that papers are written in."""


def check(path: Path, frames: Sequence[Frame | None]) -> list[str]:
    """Warnings about single pages, by their main frames; None is a page that was not read.

    Raises PaperError where there is nothing to read.
    """
    damaged = [index + 1 for index, frame in enumerate(frames) if frame is None]
    texts = [frame for frame in frames if frame is not None]
    whole = [frame.page for frame in texts]
    if not whole:
        raise PaperError("the PDF is damaged: none of its pages can be read.", where=path.name)
    blank = [page for page in whole if not page.letters]
    if len(blank) == len(whole):
        if any(page.undecodable for page in blank):
            raise _undecodable(path)
        if any(page.pictures for page in blank):
            raise PaperError(
                "the PDF is a scan: its pages are images without text.",
                where=path.name,
                hint="Run it through text recognition first, or give the LaTeX source.",
            )
        raise PaperError("the PDF's pages hold no text and no images.", where=path.name)
    garbled = garbled_pages(texts)
    judged = [frame for frame in texts if len(_latin_words(frame)) >= 120]
    if judged and len(garbled) >= max(1, 0.7 * len(judged)):
        raise _undecodable(path)
    scanned = [page.number for page in whole if page.scanned]
    sentences = (
        (damaged, "is damaged and was not read"),
        ([page.number for page in blank if page.pictures], "is an image without text"),
        ([page.number for page in blank if not page.pictures], "has no text"),
        ([page.number for page in whole if page.crowded], "holds too much text to be read"),
        (scanned, "is a scan with recognised text; its numbers may be wrong"),
        (sorted(garbled), "has fonts that give wrong characters"),
    )
    return [f"Page {number} {words}." for numbers, words in sentences for number in numbers]


def _undecodable(path: Path) -> PaperError:
    return PaperError(
        "the PDF's fonts do not say which characters they print, so that its text reads as nonsense.",
        where=path.name,
        hint="Run it through text recognition first, or give the LaTeX source.",
    )


def _latin_words(frame: Frame) -> list[str]:
    text = " ".join(word.text for word in frame.words)
    return re.findall(r"[A-Za-z]{2,}", text)


def garbled_pages(frames: Sequence[Frame]) -> frozenset[int]:
    """The numbers of pages whose fonts give wrong characters."""
    return frozenset(frame.page.number for frame in frames if _is_garbled(frame))


def _is_garbled(frame: Frame) -> bool:
    """Whether a page of words has next to none of the commonest ones of any likely language."""
    page = frame.page
    if page.undecodable > 0.2 * (page.letters + page.undecodable):
        return True
    words = _latin_words(frame)
    if len(words) < 120:
        return False
    return sum(_COMMON.fullmatch(word) is not None for word in words) < 0.02 * len(words)
