"""Markdown as people and converters write it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.markdown import read_markdown
from repro_pipeline.paper.model import Paper, Table


def read(folder, text: str) -> Paper:
    path = folder / "paper.md"
    path.write_text(text, encoding="utf-8")
    return read_markdown(path)


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.grid]


def test_prose(tmp_path):
    paper = read(
        tmp_path,
        "---\ntitle: From the head\nauthor: Ada Lovelace and Charles Babbage\ndate: 2021-05-01\n---\n"
        "# Abstract\n\nWe reach **93.2\\%**.\n\n# 1 Introduction\n\nWe set $\\alpha = 0.1$ in `f|x`, "
        "see [here](http://a.b) and <b>this</b>.\n\n## 1.1 Details\n\n$$\ny = x^2\n$$\n\n"
        "```python\n# not a heading\n| a | b |\n```\n\nTitle below\n---\n\n![](a.png)\n"
        "Figure 1: A *fine* figure.\n",
    )
    assert (paper.title, paper.year) == ("From the head", 2021)
    assert paper.authors == ("Ada Lovelace", "Charles Babbage")
    assert [(s.title, s.level) for s in paper.sections] == [
        ("1 Introduction", 1),
        ("1.1 Details", 2),
        ("Title below", 1),
    ]
    assert paper.abstract == "We reach 93.2%."
    assert paper.sections[-3].text.startswith("We set α = 0.1 in f|x, see here and this.")
    assert paper.equations == ("y = x^2",)
    assert "# not a heading" in paper.sections[-2].text
    assert paper.figures[0].text == "A fine figure."
    assert not paper.tables


@pytest.mark.parametrize(
    "written",
    [
        "Table 1: Results.\n\n{}",
        "**Table 1.** Results.\n\n{}",
        "{}\n\nTable 1: Results.",
        "Tab. 1 | Results.\n\n{}",
        "Table 1 Results.\n\n{}",
        "*Table 1: Results.*\n{}",
        "Table 1 shows the results.\n\n{}\n\nTable 1: Results.",
    ],
)
def test_a_caption_above_or_below(tmp_path, written):
    pipe = "| M | Acc |\n|:--|--:|\n| A | 1.5 |"
    paper = read(tmp_path, "# T\n\n## Results\n\nText.\n\n" + written.format(pipe) + "\n\nText.\n")
    (table,) = paper.tables
    assert (table.number, table.caption.strip("*")) == ("Table 1", "Results.")
    assert "Results." not in paper.sections[0].text.replace("the results.", "")


def test_captions_stand_on_the_papers_own_side(tmp_path):
    pipe = "| M | Acc |\n|--|--|\n| A | 1.5 |\n\n"
    paper = read(
        tmp_path,
        f"# T\n\n{pipe}Table 1: One.\n\n{pipe}Table 2: Two.\n\n{pipe}Table 3: Three.\n",
    )
    assert [table.caption for table in paper.tables] == ["One.", "Two.", "Three."]


def test_cells_of_a_pipe_table(tmp_path):
    paper = read(
        tmp_path,
        "# T\n\n"
        "M | Acc | NLL\n"
        ":-- | --: | :-:\n"
        r"A \| B | **93.2 ± 0.4** | $0.21 \pm 0.01$"
        "\n"
        "`f|g` | <u>91.0</u> | 0.25*\n"
        "$|k|$ | $\\mathbf{91.0}$ | \n"
        "short\n",
    )
    (table,) = paper.tables
    assert [row[0] for row in texts(table)] == ["M", "A | B", "f|g", "|k|"]
    assert table.grid[1][1].bold and table.grid[3][1].bold and table.grid[2][1].underline
    assert table.grid[1][1].numbers[0].uncertainty == 0.4
    assert table.grid[1][2].numbers[0].uncertainty == 0.01
    assert table.grid[2][2].numbers[0].mark == "*"
    assert table.grid[1][1].provenance.line == 5
    assert table.confidence == 1.0


def test_a_row_with_too_many_cells_is_doubted(tmp_path):
    (table,) = read(tmp_path, "# T\n\n| a | b |\n|--|--|\n| x | 1.5 | 2.5 |\n").tables
    assert table.confidence < 0.7


def test_a_header_that_a_converter_spread_out(tmp_path):
    (table,) = read(
        tmp_path,
        "# T\n\n| M | C10 | C10 |\n|--|--|--|\n| | Acc | NLL |\n| A | 93.2 | 0.21 |\n",
    ).tables
    assert table.header_rows == 2
    assert table.column_headers(2) == ("C10", "NLL")


HTML = (
    '<html><body><table><tr><td rowspan="2">M</td><td colspan=2>X</td></tr>'
    "<tr><td>a</td><td>b</td></tr><tr><td>r</td><td><b>1.5</b></td><td>2.5<sup>†</sup></td></tr>"
    "<tr><td>$\\beta$-s</td><td>$3.5 \\pm 0.1$</td><td>10<sup>-3</sup></td></tr></table></body></html>"
)


def test_an_html_table(tmp_path):
    (table,) = read(tmp_path, f"# T\n\nText.\n\n{HTML}\n\nTable 2: Two.\n").tables
    assert texts(table)[:2] == [["M", "X", "X"], ["M", "a", "b"]]
    assert (table.header_rows, table.number) == (2, "Table 2")
    assert table.grid[2][1].bold
    assert table.grid[3][0].text == "β-s"
    assert table.grid[3][1].numbers[0].uncertainty == 0.1
    assert table.grid[3][2].numbers[0].value == 0.001
    assert table.grid[2][1].provenance.line == 5


def test_marked_heads_and_an_own_caption(tmp_path):
    (table,) = read(
        tmp_path,
        "# T\n\n<table>\n<caption>Table 3: Three</caption>\n<thead>\n<tr><th>M</th><th>1</th></tr>\n"
        "</thead>\n<tbody>\n\n<tr><th>A</th><td>1.5</td></tr>\n</tbody>\n</table>\n",
    ).tables
    assert (table.number, table.header_rows, texts(table)) == (
        "Table 3",
        1,
        [["M", "1"], ["A", "1.5"]],
    )


def test_an_html_table_without_end_is_doubted(tmp_path):
    (table,) = read(
        tmp_path, "# T\n\n<table><tr><td>M</td><td>Acc</td></tr><tr><td>A<td>1.5\n"
    ).tables
    assert texts(table) == [["M", "Acc"], ["A", "1.5"]]
    assert table.confidence < 0.7


REFERENCES = (
    "\n\n## References\n\n[1] A. Lee. One thing. In *NeurIPS*, 2019.\n\n[2] B. Doe. Two. 2020.\n"
)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("It works [1]. So it does [1, 2].", {"1": 2, "2": 1}),
        ("It works [1-2].", {"1": 1, "2": 1}),
        ("It works^{1,2}. Yes.", {"1": 1, "2": 1}),
        ("It works<sup>2</sup>. Yes.", {"1": 0, "2": 1}),
        ("Lee (2019) did it. Others too (Doe, 2020).", {"1": 1, "2": 1}),
        ("Nobody did it. Not in 2019.", {"1": 0, "2": 0}),
    ],
)
def test_styles_of_citation(tmp_path, text, cited):
    paper = read(tmp_path, f"# T\n\n## Intro\n\n{text}{REFERENCES}")
    assert {r.key: len(r.contexts) for r in paper.references} == cited


def test_pandoc_citations(tmp_path):
    paper = read(
        tmp_path, "# T\n\n## Intro\n\nAs in [@lee2019; see @doe, p. 3]. And @lee2019 says.\n"
    )
    assert {r.key: len(r.contexts) for r in paper.references} == {"lee2019": 2, "doe": 1}
    assert paper.sections[0].text == "As in [lee2019, doe]. And [lee2019] says."


@pytest.mark.parametrize("content", [b"", b"\n\n", b"a\0b"])
def test_what_is_no_paper_is_refused(tmp_path, content):
    path = tmp_path / "paper.md"
    path.write_bytes(content)
    with pytest.raises(PaperError):
        read_markdown(path)


cells = st.text(alphabet="abcXYZ019.±| ", min_size=1, max_size=8).map(
    lambda text: " ".join(text.split())
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    grid=st.integers(2, 4).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=2, max_size=5
        )
    )
)
def test_any_pipe_table_comes_back(tmp_path, grid):
    grid = [[f"h{at}" for at in range(len(grid[0]))], *grid]
    lines = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in grid]
    lines.insert(1, "|" + "---|" * len(grid[0]))
    (table,) = read(tmp_path, "# T\n\n" + "\n".join(lines) + "\n").tables
    assert texts(table) == grid


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet="|-:# \n$*_`[]<>/tabletrd1a@\\", max_size=120))
def test_any_text_is_read_or_refused(tmp_path, text):
    try:
        read(tmp_path, f"# T\n\n{text}")
    except PaperError as error:
        assert error.what


def test_a_header_that_docling_repeats(tmp_path):
    """Repeated texts are spans again; header rows below the line belong to the header."""
    (table,) = read(
        tmp_path,
        "# T\n\n| M | D | D |\n|---|---|---|\n| M | Acc | F1 |\n| A | 1.5 | 2.5 |\n| B | - | 3.5 |\n",
    ).tables
    assert (table.header_rows, table.header_columns) == (2, 1)
    assert table.column_headers(2) == ("D", "F1")
    assert table.grid[1][0].spanned and table.grid[0][2].spanned


@pytest.mark.parametrize(
    "written",
    [
        "- Smith, J. (2019). A study. J.\n- Doe, K. 2020. Things again. ACL.",
        "Smith, J. (2019). A study. J. 2019.\nDoe, K. 2020. Things again. In ACL 2020.",
        "Smith, J. (2019). A study. J.\n\nDoe, K. 2020. Things again. ACL.",
        "[1] J. Smith. A study. J, 2019.  \n[2] K. Doe. Things again.\nIn ACL, 2020.",
    ],
)
def test_references_are_parted(tmp_path, written):
    paper = read(
        tmp_path,
        f"# T\n\n## 1 Introduction\n\nSee Smith (2019) [1].\n\n## References\n\n{written}\n\n## A More\n\nx",
    )
    assert [reference.title for reference in paper.references] == ["A study", "Things again"]
    assert [bool(reference.contexts) for reference in paper.references] == [True, False]
    assert paper.sections[-1].text == "x"


def test_raised_text_of_pandoc_is_a_mark(tmp_path):
    (table,) = read(
        tmp_path, "# T\n\n| M | A |\n|---|---|\n| x^a^ | 93.2^b^ |\n| y[^1] | 3^*^ |"
    ).tables
    assert texts(table)[1:] == [["x^a", "93.2^b"], ["y", "3*"]]
    assert [row[1].numbers[0].value for row in table.grid[1:]] == [93.2, 3]


def test_rows_outside_of_the_head_are_read(tmp_path):
    (table,) = read(
        tmp_path,
        "# T\n\n<table><caption>Table 5. Own.</caption><thead><tr><th></th><th>A</th></tr></thead>\n"
        "<tr><td>x</td><td>1.5</td></tr></table>\n",
    ).tables
    assert (table.number, table.caption) == ("Table 5", "Own.")
    assert texts(table) == [["", "A"], ["x", "1.5"]]


def test_a_table_of_mineru(tmp_path):
    """HTML on one line, formulas with blanks between their signs, the caption in a paragraph."""
    (table,) = read(
        tmp_path,
        "# T \n\n# 4. Results \n\n![](images/a.jpg) \nFigure 1. A plot. \n\nTable 2. Best in bold. \n\n"
        '<html><body><table><tr><td rowspan="2">M</td><td colspan="2">CIFAR-10</td></tr><tr><td>Acc</td>'
        "<td>F1</td></tr><tr><td>A [12]</td><td>$7 1 . 2 \\pm 0 . 3$ </td><td>- 0.5</td></tr><tr>"
        "<td>B</td><td>$\\mathbf { 9 5 . 1 } _ { \\pm 0 . 2 }$</td><td>$- 0 . 5$</td></tr>"
        "</table></body></html>\n",
    ).tables
    assert (table.number, table.caption, table.confidence) == ("Table 2", "Best in bold.", 1)
    assert (table.header_rows, table.column_headers(2)) == (2, ("CIFAR-10", "F1"))
    found = [[[(n.value, n.uncertainty) for n in c.numbers] for c in r[1:]] for r in table.grid[2:]]
    assert found == [[[(71.2, 0.3)], []], [[(95.1, 0.2)], [(-0.5, None)]]]
    assert [row[1].bold for row in table.grid[2:]] == [False, True]


def test_faces_that_converters_leave(tmp_path):
    cells = ["\\textbf{94.5}", "\\underline{95.5} (+0.3)", "\\textbf{\\underline{96.5}}"]
    rows = "".join(f"<tr><td>A</td><td>{cell}</td></tr>" for cell in cells)
    (table,) = read(tmp_path, f"<table><tr><th>M</th><th>Acc</th></tr>{rows}</table>").tables
    found = [row[1] for row in table.grid[1:]]
    assert [cell.numbers[0].value for cell in found] == [94.5, 95.5, 96.5]
    assert [(cell.bold, cell.underline) for cell in found][:2] == [(True, False), (False, True)]
