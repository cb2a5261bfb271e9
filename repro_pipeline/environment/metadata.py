"""Dependencies from a project's metadata: pyproject.toml, setup.cfg and setup.py, read and never run."""

from __future__ import annotations

import ast
import configparser
import tomllib
from pathlib import Path
from typing import NamedTuple

from repro_pipeline.environment.model import Requirements
from repro_pipeline.environment.requirement_lines import (
    parse_entries,
    parse_entry,
    read_text,
)
from repro_pipeline.errors import BuildError
from repro_pipeline.pysource import parsed


class Metadata(NamedTuple):
    """What a project says of its Python."""

    file: str = ""
    requires_python: str | None = None
    classifiers: tuple[str, ...] = ()


_WRITE = "Write the dependencies into a requirements.txt."


def read_pyproject(path: Path, file: str) -> Requirements | None:
    """`[project]` of a pyproject.toml; None where it has none, or leaves dependencies to setup.py.

    Raises BuildError for invalid TOML, and for dependencies in a form of another tool.
    """
    text = read_text(path, file)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BuildError(f"is no valid TOML: {error}.", where=file) from None
    project = content.get("project", {})
    lines = project.get("dependencies")
    if lines is None:
        if "dependencies" in content.get("tool", {}).get("poetry", {}):
            raise BuildError(
                "the dependencies are written for Poetry.",
                where=f"{file}: tool.poetry",
                hint="Export them with `poetry export` to a requirements.txt.",
            )
        return None
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise BuildError("must be a list of requirements.", where=f"{file}: project.dependencies")
    return Requirements(
        kind="pyproject",
        file=file,
        python=project.get("requires-python"),
        lines=tuple(_checked(line, file, _line_of(line, text)) for line in lines),
    )


def read_setup_cfg(path: Path, file: str) -> Requirements | None:
    """`[options] install_requires` of a setup.cfg; None where it has none. Raises BuildError."""
    parser = configparser.ConfigParser(interpolation=None)
    text = read_text(path, file)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        reason = str(error).splitlines()[0]
        raise BuildError(f"is no valid configuration: {reason}", where=file) from None
    listed = parser.get("options", "install_requires", fallback=None)
    if listed is None:
        return None
    if listed.startswith("file:"):
        raise BuildError("install_requires names another file.", where=file, hint=_WRITE)
    entries = [line for line in listed.splitlines() if line.strip()]
    return Requirements(
        kind="setup",
        file=file,
        python=parser.get("options", "python_requires", fallback=None),
        lines=tuple(_checked(line, file, _line_of(line, text)) for line in entries),
    )


def read_setup_py(path: Path, file: str) -> Requirements | None:
    """The literal arguments of `setup(...)` in a setup.py; None where it names no dependencies.

    Names that the module assigns a literal to are followed. Raises BuildError where the
    dependencies are computed.
    """
    try:
        tree = parsed(read_text(path, file))
    except SyntaxError as error:
        raise BuildError(
            f"is no valid Python: {error.msg}.", where=f"{file}:{error.lineno}", hint=_WRITE
        ) from None
    arguments = _setup_arguments(tree)
    if "install_requires" not in arguments:
        return None
    listed, line = _literal(arguments["install_requires"], tree, file)
    if isinstance(listed, str):
        requirements = [str(entry.requirement) for entry in parse_entries(listed, file)]
    elif isinstance(listed, (list, tuple)) and all(isinstance(one, str) for one in listed):
        requirements = [_checked(one, file, line) for one in listed]
    else:
        raise BuildError("install_requires is no list of texts.", where=f"{file}:{line}")
    python = None
    if "python_requires" in arguments:
        python, _ = _literal(arguments["python_requires"], tree, file)
    return Requirements(kind="setup", file=file, python=python, lines=tuple(requirements))


def read_metadata(code: Path) -> Metadata:
    """What the first of pyproject.toml, setup.cfg and setup.py says of Python.

    What is broken or computed says nothing.
    """
    readers = (
        ("pyproject.toml", _of_pyproject),
        ("setup.cfg", _of_setup_cfg),
        ("setup.py", _of_setup_py),
    )
    for file, reader in readers:
        if (code / file).is_file():
            try:
                python, classifiers = reader(read_text(code / file, file))
            except (BuildError, SyntaxError, ValueError, configparser.Error):
                continue
            if isinstance(python, str) or classifiers:
                return Metadata(file, python, tuple(map(str, classifiers)))
    return Metadata()


def _of_pyproject(text: str) -> tuple[str | None, list[str]]:
    project = tomllib.loads(text).get("project", {})
    return project.get("requires-python"), project.get("classifiers", [])


def _of_setup_cfg(text: str) -> tuple[str | None, list[str]]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    listed = parser.get(
        "metadata", "classifiers", fallback=parser.get("metadata", "classifier", fallback="")
    )
    return parser.get("options", "python_requires", fallback=None), listed.splitlines()


def _of_setup_py(text: str) -> tuple[str | None, list[str]]:
    tree = parsed(text)
    arguments = _setup_arguments(tree)
    found = [
        _literal(arguments[name], tree, "setup.py")[0] if name in arguments else None
        for name in ("python_requires", "classifiers")
    ]
    return found[0], found[1] or []


def _setup_arguments(tree: ast.Module) -> dict[str, ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func
            called = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
            if called == "setup":
                return {word.arg: word.value for word in node.keywords if word.arg}
    return {}


def _literal(node: ast.expr, tree: ast.Module, file: str) -> tuple[object, int]:
    line = node.lineno
    if isinstance(node, ast.Name):
        values = [
            statement.value
            for statement in tree.body
            if isinstance(statement, ast.Assign)
            and any(isinstance(one, ast.Name) and one.id == node.id for one in statement.targets)
        ]
        node = values[0] if len(values) == 1 else node
    try:
        return ast.literal_eval(node), node.lineno
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise BuildError(
            "the dependencies are computed when setup.py runs, and it is not run.",
            where=f"{file}:{line}",
            hint=_WRITE,
        ) from None


def _checked(requirement: str, file: str, line: int) -> str:
    return str(parse_entry(requirement.strip(), file, line).requirement)


def _line_of(needle: str, text: str) -> int:
    """The first line that holds a text; 1 where an escape hides it."""
    at = text.find(needle.strip())
    return text.count("\n", 0, max(at, 0)) + 1
