"""LaTeX sources for tests: a document around a body, and what was read of it."""

from __future__ import annotations

from pathlib import Path

from repro_pipeline.paper.latex import read_latex
from repro_pipeline.paper.model import Paper, Table

TABULAR = r"\begin{tabular}{lc}M & Acc \\ A & %s \\\end{tabular}"


def read(folder: Path, body: str, preamble: str = "", **files: str) -> Paper:
    document = (
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
    (folder / "main.tex").write_text(document)
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_tex", ".tex").replace("_b", ".b")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return read_latex(folder)


def table(folder: Path, tabular: str, preamble: str = "") -> Table:
    (found,) = read(folder, f"\\begin{{table}}{tabular}\\end{{table}}", preamble).tables
    return found


def texts(found: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in found.grid]
