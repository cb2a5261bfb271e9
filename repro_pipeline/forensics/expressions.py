"""Reads expressions into a graph of which values come from which."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from repro_pipeline.forensics.constants import NotConstant, evaluate, numbers_in
from repro_pipeline.forensics.declarations import Module, parameters_of
from repro_pipeline.forensics.graph import Constant, Graph, Node, Sink, Test
from repro_pipeline.forensics.names import Names
from repro_pipeline.forensics.syntax import (
    DRAWS,
    LOOKED_INTO,
    PASSES,
    PUTS,
    SHOWERS,
    WRITERS,
    counts,
    draws,
    is_text,
    last_name,
    single,
)


class Expressions(Names):
    """Adds the edges of one module's expressions."""

    def __init__(self, graph: Graph, module: Module, modules: Mapping[str, Module]) -> None:
        super().__init__(module, modules)
        self.graph = graph
        self.names: dict[str, Any] = module.names
        self.under: list[Node] = []
        self.loops: list[list[Node]] = []
        self.told: dict[ast.expr, set[Node]] = {}
        """What the expressions of this statement gave: each is asked for again by those around it."""
        self.samples = {
            target.id
            for part in ast.walk(module.tree)
            if isinstance(part, ast.Assign)
            for target in part.targets
            if isinstance(target, ast.Name) and isinstance(part.value, ast.Call)
            if last_name(part.value.func) in DRAWS and not single(part.value)
        }
        self.many = 0
        """How many loops over a range are around: what is drawn there is data."""

    def of(self, node: ast.expr | None) -> set[Node]:
        """The nodes whose values pass directly into an expression's."""
        if node is None:
            return set()
        if node not in self.told:
            self.told[node] = self._of(node)
        return self.told[node]

    def _of(self, node: ast.expr) -> set[Node]:  # noqa: PLR0911, PLR0912 - a case a node
        constant = self._constant(node)
        if constant is not None:
            return constant
        match node:
            case ast.Name():
                return {self.var(node.id)}
            case ast.Attribute():
                if isinstance(node.value, ast.Name) and (
                    found := self.of_module(node.value.id, node.attr)
                ):
                    return {found}
                return self.of(node.value) | {("attr", node.attr)}
            case ast.Subscript():
                inner = self.of(node.value)
                index = self.of(node.slice) if not isinstance(node.slice, ast.Slice) else set()
                mark = ("index", self.module.file, str(node.lineno), str(node.col_offset))
                self.graph.derived[mark].update(index)
                self.graph.reads[mark] = (frozenset(inner),)
                keys = {("key", node.slice.value)} if is_text(node.slice) else set()
                return inner | keys | {mark}
            case ast.BinOp():
                if self._is_sample(node.left) or self._is_sample(node.right):
                    return self._opaque(node, [node.left, node.right])
                return self.of(node.left) | self.of(node.right)
            case ast.UnaryOp():
                return (
                    self.of(node.operand)
                    if not isinstance(node.op, ast.Not)
                    else self._opaque(node, [node.operand])
                )
            case ast.BoolOp():
                return set().union(*(self.of(value) for value in node.values))
            case ast.IfExp():
                mark = self.test(node.test, node, raises=False)
                choice = ("choice", self.module.file, str(node.lineno), str(node.col_offset))
                self.graph.control[choice].add(mark)
                return self.of(node.body) | self.of(node.orelse) | {choice}
            case ast.Compare():
                return self._opaque(node, [node.left, *node.comparators])
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                return self.of(node.body)
            case ast.List() | ast.Tuple() | ast.Set():
                return set().union(*(self.of(part) for part in node.elts))
            case ast.Dict():
                return self._dict(node)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self._comprehension(node)
            case ast.JoinedStr():
                return set().union(*(self.of(part) for part in node.values))
            case ast.FormattedValue() | ast.Starred() | ast.Await():
                return self.of(node.value)
            case ast.NamedExpr():
                self.bind(node.target, node.value)
                return self.of(node.value)
            case ast.Yield() | ast.YieldFrom():
                self.flow(("ret", self.module.name, self.scope), self.of(node.value))
                return set()
        return set()

    def _constant(self, node: ast.expr) -> set[Node] | None:
        """A node of its own for an expression of constants; None where it is none."""
        if isinstance(node, LOOKED_INTO) or getattr(node, "end_lineno", None) is None:
            return None
        try:
            value = evaluate(node, self.names)
        except NotConstant:
            return None
        numbers = tuple(numbers_in(value))
        if not numbers:
            return set()
        mark = (
            "const",
            self.module.file,
            str(node.lineno),
            str(node.col_offset),
            str(node.end_col_offset),
        )
        self.graph.constants.setdefault(
            mark,
            Constant(
                mark,
                self.module.file,
                node.lineno,
                numbers,
                ast.unparse(node)[:80],
                (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset),
                isinstance(node, ast.Constant | ast.UnaryOp),
            ),
        )
        return {mark}

    def _dict(self, node: ast.Dict) -> set[Node]:
        texts = {k.value: v for k, v in zip(node.keys, node.values, strict=True) if is_text(k)}
        if "claim" in texts and "value" in texts:
            claim = texts["claim"].value if is_text(texts["claim"]) else None
            self.graph.sinks.append(
                Sink(claim, frozenset(self.of(texts["value"])), self.module.file, node.lineno, True)
            )
        found: set[Node] = set()
        for key, value in zip(node.keys, node.values, strict=True):
            sources = self.of(value)
            found |= sources
            if is_text(key):
                self.flow(("key", key.value), sources)
        return found

    def _is_sample(self, node: ast.expr) -> bool:
        """Whether an expression is an array of random draws: data, whatever is added to it."""
        match node:
            case ast.Call():
                return last_name(node.func) in DRAWS and not single(node)
            case ast.BinOp():
                return self._is_sample(node.left) or self._is_sample(node.right)
            case ast.Name():
                return node.id in self.samples
        return False

    def _comprehension(self, node: Any) -> set[Node]:
        if draws(node) and any(counts(loop.iter) for loop in node.generators):
            return self._opaque(node, [loop.iter for loop in node.generators])
        for loop in node.generators:
            self._bind_local(loop.target, loop.iter)
            for test in loop.ifs:
                self._all_in(test)
        result = (
            self.of(node.value) | self.of(node.key)
            if isinstance(node, ast.DictComp)
            else self.of(node.elt)
        )
        tests = [
            self.test(test, node, raises=False) for loop in node.generators for test in loop.ifs
        ]
        if tests:
            choice = ("choice", self.module.file, str(node.lineno), str(node.col_offset))
            self.graph.control[choice].update(tests)
            result = result | {choice}
        return result

    def _bind_local(self, target: ast.expr, value: ast.expr) -> None:
        self.locals.setdefault(self.scope, set()).update(
            part.id for part in ast.walk(target) if isinstance(part, ast.Name)
        )
        self.bind(target, value)

    def _opaque(self, node: ast.expr, parts: list[ast.expr], name: str = "") -> set[Node]:
        mark = ("call", self.module.file, str(node.lineno), str(node.col_offset), name)
        read = tuple(frozenset(self.of(part)) for part in parts)
        self.graph.derived[mark].update(set().union(*read))
        self.graph.reads[mark] = read
        if isinstance(node, ast.Call):
            self.graph.calls[mark] = node
        return {mark}

    def _call(self, node: ast.Call) -> set[Node]:
        name = last_name(node.func)
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        arguments = [*node.args, *(option.value for option in node.keywords)]
        opaque = self._opaque(node, [*receiver, *arguments], name)
        self._mutates(name, receiver, arguments)
        self._writes(node, name, receiver, arguments)
        users = self.users(node, name)
        for module, qualified, function in users:
            self._pass_arguments(node, module, qualified, function)
        made = self._made_class(node, name)
        if users:
            returned = {("ret", module.name, qualified) for module, qualified, _ in users}
            looked_into = any(qualified.rsplit(".", 1)[-1] == name for _, qualified, _ in users)
            return returned if looked_into else returned | opaque
        drawn = name in DRAWS and single(node) and not self.many
        if made or drawn:
            return opaque.union(*(self.of(argument) for argument in arguments))
        if name in PASSES:
            return opaque.union(*(self.of(part) for part in (*receiver, *arguments)))
        return opaque

    def _mutates(self, name: str, receiver: list[ast.expr], arguments: list[ast.expr]) -> None:
        """What is put into a container passes into it."""
        if name not in PUTS:
            return
        for target in (node for part in receiver for node in self.targets(part)):
            for argument in arguments:
                if self.many and draws(argument):
                    self.graph.direct[target] |= self._opaque(argument, [])
                else:
                    self.assign(target, argument)

    def _writes(
        self, node: ast.Call, name: str, receiver: list[ast.expr], arguments: list[ast.expr]
    ) -> None:
        if name in SHOWERS:
            for argument in arguments:
                self.shows(argument)
        if name not in WRITERS:
            return
        written = receiver if name == "to_json" else arguments[:1]
        nodes = frozenset(one for part in written for one in self.of(part))
        if nodes:
            self.graph.sinks.append(Sink(None, nodes, self.module.file, node.lineno))

    def shows(self, node: ast.expr) -> None:
        """An expression whose value is printed, or shown below a cell."""
        if nodes := frozenset(self.of(node)):
            self.graph.sinks.append(Sink(None, nodes, self.module.file, node.lineno, printed=True))

    def _pass_arguments(
        self, node: ast.Call, module: Module, qualified: str, function: Any
    ) -> None:
        parameters = parameters_of(function)
        if parameters[:1] in (["self"], ["cls"]):
            parameters = parameters[1:]
        direct = last_name(node.func) == qualified.rsplit(".", 1)[-1]
        arguments = node.args if direct else [a for a in node.args[1:]]
        for place, argument in enumerate(arguments):
            if place < len(parameters) and not isinstance(argument, ast.Starred) and direct:
                self.flow(("var", module.name, qualified, parameters[place]), self.of(argument))
            else:
                for parameter in parameters:
                    self.flow(("var", module.name, qualified, parameter), self.of(argument))
        for option in node.keywords:
            names = (
                [option.arg]
                if option.arg in parameters
                else parameters
                if option.arg is None
                else []
            )
            for parameter in names:
                self.flow(("var", module.name, qualified, parameter), self.of(option.value))

    def _made_class(self, node: ast.Call, name: str) -> bool:
        """Whether a call makes an object of the submission's; its arguments become fields."""
        for module in self.modules.values():
            made = module.classes.get(name)
            if made is None:
                continue
            fields = [
                s.target.id
                for s in made.body
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            start = module.functions.get(f"{name}.__init__")
            if start is not None:
                self._pass_arguments(
                    ast.Call(ast.Name("__init__", ast.Load()), node.args, node.keywords),
                    module,
                    f"{name}.__init__",
                    start,
                )
            for place, argument in enumerate(node.args):
                if place < len(fields):
                    self.flow(("attr", fields[place]), self.of(argument))
            for option in node.keywords:
                if option.arg:
                    self.flow(("attr", option.arg), self.of(option.value))
            return True
        return False

    # --- bindings and tests

    def test(self, expression: ast.expr, node: ast.AST, *, raises: bool) -> Node:
        """Note a condition; its node is what is decided by it."""
        mark = ("test", self.module.file, str(expression.lineno), str(expression.col_offset))
        nodes = self._all_in(expression)
        constants = [self.graph.constants[one] for one in nodes if one in self.graph.constants]
        if mark in self.graph.tests:
            raises = raises and self.graph.tests[mark].raises
        self.graph.tests[mark] = Test(
            self.module.file,
            expression.lineno,
            frozenset(nodes),
            tuple(constants),
            expression,
            mark,
            raises,
        )
        self.graph.derived[mark].update(nodes)
        return mark

    def _all_in(self, expression: ast.expr) -> set[Node]:
        """What a condition looks at: the operands of its comparisons."""
        nodes = set(self.of(expression))
        for part in ast.walk(expression):
            if isinstance(part, ast.Compare):
                for operand in (part.left, *part.comparators):
                    nodes |= self.of(operand)
            elif isinstance(part, ast.BoolOp):
                for operand in part.values:
                    nodes |= self.of(operand)
            elif isinstance(part, ast.UnaryOp):
                nodes |= self.of(part.operand)
        return nodes

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        """An assignment, of tuples part by part where both sides have parts."""
        match target:
            case ast.Name() | ast.Attribute() | ast.Subscript():
                for node in self.targets(target):
                    self.assign(node, value)
            case ast.Tuple() | ast.List():
                same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(
                    target.elts
                )
                for place, part in enumerate(target.elts):
                    self.bind(part, value.elts[place] if same else value)
            case ast.Starred():
                self.bind(target.value, value)

    def targets(self, target: ast.expr) -> list[Node]:
        """The nodes that an assignment to a target changes."""
        match target:
            case ast.Name():
                return [self.var(target.id)]
            case ast.Attribute():
                return [("attr", target.attr)]
            case ast.Subscript():
                nodes = self.targets(target.value)
                if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
                    nodes = [*nodes, ("key", target.slice.value)]
                return nodes
        return []

    def assign(self, node: Node, value: ast.expr) -> None:
        """A value passes into a node, in all loops that are around."""
        self.flow(node, self.of(value))
        for loop in self.loops:
            loop.append(node)

    def flow(self, node: Node, sources: Iterable[Node]) -> None:
        """Nodes pass into a node, under the tests that are around."""
        self.graph.direct[node].update(source for source in sources if source != node)
        self.graph.control[node].update(self.under)
