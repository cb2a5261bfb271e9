"""Change the constants of a submission that are near a reported value, and see whether it follows.

A hyperparameter that happens to equal a result moves the result somehow, or not at all. A value
that was written down moves its metric in exact proportion. Both the code and the files and settings
beside it are changed, in a copy; a constant is changed where it stands, not where it is used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from repro_pipeline.claims.model import Claim
from repro_pipeline.errors import UserError
from repro_pipeline.forensics.constants import NotConstant, evaluate, numbers_in
from repro_pipeline.forensics.declarations import single_constants
from repro_pipeline.forensics.matching import NEAR, complements, is_factor, near
from repro_pipeline.forensics.notebooks import joined, rewritten
from repro_pipeline.forensics.prose import is_prose, renamed, scaled_prose, scaled_text
from repro_pipeline.forensics.python_files import is_python
from repro_pipeline.imports.notebook import notebook_of
from repro_pipeline.pysource import parsed

FACTORS = (0.8, 0.9)
_TEXTS = {".json", ".yaml", ".yml", ".csv", ".tsv", ".txt", ".toml", ".ini", ".cfg", ".dat"}
_TOKEN = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_SKIPPED = re.compile(r"(^|/)(requirements[^/]*|experiment\.ya?ml|pyproject\.toml|.*\.lock)$")
_MANY = 2000


@dataclass(frozen=True)
class Mutation:
    """The changed files and settings, and what stands where."""

    files: Mapping[str, str]
    """Those that differ, path → text."""
    config: dict[str, Any] | None
    """The changed settings; None where none is near."""
    places: Mapping[str, tuple[str, ...]]
    """Per claim, where its near constants stand: `file:line text`."""


def mutate(
    files: Mapping[str, str], config: dict[str, Any], claims: Sequence[Claim], factor: float
) -> Mutation | None:
    """The submission with every constant near a claim's value times `factor`; None without any.

    `files` are the text files of the code, path → text.
    """
    places: dict[str, list[str]] = {claim.id: [] for claim in claims}

    def wanted(number: float) -> bool:
        return bool(_wanted(number, claims))

    def note(number: float, place: str) -> None:
        for claim in _wanted(number, claims):
            places[claim.id].append(place)

    changed = {}
    code = {path: text for path, text in files.items() if is_python(path, text)}
    other_names = renamed(code, factor, wanted, note)
    for path, text in sorted(files.items()):
        if _SKIPPED.search(path):
            continue
        new = text
        if path in code:
            new = _code(path, other_names[path], claims, factor, places)
            new = scaled_prose(path, new, factor, wanted, note)
        elif path.endswith(".ipynb"):
            new = _cells(path, text, claims, factor, places)
        elif is_prose(path):
            new = scaled_text(path, text, factor, wanted, note)
        elif PurePosixPath(path).suffix.lower() in _TEXTS:
            new = _plain(path, text, claims, factor, places)
        if new != text:
            changed[path] = new
    settings = _settings(config, claims, factor, places, "config")
    if not changed and settings == config:
        return None
    return Mutation(
        files=changed,
        config=None if settings == config else settings,
        places={name: tuple(found) for name, found in places.items() if found},
    )


def _wanted(number: float, claims: Sequence[Claim], within: float = NEAR) -> list[Claim]:
    if is_factor(number):
        return []
    return [c for c in claims if near(number, c, within) or complements(number, c)]


def _code(
    path: str, text: str, claims: Sequence[Claim], factor: float, places: dict[str, list[str]]
) -> str:
    try:
        tree = parsed(text)
    except SyntaxError:
        return text
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    content = text.encode()
    edits = []
    for node in _changed_nodes(tree):
        numbers = numbers_in(_value(node, tree))
        found = [claim for number in numbers for claim in _wanted(number, claims)]
        if not found or not _is_place(node):
            continue
        for claim in found:
            places[claim.id].append(f"{path}:{node.lineno} {ast.unparse(node)[:40]}")
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        edits.append((start, end, _times(node, numbers, content[start:end], factor)))
    for start, end, new in sorted(edits, reverse=True):
        content = content[:start] + new + content[end:]
    return content.decode()


def _cells(
    path: str, text: str, claims: Sequence[Claim], factor: float, places: dict[str, list[str]]
) -> str:
    """A notebook with the constants of its code cells changed."""
    try:
        notebook = notebook_of(text.encode(), path)
    except UserError:
        return text
    return rewritten(text, notebook, _code(path, joined(notebook).text, claims, factor, places))


def _times(node: ast.expr, numbers: list[float], text: bytes, factor: float) -> bytes:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        new = repr(f"{numbers[0] * factor:.10g}")
        return (f"b{new}" if isinstance(node.value, bytes) else new).encode()
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(round(node.value * factor)).encode()
    return b"((" + text + b") * " + repr(factor).encode() + b")"


def _is_place(node: ast.expr) -> bool:
    """Whether a constant can stand for a result: a float, a text, or an integer of two digits."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return abs(node.value) > 10
    return True


def _changed_nodes(tree: ast.Module) -> Iterator[ast.expr]:
    """Numbers and texts as they stand, and hidden constants as a whole."""
    skipped: set[int] = set()
    names = dict(single_constants(tree.body, {}))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            skipped.update(id(part) for part in ast.walk(node))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, int | float | str | bytes) and not isinstance(
                node.value, bool
            ):
                yield node
        elif isinstance(node, ast.Call) and _decodes(node):
            try:
                if isinstance(evaluate(node, names), int | float):
                    skipped.update(id(part) for part in ast.walk(node))
                    yield node
            except NotConstant:
                continue


def _decodes(node: ast.Call) -> bool:
    """Whether a call turns texts or bytes into a number in more than one step."""
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    return len(calls) > 1


def _value(node: ast.expr, tree: ast.Module) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    try:
        return evaluate(node, single_constants(tree.body, {}))
    except NotConstant:
        return None


def _plain(
    path: str, text: str, claims: Sequence[Claim], factor: float, places: dict[str, list[str]]
) -> str:
    if len(_TOKEN.findall(text)) > _MANY:
        return text

    def change(match: re.Match) -> str:
        number = float(match[0])
        found = _wanted(number, claims)
        if not found or ("." not in match[0] and abs(number) <= 10):
            return match[0]
        line = text.count("\n", 0, match.start()) + 1
        for claim in found:
            places[claim.id].append(f"{path}:{line} {match[0]}")
        if "." not in match[0] and "e" not in match[0].lower():
            return str(round(number * factor))
        return f"{number * factor:.10g}"

    return _TOKEN.sub(change, text)


def _settings(
    value: Any, claims: Sequence[Claim], factor: float, places: dict[str, list[str]], path: str
) -> Any:
    """Settings with the near numbers changed, and the others as they are."""
    if isinstance(value, dict):
        return {k: _settings(v, claims, factor, places, f"{path}.{k}") for k, v in value.items()}
    if isinstance(value, list):
        return [_settings(v, claims, factor, places, path) for v in value]
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    numbers = numbers_in(value)
    found = [claim for number in numbers for claim in _wanted(number, claims)]
    if not found or (isinstance(value, int) and abs(value) <= 10):
        return value
    for claim in found:
        places[claim.id].append(f"{path} {value}")
    new = numbers[0] * factor
    if isinstance(value, str):
        return f"{new:.10g}"
    return round(new) if isinstance(value, int) else new
