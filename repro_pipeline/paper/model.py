"""The document: what a reader makes of a paper, the same whichever format it came in."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from repro_pipeline.frozen import Frozen, Sha256


class SourceFormat(StrEnum):
    """The formats that a paper can come in."""

    LATEX = "latex"
    MARKDOWN = "markdown"
    PDF = "pdf"
    TEI = "tei"
    JATS = "jats"


class Provenance(Frozen):
    """Where something stands: a file and a line, or a page and a box (points, origin top left)."""

    file: str
    line: int | None = None
    page: int | None = None
    box: tuple[float, float, float, float] | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return f"{self.file}, page {self.page}" if self.page is not None else self.file


class Quantity(Frozen):
    """One printed number. `value` is as printed: 93.2 for `93.2 %`, with unit 'percent' beside it."""

    text: str
    value: float
    quantum: float
    """One unit of the last printed digit: 0.1 for 93.2, 1 for 93, 0.0001 for 1.2e-3."""
    uncertainty: float | None = None
    uncertainty_kind: Literal["sd", "se", "ci", "unstated"] | None = None
    unit: str | None = None
    relation: Literal["=", "<", ">", "~"] = "="
    mark: str | None = None
    """Footnote marks and arrows printed at the number."""


class Correction(Frozen):
    """What a person put in the place of what was read."""

    before: str
    """The cell's text as it was read."""
    actor: str
    reason: str


class Cell(Frozen):
    """One place of a table's grid. A spanning cell stands in every place that it covers."""

    text: str
    numbers: tuple[Quantity, ...] = ()
    """The cell's printed numbers; two for `93.2/87.1`. Empty: not a number."""
    bold: bool = False
    underline: bool = False
    spanned: bool = False
    """True in the places that a spanning cell covers beyond its first."""
    provenance: Provenance | None = None
    corrected: Correction | None = None
    """Set where the text is not the reader's."""


class Table(Frozen):
    """A grid (rows × columns, rectangular) whose first rows and columns are headers."""

    index: int
    """Order in the paper, from 1."""
    number: str | None = None
    """The printed name, as 'Table 2'."""
    label: str | None = None
    caption: str = ""
    header_rows: int = 1
    header_columns: int = 1
    grid: tuple[tuple[Cell, ...], ...]
    confidence: float = 1.0
    """How sure the reader is of the grid, from 0 to 1."""
    doubts: tuple[str, ...] = ()
    """Why the confidence is below 1, in sentences."""
    provenance: Provenance | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole grid, headers included."""
        return len(self.grid), len(self.grid[0]) if self.grid else 0

    def row_headers(self, row: int) -> tuple[str, ...]:
        """The header path of a row, outermost first, without repeats and blanks."""
        return _path(cell.text for cell in self.grid[row][: self.header_columns])

    def column_headers(self, column: int) -> tuple[str, ...]:
        """The header path of a column, outermost first, without repeats and blanks."""
        return _path(row[column].text for row in self.grid[: self.header_rows])

    def __str__(self) -> str:
        return self.number or (f"table {self.label}" if self.label else f"table {self.index}")


class Section(Frozen):
    """A heading and the text up to the next heading, paragraphs parted by blank lines."""

    title: str
    level: int = 1
    text: str = ""
    provenance: Provenance | None = None


class CitationContext(Frozen):
    """A sentence that cites a reference, and the section that it stands in."""

    sentence: str
    section: str


class Reference(Frozen):
    """A cited work."""

    key: str
    text: str
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    arxiv: str | None = None
    contexts: tuple[CitationContext, ...] = ()


class Caption(Frozen):
    """The caption of a figure."""

    number: str | None = None
    label: str | None = None
    text: str


class Source(Frozen):
    """The file that was read, and the reader that read it."""

    file: str
    format: SourceFormat
    sha256: Sha256
    reader: str
    """Name and version of the reader: a new version makes a new document."""


class Paper(Frozen):
    """A paper as one document."""

    source: Source
    also: tuple[Source, ...] = ()
    """Further sources that parts of the document come from; a table's provenance names its own."""
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    sections: tuple[Section, ...] = ()
    equations: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Caption, ...] = ()
    references: tuple[Reference, ...] = ()
    warnings: tuple[str, ...] = ()
    """What the reader could not read, in sentences."""


def _path(texts) -> tuple[str, ...]:
    path: list[str] = []
    for text in texts:
        if text and text not in path[-1:]:
            path.append(text)
    return tuple(path)
