"""Numbers where no experiment reads them: in docstrings, comments, names, and texts for people.

They are changed like any other constant. A value that follows them in exact proportion was read there.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from repro_pipeline.pysource import parsed

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w|\.\d)")
_DIGITS = re.compile(r"\d{3,6}")
_TEXTS = {".md", ".rst", ".tex", ".bib", ".html", ".xml", ".log", ".adoc", ".org", ""}
_MARKS = (" in prose: ", " in the name ")
_SCALES = (1.0, 0.1, 0.01, 0.001)

Wanted = Callable[[float], bool]
Note = Callable[[float, str], None]
"""Told of a number that is changed, and where it stands."""


def is_prose(path: str) -> bool:
    """Whether a file is for people, by its name."""
    return PurePosixPath(path).suffix.lower() in _TEXTS


def in_prose(place: str) -> bool:
    """Whether a place, as noted here, is one that no experiment reads."""
    return any(mark in place for mark in _MARKS)


def scaled_text(
    path: str, text: str, factor: float, wanted: Wanted, note: Note, first: int = 1
) -> str:
    """A text with its wanted numbers times `factor`, and all else as it is. It starts in line `first`."""

    def change(match: re.Match) -> str:
        number = float(match[0])
        if not wanted(number) or ("." not in match[0] and abs(number) <= 10):
            return match[0]
        line = first + text.count("\n", 0, match.start())
        note(number, f"{path}:{line}{_MARKS[0]}{match[0]}")
        return repr(number * factor)

    return _NUMBER.sub(change, text)


def scaled_prose(path: str, code: str, factor: float, wanted: Wanted, note: Note) -> str:
    """Code with the wanted numbers of its docstrings and comments times `factor`."""
    starts = [0]
    for line in io.StringIO(code):  # as tokenize counts lines: a form feed begins none
        starts.append(starts[-1] + len(line))
    parts, done = [], 0
    for token in _prose_tokens(code):
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        new = scaled_text(path, token.string, factor, wanted, note, token.start[0])
        parts += [code[done:start], new]
        done = end
    return "".join([*parts, code[done:]])


def _prose_tokens(code: str) -> Iterator[tokenize.TokenInfo]:
    """Comments, and texts that stand alone as a statement."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return
    before = tokenize.NEWLINE
    opening = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
    depth = 0
    for token in tokens:
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        alone = token.type == tokenize.STRING and before in opening and depth == 0
        if alone or token.type == tokenize.COMMENT:
            yield token
        if token.type != tokenize.COMMENT:
            before = token.type


def renamed(
    files: Mapping[str, str], factor: float, wanted: Wanted, note: Note
) -> Mapping[str, str]:
    """Python files whose functions, classes and variables with wanted digits have other digits.

    A name holds an integer, so it is made smaller by a whole number that goes with 1 - factor.
    """
    names: dict[str, str] = {}
    for path, text in files.items():
        for name in _own_names(text) - set(names):
            for match in _DIGITS.finditer(name):
                number = int(match[0])
                hit = next((number * s for s in _SCALES if wanted(number * s)), None)
                if hit is not None:
                    less = round(round(0.1 * number) * (1 - factor) / 0.1)
                    other = name[: match.start()] + str(number - less) + name[match.end() :]
                    names[name] = other
                    note(hit, f"{path}{_MARKS[1]}{name}")
                    break
    if not names:
        return files
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, names)) + r")\b")
    return {path: pattern.sub(lambda m: names[m[0]], text) for path, text in files.items()}


def _own_names(code: str) -> set[str]:
    """The names with digits that a file defines."""
    try:
        tree = parsed(code)
    except SyntaxError:
        return set()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return {name for name in names if _DIGITS.search(name)}
