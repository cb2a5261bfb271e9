"""Test data where they must not be, read from the code: in a fit, in a choice, before the split.

What is test data is told by its name (`X_test`, `test_y`, …) and by the second halves of
`train_test_split`. A reading by names is a hint, not a proof: `severity` is unverified unless the
test data go into a fit by their own name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repro_pipeline.findings import Finding
from repro_pipeline.forensics.graph import Graph, Node

_TEST = re.compile(
    r"(^|_)(test|te|tst|heldout|holdout)(_|$|\d)|(?<=[a-z])_?(Test|TEST)$|^(x|y)te$", re.I
)
_TRAIN = re.compile(r"(^|_)(train|training|tr|fit)(_|$|\d)|^(x|y)tr(ain)?$", re.I)
_FITS = {"fit", "partial_fit", "fit_transform", "fit_resample", "fit_predict"}
_UNSUPERVISED = re.compile(
    r"scaler|normaliz|imputer|pca|svd|vectorizer|encoder|discretizer|transformer|whiten", re.I
)
_SELECTS = re.compile(r"select|rfe|targetencoder|lda|pls|supervised", re.I)
_VALIDATION = re.compile(r"(^|[\W_])val(id|_|\b)")
_SCORES = re.compile(r"(score|accuracy|error|loss|evaluate|auc|f1|rmse|mse|mae|mean)", re.I)


def findings(graph: Graph) -> Iterator[Finding]:
    """Leaks that the code shows."""
    yield from _fits_on_test(graph)
    yield from _test_in_training(graph)
    for file, tree in graph.trees.items():
        yield from _fits_before_split(file, tree)
        yield from _target_among_features(file, tree)
    yield from _chosen(graph)
    yield from _best(graph)


def is_test(node: Node) -> bool:
    """Whether a name says that it is test data."""
    return node[0] in {"var", "attr", "key"} and bool(_TEST.search(node[-1]))


def _fits_on_test(graph: Graph) -> Iterator[Finding]:
    for mark, call in graph.calls.items():
        method = isinstance(call.func, ast.Attribute) and mark[4] in _FITS
        if not method and not re.match(r"(fit|train|learn)(_|$)", mark[4]):
            continue
        data = graph.reads[mark][1:] if method else graph.reads[mark]
        if not method and not all(any(map(is_test, part)) for part in data[:2]):
            continue  # a training function may be given test data to watch them
        named = [n for part in data for n in part if is_test(n)]
        behind = graph.behind({n for part in data for n in part}, "direct")
        through = [n for n in behind if is_test(n)]
        if named or through:
            name = (named or through)[0][-1]
            yield Finding(
                kind="fit_on_test",
                evidence=f"{mark[1]}:{mark[2]}: `{ast.unparse(call)[:80]}` is given test data "
                f"({name}).",
                severity="suspect" if named else "unverified",
            )


def _test_in_training(graph: Graph) -> Iterator[Finding]:
    """Training data that are made of test data too, or both put together."""
    for node in sorted(graph.direct):
        if node[0] == "var" and _TRAIN.search(node[-1]) and not is_test(node):
            within = _same_scope(graph, node)
            tests = sorted(n[-1] for n in within if is_test(n))
            if tests:
                yield Finding(
                    kind="test_in_training",
                    evidence=f"{node[1]}: `{node[-1]}` is made of `{tests[0]}` too.",
                    severity="unverified",
                )
                return
    for mark, call in graph.calls.items():
        if mark[4] not in {"vstack", "concatenate", "concat", "append", "hstack", "cat", "chain"}:
            continue
        names = {
            n[-1] for part in graph.reads[mark] for n in part if n[0] in {"var", "attr", "key"}
        }
        if any(map(_TRAIN.search, names)) and any(map(_TEST.search, names)):
            yield Finding(
                kind="test_in_training",
                evidence=f"{mark[1]}:{mark[2]}: `{ast.unparse(call)[:80]}` puts training and test data "
                "together.",
                severity="unverified",
            )
            return


def _same_scope(graph: Graph, node: Node) -> set[Node]:
    """What a name is made of without a way through functions, which mix the data of all callers."""
    seen, waiting = set(), [node]
    while waiting:
        for source in graph.direct.get(waiting.pop(), ()):
            if source not in seen and (source[0] != "var" or source[1:3] == node[1:3]):
                seen.add(source)
                waiting += [source] if source[0] != "ret" else []
    return seen


def _fits_before_split(file: str, tree: ast.Module) -> Iterator[Finding]:
    """A fit on the whole of what is split into training and test data later in the same body."""
    bodies = [
        tree,
        *(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)),
    ]
    for body in bodies:
        calls = [n for n in ast.walk(body) if isinstance(n, ast.Call)]
        splits = [c for c in calls if _name(c.func) in {"train_test_split", "split"} and c.args]
        split_lines = [c.lineno for c in splits if _name(c.func) == "train_test_split"]
        if not split_lines:
            continue
        for call in calls:
            if _name(call.func) not in _FITS or call.lineno >= min(split_lines) or not call.args:
                continue
            receiver = ast.unparse(call.func).lower()
            made = _made_as(body, call.func)
            if re.search(r"label_?(encoder|binarizer)", f"{made} {receiver}", re.I):
                continue  # it gives the classes numbers
            supervised = len(call.args) > 1 and not _UNSUPERVISED.search(made or receiver)
            yield Finding(
                kind="fit_before_split",
                evidence=f"{file}:{call.lineno}: `{ast.unparse(call)[:80]}` is fitted before "
                "the data are "
                f"split (line {min(split_lines)}).",
                severity="suspect" if supervised and _SELECTS.search(made) else "unverified",
            )
            break


def _made_as(body: ast.AST, func: ast.expr) -> str:
    """The expression that made the object whose method is called."""
    if not isinstance(func, ast.Attribute):
        return ""
    if not isinstance(func.value, ast.Name):
        return ast.unparse(func.value)
    for node in ast.walk(body):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == func.value.id:
            return ast.unparse(node.value)
    return ""


def _target_among_features(file: str, tree: ast.Module) -> Iterator[Finding]:
    """The labels stacked onto the inputs."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        if _name(node.value.func) not in {"hstack", "column_stack", "c_", "concatenate", "concat"}:
            continue
        target = ast.unparse(node.targets[0])
        parts = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        labels = {p for p in parts if re.fullmatch(r"y_(train|all|true|full)|labels?|targets?", p)}
        inputs = {p for p in parts if re.match(r"x", p, re.I)}
        if labels and inputs and re.match(r"x|feat", target, re.I):
            yield Finding(
                kind="target_among_features",
                evidence=f"{file}:{node.lineno}: `{ast.unparse(node)[:80]}` puts the labels "
                "among the inputs.",
                severity="unverified",
            )


def _chosen(graph: Graph) -> Iterator[Finding]:
    """What is kept because it does best on the test data."""
    start = {node for sink in graph.metric_sinks for node in sink.nodes}
    direct = graph.behind(start, "direct", "derived")
    marks = {mark for node in direct for mark in graph.control.get(node, ())}
    for mark in sorted(marks):
        test = graph.tests.get(mark)
        if test is None or test.raises or not _compares(test.expression):
            continue
        if _VALIDATION.search(ast.unparse(test.expression)):
            continue
        best = any(
            re.search(r"best|min_|max_|lowest|highest|record", n[-1])
            for n in test.nodes
            if n[0] == "var"
        )
        if best and any(is_test(n) for n in test.nodes | _one_step(graph, test.nodes)):
            yield Finding(
                kind="chosen_on_test",
                evidence=f"{test.file}:{test.line}: `{ast.unparse(test.expression)[:80]}` "
                "keeps what does "
                "best on test data.",
                severity="unverified",
            )


def _one_step(graph: Graph, nodes: frozenset[Node]) -> set[Node]:
    """What the operands are computed from, one call deep."""
    first = graph.behind(nodes, "direct")
    calls = {n for n in first if n[0] == "call"}
    return {
        m
        for call in calls
        for part in graph.reads.get(call, ())
        for m in graph.behind(part, "direct")
    }


def _compares(expression: ast.expr) -> bool:
    operators = [op for n in ast.walk(expression) if isinstance(n, ast.Compare) for op in n.ops]
    return any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in operators)


def _best(graph: Graph) -> Iterator[Finding]:
    """A metric that is the best of several results."""
    start = {node for sink in graph.metric_sinks for node in sink.nodes}
    direct = graph.behind(start, "direct")
    for mark in sorted(direct):
        call = graph.calls.get(mark)
        if call is not None and mark[4] == "sorted" and _sliced(graph, call):
            yield Finding(
                kind="best_of_several",
                evidence=f"{mark[1]}:{mark[2]}: a metric is made of a part of sorted results.",
                severity="unverified",
            )
            continue
        if call is None or mark[4] not in {"max", "min", "amax", "amin", "nanmax", "nanmin"}:
            continue
        alone = len(call.args) == 1 or (not call.args and isinstance(call.func, ast.Attribute))
        if not alone or isinstance(call.args[0] if call.args else None, ast.Constant):
            continue
        behind = graph.behind({n for part in graph.reads[mark] for n in part}, "direct")
        results = [n for n in behind if n[0] in {"call", "ret"} and _SCORES.search(n[-1])]
        several = any(n[0] == "ret" for n in behind) or results
        if several and not _VALIDATION.search(ast.unparse(call)):
            yield Finding(
                kind="best_of_several",
                evidence=f"{mark[1]}:{mark[2]}: `{ast.unparse(call)[:80]}`: a metric is the "
                "best of several "
                "results.",
                severity="unverified",
            )


def _sliced(graph: Graph, call: ast.Call) -> bool:
    """Whether only the first or last of a sorted list are taken."""
    for tree in graph.trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and node.value is call:
                return isinstance(node.slice, ast.Slice | ast.UnaryOp | ast.Constant)
    return False


def _name(func: ast.AST) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
