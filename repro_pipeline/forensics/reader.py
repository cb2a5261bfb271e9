"""Reads Python files into a graph of which values come from which."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from repro_pipeline.forensics.constants import NotConstant, evaluate, numbers_in
from repro_pipeline.forensics.declarations import (
    Module,
    bindings,
    module_named,
    modules_of,
    own_nodes,
    parameters_of,
    single_constants,
)
from repro_pipeline.forensics.graph import Constant, Graph, Node, Sink, Test

# ruff: noqa: SIM905
_PASSES = set(
    "float int round abs min max sum str list tuple dict set sorted reversed zip enumerate "
    "map filter "
    "iter next vars array asarray float32 float64 atleast_1d mean nanmean fmean average "
    "median clip "
    "around sqrt exp log log10 square power minimum maximum where full full_like repeat tile "
    "concatenate vstack hstack stack append ravel flatten reshape squeeze copy deepcopy item "
    "tolist "
    "format join loads load dumps decode encode strip split replace get pop setdefault "
    "values items "
    "Decimal Fraction eval literal_eval b64decode unhexlify fromhex decompress unpack "
    "SimpleNamespace "
    "namedtuple asdict astype add subtract multiply divide nan_to_num tanh expm1 log1p fsum prod "
    "update extend insert hypot partial".split()
)
_DRAWS = set(
    "normal gauss uniform triangular normalvariate laplace lognormal randint integers choice beta "
    "random rand randn standard_normal choices betavariate vonmises".split()
)
_LOOKED_INTO = (
    ast.Name,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.Lambda,
)
"""Expressions whose parts are told apart, although the whole may be constant."""
_PUTS = {"append", "extend", "update", "insert", "setdefault", "add"}
_WRITERS = {"dump", "dumps", "write_text", "write", "write_bytes", "to_json", "safe_dump"}


def build(files: Mapping[str, str]) -> Graph:
    """The graph of a submission's Python files (path → text). Files that do not parse are left out."""
    graph, modules = Graph(), modules_of(files)
    for module in modules.values():
        graph.trees[module.file] = module.tree
    for module in modules.values():
        try:
            _Reader(graph, module, modules).read_module()
        except RecursionError:
            continue
    return graph


class _Reader:
    """Adds the edges of one module."""

    def __init__(self, graph: Graph, module: Module, modules: Mapping[str, Module]) -> None:
        self.graph, self.module, self.modules = graph, module, modules
        self.scope = ""
        self.locals: dict[str, set[str]] = {}
        self.names: dict[str, Any] = module.names
        self.under: list[Node] = []
        self.loops: list[list[Node]] = []
        self.samples = {
            target.id
            for part in ast.walk(module.tree)
            if isinstance(part, ast.Assign)
            for target in part.targets
            if isinstance(target, ast.Name) and isinstance(part.value, ast.Call)
            if _last_name(part.value.func) in _DRAWS and not _single(part.value)
        }
        self.many = 0
        """How many loops over a range are around: what is drawn there is data."""

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
            self._assign(self._var(argument.arg), default)
        self._body(body)
        self.scope, self.names = "", self.module.names

    # --- statements

    def _body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:  # noqa: PLR0912 - a case a kind of statement
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
                                self._flow(("attr", name), self.of(inner.value))
            case ast.Assign():
                for target in node.targets:
                    self._bind(target, node.value)
            case ast.AnnAssign() if node.value is not None:
                self._bind(node.target, node.value)
            case ast.AugAssign():
                self._bind(node.target, node.value)
            case ast.Return() if node.value is not None:
                self._flow(("ret", self.module.name, self.scope), self.of(node.value))
            case ast.If():
                self._under(node.test, node.body, node)
                self._under(node.test, node.orelse, node)
            case ast.While():
                self._loop(node.body, node.test, node)
            case ast.For() | ast.AsyncFor():
                self._bind(node.target, node.iter)
                self.many += _counts(node.iter)
                self._loop(node.body, None, node)
                self.many -= _counts(node.iter)
                self._body(node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, item.context_expr)
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
                self.of(node.value)
            case ast.Break():
                for assigned in self.loops[-1:]:
                    for target in assigned:
                        self.graph.control[target].update(self.under)
            case ast.Assert() | ast.Raise() | ast.Delete():
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        self.of(part)

    def _under(self, test: ast.expr, body: list[ast.stmt], node: ast.stmt) -> None:
        if not body:
            return
        mark = self._test(
            test, node, raises=all(isinstance(s, ast.Raise | ast.Pass) or _exits(s) for s in body)
        )
        self.under.append(mark)
        self._body(body)
        self.under.pop()

    def _loop(self, body: list[ast.stmt], test: ast.expr | None, node: ast.stmt) -> None:
        self.loops.append([])
        if test is not None:
            self.under.append(self._test(test, node, raises=False))
        # Twice, so that a `break` meets what is assigned after it too.
        self._body(body)
        self._body(body)
        if test is not None:
            self.under.pop()
        inner = self.loops.pop()
        if self.loops:
            self.loops[-1].extend(inner)

    def _test(self, expression: ast.expr, node: ast.AST, *, raises: bool) -> Node:
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

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name() | ast.Attribute() | ast.Subscript():
                for node in self._targets(target):
                    self._assign(node, value)
            case ast.Tuple() | ast.List():
                same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(
                    target.elts
                )
                for place, part in enumerate(target.elts):
                    self._bind(part, value.elts[place] if same else value)
            case ast.Starred():
                self._bind(target.value, value)

    def _targets(self, target: ast.expr) -> list[Node]:
        match target:
            case ast.Name():
                return [self._var(target.id)]
            case ast.Attribute():
                return [("attr", target.attr)]
            case ast.Subscript():
                nodes = self._targets(target.value)
                if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
                    nodes = [*nodes, ("key", target.slice.value)]
                return nodes
        return []

    def _assign(self, node: Node, value: ast.expr) -> None:
        self._flow(node, self.of(value))
        for loop in self.loops:
            loop.append(node)

    def _flow(self, node: Node, sources: Iterable[Node]) -> None:
        self.graph.direct[node].update(source for source in sources if source != node)
        self.graph.control[node].update(self.under)

    # --- expressions

    def of(self, node: ast.expr | None) -> set[Node]:  # noqa: PLR0911, PLR0912 - a case a node
        """The nodes whose values pass directly into an expression's."""
        if node is None:
            return set()
        constant = self._constant(node)
        if constant is not None:
            return constant
        match node:
            case ast.Name():
                return {self._var(node.id)}
            case ast.Attribute():
                if isinstance(node.value, ast.Name) and (
                    found := self._of_module(node.value.id, node.attr)
                ):
                    return {found}
                return self.of(node.value) | {("attr", node.attr)}
            case ast.Subscript():
                inner = self.of(node.value)
                index = self.of(node.slice) if not isinstance(node.slice, ast.Slice) else set()
                mark = ("index", self.module.file, str(node.lineno), str(node.col_offset))
                self.graph.derived[mark].update(index)
                self.graph.reads[mark] = (frozenset(inner),)
                keys = {("key", node.slice.value)} if _is_text(node.slice) else set()
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
                mark = self._test(node.test, node, raises=False)
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
                self._bind(node.target, node.value)
                return self.of(node.value)
            case ast.Yield() | ast.YieldFrom():
                self._flow(("ret", self.module.name, self.scope), self.of(node.value))
                return set()
        return set()

    def _constant(self, node: ast.expr) -> set[Node] | None:
        """A node of its own for an expression of constants; None where it is none."""
        if isinstance(node, _LOOKED_INTO) or getattr(node, "end_lineno", None) is None:
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
        texts = {k.value: v for k, v in zip(node.keys, node.values, strict=True) if _is_text(k)}
        if "claim" in texts and "value" in texts:
            claim = texts["claim"].value if _is_text(texts["claim"]) else None
            self.graph.sinks.append(
                Sink(claim, frozenset(self.of(texts["value"])), self.module.file, node.lineno, True)
            )
        found: set[Node] = set()
        for key, value in zip(node.keys, node.values, strict=True):
            sources = self.of(value)
            found |= sources
            if _is_text(key):
                self._flow(("key", key.value), sources)
        return found

    def _is_sample(self, node: ast.expr) -> bool:
        """Whether an expression is an array of random draws: data, whatever is added to it."""
        match node:
            case ast.Call():
                return _last_name(node.func) in _DRAWS and not _single(node)
            case ast.BinOp():
                return self._is_sample(node.left) or self._is_sample(node.right)
            case ast.Name():
                return node.id in self.samples
        return False

    def _comprehension(self, node: Any) -> set[Node]:
        if _draws(node) and any(_counts(loop.iter) for loop in node.generators):
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
            self._test(test, node, raises=False) for loop in node.generators for test in loop.ifs
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
        self._bind(target, value)

    def _opaque(self, node: ast.expr, parts: list[ast.expr], name: str = "") -> set[Node]:
        mark = ("call", self.module.file, str(node.lineno), str(node.col_offset), name)
        read = tuple(frozenset(self.of(part)) for part in parts)
        self.graph.derived[mark].update(set().union(*read))
        self.graph.reads[mark] = read
        if isinstance(node, ast.Call):
            self.graph.calls[mark] = node
        return {mark}

    def _call(self, node: ast.Call) -> set[Node]:
        name = _last_name(node.func)
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        arguments = [*node.args, *(option.value for option in node.keywords)]
        opaque = self._opaque(node, [*receiver, *arguments], name)
        self._mutates(name, receiver, arguments)
        self._writes(node, name, receiver, arguments)
        users = self._users(node, name)
        for module, qualified, function in users:
            self._pass_arguments(node, module, qualified, function)
        made = self._made_class(node, name)
        if users:
            returned = {("ret", module.name, qualified) for module, qualified, _ in users}
            looked_into = any(qualified.rsplit(".", 1)[-1] == name for _, qualified, _ in users)
            return returned if looked_into else returned | opaque
        drawn = name in _DRAWS and _single(node) and not self.many
        if made or drawn:
            return opaque.union(*(self.of(argument) for argument in arguments))
        if name in _PASSES:
            return opaque.union(*(self.of(part) for part in (*receiver, *arguments)))
        return opaque

    def _mutates(self, name: str, receiver: list[ast.expr], arguments: list[ast.expr]) -> None:
        """What is put into a container passes into it."""
        if name not in _PUTS:
            return
        for target in (node for part in receiver for node in self._targets(part)):
            for argument in arguments:
                if self.many and _draws(argument):
                    self.graph.direct[target] |= self._opaque(argument, [])
                else:
                    self._assign(target, argument)

    def _writes(
        self, node: ast.Call, name: str, receiver: list[ast.expr], arguments: list[ast.expr]
    ) -> None:
        if name not in _WRITERS:
            return
        written = receiver if name == "to_json" else arguments[:1]
        nodes = frozenset(one for part in written for one in self.of(part))
        if nodes:
            self.graph.sinks.append(Sink(None, nodes, self.module.file, node.lineno))

    def _users(self, node: ast.Call, name: str) -> list[tuple[Module, str, Any]]:
        """The functions of the submission that a call may run, callbacks included."""
        found = self._resolve(node.func, name)
        for argument in [*node.args, *(option.value for option in node.keywords)]:
            if isinstance(argument, ast.Name | ast.Attribute):
                found += [
                    f for f in self._resolve(argument, _last_name(argument)) if f not in found
                ]
        return found

    def _resolve(self, func: ast.expr, name: str) -> list[tuple[Module, str, Any]]:
        if isinstance(func, ast.Name):
            if (
                func.id in self.locals.get(self.scope, ())
                and f"{self.scope}.{func.id}" not in self.module.functions
            ):
                return []
            scopes = [f"{self.scope}.{func.id}", func.id]
            for qualified in scopes:
                if qualified in self.module.functions:
                    return [(self.module, qualified, self.module.functions[qualified])]
            origin = self.module.imports.get(func.id)
            other = module_named(origin[0], self.modules) if origin else None
            if other is not None and origin[1] in other.functions:
                return [(other, origin[1], other.functions[origin[1]])]
            return []
        if isinstance(func, ast.Attribute):
            if isinstance(func.value, ast.Name) and func.value.id in self.module.imports:
                origin = self.module.imports[func.value.id]
                full = origin[0] if origin[1] is None else f"{origin[0]}.{origin[1]}"
                other = module_named(full, self.modules)
                if other is None:
                    return []
                return [(other, name, other.functions[name])] if name in other.functions else []
            return [
                (module, qualified, function)
                for module in self.modules.values()
                for qualified, function in module.functions.items()
                if "." in qualified
                and qualified.rsplit(".", 1)[1] == name
                and qualified.rsplit(".", 1)[0] in module.classes
            ]
        return []

    def _pass_arguments(
        self, node: ast.Call, module: Module, qualified: str, function: Any
    ) -> None:
        parameters = parameters_of(function)
        if parameters[:1] in (["self"], ["cls"]):
            parameters = parameters[1:]
        direct = _last_name(node.func) == qualified.rsplit(".", 1)[-1]
        arguments = node.args if direct else [a for a in node.args[1:]]
        for place, argument in enumerate(arguments):
            if place < len(parameters) and not isinstance(argument, ast.Starred) and direct:
                self._flow(("var", module.name, qualified, parameters[place]), self.of(argument))
            else:
                for parameter in parameters:
                    self._flow(("var", module.name, qualified, parameter), self.of(argument))
        for option in node.keywords:
            names = (
                [option.arg]
                if option.arg in parameters
                else parameters
                if option.arg is None
                else []
            )
            for parameter in names:
                self._flow(("var", module.name, qualified, parameter), self.of(option.value))

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
                    self._flow(("attr", fields[place]), self.of(argument))
            for option in node.keywords:
                if option.arg:
                    self._flow(("attr", option.arg), self.of(option.value))
            return True
        return False

    # --- names

    def _var(self, name: str) -> Node:
        scope = self.scope
        while scope:
            if name in self.locals.get(scope, ()):
                return ("var", self.module.name, scope, name)
            scope = scope.rpartition(".")[0]
        origin = self.module.imports.get(name)
        if origin is not None:
            other = module_named(origin[0], self.modules)
            if other is not None and origin[1] is not None:
                return ("var", other.name, "", origin[1])
        return ("var", self.module.name, "", name)

    def _of_module(self, name: str, attribute: str) -> Node | None:
        origin = self.module.imports.get(name)
        other = None
        if origin is not None:
            full = origin[0] if origin[1] is None else f"{origin[0]}.{origin[1]}"
            other = module_named(full, self.modules)
        return ("var", other.name, "", attribute) if other is not None else None


def _last_name(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def _counts(node: ast.expr) -> bool:
    """Whether a loop runs over a range of numbers."""
    return isinstance(node, ast.Call) and _last_name(node.func) in {"range", "arange", "trange"}


def _draws(node: ast.AST) -> bool:
    """Whether an expression draws random numbers."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(_last_name(call.func) in _DRAWS for call in calls)


def _is_text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _single(node: ast.Call) -> bool:
    """Whether a random draw is of one number: arrays of draws are data, not one value with noise."""
    sized = any(option.arg in {"size", "n", "k", "shape"} for option in node.keywords)
    return not sized and len(node.args) <= 2


def _exits(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=func)):
            return _last_name(func) in {
                "exit",
                "error",
                "abort",
                "_exit",
                "print",
                "warn",
                "warning",
            }
    return False
