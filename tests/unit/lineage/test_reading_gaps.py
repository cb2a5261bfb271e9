"""A model's answers count only with words that stand in the paper."""

from repro_pipeline.lineage.checklist import load_checklist
from repro_pipeline.lineage.gaps import GapStatus, find_gaps
from repro_pipeline.lineage.reading import Answer, Answers, accept
from repro_pipeline.paper.model import Cell, Paper, Section, Source, SourceFormat, Table

SAID = (
    "We train a neural network by back-propagation with Adam. Each neural network sees thirty-two\n"
    "pictures before it is changed. Our neural network is small."
)
PAPER = Paper(
    source=Source(file="p.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="test 1"),
    title="A paper",
    sections=(Section(title="Experiments", text=SAID),),
    tables=(
        Table(index=1, caption="Odds.", grid=((Cell(text="shuffling"), Cell(text="always")),)),
    ),
)
GAPS = find_gaps(PAPER, load_checklist())


def accepted(*answers):
    found, refused = accept(PAPER, GAPS, Answers(answers=answers), by="model:m")
    return {gap.item: gap for gap in found.items}, refused


def test_words_of_the_paper_fill_a_gap_across_a_line_break():
    quote = "sees thirty-two pictures before it is changed"
    found, refused = accepted(Answer(item="batch-size", quote=quote, value="32"))
    gap = found["batch-size"]
    assert (gap.status, gap.spans[0].text, gap.spans[0].section) == (
        GapStatus.STATED,
        quote,
        "Experiments",
    )
    assert gap.why == "Read by model:m."
    assert refused == ()


def test_words_that_do_not_stand_there_fill_nothing():
    found, refused = accepted(
        Answer(item="batch-size", quote="We use a batch size of 32.", value="32")
    )
    assert found["batch-size"].status is GapStatus.MISSING
    assert "do not stand in the paper" in refused[0]


def test_what_was_not_asked_changes_nothing():
    quote = "by back-propagation with Adam"
    found, refused = accepted(
        Answer(item="optimiser", quote=quote), Answer(item="no-such-item", quote=quote)
    )
    assert found["optimiser"].why == ""
    assert len(refused) == 2


def test_tables_are_quoted():
    found, _ = accepted(Answer(item="split", quote="shuffling | always"))
    assert found["split"].spans[0].section == "table 1"
