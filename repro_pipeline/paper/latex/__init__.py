"""LaTeX source trees as papers, without ever running TeX."""

from repro_pipeline.paper.latex.bibliography import printed
from repro_pipeline.paper.latex.reader import read_latex

__all__ = ["printed", "read_latex"]
