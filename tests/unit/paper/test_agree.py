"""Two sources of one paper agree; two papers, or a changed number, do not."""

from __future__ import annotations

import pytest
from drawn_tables import rows_of

from repro_pipeline.paper.model import Paper, Section, Source, SourceFormat
from repro_pipeline.paper.tables import About, make_table
from repro_pipeline.reading.agree import disagreements, uncompared

DRAWING = """
Method | Acc | NLL | n
ResNet | 93.2 ± 0.4 | .21 | 1,234
VGG† | 91.0^1 | 1.2 × 10^{-3} | 5678
Mean | −0.5 | - | 99
"""


def paper(format_: SourceFormat, title: str, *tables, text: str = "") -> Paper:
    return Paper(
        source=Source(
            file=f"paper.{format_.value}", format=format_, sha256="0" * 64, reader="test"
        ),
        title=title,
        tables=tables,
        sections=(Section(title="Results", text=text),),
    )


def table(drawing: str = DRAWING, number: str = "Table 1"):
    return make_table(1, rows_of(drawing), About(number=number), rules=(1,))


TEX = paper(SourceFormat.LATEX, "Deep Things: A Study", table())
FLAT = (
    "Table 1. Method Acc NLL n ResNet 93 .2 ±0.4 0.21 1234 VGG† 91.01 1.2×10−3 5,678 Mean -0.5 – 99"
)


def pdf(*tables, title: str = "DEEP THINGS: A STUDY", text: str = "") -> Paper:
    return paper(SourceFormat.PDF, title, *tables, text=text)


def test_the_same_numbers_in_another_spelling_agree():
    assert disagreements(TEX, pdf(text=FLAT)) == ()
    assert disagreements(TEX, pdf(table())) == ()


def test_a_changed_number_is_named_with_its_cell():
    for other in (
        pdf(text=FLAT.replace("93 .2", "94.2")),
        pdf(table(DRAWING.replace("93.2", "94.2"))),
    ):
        (said,) = disagreements(TEX, other)
        assert said == (
            "Table 1, row 'ResNet', column 'Acc' is 93.2 ± 0.4, which is nowhere in paper.pdf."
        )


def test_a_changed_uncertainty_counts():
    (said,) = disagreements(TEX, pdf(text=FLAT.replace("±0.4", "±0.7")))
    assert "93.2 ± 0.4" in said


def test_a_table_all_of_whose_numbers_changed():
    other = DRAWING.translate(str.maketrans("0123456789", "5678901234"))
    assert len(disagreements(TEX, pdf(table(other)))) >= 5


def test_a_table_that_the_other_source_lacks_is_no_contradiction():
    picture = pdf(text="Table 1. Results, see the picture. We ran 99 times.")
    assert disagreements(TEX, picture) == ()


@pytest.mark.parametrize(
    ("title", "clash"),
    [
        ("Deep Things: A Study", False),
        ("Deep things – a study", False),
        ("Deep Things", False),
        ("DeepThings: A Stu dy", False),
        ("", False),
        ("Random Forests", True),
        ("Shallow Things: No Study at All", True),
    ],
)
def test_titles(title, clash):
    said = disagreements(TEX, pdf(text=FLAT, title=title))
    assert bool(said) is clash
    if clash:
        assert title in said[0]


def test_a_table_that_the_second_lacks_is_named_as_not_compared():
    pdf = paper(SourceFormat.PDF, "Deep Things: A Study", text="Only 93.2 is said here.")
    assert disagreements(TEX, pdf) == ()
    assert uncompared(TEX, pdf) == (
        "Table 1: most of its numbers are nowhere in paper.pdf, so it was not compared.",
    )
    whole = paper(SourceFormat.PDF, "Deep Things: A Study", text=FLAT)
    assert uncompared(TEX, whole) == ()
