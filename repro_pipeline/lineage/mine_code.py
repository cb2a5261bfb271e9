"""Settings that reference code states by default, read from its text and never run.

    for setting in settings_of("train.py", text): ...

Python: defaults of argparse and click options, of dataclasses and classes, of functions' parameters,
constants, entries of literal dictionaries, and keyword arguments of calls. YAML and JSON: scalars.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from repro_pipeline.pysource import parsed

Value = str | int | float | bool
_LONGEST = 2_000_000
"""Characters of a file that is read: a longer one is data, not code."""
_OPTIONS = {"add_argument", "option", "argument"}


@dataclass(frozen=True)
class Setting:
    """A name with the value that code gives it, and the line, from 1."""

    name: str
    value: Value
    line: int
    how: str


def settings_of(name: str, text: str) -> tuple[Setting, ...]:
    """The settings of a file by its ending; none of one that cannot be parsed."""
    if len(text) > _LONGEST:
        return ()
    suffix = Path(name).suffix
    try:
        if suffix == ".py":
            return tuple(_python(parsed(text)))
        if suffix in {".yaml", ".yml"}:
            return tuple(_nodes(yaml.compose(text, Loader=yaml.SafeLoader)))
        if suffix == ".json":
            return tuple(_json(json.loads(text), text))
    except (SyntaxError, ValueError, RecursionError, yaml.YAMLError):
        return ()
    return ()


def snake(name: str) -> str:
    """A setting's name in snake_case: `--batchSize`, `batch-size` and `BATCH_SIZE` are `batch_size`."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.lstrip("-"))
    return parted.replace("-", "_").lower()


def _python(tree: ast.AST) -> Iterator[Setting]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_function(node)
        elif isinstance(node, ast.ClassDef):
            yield from _of_body(node.body, f"default of {node.name}")
        elif isinstance(node, ast.Module):
            yield from _of_body(node.body, "constant")
        elif isinstance(node, ast.Dict):
            yield from _of_dict(node)


def _of_call(node: ast.Call) -> Iterator[Setting]:
    called = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    )
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    if called in _OPTIONS:
        names = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
        names = [name for name in names if isinstance(name, str)]
        value = _value(keywords.get("default"))
        if names and value is not None:
            yield Setting(max(names, key=len), value, node.lineno, "default of an option")
        return
    for name, given in keywords.items():
        if (value := _value(given)) is not None:
            yield Setting(name, value, given.lineno, f"argument of {called or 'a call'}")


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Setting]:
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = [
        *zip(
            positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True
        ),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if (value := _value(default)) is not None:
            yield Setting(argument.arg, value, default.lineno, f"default of {node.name}()")


def _of_body(body: Sequence[ast.stmt], how: str) -> Iterator[Setting]:
    for node in body:
        targets: Sequence[ast.expr] = ()
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = (node.target,)
        value = _value(getattr(node, "value", None)) if targets else None
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                yield Setting(target.id, value, node.lineno, how)


def _of_dict(node: ast.Dict) -> Iterator[Setting]:
    for key, given in zip(node.keys, node.values, strict=True):
        value = _value(given)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and value is not None:
            yield Setting(key.value, value, key.lineno, "entry of a dictionary")


def _value(node: ast.expr | None) -> Value | None:
    """A literal: a number, a truth value, a word, or a tuple or list of them as text."""
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, tuple | list) and 0 < len(value) <= 8:
        return str(value) if all(isinstance(one, int | float | str) for one in value) else None
    return value if isinstance(value, str | int | float | bool) and value != "" else None


def _nodes(node: yaml.Node | None, name: str = "") -> Iterator[Setting]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _nodes(value, str(key.value))
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _nodes(value)
    elif isinstance(node, yaml.ScalarNode) and name:
        value = _scalar(node.value)
        if value is not None:
            yield Setting(name, value, node.start_mark.line + 1, "entry of a configuration")


def _json(value: object, text: str, name: str = "") -> Iterator[Setting]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _json(inner, text, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _json(inner, text)
    elif name and isinstance(value, str | int | float | bool):
        place = text.find(json.dumps(name))
        line = text.count("\n", 0, max(place, 0)) + 1
        yield Setting(name, value, line, "entry of a configuration")


def _scalar(text: str) -> Value | None:
    """A YAML scalar's value; `1e-3`, which YAML takes for a word, is a number here."""
    try:
        return float(text) if re.search(r"[.e]", text) else int(text)
    except ValueError:
        return text or None
