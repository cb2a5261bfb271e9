"""How well papers are read, against truth that our readers did not make.

    python benchmarks/reading.py CORPUS [--only latex jats …] [--documents 6] [--first 0] [--verbose]

Truth: pandoc's reading of each tabular of a LaTeX source (`pypandoc_binary`), also for the PDF of the
same paper; docling's stored reading of JATS; PubTabNet's structure of tables; the generator's own
numbers for tables that are typeset by pdflatex; S2ORC's and BibTeX's titles of references. Beside
the PDF reader, other tools on the same files where they are installed: `pdfplumber`, `camelot-py`,
pypdfium2's text alone. They know no captions and take in lines around a table, so for them, and for
our own reader again (`ours`), a number counts wherever it stands in the best of a tool's tables.
docling is not run: it downloads its models when it is first used.

Printed per file: tables found; numeric cells of the truth; cell F1 (the same text in the same row
and column); recall and precision of numeric cells (same place, or same headers where the truth is
the generator's); `heads`, the share of the numbers read whose row and column headers are right;
`sure, wrong`, numbers that are not the truth's in tables without a doubt, of all numbers there;
recall of references; seconds; pages per second. Below, the peak memory of the process, which is one
per format. `--verbose` prints what differs, to be judged by eye: the other parser may be wrong.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/unit/paper"))

import typeset
import typeset_tables
from reading_measures import (
    HEAD,
    Measure,
    Truth,
    compare_grids,
    compare_numbers,
    compare_references,
    compare_values,
    values_of,
)
from reading_others import OTHERS
from reading_truth import (
    bib_titles,
    docling_tables,
    jats_titles,
    pandoc_tables,
    pubtabnet,
    s2orc_titles,
    tabulars,
)

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.read import _load, detect
from repro_pipeline.paper.tables import DOUBTED


@dataclass(frozen=True)
class Given:
    """What is measured on: the corpus, and drawn documents as LaTeX and PDF."""

    corpus: Path
    drawn: Sequence[tuple[str, Path, Sequence[typeset_tables.Typeset]]]
    """Name, folder with paper.tex and paper.pdf, and the truth."""


Lines = Iterator[tuple[str, Measure]]


def read(path: Path) -> tuple[Paper | None, Measure]:
    """A paper, with the pages and seconds that it took; None where it is refused."""
    start = time.perf_counter()
    try:
        paper = _load(detect(path))(path)
    except PaperError as error:
        print(f"  {error}", file=sys.stderr)
        paper = None
    seconds = time.perf_counter() - start
    return paper, Measure(seconds=seconds, pages=_pages(path))


def _pages(path: Path) -> int:
    if path.suffix != ".pdf":
        return 0
    import pypdfium2

    return len(pypdfium2.PdfDocument(path))


def _tables(paper: Paper | None) -> Sequence:
    return paper.tables if paper else ()


def latex(given: Given) -> Lines:
    """Each tabular of the LaTeX sources alone, against pandoc; references of the whole source."""
    folders = sorted(given.corpus.glob("tex/mlrc/2020/*/openreview"))
    for folder in folders + sorted(given.corpus.glob("tex/aiscientist/*/latex")):
        total = Measure()
        for at, source in enumerate(tabulars(folder), start=1):
            truth = [Truth(grid) for grid in pandoc_tables(source)[:1]]
            if truth:
                total.add(_alone(source, truth, f"{folder.parent.name} {at}"))
        paper, measure = read(folder)
        total.add(compare_references(bib_titles(folder), paper.references if paper else ()))
        total.seconds = measure.seconds
        yield folder.parent.name, total


def _alone(source: str, truth: Sequence[Truth], name: str) -> Measure:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "paper.tex"
        path.write_text(source)
        return compare_grids(truth, _tables(read(path)[0])[:1], name)


def latex_drawn(given: Given) -> Lines:
    """Drawn documents as LaTeX."""
    yield from _drawn(given, "paper.tex")


def pdf_drawn(given: Given) -> Lines:
    """The same documents, typeset."""
    yield from _drawn(given, "paper.pdf")


def _drawn(given: Given, file: str) -> Lines:
    for name, folder, made in given.drawn:
        paper, measure = read(folder / file)
        measure.add(compare_numbers(made, _tables(paper), name))
        yield name, measure


def pdf(given: Given) -> Lines:
    """PDFs: tables against pandoc's reading of their source, references against S2ORC and BibTeX."""
    for path, truth, titles in _papers(given.corpus):
        paper, measure = read(path)
        measure.add(compare_grids(truth, _tables(paper), path.stem))
        measure.add(compare_references(titles, paper.references if paper else ()))
        yield path.stem, measure


def _papers(corpus: Path) -> Iterator[tuple[Path, list[Truth], list[str]]]:
    for folder in sorted(corpus.glob("tex/aiscientist/*/latex")):
        truth = [Truth(grid) for source in tabulars(folder) for grid in pandoc_tables(source)[:1]]
        yield corpus / f"pdf/aiscientist_{folder.parent.name}.pdf", truth, bib_titles(folder)
    for name, gold in (("acl2020.207_SPECTER", "2020.acl-main.207"), _N18):
        yield corpus / f"pdf/{name}.pdf", [], s2orc_titles(corpus / f"gold/s2orc/{gold}.json")


_N18 = ("N18-3011_semantic-scholar-KG", "N18-3011")


def jats(given: Given) -> Lines:
    """JATS files against docling's stored reading; references against their own tags."""
    for path in sorted(given.corpus.glob("jats/*.nxml")):
        gold = given.corpus / f"gold/docling-jats/{path.name}.json"
        paper, measure = read(path)
        truth = docling_tables(gold) if gold.exists() else []
        measure.add(compare_grids(truth, _tables(paper), path.name))
        measure.add(compare_references(jats_titles(path), paper.references if paper else ()))
        yield path.name, measure


def jats_pubtabnet(given: Given) -> Lines:
    """PubTabNet's tables as a JATS article."""
    wrap = (
        "<article><front/><body><table-wrap><label>Table 1</label>{}</table-wrap></body></article>"
    )
    yield from _pubtabnet(given, "paper.nxml", wrap)


def markdown_pubtabnet(given: Given) -> Lines:
    """PubTabNet's tables as HTML in Markdown."""
    yield from _pubtabnet(given, "paper.md", "# Title\n\nTable 1: Results.\n\n{}\n")


def _pubtabnet(given: Given, file: str, around: str) -> Lines:
    for name, truth, source in pubtabnet(given.corpus / "gold/pubtabnet/PubTabNet_Examples.jsonl"):
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / file
            path.write_text(around.format(source))
            paper, measure = read(path)
        measure.add(compare_grids([truth], _tables(paper), name))
        yield name, measure


def tei(given: Given) -> Lines:
    """GROBID's output: references against S2ORC; of its tables, the numbers read without a doubt."""
    for file, gold in (("acl2020.207_SPECTER", "2020.acl-main.207"), ("N18-3011", "N18-3011")):
        paper, measure = read(given.corpus / f"tei/{file}.tei.xml")
        titles = s2orc_titles(given.corpus / f"gold/s2orc/{gold}.json")
        measure.add(compare_references(titles, paper.references if paper else ()))
        yield file, measure
    total = Measure()
    for path in sorted(given.corpus.glob("tei/nlp-tdms/*.tei.xml")):
        paper, measure = read(path)
        total.add(measure)
        for table in _tables(paper):
            total.tables += 1
            cells = [cell for row in table.grid for cell in row if cell.numbers]
            total.sure += len(cells) if table.confidence > DOUBTED else 0
    yield "nlp-tdms, tables all broken", total


def by_other(given: Given, name: str) -> Lines:
    """The PDFs by a tool: the numbers of each table of the truth, wherever in its best table."""
    papers = [
        (path.stem, path, [values_of(table) for table in truth])
        for path, truth, _ in _papers(given.corpus)
        if truth
    ]
    drawn = [
        (document, folder / "paper.pdf", [[v.value for v in t.truth.values()] for t in made])
        for document, folder, made in given.drawn
    ]
    for file, path, truth in papers + drawn:
        start = time.perf_counter()
        found = OTHERS[name](path)
        measure = Measure(seconds=time.perf_counter() - start, pages=_pages(path))
        measure.add(compare_values(truth, found))
        yield file, measure


FORMATS: dict[str, Callable[[Given], Lines]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        latex, latex_drawn, pdf, pdf_drawn, jats, jats_pubtabnet, markdown_pubtabnet, tei
    )
}  # fmt: skip


_NEEDED = {name: ("pypandoc",) for name in ("latex", "pdf")} | {
    name: ("pypandoc", *(() if name == "ours" else (name,))) for name in OTHERS
}


def _measure(name: str, given: Given) -> tuple[list[tuple[str, Measure]], int]:
    """A format's lines, and the peak memory of this process in MiB."""
    lines = list(FORMATS[name](given) if name in FORMATS else by_other(given, name))
    return lines, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def main() -> None:
    """Prints the figures of each format, and of other tools on the PDFs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--only", nargs="+", choices=[*FORMATS, *OTHERS])
    parser.add_argument("--documents", type=int, default=6, help="how many are drawn and typeset")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first of them")
    parser.add_argument("--verbose", action="store_true", help="print what differs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        given = Given(options.corpus.resolve(), list(_draw(options, Path(scratch))))
        for name in options.only or [*FORMATS, *OTHERS]:
            missing = [tool for tool in _NEEDED.get(name, ()) if not find_spec(tool)]
            if missing:
                print(f"\n{name}: skipped, {' and '.join(missing)} not installed.")
                continue
            _print(name, given, verbose=options.verbose)


def _draw(options: argparse.Namespace, scratch: Path):
    for seed in range(options.first, options.first + options.documents):
        folder = scratch / str(seed)
        folder.mkdir()
        tex, made = typeset_tables.document(seed)
        typeset.typeset(tex, folder)
        yield f"drawn {seed}", folder, made


def _print(name: str, given: Given, *, verbose: bool) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as alone:
        lines, peak = alone.submit(_measure, name, given).result()
    print(f"\n{name}\n{HEAD}")
    total = Measure()
    for file, measure in lines:
        print(measure.line(file))
        total.add(measure)
        if verbose:
            print(*(f"    {text}" for text in measure.differences), sep="\n")
    print(f"{total.line('all')}\npeak memory {peak} MiB", flush=True)


if __name__ == "__main__":
    main()
