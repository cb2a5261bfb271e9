"""Parts of logs of any length, read as streams: beginning, end, and the lines that hold a text."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import IO

from repro_pipeline.frozen import Frozen

LINE = 4096
"""Bytes of one line that are shown; a longer one is shown in pieces."""


class FoundLine(Frozen):
    """A line that holds what was searched."""

    number: int
    text: str


def head(stream: IO[bytes], lines: int) -> tuple[str, ...]:
    """The first lines. What follows is not read, so it is not checked either."""
    return tuple(islice(_lines(stream), lines))


def tail(stream: IO[bytes], lines: int) -> tuple[str, ...]:
    """The last lines. The whole stream is read, in little memory."""
    return tuple(deque(_lines(stream), maxlen=lines))


def search(stream: IO[bytes], text: str, *, most: int) -> tuple[FoundLine, ...]:
    """The first `most` lines that hold `text`, whatever its case, with their numbers from 1."""
    wanted = text.casefold()
    found = (
        FoundLine(number=number, text=line)
        for number, line in enumerate(_lines(stream), start=1)
        if wanted in line.casefold()
    )
    return tuple(islice(found, most))


def _lines(stream: IO[bytes]) -> Iterator[str]:
    while piece := stream.readline(LINE):
        yield piece.decode("utf-8", errors="replace").rstrip("\r\n")
