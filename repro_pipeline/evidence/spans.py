"""Quotes that a judge gives as evidence, held against the files: what cannot be found is no evidence."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from repro_pipeline.frozen import Frozen

LEAST = 8
"""Characters of a quote, spaces aside: a bracket stands in every file."""
SLACK = 3
"""Lines by which a judge may miscount."""


class CodeSpan(Frozen):
    """Lines of a file, and what stands there."""

    file: str
    first: int = Field(ge=1)
    last: int = Field(ge=1)
    quote: str

    def __str__(self) -> str:
        return f"{self.file}:{self.first}-{self.last}"


def code_fault(span: CodeSpan, files: Mapping[str, str]) -> str | None:
    """Why a span is no evidence: no such file or lines, or the quote does not stand there."""
    if span.file not in files:
        return f"there is no file {span.file}"
    lines = files[span.file].splitlines()
    if span.last < span.first or span.first > len(lines):
        return f"{span} has no such lines"
    near = "\n".join(lines[max(0, span.first - 1 - SLACK) : span.last + SLACK])
    return _quote_fault(span.quote, near, str(span))


def text_fault(quote: str, text: str, name: str) -> str | None:
    """Why a quote of a text is no evidence: too short, or it does not stand there."""
    return _quote_fault(quote, text, name)


def _quote_fault(quote: str, text: str, where: str) -> str | None:
    wanted = _plain(quote)
    if len(wanted) < LEAST:
        return f"the quote from {where} is too short to be evidence"
    return None if wanted in _plain(text) else f"the quote does not stand in {where}"


def _plain(text: str) -> str:
    return "".join(text.split())
