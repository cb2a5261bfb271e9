"""Code that a program makes of texts when it runs, put where it is run, so that it is read like the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from repro_pipeline.forensics.constants import NotConstant, evaluate
from repro_pipeline.forensics.syntax import last_name
from repro_pipeline.pysource import depth, parsed

_RUN = {"exec", "eval", "run_cell", "runsource", "runcode", "execfile"}
_READ = {"read", "read_text", "read_bytes", "compile", "decode", "dedent", "fdopen", "getvalue"}
"""Calls that stand around a text without changing what it says."""
_RUN_FILES = {"run_path", "execfile"}
_MOST, _DEEPEST = 50, 60


def with_made_code(
    tree: ast.Module, names: Mapping[str, Any], python: Mapping[str, str]
) -> ast.Module:
    """The module with, behind each statement that runs a text as code, the statements of that text.

    A text is a constant, however dressed up, or one of the files (path → text) by its name. The statements
    stand in the line of the one that runs them, which is kept.
    """
    return ast.fix_missing_locations(_Maker(names, python).visit(tree))


class _Maker(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, Any], python: Mapping[str, str]) -> None:
        self.names, self.python, self.left = names, python, _MOST

    def visit_Expr(self, node: ast.Expr) -> Any:
        return [node, *self._made(node)]

    visit_Assign = visit_Return = visit_AnnAssign = visit_Expr

    def _made(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        for call in ast.walk(statement):
            if not isinstance(call, ast.Call) or not call.args or self.left <= 0:
                continue
            name = last_name(call.func)
            text = None
            if name in _RUN_FILES:
                text = self._file(call.args[0])
            elif name in _RUN:
                text = self._text(call.args[0])
            if text is None:
                continue
            self.left -= 1
            try:
                made = parsed(text)
            except SyntaxError:
                continue
            if depth(made) > _DEEPEST:
                continue
            for inner in made.body:
                for part in ast.walk(inner):
                    if hasattr(part, "lineno"):
                        part.lineno, part.end_lineno = call.lineno, call.end_lineno
                yield inner

    def _text(self, node: ast.expr) -> str | bytes | None:
        """The text that an expression gives, where that can be said."""
        try:
            value = evaluate(node, self.names)
        except NotConstant:
            value = None
        if isinstance(value, str | bytes):
            return value
        if isinstance(node, ast.Call):
            file = self._file(node)
            if file is not None:
                return file
            inner = [*node.args[:1], *([node.func.value] if _is_method(node) else [])]
            if last_name(node.func) in _READ:
                return next(filter(None, map(self._text, inner)), None)
        return None

    def _file(self, node: ast.expr) -> str | None:
        """The file that the last of an expression's texts names."""
        texts = []
        for part in ast.walk(node):
            try:
                texts.append(evaluate(part, self.names) if isinstance(part, ast.expr) else None)
            except NotConstant:
                continue
        named = [PurePosixPath(one).name for one in texts if isinstance(one, str) and one]
        hits = (text for path, text in self.python.items() if PurePosixPath(path).name in named)
        return next(hits, None)


def _is_method(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute)
