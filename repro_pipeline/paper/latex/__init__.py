"""LaTeX source trees as papers, without ever running TeX."""

from repro_pipeline.paper.latex.reader import read_latex

__all__ = ["read_latex"]
