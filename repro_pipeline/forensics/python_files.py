"""The Python of a submission, whatever its files are called, and the code in it that nobody can read.

A file is Python by its name, its first line, or because it reads as Python that does something: imports,
defines, calls. Code cells of a notebook are one file; archives are opened. What is compiled, or cannot be
decoded, is named.
"""

from __future__ import annotations

import ast
import base64
import binascii
import io
import json
import re
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from repro_pipeline.errors import UserError
from repro_pipeline.forensics.archives import LIMIT, unpacked
from repro_pipeline.forensics.notebooks import Joined, joined
from repro_pipeline.forensics.pickles import is_pickle, named_runner
from repro_pipeline.imports.notebook import RUNNER, notebook_of
from repro_pipeline.pysource import LONGEST, parsed

_COMPILED = {".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib", ".exe"}
_CODE_OBJECT = re.compile(rb"(?:..\r\n.{12})?[\xe3c]\0{12}", re.S)
"""A module's code as `marshal` writes it, alone or behind the head of a .pyc file."""
_DEEPEST = 3
"""Archives within archives, and texts in disguise within texts, that are opened."""
_SHEBANG = re.compile(rb"#!.*\bpython|#!.*\bpypy")
_MAY_DO = re.compile(r"\b(?:import|def|class)\s|[\w)\]]\s*\(")
"""Without which a text is not even looked at as Python."""
_BLOB = re.compile(r"[A-Za-z0-9+/_\-=\s]{80,}")


class Code(NamedTuple):
    """The Python of a submission."""

    python: Mapping[str, str]
    """Path → text; of a notebook, its code cells one below the other."""
    unread: Mapping[str, str]
    """Files that may hold code and were not read, and why."""
    notebooks: Mapping[str, Joined]

    def placed(self, sentence: str) -> str:
        """A sentence with the lines of notebooks told by cell: `n.ipynb:9` as `n.ipynb, cell 2, line 3`."""
        for name, notebook in self.notebooks.items():
            parts = re.split(rf"(?<![\w/]){re.escape(name)}:(\d+)", sentence)
            for at in range(1, len(parts), 2):
                cell, line = notebook.place(int(parts[at]))
                parts[at] = f"{name}, cell {cell}, line {line}"
            sentence = "".join(parts)
        return sentence


def code_of(tree: Path) -> Code:
    """The code in a folder; links are not followed."""
    code = Code({}, {}, {})
    runner = Path(__file__).parents[1] / "imports" / RUNNER
    for path in sorted(tree.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        name = path.relative_to(tree).as_posix()
        if path.stat().st_size > LIMIT:
            if is_named_python(name):
                code.unread[name] = "is too large to be read"
            continue
        content = path.read_bytes()
        if name != RUNNER or content != runner.read_bytes():
            _add(code, name, content, _DEEPEST)
    return code


def is_named_python(path: str) -> bool:
    """Whether a file is Python by its name."""
    return PurePosixPath(path).suffix in {".py", ".pyw"}


def does_something(text: str) -> bool:
    """Whether a text reads as Python that imports, defines or calls; tables and settings do not."""
    if not _MAY_DO.search(text):
        return False
    try:
        tree = parsed(text)
    except SyntaxError:
        return False
    works = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, (*works, ast.Call)) for node in ast.walk(tree))


def is_python(path: str, text: str) -> bool:
    """Whether a text file is Python, by its name, its first line or what it says."""
    if is_named_python(path) or _SHEBANG.match(text.encode(errors="replace")[:200]):
        return True
    return does_something(text)


def _add(code: Code, name: str, content: bytes, depth: int) -> None:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix == ".ipynb":
        _add_notebook(code, name, content, depth)
    elif suffix in _COMPILED or content[:4] == b"\x7fELF" or _CODE_OBJECT.match(content):
        code.unread[name] = "is compiled"
    elif is_named_python(name):
        _add_python(code, name, content, depth)
    elif is_pickle(content):
        if hit := named_runner(content):
            code.unread[name] = f"is a pickle that names `{hit}`"
    elif members := list(unpacked(content)) if depth else []:
        for inner, part in members:
            _add(code, f"{name}/{inner}" if inner else f"{name} (unpacked)", part, depth - 1)
    elif b"\0" not in content:
        text = content.decode("utf-8", errors="replace")
        if is_python(name, text):
            _add_python(code, name, content, depth)
        else:
            _add_within(code, name, text, depth)


def _add_within(code: Code, name: str, text: str, depth: int) -> None:
    """The code that stands in the texts of a file, as it is or encoded."""
    if depth:
        for number, hidden in enumerate(
            (*disguised(text), *_texts_of(name, text, name in code.python)), 1
        ):
            _add(code, f"{name} (text {number})", hidden, depth - 1)


def _add_python(code: Code, name: str, content: bytes, depth: int) -> None:
    if len(content) > LONGEST:
        code.unread[name] = "is too large to be read"
        return
    try:
        coding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        text = content.decode(coding)
    except (SyntaxError, LookupError, UnicodeError) as error:
        code.unread[name] = f"could not be read as Python: {error}"
        return
    code.python[name] = text
    _add_within(code, name, text, depth)


def _add_notebook(code: Code, name: str, content: bytes, depth: int) -> None:
    try:
        notebook = notebook_of(content, name)
    except UserError as error:
        code.unread[name] = f"could not be read: {error}"
        return
    if notebook.language not in {"python", "ipython"}:
        code.unread[name] = f"is a notebook of {notebook.language}"
        return
    one = joined(notebook)
    code.python[name], code.notebooks[name] = one.text, one
    for cell, why in one.unread.items():
        code.unread[f"{name}, cell {cell}"] = why
    _add_within(code, name, one.text, depth)


def disguised(text: str) -> Iterator[bytes]:
    """What long runs of base64 or hexadecimal digits in a text decode to, where that may be code."""
    for match in list(_BLOB.finditer(text))[:50]:
        blob = re.sub(r"\s", "", match[0])
        for decode in (bytes.fromhex, _base64):
            try:
                content = decode(blob)
            except (ValueError, binascii.Error):
                continue
            plain = next((part for _, part in unpacked(content)), content)
            code = is_pickle(plain) or _CODE_OBJECT.match(plain)
            if code or does_something(plain.decode("utf-8", errors="replace")):
                yield plain
                break


def _texts_of(name: str, text: str, python: bool) -> Iterator[bytes]:
    """The texts in Python or JSON that are code themselves; docstrings are for people."""
    try:
        if not python:
            found = _strings(json.loads(text)) if name.endswith(".json") else ()
        else:
            tree = parsed(text)
            prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
            found = [node.value for node in constants if id(node) not in prose]
    except (SyntaxError, ValueError, RecursionError):
        return
    for one in found:
        if isinstance(one, str) and "\n" in one.strip() and does_something(one):
            yield one.encode(errors="replace")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _base64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_").rstrip("=") + "==")
