"""Probe `literal_scan`: do the paper's values stand as numbers in code, configuration or data?

A number matches a claim when it rounds to the claim's printed digits, as it is or as a fraction of
per cent. Values of three and more telling digits hardly match by chance; those of two are counted
only in sum; those of one are not looked for.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from repro_pipeline.claims.model import Claim
from repro_pipeline.findings import Probe
from repro_pipeline.pysource import parsed
from repro_pipeline.wording import counted, number

Literal = tuple[float, int]
"""A number and its line."""

_NUMBER = re.compile(r"(?<![\w.])(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d++)?+(?!\.?\w)")
"""Possessive throughout, since the text may be hostile. Versions and names with digits are none."""
_NO_CODE = {".md", ".rst", ".tex", ".html", ".htm", ".bib", ".lock"}
_MANY_NUMBERS = 1000
"""A file with more numbers than this is data: any three digits are somewhere in it."""
_SCALES = (1.0, 100.0, 0.01)
_NAMED = 10
_FOLDED = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def literal_scan(
    files: Mapping[str, str], claims: Iterable[Claim], python: Container[str] = ()
) -> Probe:
    """Look for the claims' values in text files (path -> content); those in `python` are Python,
    whatever their names are.

    The probe's claims are those whose value of three or more telling digits was found. Its evidence:
    `strong` of `strong_of` such values, `weak` of `weak_of` values of two digits, `files` read,
    `skipped` files that hold too many numbers to tell, and `where`.
    """
    wanted = [claim for claim in claims if telling_digits(claim) >= 2]
    literals, skipped = _read(files, python)
    found = {
        claim.id: hit for claim in wanted if (hit := _first_match(claim, literals)) is not None
    }
    strong = [claim for claim in wanted if telling_digits(claim) >= 3]
    weak = [claim for claim in wanted if telling_digits(claim) == 2]
    hits = [claim for claim in strong if claim.id in found]
    evidence = {
        "strong": _distinct(hits),
        "strong_of": _distinct(strong),
        "weak": _distinct(claim for claim in weak if claim.id in found),
        "weak_of": _distinct(weak),
        "files": len(literals),
        "skipped": len(skipped),
        "where": "; ".join(found[claim.id] for claim in hits[:_NAMED]),
    }
    return Probe(
        id="literal_scan",
        applies=bool(literals) and bool(wanted),
        sentence=_sentence(evidence, skipped),
        evidence=evidence,
        claims=tuple(claim.id for claim in hits),
    )


def telling_digits(claim: Claim) -> int:
    """Significant digits of the printed value without trailing zeros: 3 for 17.2, 1 for 100."""
    if not claim.value:
        return 0
    if claim.quantum:
        digits = str(round(abs(claim.value) / claim.quantum))
    else:
        digits = re.sub(r"e.*|\.", "", repr(abs(claim.value)))
    return len(digits.strip("0"))


def _read(
    files: Mapping[str, str], python: Container[str]
) -> tuple[dict[str, list[Literal]], list[str]]:
    """The numbers of each file that was read, and the files that hold too many."""
    literals, skipped = {}, []
    for path in sorted(files):
        if not _may_run(path):
            continue
        numbers = list(_numbers(path, files[path], path in python))
        if len(numbers) > _MANY_NUMBERS:
            skipped.append(path)
        else:
            literals[path] = numbers
    return literals, skipped


def _may_run(path: str) -> bool:
    """Whether a file is code, configuration or data, and no prose or list of versions."""
    pure = PurePosixPath(path)
    return pure.suffix.lower() not in _NO_CODE and not pure.name.startswith("requirements")


def _numbers(path: str, text: str, is_python: bool = False) -> Iterator[Literal]:
    suffix = ".py" if is_python else PurePosixPath(path).suffix
    if suffix == ".ipynb":
        text, suffix = _notebook_code(text), ".py"
    if suffix == ".py":
        try:
            tree = parsed(text)
        except SyntaxError:
            yield from _numbers_in_text(text)
        else:
            yield from _numbers_in_python(tree)
    else:
        yield from _numbers_in_text(text)


def _notebook_code(text: str) -> str:
    """The code cells of a notebook; its outputs are results, and no code."""
    try:
        cells = json.loads(text).get("cells", [])
        return "\n".join("".join(c["source"]) for c in cells if c.get("cell_type") == "code")
    except (ValueError, AttributeError, KeyError, TypeError):
        return text


def _numbers_in_text(text: str, first_line: int = 1) -> Iterator[Literal]:
    for line, content in enumerate(text.splitlines(), first_line):
        for match in _NUMBER.finditer(content):
            yield float(match[0]), line


def _numbers_in_python(tree: ast.AST) -> Iterator[Literal]:
    """Numbers, arithmetic on numbers alone, and numbers within strings that are no docstrings."""
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if id(node) in prose:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _numbers_in_text(node.value, node.lineno)
        elif isinstance(node, ast.Constant | ast.BinOp):
            value = _folded(node)
            if value is not None:
                yield abs(value), node.lineno


def _folded(node: ast.AST, depth: int = 8) -> float | None:
    """The value of a number, or of + - * / on numbers; None for anything else."""
    if isinstance(node, ast.Constant):
        return (
            float(node.value) if type(node.value) in (int, float) and _small(node.value) else None
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and depth:
        value = _folded(node.operand, depth - 1)
        return None if value is None else -value
    if isinstance(node, ast.BinOp) and type(node.op) in _FOLDED and depth:
        left, right = _folded(node.left, depth - 1), _folded(node.right, depth - 1)
        if left is None or right is None:
            return None
        try:
            return _FOLDED[type(node.op)](left, right)
        except (ZeroDivisionError, OverflowError):
            return None
    return None


def _small(value: float) -> bool:
    return abs(value) < 1e100


def _first_match(claim: Claim, literals: Mapping[str, list[Literal]]) -> str | None:
    """Where a claim's value first stands, in words."""
    half = (claim.quantum or 0) / 2 * (1 + 1e-9)
    for path, numbers in literals.items():
        for value, line in numbers:
            if any(abs(value * scale - abs(claim.value)) <= half for scale in _SCALES):
                return f"{path}:{line} {number(value)} ({claim.id})"
    return None


def _distinct(claims: Iterable[Claim]) -> int:
    return len({claim.value for claim in claims})


def _sentence(evidence: Mapping, skipped: list[str]) -> str:
    where = f": {evidence['where']}" if evidence["where"] else ""
    said = (
        f"{evidence['strong']} of {counted(evidence['strong_of'], 'reported value')} of three or "
        f"more digits and {evidence['weak']} of {evidence['weak_of']} of two stand as numbers in "
        f"{counted(evidence['files'], 'file')}{where}."
    )
    return f"{said} Not read, as data: {', '.join(skipped)}." if skipped else said
