"""Powers of ten in code: units that a value is multiplied or divided by, or values themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repro_pipeline.claims.model import Claim
from repro_pipeline.forensics.graph import Constant, Graph
from repro_pipeline.forensics.matching import NEAR, is_factor
from repro_pipeline.forensics.syntax import last_name

_SCALING = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)


def is_round_value(constant: Constant, claim: Claim, graph: Graph) -> bool:
    """Whether a power of ten stands for a claim's value that is near it: nothing is scaled by it.

    What something is multiplied or divided by is a unit, and a whole that something is taken from:
    `100 * hits / n`, `1 - error`.
    """
    numbers = [one for one in constant.values if one and is_factor(one)]
    close = [one for one in numbers if abs(one - claim.value) <= NEAR * abs(claim.value)]
    if not close or not constant.plain:
        return False
    tree = graph.trees[constant.file]
    node = _at(constant, tree)
    names = set(_names_of(node, graph))
    scales = _scales(tree, whole=close[0] in (1, 100))
    return not any(one is node or getattr(one, "id", None) in names for one in scales)


def _at(constant: Constant, tree: ast.Module) -> ast.expr | None:
    """The expression that a constant is."""
    for node in ast.walk(tree):
        span = [getattr(node, part, None) for part in _SPAN]
        if span == list(constant.span) and isinstance(node, ast.expr):
            return node
    return None


_SPAN = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def _names_of(node: ast.expr | None, graph: Graph) -> Iterator[str]:
    """The names that stand for the expression, wherever they are assigned."""
    for tree in graph.trees.values():
        for one in ast.walk(tree):
            if isinstance(one, ast.Assign) and one.value is node:
                yield from (t.id for t in one.targets if isinstance(t, ast.Name))


def _scales(tree: ast.Module, *, whole: bool) -> Iterator[ast.expr]:
    """What something is multiplied or divided by, what counts, and, of a whole, what is taken from."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=op) if isinstance(op, _SCALING):
                yield from (node.left, node.right)
            case ast.BinOp(op=ast.Sub()) if whole:
                yield node.left
            case ast.AugAssign():
                yield node.value
            case ast.Call() if last_name(node.func) in {"multiply", "divide", "range", "power"}:
                yield from node.args
