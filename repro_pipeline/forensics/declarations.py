"""What the files of a program declare: functions, classes, imports, names that stand for constants."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from repro_pipeline.forensics.constants import NotConstant, evaluate
from repro_pipeline.forensics.made_code import with_made_code
from repro_pipeline.pysource import depth, parsed

CHANGING = {
    *("append", "extend", "update", "insert", "setdefault", "add", "pop", "remove", "clear"),
    *("appendleft", "discard", "popitem", "sort", "reverse"),
}
"""Methods that change the object itself."""
_DEEPEST = 100
"""Nodes in one another that the readers, which are recursive, follow within Python's stack."""


@dataclass
class Module:
    """One file, and what it declares."""

    file: str
    name: str
    tree: ast.Module
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = field(
        default_factory=dict
    )
    """By qualified name: `f`, `Class.method`, `f.inner`."""
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    """Local name → module and its name there."""
    names: dict[str, Any] = field(default_factory=dict)
    """Constants by name."""


def single_constants(body: Iterable[ast.stmt], known: Mapping[str, Any]) -> dict[str, Any]:
    """The names that a body assigns once, to an expression of constants, and never fills or changes."""
    body = list(body)
    changed = {name for statement in body for name in _changed_in_place(statement)}
    assigned: dict[str, list[ast.expr | None]] = defaultdict(list)
    for statement in body:
        for node in own_nodes(statement):
            for name, value in bindings(node):
                assigned[name].append(value)
    found: dict[str, Any] = {}
    for name, values in assigned.items():
        if len(values) == 1 and values[0] is not None and name not in changed:
            try:
                found[name] = evaluate(values[0], {**known, **found})
            except NotConstant:
                continue
    return found


def _changed_in_place(statement: ast.stmt) -> Iterable[str]:
    """The names of objects that are filled or changed, in functions inside too."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                if method in CHANGING:
                    yield name
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name


def own_nodes(statement: ast.stmt) -> Iterable[ast.AST]:
    """The nodes of a statement without those of functions and classes that it defines."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))


def bindings(node: ast.AST) -> Iterable[tuple[str, ast.expr | None]]:
    """The names that a node binds, with the expression where it is one name and one expression."""
    match node:
        case ast.Assign():
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
                else:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name):
                            yield part.id, None
        case ast.AnnAssign(target=ast.Name()) if node.value is not None:
            yield node.target.id, node.value
        case ast.AugAssign() | ast.For() | ast.NamedExpr() | ast.comprehension():
            for part in ast.walk(node.target):
                if isinstance(part, ast.Name):
                    yield part.id, None
        case ast.Global():
            for name in node.names:
                yield name, None


def imported_names(module: Module, modules: Mapping[str, Module]) -> dict[str, Any]:
    """The constants that a module has from others of the program."""
    found = {}
    for local, (origin, name) in module.imports.items():
        other = module_named(origin, modules)
        if other is not None and name in other.names:
            found[local] = other.names[name]
    return found


def module_named(name: str, modules: Mapping[str, Module]) -> Module | None:
    """The module of the program that an import means; None for a library."""
    name = name.lstrip(".")
    if name in modules:
        return modules[name]
    ends = [one for full, one in modules.items() if full.endswith("." + name)]
    return ends[0] if len(ends) == 1 and name else None


class _Declarations(ast.NodeVisitor):
    """Functions, classes and imports of a module."""

    def __init__(self, module: Module) -> None:
        self.module, self.scope = module, []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.module.functions[".".join((*self.scope, node.name))] = node
        self._inside(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.module.classes[node.name] = node
        self._inside(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
            self.module.functions[".".join((*self.scope, node.targets[0].id))] = node.value
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for one in node.names:
            self.module.imports[one.asname or one.name.split(".")[0]] = (one.name, None)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            self.module.imports[one.asname or one.name] = (node.module or "", one.name)

    def _inside(self, node: Any) -> None:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()


def modules_of(files: Mapping[str, str]) -> tuple[dict[str, Module], dict[str, str]]:
    """The modules of Python files (path → text) by name, and why some cannot be read, by path.

    Tests of the code are left out, unless something else can bring them in.
    """
    modules, unread = {}, {}
    for file, text in files.items():
        if _only_a_test(file, files):
            continue
        try:
            tree = parsed(text)
        except SyntaxError as error:
            unread[file] = f"could not be read as Python: {error.msg}"
            continue
        if depth(tree) > _DEEPEST:
            why = f"it is nested deeper than {_DEEPEST} expressions or blocks"
            unread[file] = f"could not be read as Python: {why}"
            continue
        tree = with_made_code(tree, single_constants(tree.body, {}), files)
        name = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        modules[name] = Module(file, name, tree)
        _Declarations(modules[name]).visit(tree)
    for _ in range(2):  # constants that rest on those of other modules
        for module in modules.values():
            module.names.update(imported_names(module, modules))
            module.names.update(single_constants(module.tree.body, module.names))
    return modules, unread


_BRINGS_IN = re.compile(r"import_module|__import__|importlib|runpy|\bexec\b|\bexecfile\b")
"""Ways to load a module whose name need not stand in the code."""


def _only_a_test(file: str, files: Mapping[str, str]) -> bool:
    """Whether a file is a test that nothing but a test runner loads."""
    if not _is_test(file):
        return False
    stem = re.escape(PurePosixPath(file).stem)
    named = re.compile(rf"\b{stem}\b|{_BRINGS_IN.pattern}")
    others = (text for path, text in files.items() if not _is_test(path))
    return not any(named.search(text) for text in others)


def _is_test(file: str) -> bool:
    return PurePosixPath(file).name.startswith("test_")


def parameters_of(function: Any) -> list[str]:
    """The names of a function's parameters."""
    a = function.args
    names = [one.arg for one in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return names + [one.arg for one in (a.vararg, a.kwarg) if one is not None]
