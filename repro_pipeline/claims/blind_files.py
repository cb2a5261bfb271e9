"""Given code and references as a model may see them: prose and comments masked, results withheld.

In code a number that is a reported value becomes the name `MASKED`, which fails where it is used: the
agent has to find that value itself.
"""

from __future__ import annotations

import io
import json
import re
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from repro_pipeline.claims.leaks import leaks
from repro_pipeline.claims.masking import MaskedSpan, Reach, mask_text
from repro_pipeline.claims.secrets import Secrets
from repro_pipeline.frozen import Frozen

MASKED_NUMBER = "MASKED"
_PROSE = {".md", ".rst", ".txt", ".tex", ".html", ".htm", ""}
_LOGS = {".log", ".out", ".err"}
_TABLES = {".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml", ".xml", ".txt"}
_RESULTS = re.compile(
    r"(?:^|[/_.-])(?:results?|logs?|outputs?|wandb|mlruns|tensorboard|checkpoints?|metrics?|scores?|"
    r"final_info|eval(?:uation)?s?|predictions?)(?:[/_.-]|$)",
    re.I,
)
_LINE_COMMENT = re.compile(r"(?<!\S)(?:#|//|%)[^\n]*|/\*.*?\*/|<!--.*?-->", re.S)


class BlindedFiles(Frozen):
    """Files without the paper's results."""

    texts: dict[str, str]
    """Path → text."""
    withheld: dict[str, str]
    """Path → why the file is not shown at all."""
    spans: tuple[MaskedSpan, ...]
    """What was hidden; never shown to a model."""


def blind_files(files: Mapping[str, str], secrets: Secrets) -> BlindedFiles:
    """Mask the text files of given code, path → content: README, comments, notebooks, numbers."""
    texts, withheld, spans = {}, {}, []
    for path, content in files.items():
        if reason := _withheld(path, content, secrets):
            withheld[path] = reason
        else:
            texts[path], hidden = _masked(path, content, secrets)
            spans += hidden
    return BlindedFiles(texts=texts, withheld=withheld, spans=tuple(spans))


def blind_reference(name: str, text: str, secrets: Secrets) -> tuple[str, tuple[MaskedSpan, ...]]:
    """Mask the text of a cited work: what matches a hidden value; its own results stay."""
    return mask_text(text, secrets, where=name, reach=Reach.VALUES)


def _withheld(path: str, content: str, secrets: Secrets) -> str:
    """Why a file is not shown; empty where it is. Results are no help in writing the code."""
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    if suffix in _LOGS:
        return "It is a log of earlier runs."
    if suffix in _TABLES and _RESULTS.search(path):
        return "By its name it holds results of earlier runs."
    if suffix in _TABLES - _PROSE and any(one.certain for one in leaks(content, secrets)):
        return "It holds a reported value, so it is taken for results of earlier runs."
    return ""


def _masked(path: str, content: str, secrets: Secrets) -> tuple[str, list[MaskedSpan]]:
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".ipynb":
        return _notebook(path, content, secrets)
    if suffix in _PROSE:
        masked, spans = mask_text(content, secrets, where=path)
        return masked, list(spans)
    return _code(path, content, secrets)


def _notebook(path: str, content: str, secrets: Secrets) -> tuple[str, list[MaskedSpan]]:
    """The notebook without its outputs; its prose and code are masked cell by cell."""
    try:
        book = json.loads(content)
        cells = [(cell, str(cell["cell_type"]), "".join(cell["source"])) for cell in book["cells"]]
    except (ValueError, KeyError, TypeError):
        return _code(path, content, secrets)
    made, spans = [], []
    for number, (cell, kind, source) in enumerate(cells, 1):
        where = f"{path}, cell {number}"
        if kind == "code":
            masked, hidden = _code(f"{where}.py", source, secrets)
            emptied = {"outputs": [], "execution_count": None}
        else:
            masked, hidden = mask_text(source, secrets, where=where)
            emptied = {}
        kept = {key: cell[key] for key in ("cell_type", "id") if key in cell}
        made.append({**kept, "metadata": {}, **emptied, "source": masked})
        spans += hidden
    kept = {key: book[key] for key in ("nbformat", "nbformat_minor") if key in book}
    return json.dumps({**kept, "metadata": {}, "cells": made}, indent=1, ensure_ascii=False), spans


def _code(path: str, content: str, secrets: Secrets) -> tuple[str, list[MaskedSpan]]:
    """Code with its comments and texts masked as prose, and its numbers where they are values."""
    prose = sorted(_prose_places(path, content))
    pieces, spans, position = [], [], 0
    for start, end in [*prose, (len(content), len(content))]:
        if start < position:
            continue
        code, hidden = _numbers_masked(path, content[position:start], secrets)
        text, more = mask_text(content[start:end], secrets, where=path, reach=Reach.RESULTS)
        pieces += [code, text]
        spans += [_moved(one, position) for one in hidden] + [_moved(one, start) for one in more]
        position = end
    return "".join(pieces), spans


def _prose_places(path: str, content: str) -> Iterator[tuple[int, int]]:
    """Where comments and (in Python) texts stand."""
    if PurePosixPath(path).suffix.lower() != ".py":
        yield from (match.span() for match in _LINE_COMMENT.finditer(content))
        return
    starts = [0]
    for line in io.StringIO(content):  # as tokenize counts lines: a form feed begins none
        starts.append(starts[-1] + len(line))
    try:
        for token in tokenize.generate_tokens(io.StringIO(content).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                (row, column), (last, end) = token.start, token.end
                yield starts[row - 1] + column, starts[last - 1] + end
    except (tokenize.TokenError, SyntaxError, IndexError):
        yield from (match.span() for match in _LINE_COMMENT.finditer(content))


def _numbers_masked(path: str, code: str, secrets: Secrets) -> tuple[str, list[MaskedSpan]]:
    pieces, spans, position = [], [], 0
    for one in leaks(code, secrets):
        if not one.certain or one.start < position:
            continue
        pieces += [code[position : one.start], MASKED_NUMBER]
        hidden = code[one.start : one.end]
        spans.append(
            MaskedSpan(
                where=path,
                start=one.start,
                end=one.end,
                kind="value",
                claims=one.claims,
                hidden=hidden,
            )
        )
        position = one.end
    return "".join([*pieces, code[position:]]), spans


def _moved(span: MaskedSpan, by: int) -> MaskedSpan:
    return span.model_copy(update={"start": span.start + by, "end": span.end + by})
