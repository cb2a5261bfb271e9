"""An address means one number, or its writer is told what to say instead."""

from __future__ import annotations

import pytest
from drawn_tables import rows_of

from repro_pipeline.errors import AddressError
from repro_pipeline.paper.address import CellAddress, TableIndex, TableLabel, TextAddress
from repro_pipeline.paper.model import Paper, Section, Source, SourceFormat, Table
from repro_pipeline.paper.resolve import resolve_cell, resolve_text
from repro_pipeline.paper.tables import About, make_table

SOURCE = Source(file="paper.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="test")

RESULTS = make_table(
    1,
    rows_of(
        """
        [2x1]Data | [2x1]Method | [1x2]Clean | [1x2]Noisy
        Acc (%) | NLL | Acc (%) | NLL
        [2x1]CIFAR-10 | CE† | 95.8 ± 0.1 | 0.21/0.22 | 84.0 | -
        GCE | 95.3 | 0.25 | 82.4 | 1.1
        [2x1]CIFAR-100 | CE† | 75.4 | 1.2 | 62.2 | 1.9
        GCE | 73.3 | 1.3 | 68.5 | 2.0
        """
    ),
    About(number="Table 1", label="tab:results", caption="Results."),
    rules=(2,),
)
SECTIONS = make_table(
    2,
    rows_of(
        """
        Model | BLEU
        [1x2]Small
        Base | 20.1
        + tricks | 21.4
        [1x2]Large
        Base | 25.2
        Base + tricks | 26.0
        """
    ),
    About(number="Table 2"),
    rules=(1,),
)
KEYED = make_table(
    3,
    rows_of("Attention | lambda | Acc\n Dot | 0.0 | 93.8\n Dot | 0.1 | 92.1\n Uni | 0.0 | 80.5"),
    About(number="Table 3"),
    rules=(1,),
)


def paper(*tables: Table, abstract: str = "", **sections: str) -> Paper:
    return Paper(
        source=SOURCE,
        title="A paper",
        abstract=abstract,
        tables=tables,
        sections=tuple(Section(title=title, text=text) for title, text in sections.items()),
    )


PAPER = paper(RESULTS, SECTIONS, KEYED)


def value(table, row, column, part=0, of=PAPER) -> float:
    address = CellAddress(table=table, row=row, column=column, part=part)
    return resolve_cell(of, address)[4].value


@pytest.mark.parametrize(
    ("table", "row", "column", "expected"),
    [
        ("Table 1", ["CIFAR-10", "CE"], ["Clean", "Acc"], 95.8),
        ("table 1", ["CIFAR-100", "CE†"], ["Noisy", "Acc (%)"], 62.2),
        ("1", ["cifar–100", "gce"], ["Noisy", "NLL"], 2.0),
        (TableLabel(label="tab:results"), ["CIFAR-10", "GCE"], ["Clean", "NLL"], 0.25),
        (TableIndex(index=2), ["Small", "Base"], ["BLEU"], 20.1),
        ("Table 2", ["Large", "Base"], ["BLEU"], 25.2),
        # One text is enough where it names one row; a whole header, not a part of one.
        ("Table 2", ["+ tricks"], ["BLEU"], 21.4),
        ("Table 2", ["Base + tricks"], ["BLEU"], 26.0),
        # Settings beside the name tell rows of one name apart.
        ("Table 3", ["Dot", "0.1"], ["Acc"], 92.1),
        ("Table 3", ["Uni"], ["Acc"], 80.5),
        ("Table 3", ["row 3"], ["column 3"], 92.1),
    ],
)
def test_an_address_names_its_number(table, row, column, expected):
    assert value(table, row, column) == expected


def test_a_rows_own_name_wins_over_a_part_of_anothers():
    drawing = "G | M | Acc\n [1x3]Small\n A | A | 1.5\n [1x3]Large\n A | B | 2.5"
    table = make_table(1, rows_of(drawing), About(number="Table 1"), rules=(1,))
    assert value("Table 1", ["A"], ["Acc"], of=paper(table)) == 1.5


def test_the_parts_of_a_cell():
    assert value("Table 1", ["CIFAR-10", "CE"], ["Clean", "NLL"], part=1) == 0.22
    with pytest.raises(AddressError, match="no part 2"):
        value("Table 1", ["CIFAR-10", "CE"], ["Clean", "NLL"], part=2)


def test_the_place_of_the_cell_is_given():
    address = CellAddress(table="Table 1", row=("CIFAR-100", "GCE"), column=("Noisy", "NLL"))
    table, row, column, cell, number = resolve_cell(PAPER, address)
    assert (table.number, row, column, cell.text, number.quantum) == ("Table 1", 5, 5, "2.0", 0.1)


@pytest.mark.parametrize(
    ("table", "row", "column", "says"),
    [
        ("Table 9", ["A"], ["B"], ["no 'Table 9'", "Table 1 (Results.)", "Table 2"]),
        (TableLabel(label="x"), ["A"], ["B"], ["label 'x'"]),
        ("Table 1", ["CIFAR-10"], ["NLL"], ["names 2 rows", "'CIFAR-10' > 'GCE'"]),
        ("Table 1", ["CE"], ["Clean", "NLL"], ["names 2 rows", "'CIFAR-100' > 'CE†'"]),
        ("Table 1", ["CIFAR-10", "GCE"], ["NLL"], ["names 2 columns", "'Noisy' > 'NLL'"]),
        ("Table 1", ["CIFAR-10", "MAE"], ["NLL"], ["no row", "There are: 'CIFAR-10' > 'CE†'"]),
        ("Table 1", ["CIFAR-10", "GCE"], ["F1"], ["no column", "'Clean' > 'NLL'"]),
        ("Table 1", ["Clean", "NLL"], ["CIFAR-10", "GCE"], ["swapped"]),
        ("Table 1", ["CIFAR-10", "CE"], ["Noisy", "NLL"], ["holds '-'", "not a number"]),
        ("Table 2", ["Base"], ["BLEU"], ["names 2 rows", "'Small' > 'Base', 'Large' > 'Base'"]),
        ("Table 3", ["Dot"], ["Acc"], ["names 2 rows", "'Dot' > '0.0'", "'Dot' > '0.1'"]),
        ("Table 1", ["CIFAR-10", "C"], ["NLL"], ["no row"]),
        ("Table 1", ["CE", "CIFAR-10"], ["Clean", "NLL"], ["no row"]),
    ],
)
def test_what_an_error_says(table, row, column, says):
    with pytest.raises(AddressError) as raised:
        value(table, row, column)
    for words in says:
        assert words in str(raised.value)


def test_the_nearest_rows_come_first():
    rows = "M | Acc\n" + "\n".join(f"model-{letter * 3} | 1.5" for letter in "abcdefghijk")
    many = paper(make_table(1, rows_of(rows), About(number="Table 1"), rules=(1,)))
    with pytest.raises(AddressError) as raised:
        value("Table 1", ["model-kkx"], ["Acc"], of=many)
    assert raised.value.hint.startswith("There are: 'model-kkk'")
    assert raised.value.hint.endswith("and 3 more.")


def test_rows_of_one_name_are_named_by_their_place():
    twins = paper(
        make_table(1, rows_of("M | Acc\n A | 1.5\n A | 1.5"), About(number="Table 1"), rules=(1,))
    )
    with pytest.raises(AddressError, match="'row 2', 'row 3'"):
        value("Table 1", ["A"], ["Acc"], of=twins)
    assert value("Table 1", ["row 3"], ["Acc"], of=twins) == 1.5


def test_a_table_in_several_parts():
    rows = "M | Acc\n {} | 1.5"
    parts = [
        make_table(at, rows_of(rows.format(name)), About(number=f"Table 1{letter}"), rules=(1,))
        for at, (letter, name) in enumerate([("a", "A"), ("b", "B")], start=1)
    ]
    assert value("Table 1", ["B"], ["Acc"], of=paper(*parts)) == 1.5
    assert value("Table 1b", ["B"], ["Acc"], of=paper(*parts)) == 1.5
    twice = [part.model_copy(update={"number": "Table 1"}) for part in (parts[0], parts[0])]
    with pytest.raises(AddressError, match="2 tables"):
        value("Table 1", ["A"], ["Acc"], of=paper(*twice))


TEXT = paper(
    abstract="We reach an accuracy of 93.2% on ImageNet.",
    Method="The rate is 0.1. The rate is 0.1. ResNet-50 has 25.6M parameters.",
    Results="It gets 93.2 ± 0.4 (Table 3), not 93.25, and 10^{-3} — the “best” value.",
)


@pytest.mark.parametrize(
    ("quote", "occurrence", "part", "section", "expected", "unit"),
    [
        ("accuracy of 93.2", 1, 0, "Abstract", 93.2, "percent"),
        ("The rate is 0.1", 2, 0, "Method", 0.1, None),
        ("ResNet-50 has 25.6M", 1, 0, "Method", 25.6, "M"),
        ("not 93.25, and 10^{-3}", 1, 1, "Results", 0.001, None),
        ('10^{-3} - the "best" value', 1, 0, "Results", 0.001, None),
        ("It  gets\n93.2", 1, 0, "Results", 93.2, None),
    ],
)
def test_a_quote_names_its_number(quote, occurrence, part, section, expected, unit):
    address = TextAddress(quote=quote, occurrence=occurrence, part=part)
    title, number = resolve_text(TEXT, address)
    assert (title, number.value, number.unit) == (section, expected, unit)


def test_the_uncertainty_behind_a_quote_counts():
    _, number = resolve_text(TEXT, TextAddress(quote="It gets 93.2"))
    assert number.uncertainty == 0.4


@pytest.mark.parametrize(
    ("quote", "occurrence", "says"),
    [
        ("not 93.2", 1, "no such text"),  # the text says 93.25
        ("an accuracy of 94.2% on ImageNet", 1, "nearest sentence is 'We reach"),
        ("The rate is 0.1", 3, "occurs 2 times"),
        ("has", 1, "not a number"),
        ("gets 93.2", 1, None),
    ],
)
def test_what_is_said_of_a_wrong_quote(quote, occurrence, says):
    address = TextAddress(quote=quote, occurrence=occurrence)
    if says is None:
        resolve_text(TEXT, address)
        return
    with pytest.raises(AddressError) as raised:
        resolve_text(TEXT, address)
    assert says in str(raised.value)


@pytest.mark.parametrize("printed", ["BERT¹", "BERT^1", "BERT^{1,2}", "BERTᶜ", "BERT^{a}"])
def test_a_mark_at_a_name_is_no_part_of_it(printed):
    rows = rows_of(f"Model | Acc (%)^b\n {printed} | 93.2\n BERT (large)² | 94.0\n ALBERT | 92.0")
    table = make_table(1, rows, About(number="Table 1"), rules=(1,))
    for row, value in (("BERT", 93.2), ("BERT (large)", 94.0), (printed, 93.2)):
        address = CellAddress(table="Table 1", row=(row,), column=("Acc",))
        assert resolve_cell(paper(table), address)[4].value == value
