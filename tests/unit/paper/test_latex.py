"""LaTeX tables as a reader of the printed page sees them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from latex_sources import TABULAR, read, table, texts

# Cells


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (r"93.2 $\pm$ 0.4", "93.2 ± 0.4"),
        (r"$\mathbf{8.70} \scriptstyle\pm 0.53$", "8.70 ± 0.53"),
        (r"93.2$_{\pm 0.4}$", "93.2_{± 0.4}"),
        (r"$1.2\times10^{-3}$", "1.2 × 10^{−3}"),
        (r"\num{1.2e-3}", "1.2 × 10^{-3}"),
        (r"\num{1.2 +- 0.3}", "1.2 ± 0.3"),
        (r"\SI{5.2}{\milli\second}", "5.2 ms"),
        (r"93.2\%", "93.2%"),
        (r"$-0.5$", "−0.5"),
        (r"1{,}234", "1,234"),
        (r"\textcolor{red}{93.2}", "93.2"),
        (r"\cellcolor[gray]{0.9}93.2", "93.2"),
        (r"\cellcolor{gray!20} 93.2", "93.2"),
        (r"{\color{blue} 93.2}", "93.2"),
        (r"\makecell{Top-1\\Acc}", "Top-1 Acc"),
        (r"\begin{tabular}{@{}c@{}}Top-1\\Acc\end{tabular}", "Top-1 Acc"),
        (r"\shortstack{Top-1 \\ Acc}", "Top-1 Acc"),
        (r"\rotatebox{90}{Method}", "Method"),
        (r"93.2\tnote{a}", "93.2^a"),
        (r"93.2$^{*}$", "93.2*"),
        (r"93.2$^\dagger$", "93.2†"),
        (r"93.2\footnotemark[1]", "93.2"),
        (r"93.2\footnote{See text.}", "93.2"),
        (r"\mycell{93.2}{0.4}", "93.2 ± 0.4"),
        (r"\best{93.2}", "93.2"),
        (r"\phantom{0}3.2", "3.2"),
        (r"\hphantom{0}3.2", "3.2"),
        (r"\raisebox{0.5ex}{93.2}", "93.2"),
        (r"Schr\"odinger", "Schrödinger"),
        (r"ResNet-50 % a comment & 5", "ResNet-50"),
        (r"\% of \$5", "% of $5"),
        (r"$\rho = 0.2$", "ρ = 0.2"),
        (r"$\beta$-VAE", "β-VAE"),
        (r"$\sqrt{1 + x} y + \sqrt{2}$", "√(1 + x)y + √2"),
        (r"\multicolumn{1}{c|}{93.2}", "93.2"),
        (r"\bert base", "BERT base"),
        (r"$\uparrow$ 2.1", "↑ 2.1"),
        (r"--", "–"),
    ],
)
def test_a_cell_as_printed(tmp_path, cell, text):
    preamble = (
        r"\newcommand{\mycell}[2]{#1 $\pm$ #2} \def\best#1{\textbf{#1}}"
        r"\newcommand\bert{\textsc{BERT}\xspace}"
    )
    body = "\\begin{tabular}{lc}\nA & B \\\\\nx & " + cell + "\n\\\\\n\\end{tabular}"
    assert texts(table(tmp_path, body, preamble))[1][1] == text


@pytest.mark.parametrize(
    ("cell", "bold", "underline"),
    [
        (r"\textbf{93.2}", True, False),
        (r"\underline{93.2}", False, True),
        (r"$\underline{\mathbf{93.2}}$", True, True),
        (r"\bfseries 93.2", True, False),
        (r"{\bf 93.2}", True, False),
        (r"\textbf{93.2} $\pm$ 0.4", True, False),
        (r"93.2 \textbf{(best)}", False, False),
        (r"\textbf{}93.2", False, False),
    ],
)
def test_emphasis(tmp_path, cell, bold, underline):
    found = table(tmp_path, rf"\begin{{tabular}}{{lc}}A & B \\ x & {cell} \\\end{{tabular}}")
    assert (found.grid[1][1].bold, found.grid[1][1].underline) == (bold, underline)


# Tabulars

SPREAD = [["", "X", "X", "Y"], ["M", "a", "b", "c"], ["r", "1.5", "2.5", "3.5"]]


@pytest.mark.parametrize(
    "tabular",
    [
        r"""\begin{tabular}{lccc}\toprule
        & \multicolumn{2}{c}{X} & Y \\ \cmidrule(lr){2-3}\cmidrule(l){4-4}
        M & a & b & c \\ \midrule
        r & 1.5 & 2.5 & 3.5 \\ \bottomrule \end{tabular}""",
        r"""\begin{tabularx}{\linewidth}{@{}l*{3}{>{\centering\arraybackslash}X}@{}}
        & \multicolumn{2}{|c|}{X} & Y \\[2pt] \hline
        M & a & b & c \tabularnewline \hline\hline
        r & 1.5 & 2.5 & 3.5 \end{tabularx}""",
        r"""\resizebox{\textwidth}{!}{\begin{tabular*}{5cm}[t]{|l|S[table-format=1.1]|c|c|}
        \hline & \multicolumn{2}{c}{X} & {Y} \\* \cline{2-4} M & {a} & b & c \\ \hline
        r & 1.5 & 2.5 & 3.5 \\ \hline \end{tabular*}}""",
        r"""\begin{threeparttable}\begin{tabular}{lccc} \addlinespace[1ex]
        \rowcolor{gray} & \multicolumn{2}{c}{X} & Y \\ \specialrule{1pt}{0pt}{0pt}
        M & a & b & c \\\midrule
        % r & 9 & 9 & 9 \\
        r & 1.5 & 2.5 & 3.5 \\\end{tabular}
        \begin{tablenotes}\item[a] Note.\end{tablenotes}\end{threeparttable}""",
        r"""\setlength{\tabcolsep}{3pt}\begin{sidewaystable}\begin{tabular}{lccc}
        & \multicolumn{2}{c}{X} & Y \\ \noalign{\smallskip}
        M & a & b & c \\ \Xhline{2pt}
        r & 1.5 & 2.5 & 3.5 \\ \end{tabular}\end{sidewaystable}""",
    ],
)
def test_one_table_in_many_spellings(tmp_path, tabular):
    assert texts(table(tmp_path, tabular)) == SPREAD


def test_multirow_covers_the_empty_cells_below_it(tmp_path):
    found = table(
        tmp_path,
        r"""\begin{tabular}{llc} D & M & Acc \\ \midrule
        \multirow{2}{*}{C10} & A & 1.5 \\ & B & 2.5 \\
        & A & 3.5 \\ \multirow[t]{-2}{*}{C100} & B & 4.5 \\
        \multirow{3}{*}{X} & A & 5.5 \\ Y & B & 6.5 \\ \end{tabular}""",
    )
    assert [row[0] for row in texts(found)] == ["D", "C10", "C10", "C100", "C100", "X", "Y"]
    assert [row[0].spanned for row in found.grid] == [False, False, True, False, True, False, False]
    assert found.header_columns == 2


def test_rows_that_print_nothing_are_no_rows(tmp_path):
    found = table(
        tmp_path, r"\begin{tabular}{lc}A & B \\ & \\[-7pt] x & 1.5 \\ \hline \end{tabular}"
    )
    assert texts(found) == [["A", "B"], ["x", "1.5"]]


def test_columns_with_text_between_them_are_one(tmp_path):
    found = table(
        tmp_path,
        r"""\begin{tabular}{l r@{$\,\pm\,$}l r@{.}l}
        M & \multicolumn{2}{c}{Acc} & \multicolumn{2}{c}{NLL} \\
        A & 93.2 & 0.4 & 12 & 5 \\ B & 91 & 0.2 & 3 & 25 \\ \end{tabular}""",
    )
    assert found.shape == (3, 3)
    assert found.grid[1][1].numbers[0].uncertainty == 0.4
    assert [row[2].text for row in found.grid] == ["NLL", "12.5", "3.25"]


def test_column_formats_reach_their_cells(tmp_path):
    preamble = r"\newcolumntype{B}{>{\bfseries}c}\newcolumntype{M}[1]{>{$}p{#1}<{$}}"
    found = table(
        tmp_path,
        r"\begin{tabular}{lBM{2cm}} a & b & c \\ x & 1.5 & -0.5 \\ \end{tabular}",
        preamble,
    )
    assert found.grid[1][1].bold
    assert found.grid[1][2].numbers[0].value == -0.5


def test_an_ampersand_inside_a_macro_parts_cells(tmp_path):
    preamble = r"\newcommand{\row}[3]{#1 & #2 & #3 \\}"
    found = table(
        tmp_path, r"\begin{tabular}{lcc}\row{M}{a}{b}\hline\row{x}{1.5}{2.5}\end{tabular}", preamble
    )
    assert texts(found) == [["M", "a", "b"], ["x", "1.5", "2.5"]]


def test_a_cell_from_a_macro_stands_where_it_is_called(tmp_path):
    preamble = "\\newcommand{\\row}[2]{#1 & Result: #2 \\\\}\n"
    body = "\n\\begin{tabular}{lc}\nM & a \\\\\n\\row{x}{1.5}\n\\end{tabular}"
    found = table(tmp_path, body, preamble)
    assert [row[1].provenance.line for row in found.grid] == [7, 8]


def test_a_table_over_pages_has_its_head_once(tmp_path):
    paper = read(
        tmp_path,
        r"""\begin{longtable}{lc}\caption{Long.}\label{tab:long}\\ \toprule M & Acc \\ \midrule
        \endfirsthead \multicolumn{2}{c}{continued}\\ M & Acc \\ \endhead
        \multicolumn{2}{r}{next page}\\ \endfoot \bottomrule \endlastfoot
        A & 1.5 \\ B & 2.5 \\ \end{longtable}""",
    )
    (found,) = paper.tables
    assert texts(found) == [["M", "Acc"], ["A", "1.5"], ["B", "2.5"]]
    assert (found.number, found.label, found.caption) == ("Table 1", "tab:long", "Long.")


def test_a_cell_stands_where_it_is_written(tmp_path):
    paper = read(
        tmp_path,
        "\\input{tables/one}",
        tables__one_tex="\\begin{table}\n\\begin{tabular}{lc}\nM & Acc \\\\\nA & 1.5 \\\\\n"
        "\\end{tabular}\n\\end{table}\n",
    )
    (found,) = paper.tables
    assert str(found.grid[1][1].provenance) == "tables/one.tex:4"
    assert str(found.provenance) == "tables/one.tex:2"


def test_the_caption_tells_the_kind_of_uncertainty(tmp_path):
    found = table(
        tmp_path,
        r"\caption{Mean $\pm$ standard deviation.}"
        r"\begin{tabular}{lc}M & Acc \\ A & 1.5 $\pm$ 0.1 \\\end{tabular}",
    )
    assert found.grid[1][1].numbers[0].uncertainty_kind == "sd"


@pytest.mark.parametrize(
    ("name", "tabular"),
    [
        (
            "tblr",
            r"""{colspec={lXXX}, hlines}
            \SetCell[r=2]{l} M & \SetCell[c=2]{c} X & & \SetCell[r=2]{c} Y \\ & a & b & \\
            r & 1.5 & 2.5 & 3.5 \\""",
        ),
        (
            "tblr",
            r"""{colspec={lccc}, cell{1}{1}={r=2}{}, cell{1}{2} = {c=2}{c}, cell{1}{4}={r=2}{c}}
            M & X & & Y \\ \cmidrule{2-3} & a & b & \\ r & 1.5 & 2.5 & 3.5 \\""",
        ),
        (
            "NiceTabular",
            r"""{lccc}[hvlines] \CodeBefore \rowcolor{gray}{1} \Body
            \Block{2-1}{M} & \Block[c]{1-2}<\bfseries>{X} & & \Block{2-1}{Y} \\ & a & b & \\
            r & 1.5 & 2.5 & 3.5 \\ \CodeAfter \line{1-1}{2-2}""",
        ),
    ],
)
def test_spans_whose_ampersands_are_written(tmp_path, name, tabular):
    found = table(tmp_path, f"\\begin{{{name}}}{tabular}\\end{{{name}}}")
    spread = [["M", "X", "X", "Y"], ["M", "a", "b", "Y"], ["r", "1.5", "2.5", "3.5"]]
    assert (texts(found), found.doubts) == (spread, ())


def test_spans_that_cannot_be_placed_are_doubted(tmp_path):
    found = table(
        tmp_path, r"\begin{tblr}{cell{odd}{2-Z}={c=2}{}} A & B & C \\ x & 1.5 & 2 \\\end{tblr}"
    )
    assert found.confidence < 0.9


def test_siunitx_rounds_as_it_is_set_up(tmp_path):
    rounded = r"\sisetup{round-mode=places,round-precision=2}"
    found = table(
        tmp_path,
        r"""\begin{tabular}{lSS[round-precision=1]c} A & {B} & {C} & D \\
        x & 0.91534 & 2.567 & \num{1.005} \\
        y & 0.1 & \num{4.4567} & \num[round-mode=figures,round-precision=3]{1234.5} \\
        z & {1.23456} & 2.567(12) & \num[round-mode=none]{1.23456} \\
        w & \bfseries 3.456e-3 & \multicolumn{1}{c}{1.23456} & 1.23456 \\\end{tabular}""",
        rounded,
    )
    assert [row[1:] for row in texts(found)[1:]] == [
        ["0.92", "2.6", "1.01"],
        ["0.10", "4.46", "1230"],
        ["1.23456", "2.567(12)", "1.23456"],
        ["3.46e-3", "1.23456", "1.23456"],
    ]


def test_siunitx_is_set_up_for_a_group_only(tmp_path):
    tabular = r"\begin{tabular}{lS} A & {B} \\ x & 0.91534 \\ y & 1.5 \\\end{tabular}"
    body = (
        rf"\begin{{table}}\sisetup{{round-mode=places}}{tabular}\end{{table}}"
        "\n\n"
        rf"\begin{{table}}{tabular}\end{{table}}"
    )
    first, second = read(tmp_path, body).tables
    assert (first.grid[1][1].text, second.grid[1][1].text) == ("0.92", "0.91534")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (r"\diff{1.5}", "(+1.5)"),
        (r"\diff{-0.5}", "(-0.5)"),
        (r"\signed{7}", "+7"),
        (r"\signed{3}", "-3"),
        (r"\acc{1.5}[*]{0.2}", "1.5 ± 0.2*"),
        (r"\acc{1.5}", "1.5"),
        (r"\starred*{2}", "2†"),
        (r"\starred{2}", "2"),
        (r"\either{1.5}{}", "1.5"),
        (r"\either{1.5}{0.3}", "1.5 ± 0.3"),
        (r"\blank{1.5}{}", "1.5"),
        (r"\blank{1.5}{0.3}", "1.5 ± 0.3"),
        (r"\tested{1.5}{}", "1.5"),
        (r"\named{mnist}", "98.7"),
        (r"\textminus 1.5", "−1.5"),
        (r"\makecell*[c]{1.5}", "1.5"),
    ],
)
def test_macros_that_choose_what_they_print(tmp_path, cell, text):
    preamble = r"""
    \newcommand{\diff}[1]{\ifdim#1pt>0pt(+#1)\else(#1)\fi}
    \newcommand{\signed}[1]{\ifnum#1>5 +#1\else -#1\fi}
    \NewDocumentCommand{\acc}{m O{} g}{#1\IfNoValueF{#3}{ ± #3}#2}
    \NewDocumentCommand{\starred}{s m}{\IfBooleanTF{#1}{#2\dag}{#2}}
    \newcommand{\either}[2]{\ifthenelse{\equal{#2}{}}{#1}{#1 ± #2}}
    \newcommand{\blank}[2]{\ifblank{#2}{#1}{#1 ± #2}}
    \newcommand{\tested}[2]{\def\tmp{#2}\ifx\tmp\empty #1\else #1 ± #2\fi}
    \expandafter\newcommand\csname mnist@acc\endcsname{98.7}
    \newcommand{\named}[1]{\csname #1@acc\endcsname}
    """
    found = table(
        tmp_path, rf"\begin{{tabular}}{{lc}} A & B \\ x & {cell} \\\end{{tabular}}", preamble
    )
    assert (found.grid[1][1].text, found.doubts) == (text, ())


def test_a_condition_that_is_not_known_is_doubted(tmp_path):
    preamble = r"\newcommand{\signed}[1]{\ifnum\value{page}>5 +#1\else -#1\fi}"
    body = r"\begin{tabular}{lc} A & B \\ x & \signed{7} \\ y & 1.5 \\\end{tabular}"
    found = table(tmp_path, body, preamble)
    assert not found.grid[1][1].numbers and found.confidence < 0.9


def test_units_and_lengths_are_no_unknown_commands(tmp_path):
    body = (
        r"\begin{tabular*}{\textwidth}{@{\extracolsep{\fill}}lc} A & \si{\milli\metre} \\"
        r" x & \raise1pt\hbox{1.5} \cr\end{tabular*}"
    )
    found = table(tmp_path, body)
    assert (texts(found)[1], found.doubts) == (["x", "1.5"], ())


# Numbers of tables


def test_printed_numbers_count_captions(tmp_path):
    paper = read(
        tmp_path,
        r"\begin{table}\caption{One}" + TABULAR % "1.5" + r"\label{a}\end{table}"
        r"\begin{table}" + TABULAR % "2.5" + r"\caption*{Unnumbered}\end{table}"
        r"\begin{figure}\caption{F}\captionof{table}{Two}" + TABULAR % "3.5" + r"\end{figure}"
        r"\begin{table*}\begin{subtable}{.5\linewidth}"
        + TABULAR % "4.5"
        + r"\caption{left}\end{subtable}\begin{subtable}{.5\linewidth}"
        + TABULAR % "5.5"
        + r"\caption{right}\label{r}\end{subtable}\caption{Three}\label{t}\end{table*}"
        r"\begin{wraptable}{r}{5cm}\caption{Four}" + TABULAR % "6.5" + r"\end{wraptable}"
        r"\appendix\renewcommand{\thetable}{A\arabic{table}}\setcounter{table}{0}"
        r"\begin{table}\caption{App}" + TABULAR % "7.5" + r"\end{table}"
        r"See Table~\ref{t} and \cref{a}.",
    )
    numbers = [(found.number, found.grid[1][1].text) for found in paper.tables]
    assert numbers == [
        ("Table 1", "1.5"),
        (None, "2.5"),
        ("Table 2", "3.5"),
        ("Table 3a", "4.5"),
        ("Table 3b", "5.5"),
        ("Table 4", "6.5"),
        ("Table A1", "7.5"),
    ]
    assert paper.tables[4].label == "r"
    assert paper.tables[3].caption == "Three left"
    assert "See Table 3 and Table 1." in paper.sections[0].text


def test_two_captions_in_one_float(tmp_path):
    box = r"\begin{minipage}{.4\linewidth}\caption{%s}" + TABULAR + r"\end{minipage}"
    paper = read(
        tmp_path, r"\begin{table}" + box % ("L", "1.5") + box % ("R", "2.5") + r"\end{table}"
    )
    assert [(t.number, t.caption, t.grid[1][1].text) for t in paper.tables] == [
        ("Table 1", "L", "1.5"),
        ("Table 2", "R", "2.5"),
    ]


def test_a_tabular_that_only_sets_tables_side_by_side(tmp_path):
    box = r"\captionof{table}{%s} " + TABULAR
    paper = read(
        tmp_path,
        r"\begin{table}\begin{tabular}{cc} "
        + box % ("A long caption of the left one.", "1.5")
        + " & "
        + box % ("R", "2.5")
        + r" \\ \end{tabular}\end{table}",
    )
    assert [(t.number, t.caption, t.grid[1][1].text) for t in paper.tables] == [
        ("Table 1", "A long caption of the left one.", "1.5"),
        ("Table 2", "R", "2.5"),
    ]


# Any grid comes back

words = st.text(alphabet="abcXYZ", min_size=1, max_size=5)
values = st.decimals(0, 999, places=2).map(str)
STYLES = ["{}", r"\textbf{{{}}}", "${}$", r"\textcolor{{red}}{{{}}}", " {} % x\n", r"{{\small {}}}"]


@st.composite
def grids(draw):
    width, height = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    head = [draw(words) for _ in range(width)]
    body = [[draw(words), *(draw(values) for _ in range(width - 1))] for _ in range(height)]
    return [head, *body]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(grid=grids(), data=st.data())
def test_any_grid_comes_back(tmp_path, grid, data):
    style = st.sampled_from(STYLES)
    lines = [" & ".join(data.draw(style).format(text) for text in row) + r" \\" for row in grid]
    rule = data.draw(st.sampled_from([r"\hline", r"\midrule", ""]))
    body = "\n".join([lines[0], rule, *lines[1:]])
    found = table(
        tmp_path, f"\\begin{{tabular}}{{l{'c' * (len(grid[0]) - 1)}}}{body}\\end{{tabular}}"
    )
    assert texts(found) == grid
    assert found.header_columns == 1
    for row, printed in zip(found.grid[1:], grid[1:], strict=True):
        assert [str(cell.numbers[0].text) for cell in row[1:]] == printed[1:]
