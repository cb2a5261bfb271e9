"""Prose of PDFs: title, sections, references and the sentences that cite them."""

from __future__ import annotations

from pathlib import Path

import drawn
import pytest
import typeset

from repro_pipeline.paper.model import Paper, SourceFormat
from repro_pipeline.paper.pdf import read_pdf
from repro_pipeline.paper.pdf.captions import joined_text

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/random-forests-2001/paper.pdf"


@pytest.fixture(scope="module")
def example() -> Paper:
    return read_pdf(EXAMPLE)


def test_the_first_page_gives_title_abstract_and_year(example: Paper) -> None:
    assert example.title == (
        "Random Forests on Synthetic Data: A Restatement of One Experiment of Breiman (2001)"
    )
    assert example.abstract.startswith("This is not the original paper.")
    assert example.abstract.endswith("leaves open what the original leaves open.")
    assert example.year == 2001
    assert example.source.format is SourceFormat.PDF
    assert example.warnings == ()


def test_sections_follow_each_other_with_their_whole_text(example: Paper) -> None:
    titles = [section.title for section in example.sections]
    assert titles == ["1 Introduction", "2 Random forests", "3 Experiments", "4 Results"]
    experiments = example.sections[2]
    assert "Each training set has 300 cases and each test set 3000." in experiments.text
    assert experiments.text.count("\n\n") == 2  # its paragraphs, one of them over a page's end
    assert experiments.provenance is not None and experiments.provenance.page == 1


def test_references_have_their_parts_and_the_sentences_that_cite_them(example: Paper) -> None:
    by_key = {reference.key: reference for reference in example.references}
    assert list(by_key) == [
        "amit1997", "breiman1996a", "breiman1996b", "breiman1998", "breiman2001", "breiman1984",
        "dietterich2000", "freund1996", "ho1998",
    ]  # fmt: skip
    cart = by_key["breiman1984"]
    assert cart.title == "Classification and Regression Trees"
    assert cart.authors == ("L. Breiman", "J. H. Friedman", "R. A. Olshen", "C. J. Stone")
    bagging = by_key["breiman1996a"]
    assert [context.section for context in bagging.contexts] == ["1 Introduction"]
    assert "bagging draws bootstrap samples" in bagging.contexts[0].sentence


def test_the_table_is_not_in_the_text(example: Paper) -> None:
    assert not any("Threenorm 18.8" in section.text for section in example.sections)
    assert not any("Test set error" in section.text for section in example.sections)


def test_words_parted_at_line_ends_are_made_whole() -> None:
    known = frozenset({"information", "state-of-the-art", "scibert", "learned"})
    assert joined_text(["an infor-", "mation"], known) == "an information"
    assert joined_text(["a state-of-", "the-art model"], known) == "a state-of-the-art model"
    assert joined_text(["with Sci-", "BERT"], known) == "with SciBERT"
    assert joined_text(["the Naive-", "Bayes one"]) == "the Naive-Bayes one"
    assert joined_text(["at https://a.org/", "path"]) == "at https://a.org/path"


TWO_COLUMNS = r"""
\twocolumn[\begin{center}\Large A Title Across the Page\end{center}]
\begin{figure*}[t]\centering\rule{0.8\textwidth}{40pt}\caption{A bar.}\end{figure*}
\section{First}
alpha begins. %s
\section{Second}
beta begins. %s omega ends.
\begin{thebibliography}{9}
\bibitem{a} A. Lovelace. Notes on the engine. \emph{Taylor}, 3:1--9, 1843.
\bibitem{b} C. Babbage and G. Boole. On laws of thought. In \emph{Proceedings}, 1854.
\bibitem{c} E. Noether. Invariant problems. \emph{Nachrichten}, 1918.
\end{thebibliography}
"""


@pytest.fixture(scope="module")
def two_columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    filler = "".join(
        f"Sentence number {place} of the text cites \\cite{{b}} and goes on for a while. "
        for place in range(120)
    )
    tex = typeset.latex(TWO_COLUMNS % (filler, filler.replace("number", "item")))
    tex = tex.replace("\\title{A Comparison of Methods}\\author{Ada Lovelace}\\maketitle", "")
    tex = tex.replace("\\section{Results}\n", "")
    return typeset.pdf_or_skip(tex, tmp_path_factory.mktemp("two"), runs=2)


def test_two_columns_are_read_one_after_the_other(two_columns: Path) -> None:
    paper = read_pdf(two_columns)
    assert paper.title == "A Title Across the Page"
    first, second = (section.text for section in paper.sections[:2])
    for text, word in ((first, "number"), (second, "item")):
        places = [text.index(f"Sentence {word} {place} ") for place in range(120)]
        assert places == sorted(places)
    assert second.rstrip().endswith("omega ends.")
    assert [figure.text for figure in paper.figures] == ["A bar."]


def test_numbered_references_are_linked(two_columns: Path) -> None:
    paper = read_pdf(two_columns)
    assert [reference.key for reference in paper.references] == ["1", "2", "3"]
    assert paper.references[1].authors == ("C. Babbage", "G. Boole")
    assert len(paper.references[1].contexts) > 200
    assert paper.references[0].contexts == ()


def test_pages_shown_turned_read_the_same(two_columns: Path, tmp_path: Path) -> None:
    straight = read_pdf(two_columns)
    for turns in (1, 2, 3):
        turned = read_pdf(drawn.rotated(two_columns, tmp_path / f"{turns}.pdf", turns))
        assert turned.sections[0].text == straight.sections[0].text
