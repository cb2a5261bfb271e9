"""A drawn table, written in each format, is read back: texts, numbers, and what names each cell."""

from __future__ import annotations

import html
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro_pipeline.paper.jats import read_jats
from repro_pipeline.paper.latex import read_latex
from repro_pipeline.paper.markdown import read_markdown
from repro_pipeline.paper.tables import column_path, row_path
from repro_pipeline.paper.tei import read_tei

NAMES = ("Ours", "BERT-large", "k-NN", "SVM (linear)", "α-net", "Model & co", "A < B")
GROUPS = ("CIFAR-10", "SST-2", "Dev", "Test set")
METRICS = ("Acc.", "F1", "BLEU ↑", "EM (%)", "Loss")


@dataclass(frozen=True)
class Drawn:
    """Groups of columns with their width, metrics, names of rows, numbers as (text, value, spread)."""

    groups: tuple[tuple[str, int], ...]
    metrics: tuple[str, ...]
    names: tuple[str, ...]
    body: tuple[tuple[tuple[str, float | None, float | None], ...], ...]

    def paths(self) -> list[tuple[str, ...]]:
        groups = [group for group, width in self.groups for _ in range(width)]
        return [(group, metric) for group, metric in zip(groups, self.metrics, strict=True)]


@st.composite
def numbers(draw):
    value = draw(st.decimals(0, 999, places=draw(st.integers(1, 3)), allow_nan=False))
    style = draw(st.sampled_from(["plain", "spread", "percent", "minus", "none", "bare"]))
    if style == "none":
        return draw(st.sampled_from(["-", "—", "n/a", ""])), None, None
    if style == "spread":
        return f"{value} ± 0.4", float(value), 0.4
    if style == "percent":
        return f"{value}%", float(value), None
    if style == "minus":
        return f"−{value}", -float(value), None
    text = str(value)
    if style == "bare" and text.startswith("0."):
        return text[1:], float(value), None
    return text, float(value), None


@st.composite
def tables(draw):
    groups = tuple(
        (name, draw(st.integers(1, 3)))
        for name in draw(st.lists(st.sampled_from(GROUPS), min_size=1, max_size=3, unique=True))
    )
    width = sum(size for _, size in groups)
    metrics: list[str] = []
    for _, size in groups:
        metrics += draw(st.permutations(METRICS))[:size]
    names = tuple(draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=5, unique=True)))
    first = tuple((f"{at + 10}.5", at + 10.5, None) for at in range(width))
    # A row that prints its name alone would be the heading of the rows below it.
    row = st.tuples(*[numbers()] * width).filter(lambda row: any(text for text, _, _ in row))
    rest = draw(st.lists(row, min_size=len(names) - 1, max_size=len(names) - 1))
    return Drawn(groups, tuple(metrics), names, (first, *rest))


def as_html(drawn: Drawn) -> str:
    groups = "".join(
        f'<th colspan="{size}">{html.escape(name)}</th>' for name, size in drawn.groups
    )
    metrics = "".join(f"<th>{html.escape(metric)}</th>" for metric in drawn.metrics)
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td>"
        + "".join(f"<td>{html.escape(text)}</td>" for text, _, _ in row)
        + "</tr>"
        for name, row in zip(drawn.names, drawn.body, strict=True)
    )
    return (
        f'<table><thead><tr><th rowspan="2">Method</th>{groups}</tr><tr>{metrics}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def as_mineru(drawn: Drawn) -> str:
    plain = as_html(drawn).replace("<th", "<td").replace("</th>", "</td>").replace("<tdead>", "")
    for part in ("</thead>", "<tbody>", "</tbody>"):
        plain = plain.replace(part, "")
    return f"# T\n\nText.\n\n<html><body>{plain}</body></html>\n\nTable 1. Scores.\n"


def as_markdown_html(drawn: Drawn) -> str:
    return f"# T\n\nTable 1: Scores.\n\n{as_html(drawn)}\n"


def as_docling(drawn: Drawn) -> str:
    """Spans are repeated, and the second header row stands below the line."""
    lines = [["Method", *[path[0] for path in drawn.paths()]]]
    lines += [["Method", *drawn.metrics]]
    lines += [
        [name, *[text for text, _, _ in row]]
        for name, row in zip(drawn.names, drawn.body, strict=True)
    ]
    pipes = ["| " + " | ".join(html.escape(cell) for cell in line) + " |" for line in lines]
    pipes.insert(1, "|" + "---|" * len(lines[0]))
    return "# T\n\nTable 1: Scores.\n\n" + "\n".join(pipes) + "\n"


def as_jats(drawn: Drawn) -> str:
    return (
        "<article><front><article-meta/></front><body><p>Text.</p><table-wrap><label>Table 1"
        f"</label><caption><p>Scores.</p></caption>{as_html(drawn)}</table-wrap></body></article>"
    )


def as_tei(drawn: Drawn) -> str:
    groups = "".join(
        f'<cell cols="{size}">{html.escape(name)}</cell>' for name, size in drawn.groups
    )
    metrics = "".join(f"<cell>{html.escape(metric)}</cell>" for metric in drawn.metrics)
    rows = "".join(
        f"<row><cell>{html.escape(name)}</cell>"
        + "".join(f"<cell>{html.escape(text)}</cell>" for text, _, _ in row)
        + "</row>"
        for name, row in zip(drawn.names, drawn.body, strict=True)
    )
    return (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>Text.</p><figure type="table">'
        "<head>Table 1.</head><figDesc>Scores.</figDesc><table>"
        f'<row role="label"><cell rows="2">Method</cell>{groups}</row>'
        f'<row role="label">{metrics}</row>{rows}</table></figure></body></text></TEI>'
    )


FORMATS = {
    "mineru": (as_mineru, "paper.md", read_markdown),
    "markdown-html": (as_markdown_html, "paper.md", read_markdown),
    "docling": (as_docling, "paper.md", read_markdown),
    "jats": (as_jats, "paper.nxml", read_jats),
    "tei": (as_tei, "paper.tei.xml", read_tei),
}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20)
@given(drawn=tables())
def test_what_is_written_is_read(name, drawn, tmp_path_factory):
    write, file, read = FORMATS[name]
    path = tmp_path_factory.getbasetemp() / file
    path.write_text(write(drawn), encoding="utf-8")
    (table,) = read(path).tables
    assert (table.number, table.caption, table.confidence) == ("Table 1", "Scores.", 1), (
        table.doubts
    )
    assert (table.header_rows, table.header_columns) == (2, 1)
    for at, (row_name, row) in enumerate(zip(drawn.names, drawn.body, strict=True), start=2):
        assert row_path(table, at) == (row_name,)
        for column, (text, value, spread) in enumerate(row, start=1):
            cell = table.grid[at][column]
            assert cell.text == text
            found = [(number.value, number.uncertainty) for number in cell.numbers]
            assert found == ([] if value is None else [(value, spread)])
            assert column_path(table, at, column) == drawn.paths()[column - 1]


DOCTYPE = '<!DOCTYPE article SYSTEM "JATS-archivearticle1.dtd">'


@pytest.mark.parametrize(
    "space", ["\u2009", "\u202f", "\u00a0", "&#x2009;", "&#160;", "&thinsp;", "&nbsp;"]
)
def test_spaces_that_group_digits_are_kept(space, tmp_path):
    """A blank does not group them: `12 345` may be two numbers."""
    cells = f"<td>12{space}345.5</td><td>93.2{space}±{space}0.4</td><td>12 345</td>"
    table = f"<table><tr><th>a</th><th>b</th><th>c</th><th>d</th></tr><tr><td>x</td>{cells}</tr></table>"
    for file, text, read in (
        ("a.md", f"# T\n\n{table}\n", read_markdown),
        (
            "a.nxml",
            f"{DOCTYPE}<article><body><table-wrap>{table}</table-wrap></body></article>",
            read_jats,
        ),
    ):
        (tmp_path / file).write_text(text, encoding="utf-8")
        row = read(tmp_path / file).tables[0].grid[1]
        found = [[(n.value, n.uncertainty) for n in cell.numbers] for cell in row[1:]]
        assert found == [[(12345.5, None)], [(93.2, 0.4)], []]
        assert row[2].text == "93.2 ± 0.4"


def test_a_thin_space_of_latex_groups_digits(tmp_path):
    (tmp_path / "a.tex").write_text(
        r"\documentclass{article}\begin{document}\begin{tabular}{lr}M & N \\\hline x & 12\,345 \\"
        r"y & 5\,\% \\\end{tabular}\end{document}"
    )
    rows = read_latex(tmp_path / "a.tex").tables[0].grid[1:]
    assert [row[1].numbers[0].value for row in rows] == [12345, 5]
