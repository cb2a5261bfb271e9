"""Assumptions: what they quote is looked up, and what does not stand there is marked."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.bundle.task import Task
from repro_pipeline.bundle.terms import AssumptionGiven, AssumptionSource
from repro_pipeline.errors import BundleError
from repro_pipeline.lineage.assumptions import collect_assumptions, filled_in, named
from repro_pipeline.lineage.ledger import assumptions_of
from repro_pipeline.lineage.model import Lineage, RankedReference
from repro_pipeline.lineage.rank import rank_references, read_references
from repro_pipeline.paper.latex.reader import read_latex
from repro_pipeline.paper.model import (
    Caption,
    Cell,
    Paper,
    Reference,
    Section,
    Source,
    SourceFormat,
    Table,
)

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "random-forests-2001"
NOTE = """---
key: b1998
---
Trees are grown
   on resampled
data. Trees are not pruned.

Trees are grown on resampled data, again.
"""
TEXTS = {"references/note.md": NOTE}
LINEAGE = Lineage(
    ranked=(RankedReference(key="b1998", title=None, score=1, reasons=()),), unread=("c2000",)
)
PAPER = Paper(
    source=Source(file="p.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="test 1"),
    title="A paper",
    abstract="We vote.",
    sections=(Section(title="Method", text="Each tree has\none vote. Votes are equal."),),
    figures=(Caption(text="Error by number of trees."),),
    tables=(
        Table(
            index=1,
            caption="Mean of ten runs.",
            grid=((Cell(text="Trees"), Cell(text="100")),),
        ),
    ),
)


def collect(*, texts=TEXTS, **source):
    given = AssumptionGiven(
        id="a", topic="training", statement="s", source=AssumptionSource(**source)
    )
    return collect_assumptions(Task(assumptions=(given,)), texts, LINEAGE, PAPER)


def looked_up(**source):
    (assumption,) = collect(**source).assumptions
    return assumption.source_found, assumption.source.line


def in_note(quote, **more):
    return looked_up(
        kind="reference", reference="b1998", file="references/note.md", quote=quote, **more
    )


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Trees are not pruned.", (True, 6)),
        ("Trees are grown on resampled data", (True, 4)),
        ("resampled data. Trees", (True, 5)),
        ("  on\nresampled  ", (True, 5)),
        ("again.", (True, 8)),
        ("Trees are pruned", (False, None)),
        ("trees are not pruned", (False, None)),
        ("T.ees", (False, None)),
        ("(Trees", (False, None)),
    ],
)
def test_a_quote_is_found_across_line_breaks_with_the_line_it_begins_on(quote, found):
    assert in_note(quote) == found


def test_of_several_places_the_one_nearest_to_the_given_line_counts():
    quote = "Trees are grown on resampled data"
    assert in_note(quote, line=7) == (True, 8)
    assert in_note(quote, line=2) == (True, 4)


@given(st.lists(st.sampled_from(["one", "two", "three.", "(four)", "*"]), min_size=1), st.randoms())
def test_a_text_broken_anywhere_is_still_found_on_its_line(words, random):
    text = "".join(word + random.choice([" ", "\n", " \n  ", "\t"]) for word in words)
    before = random.randint(0, 5)
    texts = {"references/x.md": "zero\n" * before + text}
    (found,) = collect(
        texts=texts, kind="human", file="references/x.md", quote=" ".join(words)
    ).assumptions
    assert (found.source_found, found.source.line) == (True, before + 1)


def test_a_quote_that_does_not_stand_there_is_kept_marked_and_told():
    ledger = collect(kind="reference", file="references/note.md", quote="no such words", line=3)
    assert ledger.assumptions[0].source_found is False
    assert ledger.assumptions[0].source.quote == "no such words"
    assert ledger.warnings == (
        "The assumption 'a' quotes words that do not stand in its source.",
        "The paper rests on 'c2000', but no text of it is at hand: add it under references/.",
    )


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (
            {"key": "2", "authors": ("R. Tibshirani",), "year": 1996, "title": "Shrinkage"},
            "Tibshirani, 1996 ('Shrinkage'; 2 in its list)",
        ),
        (
            {"key": "a1", "authors": ("Doe, Jane", "Roe, R."), "year": 2001},
            "Doe and Roe, 2001 ('a1')",
        ),
        ({"key": "3", "authors": ("A. B", "C. D", "E. F")}, "B et al. (3 in its list)"),
        ({"key": "4", "text": "Some old work."}, "'Some old work.' (4 in its list)"),
        ({"key": "5"}, "5 in its list"),
    ],
)
def test_a_work_without_a_text_is_named_as_a_reader_knows_it(work, said):
    paper = PAPER.model_copy(update={"references": (Reference(**{"text": "", **work}),)})
    assert named(work["key"], paper) == said


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("We vote.", True),
        ("tree has one vote", True),
        ("Error by number", True),
        ("Mean of ten runs", True),
        ("Trees | 100", True),
        ("Votes are weighted", False),
        ("runs. Error", False),
    ],
)
def test_a_quote_from_the_paper_is_looked_up_in_all_its_words(quote, found):
    assert looked_up(kind="paper", quote=quote) == (found, None)


def test_a_source_without_a_quote_or_a_file_is_not_said_to_be_found():
    assert looked_up(kind="human", note="as usual") == (None, None)
    assert looked_up(kind="reference", file="references/note.md", line=4) == (None, 4)
    assert looked_up(kind="framework_default", quote="gini") == (None, None)


def test_code_elsewhere_is_not_looked_for_in_the_bundle():
    source = {"kind": "reference_code", "file": "0a1b2c:src/train.py", "line": 7, "quote": "lr=3"}
    assert looked_up(**source) == (None, 7)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            {"kind": "reference", "reference": "b1999"},
            "task.yaml: assumption a: names the reference 'b1999', which the paper does not list. "
            "It lists: b1998.",
        ),
        (
            {"kind": "reference", "file": "note.md"},
            "task.yaml: assumption a: names the file 'note.md', which is no text file of "
            "references/. There are: references/note.md.",
        ),
        (
            {"kind": "reference_code", "file": "train.py"},
            "task.yaml: assumption a: names the file 'train.py', which is no text file of "
            "references/. There are: references/note.md.",
        ),
    ],
)
def test_a_source_that_is_not_there_is_refused(source, told):
    with pytest.raises(BundleError) as error:
        collect(**source)
    assert str(error.value) == told


def test_what_the_example_quotes_stands_where_it_says():
    bundle = open_bundle(EXAMPLE)
    paper, texts = read_latex(EXAMPLE / "paper.tex"), read_references(EXAMPLE, bundle.references)
    ledger = collect_assumptions(bundle.task, texts, rank_references(paper, texts), paper)
    quoting = [a for a in ledger.assumptions if a.source.quote]
    assert len(quoting) >= 8
    assert all(assumption.source_found for assumption in quoting)
    for assumption in quoting:
        if assumption.source.file:
            line = texts[assumption.source.file].splitlines()[assumption.source.line - 1]
            assert assumption.source.quote.split()[0] in line
    assert all(assumption.proposed_by == "task.yaml" for assumption in ledger.assumptions)


def test_mining_adds_no_assumption_to_the_example_and_names_its_gaps():
    bundle = open_bundle(EXAMPLE)
    paper, texts = read_latex(EXAMPLE / "paper.tex"), read_references(EXAMPLE, bundle.references)
    lineage = rank_references(paper, texts)
    before = collect_assumptions(bundle.task, texts, lineage, paper)
    after = assumptions_of(bundle.task, texts, lineage, paper, {})
    assert after.assumptions == before.assumptions
    assert {"library-versions", "seeds"} <= {gap.item for gap in after.gaps}


@pytest.mark.parametrize("value", ["Outliers were discarded.", "Outliers were discarded", 0.5])
def test_what_is_filled_in_ends_with_one_full_stop(value):
    said = filled_in("What became of outliers?", value)
    assert said.endswith(".") and not said.endswith("..")
