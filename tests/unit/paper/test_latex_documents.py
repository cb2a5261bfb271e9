"""LaTeX documents: prose and works cited, archives, and clear words for broken and hostile ones."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from latex_sources import TABULAR, read, table

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.latex import read_latex

# Prose

PROSE = r"""
\title{A \emph{Good} Paper\thanks{Funded.} \\ on Things}
\author{Ada Lovelace$^{1}$ \and Charles Babbage \\ University of London}
\maketitle
\begin{abstract}We reach \textbf{93.2\%}.\end{abstract}
\section{Introduction}\label{sec:intro}
As \citet{knuth} shows, and others \cite{lamport,knuth}, it works. It is e.g. good. % no
Second sentence~\cite{lamport}.\footnote{The rate is $0.1$.}

\paragraph{Setup} We use $\alpha=0.1$.
\begin{equation} y = x^2 \label{eq:y} \end{equation}
\begin{figure}\includegraphics{a.png}\caption{A figure of Section~\ref{sec:intro}.}\end{figure}
\subsection{Details}
\begin{itemize}\item One. \item Two.\end{itemize}
\iffalse Hidden. \fi
\begin{comment}
Gone.
\end{comment}
"""
BIBLIOGRAPHY = r"""\begin{thebibliography}{9}
\bibitem{lamport} L. Lamport. \newblock {\LaTeX}: A system. \newblock Addison, 1994.
\bibitem[Knuth(1984)]{knuth} Knuth, D. \newblock The \TeX book. \newblock 1984. arXiv:1901.01234
\end{thebibliography}"""


@pytest.mark.parametrize(
    "line",
    [
        r"Restated from: Leo Breiman,\n \emph{Random Forests}, Machine Learning 45:5--32, 2001",
        r"Leo Breiman, \textit{Random Forests}, Machine Learning 45(1): 5--32",
        r"Leo Breiman",
    ],
)
def test_an_author_line_that_cites_the_work_gives_its_authors_alone(tmp_path, line):
    line = line.replace(r"\n", "\n")
    paper = read(tmp_path, rf"\title{{T}}\author{{{line}}}\maketitle Text.")
    assert paper.authors == ("Leo Breiman",)


def test_prose(tmp_path):
    paper = read(tmp_path, PROSE + BIBLIOGRAPHY)
    assert paper.title == "A Good Paper on Things"
    assert paper.authors == ("Ada Lovelace", "Charles Babbage")
    assert paper.abstract == "We reach 93.2%."
    assert [(s.title, s.level) for s in paper.sections] == [("Introduction", 1), ("Details", 2)]
    text = paper.sections[0].text
    assert "As [2] shows, and others [1, 2], it works." in text
    assert "Setup. We use α = 0.1." in text
    assert "(The rate is 0.1.)" in text
    assert "Hidden" not in str(paper) and "Gone" not in str(paper)
    assert paper.equations == ("y = x^2",)
    assert paper.figures[0].text == "A figure of Section 1."
    assert "- One.\n- Two." in paper.sections[1].text


def test_references_know_who_cites_them(tmp_path):
    lamport, knuth = read(tmp_path, PROSE + BIBLIOGRAPHY).references
    assert (lamport.key, lamport.title, lamport.year) == ("lamport", "LaTeX: A system", 1994)
    assert knuth.arxiv == "1901.01234"
    assert [context.sentence for context in lamport.contexts] == [
        "As [2] shows, and others [1, 2], it works.",
        "Second sentence [1].",
    ]
    assert {context.section for context in knuth.contexts} == {"Introduction"}


BIB = """@string{nips = "NeurIPS"}
@inproceedings{knuth, title={The {\\TeX}book}, author={Knuth, Donald E. and Others, Ann},
  booktitle = nips, year = 1984, doi={10.1000/182}}
@article{unused, title={Unused}, year={2000}}
@article{lamport, title="{LaTeX}", author={Leslie Lamport}, year={1994},
  journal={arXiv preprint arXiv:1706.03762}}
"""


def test_a_bib_file_gives_the_cited_works(tmp_path):
    paper = read(tmp_path, PROSE + r"\bibliography{refs}", refs_bib=BIB)
    assert [reference.key for reference in paper.references] == ["knuth", "lamport"]
    knuth, lamport = paper.references
    assert knuth.authors == ("Donald E. Knuth", "Ann Others")
    assert knuth.doi == "10.1000/182"
    assert lamport.arxiv == "1706.03762"


def test_a_bbl_wins_over_the_bib(tmp_path):
    paper = read(tmp_path, PROSE + r"\bibliography{refs}", refs_bib=BIB, main_bbl=BIBLIOGRAPHY)
    assert [reference.key for reference in paper.references] == ["lamport", "knuth"]


def test_a_cited_work_without_entry_is_kept_and_named(tmp_path):
    paper = read(tmp_path, r"Text \cite{nobody}.")
    assert paper.references[0].key == "nobody"
    assert any("nobody" in warning for warning in paper.warnings)


# Broken and hostile sources


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (r"\begin{table}\begin{tabular}{l}a\end{tabular}", r"main.tex:4: \begin{table} has no"),
        (r"\begin{equation} x", r"\begin{equation} has no"),
        (r"\begin{verbatim} x", r"\begin{verbatim} has no"),
        (r"\newcommand{\a}{x", "does not end"),
        (r"\newcommand{\a}[1]{#1} \a{x", "does not end"),
        (r"\def\a{\a\a}\a", "expands without end"),
        (r"\def\a{\b}\def\b{x\a}\a", "expands without end"),
        (r"\input{main}", "includes itself"),
        (r"\input{../../etc/passwd}", "leads out of"),
        (r"\input{/etc/passwd}", "leads out of"),
        ("{" * 500 + "x" + "}" * 500, "nested too deeply"),
        (r"\[ x", r"\[ has no"),
    ],
)
def test_a_broken_document_is_named_with_its_line(tmp_path, body, says):
    with pytest.raises(PaperError) as raised:
        read(tmp_path, body)
    assert says in str(raised.value)
    assert "main.tex" in str(raised.value)


def test_a_truncated_document_is_named(tmp_path):
    (tmp_path / "main.tex").write_text("\\documentclass{article}\n\\begin{document}\nText")
    with pytest.raises(PaperError, match=r"main.tex:2: .*no \\end"):
        read_latex(tmp_path)


@pytest.mark.parametrize(
    "broken",
    [
        r"\begin{tabular}{lc}M & Acc \\ A & \textbf{1.5 \\ B & 2.5 \\\end{tabular}",
        r"\begin{tabular}{lc}M & Acc \\ A & 1.5} \\ B & 2.5 \\\end{tabular}",
        r"\begin{tabular}{lc}M & Acc \\ A & 1.5 \\",
        r"\begin{tabular}{lc}M & Acc \\ A & 1.5 & 7 & 8 \\\end{tabular}",
        r"\begin{tabular}{lc}M & Acc \\ A & \undefinedvalue \\\end{tabular}",
    ],
)
def test_one_broken_table_is_doubted_and_the_others_are_read(tmp_path, broken):
    good = r"\begin{table}" + TABULAR % "9.5" + r"\end{table}"
    paper = read(tmp_path, f"{good}\\begin{{table}}{broken}\\end{{table}}{good}")
    first, second, third = paper.tables
    assert first.confidence == third.confidence == 1.0
    assert second.confidence < 0.7
    assert second.doubts
    assert third.grid[1][1].text == "9.5"


def test_arguments_of_an_unknown_command_make_no_number(tmp_path):
    found = table(tmp_path, r"\begin{tabular}{lc}M & n \\ A & \block{25}{6} \\\end{tabular}")
    assert found.grid[1][1].numbers == ()
    prose = read(tmp_path, r"We use \block{25}{6} units.")
    assert prose.sections[0].text == "We use 25 6 units."


def test_what_an_undefined_command_prints_is_not_guessed(tmp_path):
    found = table(tmp_path, r"\begin{tabular}{lc}M & n \\ A & \m0.24 \\\end{tabular}")
    assert (found.grid[1][1].text, found.grid[1][1].numbers) == (r"\m 0.24", ())
    assert found.confidence < 0.7


def archive(kind: str, members: dict[str, str | None], path: Path) -> Path:
    """An archive of these files; a member without text is a link to /etc/passwd."""
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as file:
            for name, text in members.items():
                file.writestr(name, text or "")
        return path
    with tarfile.open(path, "w:gz") as file:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            if text is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
                file.addfile(info)
            else:
                info.size = len(text.encode())
                file.addfile(info, io.BytesIO(text.encode()))
    return path


DOCUMENT = r"\documentclass{article}\title{T}\begin{document}\input{sec/a}\end{document}"


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
def test_an_archive_reads_as_its_folder(tmp_path, kind):
    members = {"ms.tex": DOCUMENT, "sec/a.tex": "Text \\ref{x}.", "fig.png": "\x89PNG"}
    paper = read_latex(archive(kind, members, tmp_path / f"paper.{kind}"))
    assert paper.title == "T"
    assert paper.sections[0].text == "Text ?."


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("tar.gz", {"ms.tex": DOCUMENT, "../evil.tex": "x"}),
        ("tar.gz", {"ms.tex": DOCUMENT, "/evil.tex": "x"}),
        ("tar.gz", {"ms.tex": DOCUMENT, "sec/a.tex": None}),
        ("zip", {"ms.tex": DOCUMENT, "../../evil.tex": "x"}),
        ("zip", {"ms.tex": DOCUMENT, "..\\evil.tex": "x"}),
        ("zip", {"readme.md": "x"}),
    ],
)
def test_a_hostile_archive_is_refused(tmp_path, kind, members):
    with pytest.raises(PaperError, match=r"a link|leads out of it|no LaTeX"):
        read_latex(archive(kind, members, tmp_path / f"paper.{kind}"))


def test_a_bomb_is_refused(tmp_path):
    path = tmp_path / "paper.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("ms.tex", "x" * (30 << 20))
    with pytest.raises(PaperError, match="too large"):
        read_latex(path)


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08\x00", b"PK\x03\x04junk", b"junk" * 200])
def test_a_damaged_archive_is_named(tmp_path, content):
    path = tmp_path / "paper.tar.gz"
    path.write_bytes(content)
    with pytest.raises(PaperError):
        read_latex(path)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    secret = tmp_path / "secret.tex"
    secret.write_text("SECRET")
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "a.tex").symlink_to(secret)
    paper = read(folder, r"Text. \input{a}")
    assert "SECRET" not in str(paper)


def test_the_main_file_is_found(tmp_path):
    (tmp_path / "supplement.tex").write_text(
        r"\documentclass{article}\begin{document}Short.\end{document}"
    )
    paper = read(tmp_path, "Long. " * 50, r"\title{The paper}")
    assert paper.title == "The paper"
    assert any("supplement.tex" in warning for warning in paper.warnings)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.text(alphabet="\\{}[]&%$#^_~ab1 \n", max_size=60))
@example(body="^\\1{1")
def test_any_text_is_read_or_refused(tmp_path, body):
    try:
        read(
            tmp_path,
            f"Text. \\begin{{table}}\\begin{{tabular}}{{lc}}{body}\\end{{tabular}}\\end{{table}}",
        )
    except PaperError as error:
        assert error.what


def test_works_that_only_a_table_or_the_abstract_cites(tmp_path):
    paper = read(
        tmp_path,
        r"""\begin{abstract}We extend \cite{a}.\end{abstract}
        Text.\begin{table}\caption{After \cite{b}.}\begin{tabular}{lr}Method & Acc \\
        BERT \cite{c} & 93.2 \\\end{tabular}\end{table}
        \begin{thebibliography}{9}\bibitem{a} A. \bibitem{b} B. \bibitem{c} C.
        \end{thebibliography}""",
    )
    contexts = {r.key: [(c.section, c.sentence) for c in r.contexts] for r in paper.references}
    assert contexts == {
        "a": [("Abstract", "We extend [1].")],
        "b": [("Table 1", "After [2].")],
        "c": [("Table 1", "BERT [3] 93.2")],
    }
