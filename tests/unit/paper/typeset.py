"""LaTeX texts to PDF files by pdflatex; tests that need it skip where it is absent."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def latex(body: str, *, font: str = "", columns: bool = False) -> str:
    """A document around a body."""
    option = "twocolumn" if columns else "10pt"
    return "\n".join(
        [
            f"\\documentclass[{option}]{{article}}",
            "\\usepackage[margin=2.2cm]{geometry}",
            "\\usepackage{booktabs,graphicx,rotating,amsmath,colortbl}",
            font,
            "\\newcommand{\\scaled}[1]{\\resizebox{0.9\\linewidth}{!}{#1}}",
            "\\newcommand{\\fitted}[1]{\\sbox0{#1}\\ifdim\\wd0>\\linewidth"
            "\\resizebox{\\linewidth}{!}{\\usebox0}\\else\\usebox0\\fi}",
            "\\begin{document}",
            "\\title{A Comparison of Methods}\\author{Ada Lovelace}\\maketitle",
            "\\section{Results}",
            body,
            "\\end{document}",
        ]
    )


def typeset(tex: str, folder: Path, *, runs: int = 1) -> Path:
    """The PDF of a LaTeX text; two runs link its citations.

    Raises RuntimeError where pdflatex is absent or fails.
    """
    if shutil.which("pdflatex") is None:
        raise RuntimeError("pdflatex is not installed")
    (folder / "paper.tex").write_text(tex, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(runs):
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout.decode("utf-8", "replace")[-1500:])
    return folder / "paper.pdf"


def pdf_or_skip(tex: str, folder: Path, *, runs: int = 1) -> Path:
    """The PDF of a LaTeX text; a test that asks for it is skipped where pdflatex is absent."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (texlive-latex-recommended)")
    return typeset(tex, folder, runs=runs)
