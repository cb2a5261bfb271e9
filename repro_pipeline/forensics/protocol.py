"""The protocol as the code carries it out: settings that it changes by itself, rows that it skips, what
it reads of itself. Readings, never more than unverified: honest code does each of these now and then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Any

from repro_pipeline.findings import Finding
from repro_pipeline.forensics.constants import NotConstant, evaluate
from repro_pipeline.forensics.declarations import single_constants
from repro_pipeline.forensics.graph import Graph

_SIZE = re.compile(
    r"^(n|num|number)_?(of_?)?(train|test|draw|sample|case|point|rep|trial|fold|run|seed|epoch|iter"
    r"|step|few)|^(train|test)_?(size|n|cases)|^(draws|repeats|epochs|samples|trials|restarts)$",
    re.I,
)
_USUAL = {0.0, 0.5, 1.0, 2.0}
_OF_CODE = {"__doc__", "__name__", "__qualname__", "co_consts", "co_names", "co_varnames"}
_SOURCES = {"getsource", "getsourcelines", "getdoc", "globals", "getcomments"}
_PARSES = {"float", "int", "findall", "literal_eval", "finditer", "loads", "Decimal", "search"}


def findings(graph: Graph, switches: Collection[str]) -> Iterator[Finding]:
    """Readings of every file. `switches` are the settings that ablations change."""
    for file, tree in graph.trees.items():
        yield from _scaled(file, tree)
        yield from _overridden(file, tree, switches)
        yield from _rows_left_out(file, tree)
        yield from _reads_itself(file, tree)


def _finding(kind: str, file: str, node: ast.AST, says: str) -> Finding:
    text = ast.unparse(node).replace("\n", " ")[:80]
    return Finding(
        kind=kind, evidence=f"{file}:{node.lineno}: `{text}` {says}", severity="unverified"
    )


def _key(node: ast.AST) -> str | None:
    """The name of the setting that an expression is, `config["n"]` or `config.n`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value if isinstance(node.slice.value, str) else None
    return node.attr if isinstance(node, ast.Attribute) else None


def _product(node: ast.AST) -> tuple[str, float] | None:
    """A setting times a number, or divided by it: the setting and the number."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult | ast.Div):
        return None
    for number, other in ((node.left, node.right), (node.right, node.left)):
        key = _key(other)
        if isinstance(number, ast.Constant) and isinstance(number.value, int | float) and key:
            return key, float(number.value)
    return None


def _scaled(file: str, tree: ast.Module) -> Iterator[Finding]:
    """Settings multiplied by numbers of the code before they are used."""
    for node in ast.walk(tree):
        for key, value in _assigned(node):
            made = next((p for part in ast.walk(value) if (p := _product(part))), None)
            if made and made[0] == key and made[1] != 1:
                yield _finding(
                    "setting_scaled", file, node, f"puts another {key} in place of the given one."
                )
                return
        made = _product(node)
        if made and _SIZE.search(made[0]) and made[1] not in _USUAL and _is_size(node):
            yield _finding("setting_scaled", file, node, f"is not the {made[0]} of the settings.")
            return


def _is_size(node: ast.BinOp) -> bool:
    """Whether a product is of a whole number, not a per cent or a rate."""
    numbers = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
    return isinstance(node.op, ast.Mult) and all(
        float(n).is_integer() and n not in {100, 1000} for n in numbers
    )


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The settings that a statement or a copy of the settings replaces, with their new values."""
    match node:
        case ast.Dict() if None in node.keys:
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value
        case ast.Assign(targets=[ast.Subscript() as target]):
            if (key := _key(target)) is not None:
                yield key, node.value
        case ast.AugAssign(target=ast.Subscript() as target):
            if (key := _key(target)) is not None and isinstance(node.value, ast.Constant):
                yield key, ast.BinOp(target, node.op, node.value)


def _overridden(file: str, tree: ast.Module, switches: Collection[str]) -> Iterator[Finding]:
    """An ablation's switch set to a constant inside the run."""
    for node in ast.walk(tree):
        for key, value in _assigned(node):
            if key in switches and isinstance(value, ast.Constant):
                yield _finding(
                    "ablation_overridden", file, node, f"sets {key}, which an ablation changes."
                )
                return


def _rows_left_out(file: str, tree: ast.Module) -> Iterator[Finding]:
    """Rows skipped by a fixed list of their numbers."""
    names = dict(single_constants(tree.body, {}))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in {"delete", "drop"}:
            listed = any(_row_numbers(argument, names) for argument in node.args)
            if listed:
                yield _finding("rows_left_out", file, node, "leaves out rows by a fixed list.")
                return
        indexes = _enumerated(node)
        tests = [part for part in ast.walk(node) if isinstance(part, ast.Compare)] * bool(indexes)
        for test in tests:
            left = test.left.id if isinstance(test.left, ast.Name) else None
            if (
                left in indexes
                and isinstance(test.ops[0], ast.NotIn | ast.In)
                and _row_numbers(test.comparators[0], names)
            ):
                yield _finding("rows_left_out", file, test, "picks rows by a fixed list.")
                return


def _enumerated(node: ast.AST) -> set[str]:
    """The names that count through something in a loop."""
    loops = node.generators if isinstance(node, ast.ListComp | ast.GeneratorExp) else [node]
    found = set()
    for loop in loops:
        match loop:
            case (
                ast.comprehension(
                    target=ast.Tuple(elts=[ast.Name(id=name), *_]), iter=ast.Call(func=func)
                )
                | ast.For(target=ast.Tuple(elts=[ast.Name(id=name), *_]), iter=ast.Call(func=func))
            ):
                found |= {name} if _name(func) == "enumerate" else set()
    return found


def _row_numbers(node: ast.expr, names: dict[str, Any]) -> bool:
    try:
        value = evaluate(node, names)
    except NotConstant:
        return False
    return (
        isinstance(value, list | tuple | set)
        and len(value) > 1
        and all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    )


def _reads_itself(file: str, tree: ast.Module) -> Iterator[Finding]:
    """Numbers taken from docstrings, names or the source of the program itself."""
    for node in ast.walk(tree):
        if not _parses(node):
            continue
        parts = list(ast.walk(node))
        itself = {part.attr for part in parts if isinstance(part, ast.Attribute)} & _OF_CODE
        itself |= {_name(part.func) for part in parts if isinstance(part, ast.Call)} & _SOURCES
        if itself:
            yield _finding(
                "reads_itself",
                file,
                node,
                f"takes numbers from the program's own text ({min(itself)}).",
            )
            return


def _parses(node: ast.AST) -> bool:
    """Whether an expression makes numbers of texts, itself or for each of its parts."""
    match node:
        case ast.Call(func=func, args=args):
            mapped = _name(func) == "map" and args and _name(args[0]) in _PARSES
            return bool(mapped) or _name(func) in _PARSES
        case ast.ListComp(elt=inner) | ast.GeneratorExp(elt=inner) | ast.DictComp(value=inner):
            return any(_parses(part) for part in ast.walk(inner))
    return False


def _name(func: ast.AST) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
