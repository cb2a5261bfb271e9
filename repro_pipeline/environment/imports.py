"""The packages that code imports, read from its syntax; unknown names are refused, never guessed."""

from __future__ import annotations

import ast
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from repro_pipeline.environment.model import Requirements
from repro_pipeline.errors import BuildError, FileFormatError
from repro_pipeline.imports.notebook import read_notebook
from repro_pipeline.pysource import parsed

_FORMER_STDLIB = {"asynchat", "asyncore", "cgi", "distutils", "imp", "pipes", "smtpd", "telnetlib"}
_STDLIB = sys.stdlib_module_names | _FORMER_STDLIB
_SKIPPED = {"__pycache__", "node_modules", "site-packages", "venv", "env", "build", "dist"}


class Import(NamedTuple):
    """The top-level name of an import, and where it stands."""

    module: str
    file: str
    line: int
    optional: bool
    """Whether the code goes on without it: in `try … except ImportError`, or for type checks."""
    names: tuple[str, ...] = ()
    """What `from … import` takes, in full: collections.abc.Mapping."""


def read_imports(code: Path) -> Requirements:
    """Requirements without versions, from the imports of all Python files of a folder.

    Raises BuildError for a module that is not of the standard library, of the code, or of a known
    package.
    """
    files, notebooks = sorted(python_files(code)), sorted(python_files(code, ".ipynb"))
    imports, notes = [], [] if files or notebooks else ["The folder holds no Python file."]
    for path in notebooks:
        found, told = _of_notebook(path, path.relative_to(code).as_posix())
        imports += [(path, one) for one in found]
        notes += told
    for path in files:
        file = path.relative_to(code).as_posix()
        try:
            tree = parsed(path.read_bytes())
        except SyntaxError as error:
            line = getattr(error, "lineno", None) or 1
            notes.append(f"{file}:{line}: is no valid Python 3, so its imports were not read.")
            continue
        imports += [(path, one) for one in imports_of(tree, file)]
    known, anywhere = package_names(), _modules(files)
    packages: set[str] = set()
    for path, one in imports:
        if one.module in _STDLIB or is_local(one.module, path, code):
            continue
        package = known.get(one.module)
        if one.optional:
            notes.append(f"{one.file}:{one.line}: the optional import '{one.module}' was left out.")
        elif package:
            packages.add(package)
        elif one.module not in anywhere:
            raise BuildError(
                f"the module '{one.module}' is of no package that is known here.",
                where=f"{one.file}:{one.line}",
                hint="Write a requirements.txt that names its package.",
            )
    if packages:
        notes.append("No file names the packages: they were read from imports, without versions.")
    return Requirements(
        kind="imports" if packages else "none",
        lines=tuple(sorted(packages, key=str.lower)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _of_notebook(path: Path, file: str) -> tuple[list[Import], list[str]]:
    """The imports of a notebook's cells, and what must be said of it."""
    try:
        notebook = read_notebook(path, file)
    except FileFormatError as error:
        return [], [f"{error} Its imports were not read."]
    found, notes = [], []
    for cell in notebook.cells if notebook.language == "python" else ():
        try:
            found += imports_of(parsed(cell.python), f"{file}, cell {cell.number}")
        except SyntaxError:
            notes.append(
                f"{file}: cell {cell.number} is no valid Python 3, so its imports were not read."
            )
    return found, notes


def package_names() -> dict[str, str]:
    """The package of each known module."""
    table = name_table()
    return {name: name.replace("_", "-") for name in table["same"]} | table["imports"]


def name_table() -> dict:
    """The content of `package_names.toml`."""
    path = Path(__file__).with_name("package_names.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def imports_of(tree: ast.Module, file: str) -> Iterator[Import]:
    """The absolute imports of a module, in any place of it."""
    left: list[tuple[ast.AST, bool]] = [(tree, False)]
    while left:
        node, optional = left.pop()
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(name.name.split(".")[0], file, node.lineno, optional)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = tuple(f"{node.module}.{name.name}" for name in node.names)
            yield Import(node.module.split(".")[0], file, node.lineno, optional, names)
        guarded = _guarded(node)
        below = [
            (child, optional or field in guarded)
            for field, value in ast.iter_fields(node)
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST)
        ]
        left += reversed(below)


def _guarded(node: ast.AST) -> tuple[str, ...]:
    """The parts of a statement in which a missing module does not stop the code."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in (
        getattr(node.test, "id", ""),
        getattr(node.test, "attr", ""),
    ):
        return ("body",)
    if isinstance(node, ast.Try):
        caught = {
            name.id
            for handler in node.handlers
            for name in ast.walk(handler.type or ast.Name("Exception"))
            if isinstance(name, ast.Name)
        }
        if caught & {"ImportError", "ModuleNotFoundError", "Exception"}:
            return ("body", "handlers")
    return ()


def python_files(code: Path, ending: str = ".py") -> Iterator[Path]:
    """The Python files (or notebooks) of a folder, without those of environments and builds in it."""
    for folder, folders, files in os.walk(code):
        folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
        yield from (Path(folder) / name for name in files if name.endswith(ending))


def is_local(module: str, importer: Path, code: Path) -> bool:
    """Whether a module lies beside its importer, in a folder above it, or in `src`."""
    above = [folder for folder in importer.parents if folder.is_relative_to(code)]
    return any(
        (folder / f"{module}.py").is_file() or (folder / module).is_dir()
        for folder in [*above, code / "src"]
    )


def _modules(files: list[Path]) -> set[str]:
    """Names of all modules and packages of the code, for code that extends its own path."""
    return {path.stem for path in files} | {path.parent.name for path in files}
