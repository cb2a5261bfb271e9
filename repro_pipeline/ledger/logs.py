"""Parts of logs of any length, read as streams: beginning, end, and the lines that hold a text."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, NamedTuple

LINE = 4096
"""Bytes of one line that are shown; a longer one is shown in pieces."""


class FoundLine(NamedTuple):
    """A line, or a piece of a long one."""

    number: int
    """The line's, from 1."""
    text: str


def head(stream: IO[bytes], lines: int) -> tuple[str, ...]:
    """The first lines. What follows is not read, so it is not checked either."""
    return tuple(piece.text for piece in islice(_pieces(stream), lines))


def tail(stream: IO[bytes], lines: int) -> tuple[str, ...]:
    """The last lines. The whole stream is read, in little memory."""
    return tuple(piece.text for piece in deque(_pieces(stream), maxlen=lines))


def search(stream: IO[bytes], text: str, *, most: int) -> tuple[FoundLine, ...]:
    """The first `most` lines that hold `text`, whatever its case, with their numbers from 1.

    Of a line that is longer than `LINE` bytes, the pieces in which an occurrence ends.
    """
    wanted = text.casefold()
    return tuple(islice(_holding(_pieces(stream), wanted), most))


def _holding(pieces: Iterable[FoundLine], wanted: str) -> Iterator[FoundLine]:
    before, number = "", 0
    for piece in pieces:
        seen = (before if piece.number == number else "") + piece.text.casefold()
        if wanted in seen:
            yield piece
        # Shorter than what is wanted: an occurrence that was found is not found again.
        before, number = seen[max(0, len(seen) - len(wanted) + 1) :], piece.number


def _pieces(stream: IO[bytes]) -> Iterator[FoundLine]:
    """Each line, or the pieces of a long one, with the line's number."""
    decoder = getincrementaldecoder("utf-8")(errors="replace")
    number = 1
    while piece := stream.readline(LINE):
        # A sign may lie across the seam of two pieces.
        text = decoder.decode(piece, final=len(piece) < LINE)
        yield FoundLine(number=number, text=text.rstrip("\r\n"))
        number += piece.endswith(b"\n")
