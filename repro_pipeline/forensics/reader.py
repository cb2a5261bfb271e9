"""Reads Python files into a graph of which values come from which."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from repro_pipeline.forensics.declarations import (
    bindings,
    modules_of,
    own_nodes,
    parameters_of,
    single_constants,
)
from repro_pipeline.forensics.expressions import Expressions
from repro_pipeline.forensics.graph import Graph
from repro_pipeline.forensics.syntax import counts, exits, is_text


def build(files: Mapping[str, str]) -> Graph:
    """The graph of a submission's Python files (path → text), and which of them it lacks."""
    modules, unread = modules_of(files)
    graph = Graph(unread=unread)
    for module in modules.values():
        graph.trees[module.file] = module.tree
    for module in modules.values():
        try:
            _Reader(graph, module, modules).read_module()
        except RecursionError:
            graph.unread[module.file] = "is nested too deep to be followed"
    return graph


class _Reader(Expressions):
    """Adds the edges of one module, statement by statement."""

    def read_module(self) -> None:
        self._body(self.module.tree.body)
        for name, function in self.module.functions.items():
            self._function(name, function)

    def _function(self, name: str, function: Any) -> None:
        self.scope, self.under, self.loops = name, [], []
        parameters = parameters_of(function)
        body = [ast.Return(function.body)] if isinstance(function, ast.Lambda) else function.body
        bound = {one for s in body for node in own_nodes(s) for one, _ in bindings(node)}
        bound |= {
            i.optional_vars.id
            for s in body
            for w in own_nodes(s)
            if isinstance(w, ast.With)
            for i in w.items
            if isinstance(i.optional_vars, ast.Name)
        }
        self.locals[name] = {*parameters, *bound}
        outer = {
            key: value for key, value in self.module.names.items() if key not in self.locals[name]
        }
        self.names = outer | single_constants(body, outer)
        for parameter in parameters:
            self.names.pop(parameter, None)
        arguments = function.args
        for argument, default in zip(
            reversed([*arguments.posonlyargs, *arguments.args]),
            reversed(arguments.defaults),
            strict=False,
        ):
            self.assign(self.var(argument.arg), default)
        self._body(body)
        self.scope, self.names = "", self.module.names

    def _body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:  # noqa: PLR0912 - a case a kind of statement
        self.told.clear()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Import() | ast.ImportFrom():
                return
            case ast.ClassDef():
                for inner in node.body:
                    match inner:
                        case (
                            ast.Assign(targets=[ast.Name(id=name)])
                            | ast.AnnAssign(target=ast.Name(id=name))
                        ):
                            if inner.value is not None:
                                self.flow(("attr", name), self.of(inner.value))
            case ast.Assign():
                for target in node.targets:
                    self.bind(target, node.value)
            case ast.AnnAssign() if node.value is not None:
                self.bind(node.target, node.value)
            case ast.AugAssign():
                self.bind(node.target, node.value)
            case ast.Return() if node.value is not None:
                self.flow(("ret", self.module.name, self.scope), self.of(node.value))
            case ast.If():
                self._under(node.test, node.body, node)
                self._under(node.test, node.orelse, node)
            case ast.While():
                self._loop(node.body, node.test, node)
            case ast.For() | ast.AsyncFor():
                self.bind(node.target, node.iter)
                self.many += counts(node.iter)
                self._loop(node.body, None, node)
                self.many -= counts(node.iter)
                self._body(node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, item.context_expr)
                    else:
                        self.of(item.context_expr)
                self._body(node.body)
            case ast.Try():
                self._body([*node.body, *node.orelse, *node.finalbody])
                for handler in node.handlers:
                    mark = ("handler", self.module.file, str(handler.lineno))
                    self.graph.handlers[mark] = handler
                    self.under.append(mark)
                    self._body(handler.body)
                    self.under.pop()
            case ast.Match():
                self.of(node.subject)
                for case in node.cases:
                    self._under(node.subject, case.body, node)
            case ast.Expr():
                self._expression(node.value)
            case ast.Break():
                for assigned in self.loops[-1:]:
                    for target in assigned:
                        self.graph.control[target].update(self.under)
            case ast.Assert() | ast.Raise() | ast.Delete():
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        self.of(part)

    def _expression(self, value: ast.expr) -> None:
        """An expression that stands alone: a notebook shows it."""
        self.of(value)
        if self.module.file.endswith(".ipynb") and not is_text(value):
            self.shows(value)

    def _under(self, test: ast.expr, body: list[ast.stmt], node: ast.stmt) -> None:
        if not body:
            return
        mark = self.test(
            test, node, raises=all(isinstance(s, ast.Raise | ast.Pass) or exits(s) for s in body)
        )
        self.under.append(mark)
        self._body(body)
        self.under.pop()

    def _loop(self, body: list[ast.stmt], test: ast.expr | None, node: ast.stmt) -> None:
        self.loops.append([])
        if test is not None:
            self.under.append(self.test(test, node, raises=False))
        # Twice, so that a `break` meets what is assigned after it too.
        self._body(body)
        self._body(body)
        if test is not None:
            self.under.pop()
        inner = self.loops.pop()
        if self.loops:
            self.loops[-1].extend(inner)
