"""Counts by which readings of papers are compared, whoever read and whoever knows the truth."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from typeset_tables import Typeset, numbers, score

from repro_pipeline.paper.model import Reference, Table
from repro_pipeline.paper.numbers import parse_numbers
from repro_pipeline.paper.tables import DOUBTED, column_path, normalise, row_path

Texts = list[list[str]]


@dataclass(frozen=True)
class Truth:
    """A table's texts; how many of its first rows are headers, where that is known."""

    grid: Texts
    header_rows: int = 0


@dataclass
class Measure:
    """Counts over the tables and references of one or more files."""

    tables: int = 0
    found: int = 0
    cells: int = 0
    read_cells: int = 0
    right_cells: int = 0
    numbers: int = 0
    read_numbers: int = 0
    right_numbers: int = 0
    """At the right place: row and column, or row's and column's headers."""
    placed: int = 0
    """Numbers that are read and whose headers are known."""
    headed: int = 0
    """Of those, the ones with the right headers."""
    sure: int = 0
    """Numbers read in tables without a doubt."""
    sure_wrong: int = 0
    """Of those, the ones that are not the truth's at that place."""
    references: int = 0
    found_references: int = 0
    pages: int = 0
    seconds: float = 0
    differences: list[str] = field(default_factory=list)

    def add(self, other: Measure) -> None:
        """Sum up."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))

    def line(self, name: str) -> str:
        """A line under HEAD."""
        speed = f"{self.pages / self.seconds:7.1f}" if self.pages and self.seconds else "      -"
        return (
            f"{name[:34]:34} {self.found:4}/{self.tables:<4} {self.numbers:6} "
            f"{_share(2 * self.right_cells, self.cells + self.read_cells)} "
            f"{_share(self.right_numbers, self.numbers)} "
            f"{_share(self.right_numbers, self.read_numbers)} {_share(self.headed, self.placed)} "
            f"{self.sure_wrong:5}/{self.sure:<6} {_share(self.found_references, self.references)} "
            f"{self.seconds:7.2f} {speed}"
        )


HEAD = (
    f"{'file':34} {'tables':>9} {'num.':>6} {'F1':>6} {'recall':>6} {'prec.':>6} {'heads':>6} "
    f"{'sure, wrong':>12} {'refs':>6} {'s':>7} {'pages/s':>7}"
)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f}" if whole else "   -  "


# Tables whose truth is a grid


def compare_grids(truth: Sequence[Truth], ours: Sequence[Table], name: str) -> Measure:
    """Each table of the truth against the one of ours that shares most of its texts."""
    total = Measure(tables=len(truth))
    grids = [[[cell.text for cell in row] for row in table.grid] for table in ours]
    for at, wanted in enumerate(truth, start=1):
        overlaps = [_overlap(wanted.grid, grid) for grid in grids]
        best = max(range(len(grids)), key=overlaps.__getitem__, default=None)
        if best is None or overlaps[best] <= 0.3:
            left = _places(wanted.grid)
            total.add(Measure(cells=len(left), numbers=sum(map(_is_number, left.values()))))
            total.differences.append(f"{name}, table {at}: not found")
            continue
        total.add(_compare(wanted, ours[best], f"{name}, table {at}"))
    return total


def _compare(wanted: Truth, table: Table, name: str) -> Measure:
    left = _places(wanted.grid)
    right = _places([[cell.text for cell in row] for row in table.grid])
    at_place = {place[:2]: (place[2:], text) for place, text in right.items()}
    measure = Measure(found=1, cells=len(left), read_cells=len(right))
    measure.numbers = sum(map(_is_number, left.values()))
    measure.read_numbers = sum(map(_is_number, right.values()))
    known = {place[:2]: text for place, text in left.items()}
    wrong = [
        text for place, text in right.items()
        if _is_number(text) and known.get(place[:2]) != text
    ]  # fmt: skip
    if table.confidence > DOUBTED:
        measure.sure, measure.sure_wrong = measure.read_numbers, len(wrong)
    for place, text in left.items():
        where, read = at_place.get(place[:2], ((), None))
        same = read == text
        measure.right_cells += same
        measure.right_numbers += same and _is_number(text)
        body = wanted.header_rows and place[2] >= wanted.header_rows and place[3] > 0
        if same and body and _is_number(text):
            measure.placed += 1
            measure.headed += _same_headers(wanted, place[2:], table, where)
    missing = [f"-{place[:2]}{text}" for place, text in left.items()
               if at_place.get(place[:2], (0, None))[1] != text]  # fmt: skip
    added = [f"+{place[:2]}{text}" for place, text in right.items()
             if known.get(place[:2]) != text]  # fmt: skip
    if missing or added:
        measure.differences.append(f"{name}: {' '.join((missing + added)[:12])}")
    return measure


def _same_headers(
    wanted: Truth, place: tuple[int, int], table: Table, where: tuple[int, int]
) -> bool:
    row, column = place
    above = _path(wanted.grid[at][column] for at in range(wanted.header_rows))
    beside = plain(wanted.grid[row][0])
    ours = _path(column_path(table, *where))
    return ours[: len(above)] == above and (
        not beside or beside in _path(row_path(table, where[0]))
    )


def _path(texts: Iterable[str]) -> list[str]:
    path: list[str] = []
    for text in map(plain, texts):
        if text and text not in path[-1:]:
            path.append(text)
    return path


def _places(grid: Texts) -> dict[tuple[int, int, int, int], str]:
    """Texts at their place among the rows and columns that print something, and in the grid."""
    texts = [[plain(text) for text in row] for row in grid]
    rows = [at for at, row in enumerate(texts) if any(row)]
    width = max(map(len, texts), default=0)
    columns = [x for x in range(width) if any(texts[y][x : x + 1] != [""] for y in rows)]
    return {
        (y, x, row, column): texts[row][column]
        for y, row in enumerate(rows)
        for x, column in enumerate(columns)
        if column < len(texts[row]) and texts[row][column]
    }


def plain(text: str) -> str:
    """A text as far as two parsers can agree on it: letters, digits, signs."""
    text = re.sub(
        r"\\(?:mathbf|mathrm|mathit|text\w*|scriptstyle|boldsymbol|pmb|bm|left|right)\b", "", text
    )
    text = text.replace("\\pm", "±").replace("\\times", "×").replace("\\%", "%").replace("\\(", "")
    return normalise(text.replace("\\)", "")).replace("−", "-").strip("~,")


def _is_number(text: str) -> bool:
    return bool(parse_numbers(text))


def _overlap(one: Texts, other: Texts) -> float:
    left, right = Counter(_places(one).values()), Counter(_places(other).values())
    return 2 * (left & right).total() / max(left.total() + right.total(), 1)


# Tables whose truth is numbers by their headers


def compare_numbers(made: Sequence[Typeset], ours: Sequence[Table], name: str) -> Measure:
    """Drawn tables against ours of the same printed number: right means value and headers."""
    total = Measure(tables=len(made))
    for truth in made:
        own = [table for table in ours if table.number == truth.number]
        counts = score(own, [truth])
        meant = Counter(value.value for value in truth.truth.values())
        values = (meant & Counter(v for t in own for _, v, _ in numbers(t))).total()
        total.add(
            Measure(
                found=bool(own),
                numbers=counts.there,
                read_numbers=counts.read,
                right_numbers=counts.right,
                placed=values,
                headed=min(counts.right, values),
                sure=counts.sure,
                sure_wrong=counts.sure_wrong,
            )
        )
        if counts.right < counts.there or counts.sure_wrong:
            total.differences.append(f"{name}, {truth.number} ({truth.layout}): {counts}")
    return total


def compare_values(truth: Sequence[Sequence[float]], candidates: Sequence[Table]) -> Measure:
    """The numbers of each table against the candidate that holds most of them, wherever in it.

    For readers that know neither captions nor headers: the place does not count.
    """
    read = [
        Counter(
            number.value
            for row in table.grid
            for cell in row
            if not cell.spanned
            for number in cell.numbers[:1]
        )
        for table in candidates
    ]
    total = Measure(tables=len(truth))
    for wanted in map(Counter, truth):
        best = max(read, key=lambda one: ((wanted & one).total(), -one.total()), default=Counter())
        right = (wanted & best).total()
        total.add(
            Measure(
                found=2 * right > wanted.total(),
                numbers=wanted.total(),
                read_numbers=best.total(),
                right_numbers=right,
            )
        )
    return total


def values_of(truth: Truth) -> list[float]:
    """The first number of each cell of a grid that prints one."""
    found = (parse_numbers(plain(text)) for row in truth.grid for text in row)
    return [numbers[0].value for numbers in found if numbers]


# References


def compare_references(titles: Sequence[str], ours: Sequence[Reference]) -> Measure:
    """Titles of the truth that stand in one of our references."""
    texts = [_letters(f"{reference.title or ''} {reference.text}") for reference in ours]
    wanted = [letters for title in titles if len(letters := _letters(title)) > 8]
    found = sum(any(title in text for text in texts) for title in wanted)
    return Measure(references=len(wanted), found_references=found)


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
