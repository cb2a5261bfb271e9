"""Run a notebook from its first cell to its last, as one run of an experiment.

    python run_notebook.py NOTEBOOK --out DIR [--parameter NAME=VALUE]...

The kernel is this interpreter's, reached over sockets in a private folder. What each code cell prints
and shows as text goes to the output and to DIR/cells/N.txt, N from 1; DIR/executed.ipynb is the notebook
as it ran. Parameters are assigned in a cell of their own, after the first code cell tagged `parameters`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import zlib
from pathlib import Path

PATIENCE = 600
"""Seconds that a busy machine may take to start a kernel, or to hand over what a cell printed."""
SHELL = """
def _without_terminal(shell):
    import subprocess
    import sys

    from IPython.utils.text import LSString, SList

    given = dict(shell=True, stdin=subprocess.DEVNULL, text=True, errors="replace")

    def system(command):
        line = shell.var_expand(command, depth=1)
        out = dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with subprocess.Popen(line, **given, **out) as process:
            for printed in process.stdout:
                sys.stdout.write(printed)
        shell.user_ns["_exit_code"] = process.returncode

    def getoutput(command, split=True, depth=0):
        line = shell.var_expand(command, depth=depth + 1)
        text = subprocess.run(line, **given, stdout=subprocess.PIPE).stdout
        return SList(text.splitlines()) if split else LSString(text)

    shell.system, shell.getoutput = system, getoutput


_without_terminal(get_ipython())
del _without_terminal
"""
"""Run in the kernel before the first cell: `!command` asks for a terminal, and the sandbox has none."""
NAMES = """
def _with_names(shell, names):
    import zlib

    own = shell.compile.get_code_name

    def get_code_name(raw_code, transformed_code, number):
        known = names and zlib.crc32(raw_code.encode()) == names[0][0]
        return names.pop(0)[1] if known else own(raw_code, transformed_code, number)

    shell.compile.get_code_name = get_code_name


if hasattr(get_ipython().compile, "get_code_name"):
    _with_names(get_ipython(), NAMES)
del _with_names
"""
"""Run there too: a cell's code is called by notebook and cell, as tracebacks and the run's record show it."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def main() -> None:
    """Run; the last line of a failure names the cell."""
    import nbformat  # of the notebook's environment, as is all that is imported below

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    notebook = nbformat.read(options.notebook, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:  # those that were stored are of no run, and a skipped cell would keep its own
        cell.outputs, cell.execution_count = [], None
    inject(notebook, options.parameter)
    (options.out / "cells").mkdir(parents=True, exist_ok=True)
    sockets = tempfile.mkdtemp(prefix="kernel-", dir="/tmp")  # a socket's path must be short
    try:
        execute(notebook, code, options.notebook, options.out, sockets)
    finally:
        nbformat.write(notebook, options.out / "executed.ipynb")
        shutil.rmtree(sockets, ignore_errors=True)


def inject(notebook, given: list[str]) -> None:
    """Put in the cell that assigns the parameters."""
    from nbformat.v4 import new_code_cell

    values: dict = {}
    for name, _, value in (one.partition("=") for one in given):
        group, dot, key = name.partition(".")
        if dot:
            values.setdefault(group, {})[key] = value
        else:
            values[name] = int(value) if name == "seed" else value
    if not values:
        return
    lines = [f"{name} = {value!r}" for name, value in values.items()]
    cell = new_code_cell("\n".join(lines), metadata={"tags": ["injected-parameters"]})
    tagged = [
        n
        for n, one in enumerate(notebook.cells)
        if one.cell_type == "code" and "parameters" in one.metadata.get("tags", [])
    ]
    notebook.cells.insert(tagged[0] + 1 if tagged else 0, cell)


def execute(notebook, code: list, file: Path, out: Path, sockets: str) -> None:
    """Run all cells; raises an exception of the cell's own kind, naming the cell."""
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    at = [0]

    def begun(cell, cell_index) -> None:
        numbers = [n for n, one in enumerate(code, start=1) if one is cell]
        at[0] = numbers[0] if numbers else at[0]

    def ended(cell, cell_index, execute_reply) -> None:
        numbers = [n for n, one in enumerate(code, start=1) if one is cell]
        if numbers:
            text = text_of(cell.outputs)
            (out / "cells" / f"{numbers[0]}.txt").write_text(text, encoding="utf-8")
            print(f"== cell {numbers[0]}\n{text}", flush=True)

    lines = [SHELL, NAMES.replace("NAMES", repr(names_of(notebook, code, file.resolve())))]
    kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/k")
    client = NotebookClient(
        notebook,
        km=kernel,
        timeout=None,
        startup_timeout=PATIENCE,
        iopub_timeout=PATIENCE,
        raise_on_iopub_timeout=True,  # or output that comes late would be lost in silence
        extra_arguments=[f"--IPKernelApp.exec_lines={lines!r}"],
        resources={"metadata": {"path": str(file.parent)}},
        on_cell_execute=begun,
        on_cell_executed=ended,
    )
    try:
        client.execute()
    except CellExecutionError as error:
        print(_COLOURS.sub("", error.traceback), file=sys.stderr)
        raise failure(error.ename, error.evalue, at[0], code) from None
    except DeadKernelError:
        raise failure("DeadKernelError", "the kernel died", at[0], code) from None


def names_of(notebook, code: list, path: Path) -> list[tuple[int, str]]:
    """What each cell that is run is called, in their order, each with its source's checksum."""
    numbered = {id(one): f"{path}, cell {n}" for n, one in enumerate(code, start=1)}
    return [
        (zlib.crc32(one.source.encode()), numbered.get(id(one), f"{path}, parameters"))
        for one in notebook.cells
        if one.cell_type == "code" and one.source.strip()
    ]


def text_of(outputs: list) -> str:
    """What a cell printed and showed, as text.

    Of an error its last line: a traceback quotes the source, in which no value may be looked for.
    """
    parts = []
    for one in outputs:
        if one.output_type == "stream":
            parts.append(one.text)
        elif one.output_type in {"execute_result", "display_data"}:
            parts.append(one.data.get("text/plain", "") + "\n")
        elif one.output_type == "error":
            parts.append(f"{one.ename}: {one.evalue}\n")
    return "".join(parts)


def failure(name: str, text: str, number: int, code: list) -> Exception:
    """An exception of that name that says where it happened."""
    lines = code[number - 1].source.strip().splitlines() if number else []
    first = lines[0].strip()[:80] if lines else ""
    kind = type(name, (Exception,), {"__module__": "builtins"})
    return kind(f"in cell {number}, `{first}`: {text}")


if __name__ == "__main__":
    main()
