"""Corrected cells: they win over the reader, survive a re-read, and are never dropped in silence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from drawn_tables import rows_of
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.errors import AddressError
from repro_pipeline.ledger.chain import head_of, link, start
from repro_pipeline.ledger.events import CellPosition, Event
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.model import Correction, Paper, Source, SourceFormat, Table
from repro_pipeline.paper.tables import About, RawCell, make_table
from repro_pipeline.reading.corrections import (
    address_of,
    as_read,
    cell_at,
    correction,
    place_of,
    standing,
    with_corrections,
)

SOURCE, OTHER = "a" * 64, "b" * 64
DRAWING = """
Method | Acc | NLL | n
ResNet | 93.2 ± 0.4 | .21 | 1,234
VGG | 91.0 | 0.30 | 5678
VGG | 92.0 | 0.31 | 5679
"""


def paper(drawing: str = DRAWING, number: str | None = "Table 1") -> Paper:
    table = make_table(
        1, rows_of(drawing), About(number=number, caption="Mean (s.d.)."), rules=(1,)
    )
    source = Source(file="paper.pdf", format=SourceFormat.PDF, sha256="0" * 64, reader="test 1")
    return Paper(source=source, title="A Paper", tables=(table,))


def corrected(document: Paper, place, after: str, *events: Event, source: str = SOURCE):
    """The events with one more correction, made on the document as it was read."""
    made = correction(
        document, place, after, reason="read it", source=source, standing=standing(events)
    )
    head = head_of(events[-1]) if events else start("p")
    return [*events, link(head, made, at=datetime.now(UTC), actor="human:ada")]


ACC = (1, 1, 1)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (r"17.8\,\%", "17.8%"),
        (r"$93.5 \pm 0.2$", "93.5 ± 0.2"),
        (r"\textbf{93.5}", "93.5"),
        ("93.5 ± 0.2", "93.5 ± 0.2"),
    ],
)
def test_what_is_copied_from_the_latex_source_is_kept_as_it_prints(typed, kept):
    document = paper()
    source = document.source.model_copy(update={"format": SourceFormat.LATEX})
    latex = document.model_copy(update={"source": source})
    assert corrected(latex, ACC, typed)[0].content.after == kept
    assert corrected(document, ACC, typed)[0].content.after == typed, "a PDF prints what it prints"


def test_a_correction_wins_and_its_numbers_are_read():
    events = corrected(paper(), ACC, "93.5 ± 0.2")
    cell = cell_at(with_corrections(paper(), standing(events), SOURCE), ACC)
    (number,) = cell.numbers
    assert (cell.text, number.value, number.uncertainty) == ("93.5 ± 0.2", 93.5, 0.2)
    assert number.uncertainty_kind == "sd"  # as the caption says of all cells
    assert cell.corrected == Correction(before="93.2 ± 0.4", actor="human:ada", reason="read it")


def test_all_other_cells_stay():
    events = corrected(paper(), ACC, "93.5")
    (table,) = with_corrections(paper(), standing(events), SOURCE).tables
    (before,) = paper().tables
    changed = [
        (r, c)
        for r, row in enumerate(table.grid)
        for c, cell in enumerate(row)
        if cell != before.grid[r][c]
    ]
    assert changed == [(1, 1)]


def test_a_cell_may_become_no_number_or_empty():
    for text in ("n/a", ""):
        events = corrected(paper(), ACC, text)
        cell = cell_at(with_corrections(paper(), standing(events), SOURCE), ACC)
        assert (cell.text, cell.numbers) == (text, ())


def test_it_stands_when_the_reader_reads_otherwise_which_is_said():
    events = corrected(paper(), ACC, "93.5")
    read_anew = paper(DRAWING.replace("93.2 ± 0.4", "98.2"))
    found = with_corrections(read_anew, standing(events), SOURCE)
    assert cell_at(found, ACC).text == "93.5"
    (warning,) = found.warnings
    assert "when '93.2 ± 0.4' was read; now '98.2' is. The correction stands" in warning


def test_a_reader_that_reads_it_right_at_last_is_not_corrected():
    events = corrected(paper(), ACC, "93.5")
    found = with_corrections(paper(DRAWING.replace("93.2 ± 0.4", "93.5")), standing(events), SOURCE)
    assert cell_at(found, ACC).corrected is None
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("read_anew", "sentence"),
    [
        (paper(DRAWING.replace("ResNet", "ResNext")), "there is no row 'ResNet'"),
        (paper(DRAWING.replace("Acc", "Top-1")), "there is no column 'Acc'"),
        (paper(number="Table 2"), "there is no 'Table 1'"),
        (paper().model_copy(update={"tables": ()}), "The paper has no tables"),
    ],
)
def test_an_address_that_leads_nowhere_is_a_warning(read_anew, sentence):
    events = corrected(paper(), ACC, "93.5")
    found = with_corrections(read_anew, standing(events), SOURCE)
    assert found.tables == read_anew.tables
    (warning,) = found.warnings
    assert "to '93.5' is not applied, since the cell is not found" in warning
    assert sentence in warning


def test_a_changed_source_takes_no_old_correction_and_says_so():
    events = corrected(paper(), ACC, "93.5")
    found = with_corrections(paper(), standing(events), OTHER)
    assert found.tables == paper().tables
    assert "another version of the source" in found.warnings[0]


def test_made_again_for_the_new_source_the_old_one_is_silent():
    old = corrected(paper(), ACC, "93.5")
    events = corrected(paper(), ACC, "93.5", *old, source=OTHER)
    found = with_corrections(paper(), standing(events), OTHER)
    assert (cell_at(found, ACC).text, found.warnings) == ("93.5", ())


def test_the_last_one_stands_and_an_old_text_can_come_back():
    events: list[Event] = []
    for text in ("93.5", "93.6", "93.5"):
        events = corrected(paper(), ACC, text, *events)
        found = with_corrections(paper(), standing(events), SOURCE)
        assert (cell_at(found, ACC).text, len(standing(events))) == (text, 1)
    assert len({event.key for event in events}) == 3  # none was taken for an earlier one


def test_the_text_that_was_read_withdraws_it():
    events = corrected(paper(), ACC, "93.5")
    events = corrected(paper(), ACC, "93.2 ± 0.4", *events)
    found = with_corrections(paper(), standing(events), SOURCE)
    assert found == paper()


@pytest.mark.parametrize("standing_text", [None, "93.5"])
def test_what_changes_nothing_is_refused(standing_text):
    events = corrected(paper(), ACC, standing_text) if standing_text else []
    with pytest.raises(AddressError, match="already"):
        corrected(paper(), ACC, standing_text or "93.2 ± 0.4", *events)


def test_rows_of_one_name_are_told_apart_by_place():
    address = address_of(paper(), (1, 3, 1))
    assert isinstance(address, CellAddress) and address.row == ("row 4",)
    nameless = address_of(paper(number=None), (1, 3, 1))
    assert nameless == CellPosition(table=1, row=3, column=1)


def test_a_place_without_a_name_is_not_trusted_when_another_text_stands_there():
    first = paper(number=None)
    events = corrected(first, ACC, "93.5")
    moved = paper(DRAWING.replace("ResNet |", "New | 1 | 2 | 3\nResNet |"), number=None)
    found = with_corrections(moved, standing(events), SOURCE)
    assert found.tables == moved.tables
    assert "now '1' is. It is not applied" in found.warnings[0]


def test_a_corrected_header_does_not_hide_other_corrections():
    events = corrected(paper(), (1, 1, 0), "ResNet-50")
    events = corrected(paper(), ACC, "93.5", *events)
    (table,) = with_corrections(paper(), standing(events), SOURCE).tables
    assert [cell.text for cell in table.grid[1]][:2] == ["ResNet-50", "93.5"]


def test_every_place_of_a_spanning_cell_reads_alike():
    rows = [
        [RawCell("Model"), RawCell("Score", columns=2)],
        [RawCell("A"), RawCell("1.5", columns=2)],
        [RawCell("B"), RawCell("1.5"), RawCell("2.5")],
    ]
    document = paper().model_copy(
        update={"tables": (make_table(1, rows, About(number="Table 1"), header_rows=1),)}
    )
    events = corrected(document, (1, 1, 1), "1.7")
    (table,) = with_corrections(document, standing(events), SOURCE).tables
    assert [cell.text for cell in table.grid[1]] == ["A", "1.7", "1.7"]
    assert [cell.text for cell in table.grid[2]] == ["B", "1.5", "2.5"]


words = st.sampled_from(["A", "B", "Acc", "ResNet", "", "n", "±", "Table 1", "row 2"])
numbers = st.sampled_from(["1.5", "93.2 ± 0.4", "-", "", "2.5", "1,5"])


@st.composite
def tables(draw) -> Table:
    width, height = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    head = [RawCell(draw(words)) for _ in range(width)]
    body = [
        [RawCell(draw(words)), *(RawCell(draw(numbers)) for _ in range(width - 1))]
        for _ in range(height - 1)
    ]
    number = draw(st.sampled_from([None, "Table 1"]))
    return make_table(1, [head, *body], About(number=number), header_rows=1)


@given(tables(), st.data())
def test_any_cell_can_be_addressed_corrected_and_put_back(table, data):
    document = paper().model_copy(update={"tables": (table,)})
    place = (
        1,
        data.draw(st.integers(0, table.shape[0] - 1)),
        data.draw(st.integers(0, table.shape[1] - 1)),
    )
    assert place_of(document, address_of(document, place)) == place
    events = corrected(document, place, "77.7")
    found = with_corrections(document, standing(events), SOURCE)
    assert found.warnings == ()
    assert cell_at(found, place).numbers[0].value == 77.7
    assert as_read(found) == document


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_correction_without_a_reason_is_refused(reason):
    with pytest.raises(AddressError, match="reason"):
        correction(paper(), ACC, "93.5", reason=reason, source=SOURCE, standing=())
