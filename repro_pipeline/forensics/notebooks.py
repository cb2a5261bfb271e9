"""A notebook's code cells as one text of Python, and changes of that text brought back to the cells."""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import NamedTuple

from repro_pipeline.imports.notebook import Notebook
from repro_pipeline.pysource import parsed


class Joined(NamedTuple):
    """The code cells one below the other."""

    text: str
    starts: tuple[int, ...]
    """The line at which each cell begins, counted from 1."""
    unread: dict[int, str]
    """The cells with something that is not in the text, and why."""

    def place(self, line: int) -> tuple[int, int]:
        """The cell and the line in it, both from 1, of a line of the text."""
        cell = bisect_right(self.starts, line)
        return cell, line - self.starts[cell - 1] + 1


def joined(notebook: Notebook) -> Joined:
    """The cells' Python; a cell that is none gives empty lines."""
    starts, parts, unread, line = [], [], {}, 1
    for cell in notebook.cells:
        text = cell.python
        if cell.foreign:
            unread[cell.number] = f"`{cell.foreign[:60]}` runs what is not read here"
        try:
            parsed(text)
        except SyntaxError as error:
            unread[cell.number] = f"could not be read as Python: {error.msg}"
            text = "\n" * text.count("\n")
        starts.append(line)
        parts.append(text)
        line += text.count("\n") + 1
    return Joined("\n".join(parts), tuple(starts), unread)


def rewritten(content: str, notebook: Notebook, changed: str) -> str:
    """The notebook's file with the changed lines of its joined text in its cells; all else as it is.

    A change that gives other lines than before cannot be brought back: the file as it is.
    """
    before, after = joined(notebook).text.split("\n"), changed.split("\n")
    if len(before) != len(after):
        return content
    value = json.loads(content)
    cells = [one for one in value["cells"] if one.get("cell_type") == "code"]
    line = 0
    for cell, raw in zip(notebook.cells, cells, strict=True):
        count = cell.python.count("\n") + 1
        old, new = before[line : line + count], after[line : line + count]
        source = cell.source.split("\n")
        if old != new and len(source) == count:
            pairs = zip(source, old, new, strict=True)
            raw["source"] = "\n".join(s if o == n else n for s, o, n in pairs)
        line += count
    return json.dumps(value)
