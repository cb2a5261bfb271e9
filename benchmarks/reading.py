"""How well papers are read, against truth that our readers did not make.

    python benchmarks/reading.py CORPUS [--format latex pdf jats] [--verbose]

Truth is, for LaTeX and for PDFs whose source is at hand, pandoc's reading of each tabular (package
`pypandoc_binary`, not a dependency), and for JATS docling's stored reading. Printed per file:
tables, cells, numeric cells, cell F1 (the same text in the same row and column), recall and
precision of numeric cells, seconds, and the peak memory of the reading process. Tables of the truth
that no table of ours resembles count as missed; `--verbose` prints each cell that differs, to be
judged by eye: the other parser is not always right.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.latex import read_latex
from repro_pipeline.paper.model import Table
from repro_pipeline.paper.numbers import parse_numbers
from repro_pipeline.paper.read import read_paper
from repro_pipeline.paper.tables import RawCell, build_grid, normalise

Texts = list[list[str]]


@dataclass
class Score:
    """Counts over tables; cells are (row, column, text)."""

    tables: int = 0
    found: int = 0
    cells: int = 0
    numeric: int = 0
    truth: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)
    both: Counter[str] = field(default_factory=Counter)
    seconds: float = 0
    differences: list[str] = field(default_factory=list)

    def add(self, other: Score) -> None:
        for name in ("tables", "found", "cells", "numeric", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("truth", "ours", "both"):
            getattr(self, name).update(getattr(other, name))

    def line(self, name: str) -> str:
        def share(part: int, whole: int) -> str:
            return f"{part / whole:.4f}" if whole else "  -   "

        f1 = share(2 * self.both["cell"], self.truth["cell"] + self.ours["cell"])
        recall = share(self.both["number"], self.truth["number"])
        precision = share(self.both["number"], self.ours["number"])
        return (
            f"{name[:34]:34} {self.found:4}/{self.tables:<4} {self.cells:6} {self.numeric:6}  "
            f"{f1}  {recall}  {precision}  {self.seconds:6.2f}"
        )


HEAD = f"{'file':34} {'tables':>9} {'cells':>6} {'num.':>6}  {'F1':6}  {'recall':6}  {'prec.':6}  {'s':>6}"


def compare(truth: list[Texts], ours: list[Table], name: str) -> Score:
    """Scores each table of the truth against the table of ours that shares most of its numbers."""
    score = Score(tables=len(truth))
    score.cells = sum(len(row) for table in ours for row in table.grid)
    score.numeric = sum(bool(cell.numbers) for table in ours for row in table.grid for cell in row)
    grids = [[[cell.text for cell in row] for row in table.grid] for table in ours]
    for at, wanted in enumerate(truth, start=1):
        best = max(grids, key=lambda grid: _overlap(wanted, grid), default=[])
        score.found += bool(best) and _overlap(wanted, best) > 0.3
        left, right = _cells(wanted), _cells(best)
        for kind, keep in (("cell", lambda text: True), ("number", _is_number)):
            one = Counter(cell for cell in left if keep(cell[2]))
            other = Counter(cell for cell in right if keep(cell[2]))
            score.truth[kind] += one.total()
            score.ours[kind] += other.total()
            score.both[kind] += (one & other).total()
        difference = [f"-{cell}" for cell in (Counter(left) - Counter(right)).elements()]
        difference += [f"+{cell}" for cell in (Counter(right) - Counter(left)).elements()]
        if difference:
            score.differences.append(f"{name}, table {at}: {' '.join(difference[:12])}")
    return score


def _cells(grid: Texts) -> list[tuple[int, int, str]]:
    """Cells at their place among the rows and columns that print something."""
    texts = [[_plain(text) for text in row] for row in grid]
    rows = [row for row in texts if any(row)]
    columns = [
        at
        for at in range(max(map(len, rows), default=0))
        if any(r[at : at + 1] != [""] for r in rows)
    ]
    return [
        (y, x, row[column])
        for y, row in enumerate(rows)
        for x, column in enumerate(columns)
        if column < len(row) and row[column]
    ]


def _plain(text: str) -> str:
    """A text as far as two parsers can agree on it: letters, digits, signs."""
    text = re.sub(
        r"\\(?:mathbf|mathrm|mathit|text\w*|scriptstyle|boldsymbol|pmb|bm|left|right)\b", "", text
    )
    text = text.replace("\\pm", "±").replace("\\times", "×").replace("\\%", "%").replace("\\(", "")
    return normalise(text.replace("\\)", "")).replace("−", "-").strip("~,")


def _is_number(text: str) -> bool:
    return bool(parse_numbers(text))


def _overlap(one: Texts, other: Texts) -> float:
    left = Counter(text for _, _, text in _cells(one))
    right = Counter(text for _, _, text in _cells(other))
    return 2 * (left & right).total() / max(left.total() + right.total(), 1)


# Truth


def pandoc_tables(source: str) -> list[Texts]:
    """The tables that pandoc reads in a LaTeX document."""
    import pypandoc
    from lxml import html

    text = pypandoc.convert_text(source, "html", format="latex", extra_args=["--quiet"])
    if not text.strip():
        return []
    tables: list[Texts] = []
    for table in html.fromstring(f"<div>{text}</div>").iter("table"):
        rows = [
            [
                RawCell(
                    " ".join(_formulas(cell).split()),
                    int(cell.get("rowspan", "1")),
                    int(cell.get("colspan", "1")),
                )
                for cell in row
                if cell.tag in {"td", "th"}
            ]
            for row in table.iter("tr")
        ]
        rows = [row for row in rows if row]
        if rows:
            tables.append([[cell.text for cell in row] for row in build_grid(rows)[0]])
    return tables


def _formulas(cell) -> str:
    """Text of a cell; raised and lowered parts are marked as in our own text."""
    for tag, sign in (("sup", "^"), ("sub", "_")):
        for element in cell.iter(tag):
            element.text = sign + (element.text or "")
    return "".join(cell.itertext())


def tabulars(folder: Path) -> Iterator[str]:
    """Each tabular of a source as a document of its own, with the source's one-line macros.

    What pandoc cannot read is taken out or written plainly: rules and colours (it takes their
    arguments for text), cells of several lines (it makes rows of them), citations, footnotes.
    """
    sources = [
        _uncommented(path.read_text(errors="replace")) for path in sorted(folder.rglob("*.tex"))
    ]
    macros = [
        line
        for source in sources
        for line in re.findall(
            r"^\s*\\(?:newcommand|def|newcolumntype|DeclareMathOperator)\b.*$", source, re.M
        )
        if line.count("{") == line.count("}") and "@" not in line
    ]
    head = "\n".join(dict.fromkeys(macros))
    for source in sources:
        for found in re.finditer(
            r"\\begin\{(tabular\*?|tabularx|longtable)\}(?:(?!\\begin\{\1\}).)*?\\end\{\1\}",
            source,
            re.S,
        ):
            body = re.sub(r"\\c(?:mid)?(?:rule|line)\s*(?:\([^)]*\))?\s*\{[^}]*\}", "", found[0])
            body = re.sub(
                r"\\(?:cellcolor|rowcolor|arrayrulecolor)(?:\[[^]]*\])?\{[^}]*\}", "", body
            )
            body = re.sub(r"~?\\(?:cite[a-z]*|parencite)\s*(?:\[[^]]*\])?\{[^}]*\}", "", body)
            body = re.sub(r"\\(?:red|green|orange|blue)\{([^{}]*)\}", r"\1", body)
            body = re.sub(r"\\makecell(?:\[\w\])?\{([^{}]*)\}", _on_one_line, body)
            body = re.sub(r"\\(?:table)?footnote\{[^{}]*\}|\\Xhline\{[^}]*\}", "", body)
            if "\\input" not in body:
                yield (
                    f"\\documentclass{{article}}\n{head}\n\\begin{{document}}\nText.\n"
                    f"\\begin{{table}}\\caption{{C}}\n{body}\n\\end{{table}}\n\\end{{document}}\n"
                )


def _on_one_line(cell: re.Match[str]) -> str:
    return cell[1].replace("\\\\", " ")


def _uncommented(source: str) -> str:
    return re.sub(r"(?<!\\)%[^\n]*\n?[ \t]*", "", source)


def docling_tables(path: Path) -> list[Texts]:
    """The tables of a stored docling document."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [
        [[cell["text"] for cell in row] for row in table["data"]["grid"]]
        for table in document["tables"]
        if table["data"]["grid"]
    ]


# Formats


def measure_latex(corpus: Path) -> Iterator[tuple[str, Score]]:
    """Each tabular of the LaTeX sources, read by us and by pandoc."""
    folders = sorted(corpus.glob("tex/mlrc/2020/*/openreview")) + sorted(
        corpus.glob("tex/aiscientist/*/latex")
    )
    for folder in folders:
        total = Score()
        for at, source in enumerate(tabulars(folder), start=1):
            truth = _or_nothing(source)
            if not truth:
                continue  # pandoc gives up on some tabulars
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch) / "paper.tex"
                path.write_text(source)
                start = time.perf_counter()
                tables = read_latex(path).tables
                seconds = time.perf_counter() - start
            score = compare(truth[:1], list(tables[:1]), f"{folder.parent.name} {at}")
            score.seconds = seconds
            total.add(score)
            total.differences += score.differences
        yield folder.parent.name, total


def _or_nothing(source: str) -> list[Texts]:
    with contextlib.suppress(RuntimeError):
        return pandoc_tables(source)
    return []


def measure_pdf(corpus: Path) -> Iterator[tuple[str, Score]]:
    """PDFs of which the corpus holds the LaTeX source, against pandoc's reading of that."""
    for folder in sorted(corpus.glob("tex/aiscientist/*/latex")):
        name = folder.parent.name
        truth = [table for source in tabulars(folder) for table in _or_nothing(source)[:1]]
        yield name, _read_and_compare(corpus / f"pdf/aiscientist_{name}.pdf", truth)


def measure_jats(corpus: Path) -> Iterator[tuple[str, Score]]:
    """JATS files of which the corpus holds docling's reading."""
    for gold in sorted(corpus.glob("gold/docling-jats/*.json")):
        path = corpus / "jats" / gold.name.removesuffix(".json")
        yield path.name, _read_and_compare(path, docling_tables(gold))


def _read_and_compare(path: Path, truth: list[Texts]) -> Score:
    start = time.perf_counter()
    try:
        tables: Iterable[Table] = read_paper(path).tables
    except PaperError as error:
        print(f"{path.name}: {error}", file=sys.stderr)
        tables = ()
    score = compare(truth, list(tables), path.name)
    score.seconds = time.perf_counter() - start
    return score


FORMATS = {"latex": measure_latex, "pdf": measure_pdf, "jats": measure_jats}


def main() -> None:
    """Prints the figures of each format."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--format", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--verbose", action="store_true", help="print the cells that differ")
    options = parser.parse_args()
    if find_spec("pypandoc") is None and {"latex", "pdf"} & set(options.format):
        parser.error("latex and pdf are measured against pandoc: install pypandoc_binary.")
    for name in options.format:
        print(f"\n{name}\n{HEAD}")
        total = Score()
        for file, score in FORMATS[name](options.corpus):
            print(score.line(file))
            total.add(score)
            if options.verbose:
                print(*score.differences, sep="\n")
        print(total.line("all"))
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    print(f"\npeak memory {max(resource.getrusage(one).ru_maxrss for one in who) >> 10} MiB")


if __name__ == "__main__":
    main()
