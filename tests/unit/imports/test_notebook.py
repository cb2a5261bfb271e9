"""Notebooks read as code: cells, parameters, imports, and the command of a run."""

from __future__ import annotations

import json

import pytest
from foreign import write
from hypothesis import given
from hypothesis import strategies as st
from notebooks import notebook

from repro_pipeline.environment.imports import read_imports
from repro_pipeline.errors import UserError
from repro_pipeline.imports.notebook import (
    RUNNER,
    notebook_command,
    parameters_of,
    read_notebook,
    with_runner,
)


def read(tmp_path, *cells, **more):
    return read_notebook(
        write(tmp_path, {"n.ipynb": notebook(*cells, **more)}) / "n.ipynb", "n.ipynb"
    )


def test_cells_are_counted_and_magics_taken_out(tmp_path):
    one, two, three = read(
        tmp_path, "%pip install x\nif 1:\n    !ls\ny = 2", "%%bash\nrm -r x", "x?"
    ).cells
    assert [one.number, three.number] == [1, 3]
    compile(one.python, "x", "exec")
    assert "pip install" not in one.python.split("#")[0] and "y = 2" in one.python
    assert two.python == "" and three.python.startswith("pass")


def test_parameters_are_what_the_tagged_cell_assigns(tmp_path):
    tagged = ("parameters", "seed: int = 3\nout, lr = '.', 1\nif True:\n    data = 1\nn = m = 2")
    assert parameters_of(read(tmp_path, "seed = 1", tagged, ("parameters", "z = 1"))) == {
        "seed",
        "n",
        "m",
    }
    assert parameters_of(read(tmp_path, "seed = 1")) == set()
    assert parameters_of(read(tmp_path, ("parameters", "seed ="))) == set()


def test_the_command_gives_what_the_notebook_takes(tmp_path):
    write(
        tmp_path,
        {
            "a.ipynb": notebook("seed = 1"),
            "sub/b.ipynb": notebook(("parameters", "seed = 0\ndata = {}")),
        },
    )
    start = ("python", RUNNER)
    assert notebook_command(tmp_path, "a.ipynb", ["x"]) == (*start, "a.ipynb", "--out", "{out}")
    write(tmp_path, {"-x.ipynb": notebook("1")})
    assert notebook_command(tmp_path, "-x.ipynb", []) == (*start, "./-x.ipynb", "--out", "{out}")
    given = ("--parameter", "seed={seed}", "--parameter", "data.x={data.x}")
    found = notebook_command(tmp_path, "sub/b.ipynb", ["x"])
    assert found == (*start, "sub/b.ipynb", "--out", "{out}", *given)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (notebook("1", language="R"), "a notebook of r"),
        ('{"nbformat": 3, "worksheets": []}', "no notebook of format 4"),
        ("[]", "no notebook of format 4"),
        ("{", "n.ipynb"),
    ],
)
def test_what_is_no_notebook_of_python_is_told(tmp_path, content, said):
    write(tmp_path, {"n.ipynb": content})
    with pytest.raises(UserError, match=said):
        notebook_command(tmp_path, "n.ipynb", [])
    with pytest.raises(UserError, match="cannot be read"):
        notebook_command(tmp_path, "absent.ipynb", [])


@pytest.mark.parametrize(
    ("kernel", "language"),
    [("ir", "r"), ("julia-1.9", "julia"), ("python3", "python"), ("conda-env-x-py", "python")],
)
def test_a_kernels_name_tells_the_language_where_nothing_else_does(tmp_path, kernel, language):
    value = {"nbformat": 4, "cells": [], "metadata": {"kernelspec": {"name": kernel}}}
    write(tmp_path, {"n.ipynb": json.dumps(value)})
    assert read_notebook(tmp_path / "n.ipynb", "n.ipynb").language == language


def test_its_imports_are_read_cell_by_cell(tmp_path):
    cells = (
        "%matplotlib inline\nimport numpy as np",
        "from sklearn import svm",
        "this is no Python",
    )
    write(
        tmp_path,
        {
            "n.ipynb": notebook(*cells),
            "helper.py": "import scipy",
            "r.ipynb": notebook("library(x)", language="R"),
        },
    )
    found = read_imports(tmp_path)
    assert found.lines == ("numpy", "scikit-learn", "scipy")
    assert any("cell 3 is no valid Python" in note for note in found.notes)
    write(tmp_path, {"n.ipynb": notebook("1", "import nobody_knows_this")})
    with pytest.raises(UserError, match=r"n\.ipynb, cell 2"):
        read_imports(tmp_path)


def test_what_runs_it_is_frozen_with_it(tmp_path):
    code = write(tmp_path / "code", {"n.ipynb": notebook("1")})
    copy = with_runner(code, tmp_path / "copy")
    assert (
        (copy / RUNNER).is_file() and (copy / "n.ipynb").is_file() and not (code / RUNNER).exists()
    )
    write(code, {RUNNER: "mine"})
    with pytest.raises(UserError, match="Rename yours"):
        with_runner(code, tmp_path / "other")


@given(st.text(max_size=200))
def test_any_text_is_a_notebook_or_a_sentence(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("n") / "n.ipynb"
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    with pytest.raises(UserError):
        read_notebook(path, "n.ipynb")
    path.write_text(notebook(text.encode(errors="replace").decode()))
    (cell,) = read_notebook(path, "n.ipynb").cells
    cell.python.encode()
