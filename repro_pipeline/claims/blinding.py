"""The paper as a model may see it: text and tables in Markdown, with every reported value masked.

Masked are all result cells of the tables that hold claims, with their emphasis; in running text the
values of these cells in every spelling, what the words show to be a result (differences, ratios,
shares), and the words that tell who wins. Settings stay. No figure is shown, only its caption.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from repro_pipeline.claims.masking import MASK, MaskedSpan, Reach, mask_text, reach_of
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.claims.numerals import Reading, numerals
from repro_pipeline.claims.result_cells import Place, result_cells
from repro_pipeline.claims.secrets import Secrets, secrets_of
from repro_pipeline.frozen import Frozen
from repro_pipeline.paper.address import CellAddress, TextAddress
from repro_pipeline.paper.model import Cell, Paper, Table
from repro_pipeline.paper.resolve import resolve_cell


class BlindedPart(Frozen):
    """A heading and what stands under it."""

    title: str
    level: int
    text: str


class BlindedPaper(Frozen):
    """A paper without its results."""

    title: str
    parts: tuple[BlindedPart, ...]
    spans: tuple[MaskedSpan, ...]
    """What was hidden; never shown to a model."""

    @property
    def text(self) -> str:
        """The whole as Markdown."""
        parts = [f"{'#' * part.level} {part.title}\n\n{part.text}".strip() for part in self.parts]
        return "\n\n".join([f"# {self.title}", *parts]) + "\n"


def blind_paper(paper: Paper, reported: ReportedClaims) -> BlindedPaper:
    """Mask a paper for its claims. Raises AddressError for claims of another paper."""
    places, secrets = claim_cells(paper, reported), secrets_for(paper, reported)
    masker = _Masker(secrets, _quotes(reported))
    parts = [BlindedPart(title="Abstract", level=2, text=masker.text(paper.abstract, "abstract"))]
    for section in paper.sections:
        where = f"section '{section.title}'"
        parts.append(
            BlindedPart(
                title=masker.text(section.title, where) or "(no heading)",
                level=min(section.level + 1, 6),
                text=masker.text(section.text, where, reach_of(section.title)),
            )
        )
    parts += [_table(table, places, masker) for table in paper.tables]
    for number, figure in enumerate(paper.figures, 1):
        name = figure.number or f"Figure {number}"
        parts.append(BlindedPart(title=name, level=3, text=masker.text(figure.text, name)))
    if paper.equations:
        shown = [masker.text(one, "equations", Reach.VALUES) for one in paper.equations]
        parts.append(BlindedPart(title="Equations (LaTeX)", level=2, text="\n\n".join(shown)))
    if paper.references:
        listed = (f"- {one.key}: {one.text}" for one in paper.references)
        text = masker.text("\n".join(listed), "references", Reach.VALUES)
        parts.append(BlindedPart(title="References", level=2, text=text))
    title = masker.text(paper.title, "title")
    return BlindedPaper(
        title=title, parts=tuple(part for part in parts if part.text), spans=tuple(masker.spans)
    )


def secrets_for(paper: Paper, reported: ReportedClaims) -> Secrets:
    """The values to hide: those of the claims, and of the result cells of their tables."""
    places, alone = claim_cells(paper, reported), secrets_of(paper, reported)
    cells = (
        table.grid[row][column]
        for table in paper.tables
        for row, column in _hidden(table, places, alone)
    )
    return secrets_of(paper, reported, (one for cell in cells for one in _readings(cell)))


def claim_cells(paper: Paper, reported: ReportedClaims) -> dict[Place, tuple[str, ...]]:
    """The claims of each cell: (table's index, row, column) → ids. Raises AddressError."""
    places: dict[Place, tuple[str, ...]] = {}
    for claim in reported.claims:
        if isinstance(claim.address, CellAddress):
            table, row, column, _, _ = resolve_cell(paper, claim.address)
            place = (table.index, row, column)
            places[place] = (*places.get(place, ()), claim.id)
    return places


def _readings(cell: Cell) -> Iterator[Reading]:
    if cell.numbers:
        yield from (Reading(number.value, number.quantum) for number in cell.numbers)
    else:
        yield from (one.readings[0] for one in numerals(cell.text) if not one.in_name)


def _quotes(reported: ReportedClaims) -> list[re.Pattern[str]]:
    """Finds the quotes that claims are read from, whatever white space, dashes and quotation marks."""
    quotes = (
        claim.address.quote for claim in reported.claims if isinstance(claim.address, TextAddress)
    )
    patterns = []
    for quote in quotes:
        escaped = r"\s+".join(re.escape(word) for word in quote.split())
        escaped = re.sub(r"\\-|[−‐‑‒–—]", "[-−‐‑‒–—]+", escaped)
        patterns.append(re.compile(re.sub("[\"'‘’“”]", "[\"'‘’“”`]+", escaped)))
    return patterns


class _Masker:
    """Masks texts one after the other, and keeps what was hidden."""

    def __init__(self, secrets: Secrets, quotes: Sequence[re.Pattern[str]]) -> None:
        self.secrets, self.quotes = secrets, quotes
        self.spans: list[MaskedSpan] = []

    def text(self, text: str, where: str, reach: Reach = Reach.RESULTS) -> str:
        quoted = [match.span() for quote in self.quotes for match in quote.finditer(text)]
        masked, spans = mask_text(text, self.secrets, where=where, reach=reach, quotes=quoted)
        self.spans += spans
        return masked

    def cell(self, text: str, where: str, claims: tuple[str, ...]) -> str:
        """The mask of a result cell; a claim's cell names its claim."""
        self.spans.append(
            MaskedSpan(where=where, start=0, end=len(text), kind="cell", claims=claims, hidden=text)
        )
        return f"[masked: {', '.join(claims)}]" if claims else MASK


def _hidden(
    table: Table, places: Mapping[Place, tuple[str, ...]], secrets: Secrets
) -> set[tuple[int, int]]:
    """The cells of a table that are hidden: all its results, if it holds a claim's value."""
    own = {(row, column) for index, row, column in places if index == table.index}
    results = result_cells(table, own)
    holds = own or any(
        (hit := secrets.hit(one, tables=False)) and hit.telling and one.decimal
        for row, column in results
        for one in numerals(table.grid[row][column].text)
    )
    return results if holds else set()


def _table(table: Table, places: Mapping[Place, tuple[str, ...]], masker: _Masker) -> BlindedPart:
    hidden = _hidden(table, places, masker.secrets)
    lines = []
    for row, cells in enumerate(table.grid):
        shown = []
        for column, cell in enumerate(cells):
            where = f"{table}, row {row + 1}, column {column + 1}"
            if (row, column) in hidden:
                text = masker.cell(cell.text, where, places.get((table.index, row, column), ()))
            else:
                text = masker.text(cell.text, where, Reach.VALUES)
            shown.append(" ".join(text.split()).replace("|", "\\|"))
        lines.append(f"| {' | '.join(shown)} |")
        if row == max(table.header_rows, 1) - 1:
            lines.append("|" + " --- |" * len(cells))
    caption = masker.text(table.caption, f"caption of {table}")
    label = f" (label {table.label})" if table.label else ""
    return BlindedPart(
        title=f"{table}{label}", level=3, text="\n\n".join([caption, "\n".join(lines)]).strip()
    )
