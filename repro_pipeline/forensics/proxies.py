"""Columns that all but tell the label, used as inputs though the paper does not name them."""

from __future__ import annotations

import ast
import random
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from repro_pipeline.findings import Finding
from repro_pipeline.forensics.graph import Graph
from repro_pipeline.forensics.spoil import Spoiler, Unspoilt, as_number, write_spoilt
from repro_pipeline.wording import number

_TELLING = 0.95
"""Area under the ROC curve of one column alone."""


class _Table(Spoiler):
    """Keeps the table that it is shown, and changes nothing."""

    def __init__(self) -> None:
        super().__init__("harmless", None, random.Random(0))
        self.areas: dict[str, float] = {}

    def look(
        self,
        names: Sequence[str],
        columns: Sequence[Sequence[Any]],
        labels: Collection[int],
    ) -> None:
        classes = [place for place in labels if len(set(columns[place])) == 2]
        if len(classes) != 1:
            return
        for place, column in enumerate(columns):
            values = [as_number(value) for value in column]
            if place not in labels and None not in values and len(set(values)) > 2:
                self.areas[str(names[place])] = area(values, columns[classes[0]])


def area(values: Sequence[float], labels: Sequence[Any]) -> float:
    """The area under the ROC curve of a column for two classes, in the better direction."""
    pairs = list(zip(values, labels, strict=True))
    others = sorted(value for value, label in pairs if label != labels[0])
    mine = [value for value, label in pairs if label == labels[0]]
    above = sum(bisect_left(others, value) + bisect_right(others, value) for value in mine) / 2
    share = above / (len(mine) * len(others))
    return max(share, 1 - share)


def findings(graph: Graph, files: Collection[Path], paper: str) -> Iterator[Finding]:
    """Columns of the data files that the code names, the paper's text does not, and that tell the
    label. Nothing is said where there is no text of the paper.
    """
    named = {
        node.value: f"{file}:{node.lineno}"
        for file, tree in graph.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    for path in files if paper else ():
        table = _Table()
        try:
            write_spoilt(path, Path("/dev/null"), table)
        except Unspoilt:
            continue
        for name, telling in table.areas.items():
            said = re.search(rf"\b{re.escape(name)}\b", paper, re.I)
            if telling >= _TELLING and name in named and not said:
                yield Finding(
                    kind="target_among_features",
                    evidence=f"{named[name]}: the code uses the column {name} of {path.name}, which "
                    f"the paper does not name, and which alone tells the classes apart (area "
                    f"{number(telling)}).",
                    severity="unverified",
                )
                return
