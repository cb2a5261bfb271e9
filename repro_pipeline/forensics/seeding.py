"""What the code does with seeds: looks values up by them, decides by them, or brings its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repro_pipeline.findings import Finding
from repro_pipeline.forensics.graph import Graph, Node

_SEED = re.compile(r"(^|_)(seed|rng_seed|random_state|s)$|seed$", re.I)


def by_seed(graph: Graph, direct: set[Node]) -> Iterator[Finding]:
    """Values that are looked up by the seed, or decided by which seed it is."""
    for node in sorted(direct):
        if node[0] == "index" and _is_seed_table(graph, node):
            yield Finding(
                kind="looked_up_by_seed",
                evidence=f"{node[1]}:{node[2]}: a metric is looked up in a table of constants by "
                "the seed.",
                severity="suspect",
            )
            break
    for test in graph.deciding(direct):
        reads_seed = any(is_seed(node) for node in test.nodes)
        numbers = [value for constant in test.constants for value in constant.values]
        special = [value for value in numbers if value not in (-1.0, 0.0)] or len(numbers) > 1
        if reads_seed and special and not test.raises:
            yield Finding(
                kind="decided_by_seed",
                evidence=f"{test.file}:{test.line}: `{ast.unparse(test.expression)[:80]}`: "
                "which seed it is "
                "decides how a metric is made.",
                severity="suspect",
            )


def is_seed(node: Node) -> bool:
    """Whether a name says that it is a seed."""
    return node[0] in {"var", "attr", "key"} and bool(_SEED.search(node[-1])) and node[-1] != "s"


def fixed_seeds(graph: Graph) -> list[str]:
    """Where the code seeds a generator with a constant, `file:line`."""
    found = []
    functions = {
        node.name: node
        for tree in graph.trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
    for file, tree in graph.trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = [o.value for o in node.keywords if o.arg in {"random_state", "seed"}]
            if name in {"seed", "default_rng", "Random", "RandomState", "manual_seed", "PCG64"}:
                given += node.args[:1]
            given += _for_seed(node, functions.get(name))
            if any(isinstance(one, ast.Constant) and type(one.value) is int for one in given):
                found.append(f"{file}:{node.lineno}")
    return found


def _for_seed(call: ast.Call, function: ast.FunctionDef | None) -> list[ast.expr]:
    """What a call gives for a parameter of that name of one of the program's functions."""
    if function is None or not isinstance(call.func, ast.Name):
        return []
    pairs = zip(function.args.args, call.args, strict=False)
    return [given for parameter, given in pairs if re.search(r"(^|_)seed$", parameter.arg)]


def _is_seed_table(graph: Graph, index: Node) -> bool:
    """Whether a subscript takes one of several constants, and the seed says which."""
    by = graph.behind(graph.derived.get(index, ()), "direct")
    calls = {node[4] for node in by if node[0] == "call"}
    held = graph.behind(graph.reads[index][0], "direct")
    constants = [node for node in held if node in graph.constants]
    return any(map(is_seed, by)) and calls <= _CASTS and len(constants) > 1


_CASTS = {"int", "str", "get", "parse_args", "ArgumentParser", "add_argument", "len", ""}
