"""Tables of PDFs as grids: the truth is what was typeset."""

from __future__ import annotations

import random
from pathlib import Path

import drawn
import pypdfium2
import pytest
import typeset
import typeset_tables
from typeset_tables import Score, Style, score

from repro_pipeline.paper.model import Paper, Table
from repro_pipeline.paper.pdf import read_pdf
from repro_pipeline.paper.tables import DOUBTED

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/random-forests-2001/paper.pdf"


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.grid]


def test_the_example_is_read_to_the_digit() -> None:
    (table,) = read_pdf(EXAMPLE).tables
    assert (table.number, table.caption, table.confidence) == ("Table 1", "Test set error (%)", 1)
    assert texts(table) == [
        ["Data set", "AdaBoost", "Selection", "Single input", "One tree"],
        ["Waveform", "17.8", "17.2", "17.3", "34.0"],
        ["Twonorm", "4.9", "3.9", "3.9", "24.7"],
        ["Threenorm", "18.8", "17.5", "17.5", "38.4"],
        ["Ringnorm", "6.9", "4.9", "4.9", "25.7"],
    ]
    assert (table.header_rows, table.header_columns) == (1, 1)


def test_each_cell_says_where_on_the_page_it_stands() -> None:
    (table,) = read_pdf(EXAMPLE).tables
    document = pypdfium2.PdfDocument(EXAMPLE)
    for row in table.grid:
        for cell in row:
            assert cell.provenance is not None and cell.provenance.box is not None
            page = document[cell.provenance.page - 1]
            x0, top, x1, bottom = cell.provenance.box
            height = page.get_height()
            found = page.get_textpage().get_text_bounded(
                x0 - 1, height - bottom, x1 + 1, height - top
            )
            assert found.strip() == cell.text


TABLES = r"""
\begin{table}[ht]\centering
\caption{Accuracy. Marks and uncertainties must stay apart from the digits of a number, and the
caption goes on over several lines of text to its end.}
\begin{tabular}{lrrr}\toprule
 & \multicolumn{2}{c}{Vision} & \\ \cmidrule(lr){2-3}
Model & Top-1$^\dagger$ & Top-5 & Size \\ \midrule
Base & 93.2$^1$ & $91.1_{\pm 0.4}$ & 12.3M \\
Ours & \textbf{94.0}\textsuperscript{2} & 95.1 $\pm$ 0.3$^{*}$ & $1.2\times10^{-3}$ \\
Large model & \underline{92.8} & -- & 1,234 \\ \bottomrule
\end{tabular}\end{table}
Some text stands between the tables, so that they are apart from one another on the page.
\begin{table}[ht]\centering
\begin{tabular}{|l|c|c|}\hline
Task & \rotatebox{90}{Precision} & \rotatebox{90}{Recall} \\ \hline
NER & 90.1 (0.2) & 88.0 (0.3) \\ \hline
CLS & 70.5 (1.1) & .932 \\ \hline
\end{tabular}\caption{By task.}\end{table}
Table 2 shows that text which begins with the name of a table is no caption, if it is a sentence.
\begin{sidewaystable}\centering
\begin{tabular}{lcc}\toprule Set & Train & Test \\ \midrule A & 10 & 20 \\ B & 30 & 40 \\
\bottomrule\end{tabular}\caption{Sideways.}\end{sidewaystable}
"""


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return typeset.pdf_or_skip(typeset.latex(TABLES), tmp_path_factory.mktemp("three"))


@pytest.fixture(scope="module")
def tables(three: Path) -> dict[str | None, Table]:
    return {table.number: table for table in read_pdf(three).tables}


def test_marks_are_no_digits_and_uncertainties_stay_with_their_values(
    tables: dict[str | None, Table],
) -> None:
    table = tables["Table 1"]
    assert texts(table)[:2] == [
        ["", "Vision", "Vision", ""],
        ["Model", "Top-1†", "Top-5", "Size"],
    ]
    body = [[cell.numbers for cell in row[1:]] for row in table.grid[2:]]
    values = [[n[0].value if n else None for n in row] for row in body]
    assert values == [[93.2, 91.1, 12.3], [94.0, 95.1, 0.0012], [92.8, None, 1234]]
    assert body[0][0][0].mark == "1" and body[1][0][0].mark == "2"
    assert [row[1][0].uncertainty for row in body[:2]] == [0.4, 0.3]
    assert [[cell.bold for cell in row] for row in table.grid[2:]] == [
        [False] * 4, [False, True, False, False], [False] * 4,
    ]  # fmt: skip
    assert [row[1].underline for row in table.grid[2:]] == [False, False, True]
    assert table.confidence == 1
    assert table.caption.endswith("over several lines of text to its end.")


def test_turned_headers_and_full_rules(tables: dict[str | None, Table]) -> None:
    table = tables["Table 2"]
    assert table.caption == "By task."
    assert texts(table)[0] == ["Task", "Precision", "Recall"]
    assert [[n[0].value for n in (cell.numbers for cell in row[1:])] for row in table.grid[1:]] == [
        [90.1, 88.0], [70.5, 0.932],
    ]  # fmt: skip
    assert table.grid[1][1].numbers[0].uncertainty == 0.2


def test_a_sideways_table(tables: dict[str | None, Table]) -> None:
    table = tables["Table 3"]
    assert texts(table) == [["Set", "Train", "Test"], ["A", "10", "20"], ["B", "30", "40"]]
    cell = table.grid[1][1].provenance
    assert cell is not None and cell.box is not None
    x0, top, x1, bottom = cell.box
    assert bottom - top > x1 - x0  # two digits that read upwards


def test_a_page_shown_turned_has_the_same_tables(three: Path, tmp_path: Path) -> None:
    straight = read_pdf(three).tables
    for turns in (1, 2, 3):
        turned = read_pdf(drawn.rotated(three, tmp_path / f"{turns}.pdf", turns)).tables
        assert [texts(table) for table in turned] == [texts(table) for table in straight]


def documents(folder: Path, seeds: range) -> tuple[Score, list[Paper]]:
    total, papers = Score(), []
    for seed in seeds:
        tex, made = typeset_tables.document(seed)
        (folder / str(seed)).mkdir()
        paper = read_pdf(typeset.pdf_or_skip(tex, folder / str(seed)))
        papers.append(paper)
        total += score(paper.tables, made)
    return total, papers


def test_random_tables_in_random_layouts(tmp_path: Path) -> None:
    total, _ = documents(tmp_path, range(3, 8))
    assert total.there > 900
    assert total.sure_wrong == 0
    assert total.right >= 0.95 * total.there
    assert total.sure > 0.7 * total.read


@pytest.mark.slow
def test_many_random_tables(tmp_path: Path) -> None:
    total, _ = documents(tmp_path, range(100, 160))
    assert total.right >= 0.95 * total.there
    assert total.sure_wrong < 0.002 * total.sure


@pytest.mark.parametrize(
    "style",
    [
        Style(),
        Style(rules="full"),
        Style(values="pm", spans="ruled"),
        Style(values="below", spans="bare", labels="two"),
        Style(values="bracket", separation=2.0, size="\\footnotesize"),
        Style(labels="middle", align="r"),
        Style(sections=True, marks=True, best=True),
        Style(turned=True, values="percent"),
        Style(wrapped=True, stacked=True),
        Style(gaps=True, averages=True, bars=True, shade=True),
        Style(place="sideways", values="power"),
        Style(place="scaled", remarks=True, notes=True),
    ],
)
def test_each_layout_is_read_whole_and_without_doubt(style: Style, tmp_path: Path) -> None:
    made = typeset_tables.table(1, style, random.Random(7), narrow=False)
    tex = typeset.latex("Some text.\n\n" + made.tex + "\n\nMore text.")
    found = read_pdf(typeset.pdf_or_skip(tex, tmp_path)).tables
    total = score(found, [made])
    assert (total.right, total.read) == (total.there, total.there)
    assert total.doubted == 0


def test_a_table_without_rules_is_doubted(tmp_path: Path) -> None:
    made = typeset_tables.table(1, Style(rules="none"), random.Random(7), narrow=False)
    tex = typeset.latex("Some text.\n\n" + made.tex + "\n\nMore text.")
    (table,) = read_pdf(typeset.pdf_or_skip(tex, tmp_path)).tables
    assert score([table], [made]).right == len(made.truth)
    assert table.confidence <= DOUBTED
    assert table.doubts == ("No rules frame the table; its rows were found by alignment.",)


SHARED = r"""
\begin{table}[ht]\centering\caption{Two in one float.}
\begin{tabular}{lc}\toprule Model & A \\ \midrule x & 1.5 \\ y & 2.5 \\ \bottomrule\end{tabular}
\par\medskip
\begin{tabular}{lc}\toprule Model & B \\ \midrule x & 3.5 \\ y & 4.5 \\ \bottomrule\end{tabular}
\end{table}
"""


def test_two_tables_under_one_caption_are_doubted(tmp_path: Path) -> None:
    tables = read_pdf(typeset.pdf_or_skip(typeset.latex(SHARED), tmp_path)).tables
    assert [table.number for table in tables] == ["Table 1", "Table 1"]
    assert all(table.confidence <= DOUBTED for table in tables)


TURNED = r"""
\begin{table}[ht]\centering
\caption{Turned headers and labels.}
\begin{tabular}{cl|ccc}\toprule
 & Method & \rotatebox[origin=c]{90}{Art} & \rotatebox[origin=c]{90}{Clip art} & \rotatebox{90}{Product} \\
\midrule
\multirow{3}{*}{\rotatebox[origin=c]{90}{UDA}} & DANN & 73.9 & 74.1 & 71.1\\
 & CDAN & 77.5 & 76.2 & 72.2\\ & MCC & 80.3 & 79.9 & 73.3\\ \midrule
\multirow{2}{*}{\rotatebox[origin=c]{90}{\small SFDA}} & SHOT & 78.0 & 77.8 & 74.4\\
 & NRC & 79.5 & 78.1 & 75.5\\ \bottomrule
\end{tabular}
\end{table}
\begin{figure}[ht]
\begin{minipage}{0.48\linewidth}\centering\rule{3cm}{1.2cm}\caption{A picture.}\end{minipage}\hfill
\begin{minipage}{0.48\linewidth}\centering\makeatletter\def\@captype{table}\makeatother
\caption{Beside a figure.}
\begin{tabular}{lc}\toprule Name & Score\\ \midrule a & 0.51 \\ b & 0.72 \\\bottomrule\end{tabular}
\end{minipage}
\end{figure}
\begin{table}[ht]
\caption{Stretched columns.}
\begin{tabular*}{\linewidth}{@{\extracolsep{\fill}}lcr@{ $\pm$ }l}\toprule
Model & Acc & \multicolumn{2}{c}{F1}\\ \midrule
A & 27.3 & 33.1 & 0.2\\ B & 28.4 & 34.6 & 0.15\\ C & 29.5 & 37.8 & 0.1\\ \bottomrule
\end{tabular*}
\end{table}
"""


def test_turned_labels_tables_beside_figures_and_stretched_columns(tmp_path: Path) -> None:
    tex = typeset.latex(TURNED, font="\\usepackage{multirow}")
    paper = read_pdf(typeset.pdf_or_skip(tex, tmp_path))
    found = {table.caption: table for table in paper.tables}
    turned = found["Turned headers and labels."]
    assert [texts(turned)[0][2:], *texts(turned)[1:]] == [
        ["Art", "Clip art", "Product"],
        ["UDA", "DANN", "73.9", "74.1", "71.1"],
        ["UDA", "CDAN", "77.5", "76.2", "72.2"],
        ["UDA", "MCC", "80.3", "79.9", "73.3"],
        ["SFDA", "SHOT", "78.0", "77.8", "74.4"],
        ["SFDA", "NRC", "79.5", "78.1", "75.5"],
    ]
    assert texts(found["Beside a figure."])[1:] == [["a", "0.51"], ["b", "0.72"]]
    assert [figure.text for figure in paper.figures] == ["A picture."]
    assert [row[-1] for row in texts(found["Stretched columns."])] == [
        "F1",
        "33.1 ± 0.2",
        "34.6 ± 0.15",
        "37.8 ± 0.1",
    ]


BESIDE = r"""
\begin{table}[ht]
\caption{Ablations of two parts.}
\begin{minipage}{0.48\linewidth}\centering (a) Depth.\\[4pt]
\begin{tabular}{lc}\toprule depth & acc\\ \midrule one & 80.1 \\ two & 82.5 \\\bottomrule\end{tabular}
\end{minipage}\hfill
\begin{minipage}{0.48\linewidth}\centering (b) Loss.\\[4pt]
\begin{tabular}{lc}\toprule loss & acc\\ \midrule CE & 81.4 \\ Focal & 82.2 \\\bottomrule\end{tabular}
\end{minipage}
\end{table}
\begin{table}[ht]
\caption{A short one.}
\begin{tabular}{lc}\toprule Name & Score\\ \midrule a & 0.51 \\ b & 0.72 \\\bottomrule\end{tabular}
\end{table}
"""


def test_captions_that_do_not_stand_over_their_tables(tmp_path: Path) -> None:
    tables = read_pdf(typeset.pdf_or_skip(typeset.latex(BESIDE), tmp_path)).tables
    assert [(table.number, texts(table)[-1]) for table in tables] == [
        ("Table 1", ["two", "82.5"]),
        ("Table 1", ["Focal", "82.2"]),
        ("Table 2", ["b", "0.72"]),
    ]
    assert [table.confidence for table in tables] == [DOUBTED, DOUBTED, 1]


SMALL = r"""
\begin{table}[ht]\centering
\caption{Changes and unequal errors.}
\begin{tabular}{lcc}\toprule Name & Change & Error\\ \midrule
a & 55.9$_{+0.9}$ & $0.88^{+0.02}_{-0.03}$ \\ b & 54.1$_{-0.4}$ & $0.91^{+0.01}_{-0.02}$ \\
\bottomrule\end{tabular}
\end{table}
"""


def test_small_changes_stay_apart_from_the_number(tmp_path: Path) -> None:
    (table,) = read_pdf(typeset.pdf_or_skip(typeset.latex(SMALL), tmp_path)).tables
    values = [[[n.value for n in cell.numbers] for cell in row[1:]] for row in table.grid[1:]]
    assert values == [[[55.9, 0.9], [0.88, 0.02, -0.03]], [[54.1, -0.4], [0.91, 0.01, -0.02]]]


OPEN = r"""
\begin{table}[ht]
\caption{No rule below the last rows.}
\begin{tabular}{lc}\hline A & B\\\hline w & 2.5\\ x & 4.5\\\hline y & 5.5\\ z & 7.5\end{tabular}
\end{table}
"""


def test_rows_below_the_last_rule_of_two_columns(tmp_path: Path) -> None:
    (table,) = read_pdf(typeset.pdf_or_skip(typeset.latex(OPEN), tmp_path)).tables
    assert texts(table)[1:] == [["w", "2.5"], ["x", "4.5"], ["y", "5.5"], ["z", "7.5"]]
