"""How well tables of PDFs are read: typeset tables, and papers whose LaTeX source is at hand.

    python benchmarks/reading_pdf.py [--first 0] [--documents 20] [--corpus CORPUS] [--verbose]

The first truth is the generator's of `tests/unit/paper/typeset_tables.py` (needs pdflatex): each
document has eight tables in random layouts. The second is the LaTeX reader's of the papers in
CORPUS of which PDF and source are there; tables are told apart by their printed number.

Printed per file: the numbers that are there; the share that is read with the right value and
uncertainty at the right row and column headers (recall); the share of read numbers that are right
(precision); the share of right values wherever in their table (values); wrong values and misplaced
ones; the same in tables without a doubt (sure); seconds. Beside it, where it is installed, the
recall and precision of pdfplumber: for each table the better of its two strategies, lines and text.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from repro_pipeline.paper.latex import read_latex
from repro_pipeline.paper.model import Table
from repro_pipeline.paper.pdf import read_pdf
from repro_pipeline.paper.tables import RawCell, make_table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/unit/paper"))

import typeset
import typeset_tables
from typeset_tables import Score, Typeset, Value, numbers, score

HEAD = (
    f"{'file':34} {'there':>6} {'read':>6} {'recall':>7} {'prec.':>7} {'values':>7} {'wrong':>5} "
    f"{'mispl.':>6} {'sure':>6} {'bad':>4} {'doubted':>8} {'s':>6}   {'pdfplumber':>15}"
)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--documents", type=int, default=20)
    options.add_argument("--corpus", type=Path)
    options.add_argument("--verbose", action="store_true", help="print what is not right")
    given = options.parse_args()
    print(HEAD)
    total = _Line()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.first + given.documents):
            tex, made = typeset_tables.document(seed)
            place = Path(folder) / str(seed)
            place.mkdir()
            pdf = typeset.typeset(tex, place)
            total.add(compare(f"typeset {seed}", pdf, made, verbose=given.verbose))
    if given.documents:
        total.show("all typeset")
    if given.corpus:
        papers(given.corpus, verbose=given.verbose)


def papers(corpus: Path, *, verbose: bool) -> None:
    """The papers of the corpus that are there as PDF and as LaTeX."""
    total = _Line()
    for source in sorted(corpus.glob("tex/aiscientist/*/latex")):
        name = source.parent.name
        pdf = corpus / "pdf" / f"aiscientist_{name}.pdf"
        made = [truth for table in read_latex(source).tables if (truth := _truth(table))]
        total.add(compare(name, pdf, made, verbose=verbose))
    total.show("all papers")


def _truth(table: Table) -> Typeset | None:
    """A table of the LaTeX reader as truth; None where its headers do not tell its numbers apart."""
    found = numbers(table)
    if not found or len({key for key, _, _ in found}) < len(found):
        return None
    truth = {key: Value("", value, uncertainty) for key, value, uncertainty in found}
    return Typeset(table.number or "", "", truth, "LaTeX")


class _Line:
    """A line of the print, summed up."""

    def __init__(self) -> None:
        self.score, self.other = Score(), Score()
        self.values, self.seconds = 0, 0.0

    def add(self, line: _Line) -> None:
        self.score += line.score
        self.other += line.other
        self.values += line.values
        self.seconds += line.seconds

    def show(self, name: str) -> None:
        ours, other = self.score, self.other
        beside = (
            f"{_share(other.right, other.there)} {_share(other.right, other.read)}"
            if other.there
            else "not installed"
        )
        print(
            f"{name[:34]:34} {ours.there:6} {ours.read:6} {_share(ours.right, ours.there)} "
            f"{_share(ours.right, ours.read)} {_share(self.values, ours.there)} {ours.wrong:5} "
            f"{ours.misplaced:6} {ours.sure:6} {ours.sure_wrong:4} {ours.doubted:4}/{ours.tables:<3} "
            f"{self.seconds:6.2f}   {beside:>15}",
            flush=True,
        )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:7.4f}" if whole else "   -   "


def compare(name: str, pdf: Path, made: Sequence[Typeset], *, verbose: bool) -> _Line:
    line = _Line()
    start = time.perf_counter()
    found = read_pdf(pdf).tables
    line.seconds = time.perf_counter() - start
    line.score = score(found, made)
    for truth in made:
        own = [table for table in found if table.number == truth.number]
        meant = Counter(value.value for value in truth.truth.values())
        read = Counter(value for table in own for _, value, _ in numbers(table))
        line.values += (meant & read).total()
        part = score(found, [truth])
        if verbose and (part.right < part.there or part.read > part.right):
            print(f"  {name}, {truth.number} ({truth.layout}): {part}")
            print(f"    {[(table.shape, table.doubts) for table in own]}")
    if find_spec("pdfplumber"):
        line.other = by_pdfplumber(pdf, made)
    line.show(name)
    return line


def by_pdfplumber(pdf: Path, made: Sequence[Typeset]) -> Score:
    """Each typeset table against the table of pdfplumber's that holds most of its numbers."""
    import pdfplumber

    candidates: list[Table] = []
    with pdfplumber.open(pdf) as document:
        for page in document.pages:
            for strategy in ("lines", "text"):
                settings = {"vertical_strategy": strategy, "horizontal_strategy": strategy}
                for grid in page.extract_tables(settings):
                    rows = [
                        [RawCell(" ".join((text or "").split())) for text in row] for row in grid
                    ]
                    candidates.append(make_table(1, rows))
    total = Score()
    for truth in made:
        named = [table.model_copy(update={"number": truth.number}) for table in candidates]
        scores = [score([table], [truth]) for table in named]
        total += max(scores, key=lambda one: (one.right, -one.read), default=score([], [truth]))
    return total


if __name__ == "__main__":
    main()
