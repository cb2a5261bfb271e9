"""Notebooks as code: their cells, what they import, and the command that runs one as an experiment.

A cell tagged `parameters` is what tools that run notebooks agree on. The names `seed`, `out` and `data`
that it assigns are assigned anew after it, by a cell that the run puts in: a notebook that assigns no
`seed` there is unseeded.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from repro_pipeline.errors import FileFormatError
from repro_pipeline.jsonfile import read_json
from repro_pipeline.pysource import parsed

RUNNER = "run_notebook.py"
"""Frozen with the code, at its top."""
PACKAGES = ("ipykernel", "nbclient")
"""What runs a notebook, beside what it imports."""
_LARGEST = 64 << 20
_OTHER_KERNELS = {
    "ir": "R",
    "xr": "R",
    "julia": "Julia",
    "octave": "Octave",
    "matlab": "MATLAB",
    "bash": "bash",
    "javascript": "JavaScript",
    "deno": "JavaScript",
    "scala": "Scala",
    "sas": "SAS",
    "stata": "Stata",
}
"""By the beginning of a kernel's name, where a notebook says no more; any other is Python's."""
_TIMING = re.compile(r"^(\s*)%(?:time|timeit|prun|memit|mprun|lprun)\s+(?=[^-\s])")
"""A line magic that runs the Python after it."""
_ASSIGNED = re.compile(r"^(\s*[\w.\[\], ]+=\s*)([%!])")
_MAGIC = re.compile(r"^(\s*)(?:[%!?]|\S+\?{1,2}\s*$)")
_AROUND_PYTHON = {"%%time", "%%timeit", "%%capture", "%%prun", "%%memit", "%%mprun", "%%lprun"}
"""Cell magics below which there is Python of the same notebook."""
_SHELL = re.compile(r"^\s*(?:[\w.\[\], ]+=\s*)?!|^\s*%(?:sx|system|run|load|macro)\b")
_NO_CODE = re.compile(
    r"^\s*!+\s*(?:pip3?|conda|ls|pwd|mkdir|cat|head|wc|nvidia-smi|date|which|uname)\b[^;&|>`$]*$"
)


class Cell(NamedTuple):
    """A code cell, counted from 1 among the code cells: what a fresh run prints as `In [n]`."""

    number: int
    source: str
    tags: tuple[str, ...]

    @property
    def python(self) -> str:
        """Its source with magics and shell lines taken out, line by line."""
        magic, _, rest = self.source.lstrip().partition("\n")
        if magic.startswith("%%"):
            if magic.split()[0] not in _AROUND_PYTHON:
                return ""
            before = self.source.count("\n") - rest.count("\n")
            return "\n" * before + "\n".join(map(_plain, rest.split("\n")))
        return "\n".join(map(_plain, self.source.split("\n")))

    @property
    def foreign(self) -> str | None:
        """The first line of it that runs something else than its own Python; None without one."""
        lines = self.source.lstrip().split("\n")
        if lines[0].startswith("%%") and lines[0].split()[0] not in _AROUND_PYTHON:
            return lines[0].strip()
        found = (one for one in lines if _SHELL.match(one) and not _NO_CODE.match(one))
        return next((one.strip() for one in found), None)


def _plain(line: str) -> str:
    """A line of Python for one that IPython reads, of the same meaning where it has one."""
    line = _TIMING.sub(r"\1", line)
    line = _ASSIGNED.sub(r"\1None  # \2", line)
    return _MAGIC.sub(r"\1pass  # ", line)


class Notebook(NamedTuple):
    """A notebook's code."""

    language: str
    cells: tuple[Cell, ...]


def read_notebook(path: Path, name: str) -> Notebook:
    """The code of a notebook of format 4; `name` stands for it in errors. Raises FileFormatError."""
    try:
        if path.stat().st_size > _LARGEST:
            raise FileFormatError(f"has more than {_LARGEST >> 20} MiB.", where=name)
        content = path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror}.", where=name) from None
    return notebook_of(content, name)


def notebook_of(content: bytes, name: str) -> Notebook:
    """The code of a notebook of format 4, from what its file holds. Raises FileFormatError."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise FileFormatError("is not UTF-8.", where=name) from None
    value = read_json(text, name)
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list) or value.get("nbformat") != 4:
        raise FileFormatError(
            "is no notebook of format 4.",
            where=name,
            hint="`jupyter nbconvert --to notebook` makes one.",
        )
    metadata = _mapping(value.get("metadata"))
    kernel = _mapping(metadata.get("kernelspec"))
    language = _mapping(metadata.get("language_info")).get("name") or kernel.get("language")
    language = language or _OTHER_KERNELS.get(
        re.split(r"[-.\d]", str(kernel.get("name")).lower())[0]
    )
    code = [one for one in cells if _mapping(one).get("cell_type") == "code"]
    return Notebook(
        language=str(language or "python").lower(),
        cells=tuple(_cell(number, one) for number, one in enumerate(code, start=1)),
    )


def _cell(number: int, value: dict) -> Cell:
    source, tags = value.get("source"), _mapping(value.get("metadata")).get("tags")
    if isinstance(source, list):
        source = "".join(str(line) for line in source)
    listed = tags if isinstance(tags, list) else ()
    return Cell(number, str(source or ""), tuple(str(tag) for tag in listed))


def _mapping(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def parameters_of(notebook: Notebook) -> set[str]:
    """The names that the first cell tagged `parameters` assigns at its top level."""
    tagged = next((cell for cell in notebook.cells if "parameters" in cell.tags), None)
    try:
        tree = parsed(tagged.python if tagged else "")
    except SyntaxError:
        return set()
    targets = [
        target
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return {one.id for one in targets if isinstance(one, ast.Name)}


def notebook_command(code: Path, name: str, data: Sequence[str]) -> tuple[str, ...]:
    """The command of one run of the notebook `name` of a code folder.

    `data` are the names of the input files. Raises FileFormatError where it is no notebook, or none
    of Python.
    """
    notebook = read_notebook(code / name, name)
    if notebook.language not in {"python", "ipython"}:
        raise FileFormatError(
            f"is a notebook of {notebook.language}, and environments here are Python's.",
            where=name,
            hint="Give a command that runs it, in a container image that has its kernel.",
        )
    named = parameters_of(notebook)
    path = f"./{name}" if name.startswith("-") else name  # or it would be an option
    words = ["python", RUNNER, path, "--out", "{out}"]
    values = {
        "seed": ["seed={seed}"],
        "out": ["out={out}"],
        "data": [f"data.{one}={{data.{one}}}" for one in data],
    }
    for parameter, given in values.items():
        if parameter in named:
            words += [word for value in given for word in ("--parameter", value)]
    return tuple(words)


def with_runner(code: Path, target: Path) -> Path:
    """A copy of the code with what runs its notebook. Raises FileFormatError where that name is taken."""
    if (code / RUNNER).exists():
        raise FileFormatError(
            "is the name of what runs the notebook.", where=RUNNER, hint="Rename yours."
        )
    shutil.copytree(code, target, symlinks=True)
    shutil.copyfile(Path(__file__).with_name(RUNNER), target / RUNNER)
    return target
