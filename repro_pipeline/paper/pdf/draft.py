"""A table's grid while it is being built: words gathered into cells, cells into rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from repro_pipeline.paper.model import Provenance
from repro_pipeline.paper.pdf.captions import joined_text
from repro_pipeline.paper.pdf.drawings import Rule
from repro_pipeline.paper.pdf.lines import Frame, bounding
from repro_pipeline.paper.pdf.words import Word
from repro_pipeline.paper.tables import RawCell

Place = tuple[int, int]
"""Row and column."""


@dataclass
class DraftCell:
    """A cell: its words line by line, and what it spans."""

    lines: list[list[Word]] = field(default_factory=list)
    rows: int = 1
    columns: int = 1

    @property
    def words(self) -> list[Word]:
        """All of its words."""
        return [word for line in self.lines for word in line]

    def text(self, known: frozenset[str] = frozenset()) -> str:
        """Its text; `known` tells which hyphens at line ends stay."""
        ordered = sorted(self.lines, key=lambda line: line[0].y)
        return joined_text([" ".join(word.text for word in line) for line in ordered], known)


@dataclass
class Draft:
    """A grid being built. `ys` are the baselines of its rows."""

    width: int
    ys: list[float] = field(default_factory=list)
    cells: dict[Place, DraftCell] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)

    def doubt(self, sentence: str) -> None:
        """Note, once, what is unsure."""
        if sentence not in self.doubts:
            self.doubts.append(sentence)

    def add(self, place: Place, words: Sequence[Word], columns: int = 1) -> DraftCell:
        """Put words into the cell at a place, after those that it holds."""
        cell = self.cells.setdefault(place, DraftCell())
        cell.columns = max(cell.columns, columns)
        if cell.lines and abs(cell.lines[-1][0].y - words[0].y) < 0.2 * words[0].size:
            cell.lines[-1] += words
        else:
            cell.lines.append(list(words))
        return cell

    def covered(self) -> set[Place]:
        """The places that spanning cells reach into; a span stops before a cell of its own."""
        covered: set[Place] = set()
        for (row, column), cell in sorted(self.cells.items()):
            if (row, column) in covered:
                self.doubt("Spanning cells overlap.")
                continue
            while cell.columns > 1 and any(
                (row + down, column + cell.columns - 1) in self.cells for down in range(cell.rows)
            ):
                cell.columns -= 1
            covered |= {
                (row + down, column + right)
                for down in range(cell.rows)
                for right in range(cell.columns)
                if down or right
            }
        return covered


def raw_rows(
    draft: Draft, underlined: Sequence[Rule], frame: Frame, file: str, known: frozenset[str]
) -> list[list[RawCell]]:
    """The draft as rows of raw cells, places that a span reaches into left out."""
    covered = draft.covered()
    return [
        [
            _raw(draft.cells.get((row, column)), underlined, frame, file, known)
            for column in range(draft.width)
            if (row, column) not in covered
        ]
        for row in range(len(draft.ys))
    ]


def _raw(
    cell: DraftCell | None,
    underlined: Sequence[Rule],
    frame: Frame,
    file: str,
    known: frozenset[str],
) -> RawCell:
    if cell is None:
        return RawCell("")
    words = cell.words
    letters = [word for word in words if any(char.isalnum() for char in word.text)] or words
    box = bounding(word.box for word in words)
    return RawCell(
        text=cell.text(known),
        rows=cell.rows,
        columns=cell.columns,
        bold=all(word.bold for word in letters),
        underline=any(underlines(rule, word) for rule in underlined for word in words),
        provenance=Provenance(file=file, page=frame.page.number, box=frame.on_page(box)),
    )


def underlines(rule: Rule, word: Word) -> bool:
    """Whether a rule lies close under a word."""
    return (
        word.upright
        and 0 < rule.y0 - word.y < 0.36 * word.size
        and min(rule.x1, word.x1) - max(rule.x0, word.x0) > 0.5
    )
