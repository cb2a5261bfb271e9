"""What the names of a program mean: variables of a scope, and the functions that a call may run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from repro_pipeline.forensics.declarations import Module, module_named
from repro_pipeline.forensics.graph import Node
from repro_pipeline.forensics.syntax import last_name


class Names:
    """The names of one module, seen from the scope that is being read."""

    def __init__(self, module: Module, modules: Mapping[str, Module]) -> None:
        self.module, self.modules = module, modules
        self.scope = ""
        self.locals: dict[str, set[str]] = {}

    def var(self, name: str) -> Node:
        """The node of a name where it stands."""
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

    def of_module(self, name: str, attribute: str) -> Node | None:
        """The node of another module's variable; None where the name is no module of the program."""
        origin = self.module.imports.get(name)
        other = None
        if origin is not None:
            full = origin[0] if origin[1] is None else f"{origin[0]}.{origin[1]}"
            other = module_named(full, self.modules)
        return ("var", other.name, "", attribute) if other is not None else None

    def users(self, node: ast.Call, name: str) -> list[tuple[Module, str, Any]]:
        """The functions of the submission that a call may run, callbacks included."""
        found = self._resolve(node.func, name)
        for argument in [*node.args, *(option.value for option in node.keywords)]:
            if isinstance(argument, ast.Name | ast.Attribute):
                found += [f for f in self._resolve(argument, last_name(argument)) if f not in found]
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
