"""How well blinding does on real papers: `python -m tests.corpus.blinding [--show]` prints the figures.

Claims are a paper's result cells: all of them, and eight drawn with a fixed seed. What survives is
looked for by plain strings, which share nothing with the code that masks.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from repro_pipeline.claims.blinding import BlindedPaper, blind_paper
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.claims.result_cells import result_cells
from repro_pipeline.errors import AddressError
from repro_pipeline.paper.address import CellAddress, TableIndex
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.read import read_paper
from repro_pipeline.paper.resolve import resolve_cell

GROUPS = {
    "machine-written": "tex/aiscientist/*/latex",
    "reproductions": "tex/mlrc/2020/*/openreview",
    "journals": "jats/*.nxml",
}
_HYPERPARAMETERS = re.compile(
    r"learning rate|batch size|epochs|dropout|weight decay|hidden (?:layer|unit|size)|momentum|"
    r"random seed|iterations|optimi[sz]er|\bsteps\b|\btrees\b|\bn ?=|\blayers\b",
    re.I,
)


def claims_of(paper: Paper, *, most: int | None = None, seed: int = 0) -> ReportedClaims | None:
    """A claim for each result cell that has a value, or for `most` drawn ones."""
    found = []
    for table in paper.tables:
        for row, column in sorted(result_cells(table)):
            cell = table.grid[row][column]
            if not cell.numbers or cell.spanned or cell.numbers[0].relation != "=":
                continue
            address = CellAddress(
                table=TableIndex(index=table.index),
                row=(f"row {row + 1}",),
                column=(f"column {column + 1}",),
            )
            try:
                if resolve_cell(paper, address)[1:3] != (row, column):
                    continue
            except AddressError:
                continue
            number = cell.numbers[0]
            found.append(
                Claim(
                    id=f"t{table.index}-r{row}-c{column}",
                    metric=" ".join(table.column_headers(column)) or "score",
                    unit=number.unit,
                    value=number.value,
                    quantum=number.quantum,
                    address=address,
                    text=number.text,
                )
            )
    if most is not None:
        found = random.Random(seed).sample(found, min(most, len(found)))
    if not found:
        return None
    return ReportedClaims(claims=tuple(found), main=found[0].id, proposed_by="every cell")


def spellings(claim: Claim) -> set[str]:
    """A claim's value as people write it, made by formatting alone."""
    value, quantum = abs(Decimal(repr(claim.value))), Decimal(repr(claim.quantum))
    decimals = max(0, -quantum.normalize().as_tuple().exponent)
    plain = {f"{value:.{decimals}f}", f"{value:,.{decimals}f}"}
    if value <= 100:
        plain.add(f"{value / 100:.{decimals + 2}f}")
    if value <= 1:
        plain.add(f"{100 * value:.{max(0, decimals - 2)}f}")
    plain |= {one.replace(".", ",") for one in plain if "," not in one}
    return {*plain, *(one[1:] for one in plain if one.startswith("0.") and len(one) > 4)}


def survivors(claims: ReportedClaims, text: str) -> Iterator[tuple[Claim, str]]:
    """The claims whose value still stands in a text, with the place."""
    for claim in claims.claims:
        if claim.value:
            for spelling in spellings(claim):
                pattern = rf"(?<![\d.,]){re.escape(spelling)}(?!\d|[.,]\d)"
                for match in re.finditer(pattern, text):
                    around = text[max(0, match.start() - 70) : match.end() + 40]
                    yield claim, f"{spelling}: …{' '.join(around.split())}…"


def telling(spelling: str) -> bool:
    """Three significant digits or more."""
    digits = re.sub(r"[.,]", "", spelling).lstrip("0")
    return len(digits if re.search(r"[.,]", spelling) else digits.rstrip("0")) >= 3


def hyperparameter_sentences(paper: Paper) -> list[str]:
    """Sentences with a hyperparameter's name and a digit."""
    return [
        sentence
        for section in paper.sections
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", section.text)
        if _HYPERPARAMETERS.search(sentence) and re.search(r"\d", sentence)
    ]


@dataclass
class Figures:
    """Sums over papers."""

    papers: int = 0
    claims: int = 0
    spans: int = 0
    telling: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)
    before: int = 0
    sentences: int = 0
    untouched: int = 0
    numbers: int = 0
    kept: int = 0
    touched: list[str] = field(default_factory=list)

    def add(self, paper: Paper, claims: ReportedClaims, blinded: BlindedPaper) -> None:
        """Count one paper."""
        self.papers += 1
        self.claims += len(claims.claims)
        self.spans += len(blinded.spans)
        shown = " ".join(blinded.text.split())
        left = {place for _, place in survivors(claims, shown)}
        self.telling += sorted(one for one in left if telling(one.split(":")[0]))
        self.weak += sorted(one for one in left if not telling(one.split(":")[0]))
        prose = " ".join([paper.abstract, *(s.text for s in paper.sections)])
        self.before += len({p for _, p in survivors(claims, prose) if telling(p.split(":")[0])})
        for sentence in hyperparameter_sentences(paper):
            plain = " ".join(sentence.split())
            self.sentences += 1
            self.untouched += plain in shown
            if plain not in shown:
                self.touched.append(plain)


def measure(corpus: Path, pattern: str, most: int | None) -> Figures:
    """Blind all papers of a pattern that have result cells."""
    figures = Figures()
    for path in sorted(corpus.glob(pattern)):
        paper = read_paper(path)
        claims = claims_of(paper, most=most)
        if claims:
            figures.add(paper, claims, blind_paper(paper, claims))
    return figures


def main() -> None:
    """Print a row per group of papers and choice of claims."""
    corpus = Path(os.environ["REPRO_CORPUS"])
    print(
        "papers             claims   telling before   telling left   weak left   sentences untouched"
    )
    for most in (None, 8):
        for group, pattern in GROUPS.items():
            one = measure(corpus, pattern, most)
            print(
                f"{one.papers:3} {group:16} {one.claims:5} {one.before:12} {len(one.telling):14} "
                f"{len(one.weak):12} {one.untouched:12}/{one.sentences}"
            )
            if "--show" in sys.argv:
                for name in ("telling", "weak", "touched"):
                    print(f"-- {name}", *getattr(one, name), sep="\n   ")


if __name__ == "__main__":
    main()
