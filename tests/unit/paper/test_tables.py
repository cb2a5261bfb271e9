"""Spans become a rectangle, headers are found, and names are compared as a reader would."""

from __future__ import annotations

import pytest
from drawn_tables import rows_of
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.tables import (
    DOUBTED,
    About,
    RawCell,
    build_grid,
    column_path,
    make_table,
    normalise,
    row_path,
)


def texts(grid) -> list[list[str]]:
    return [[cell.text for cell in row] for row in grid]


TWO_LEVELS = rows_of(
    """
    [2x1]Method | [1x2]CIFAR-10 | [1x2]CIFAR-100
    Acc | NLL | Acc | NLL
    ResNet | 93.2 | 0.21 | 71.0 | 1.1
    VGG | 92.0 | 0.25 | 70.1 | 1.2
    """
)


def test_spans_fill_every_place_they_cover():
    grid, doubts = build_grid(TWO_LEVELS)
    assert texts(grid)[:2] == [
        ["Method", "CIFAR-10", "CIFAR-10", "CIFAR-100", "CIFAR-100"],
        ["Method", "Acc", "NLL", "Acc", "NLL"],
    ]
    assert [cell.spanned for cell in grid[0]] == [False, False, True, False, True]
    assert grid[1][0].spanned
    assert grid[2][1].numbers[0].value == 93.2
    assert doubts == ()


@st.composite
def tilings(draw):
    """A grid of labels in which rectangles share one, and the rows of cells that write it."""
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    grid: list[list[str | None]] = [[None] * width for _ in range(height)]
    rows: list[list[RawCell]] = [[] for _ in range(height)]
    for row in range(height):
        for column in range(width):
            if grid[row][column] is not None:
                continue
            free = next((c for c in range(column, width) if grid[row][c] is not None), width)
            right = draw(st.integers(1, free - column))
            down = draw(st.integers(1, height - row))
            name = f"c{row}.{column}"
            for r in range(row, row + down):
                grid[r][column : column + right] = [name] * right
            rows[row].append(RawCell(name, down, right))
    return grid, rows


@given(tilings())
def test_any_tiling_comes_back(tiling):
    grid, rows = tiling
    built, doubts = build_grid(rows)
    assert texts(built) == grid
    assert doubts == ()


def test_a_short_row_is_filled_and_doubted():
    table = make_table(1, rows_of("a | b | c\n x | 1.5"))
    assert texts(table.grid)[1] == ["x", "1.5", ""]
    assert table.confidence <= DOUBTED
    assert "row" in table.doubts[0]


def test_overlapping_spans_are_doubted():
    table = make_table(1, rows_of("a | [2x1]b | c\n [1x2]d | e"))
    assert any("overlap" in doubt for doubt in table.doubts)


def test_a_span_past_the_end_is_cut():
    grid, _ = build_grid(rows_of("[9x1]a | b\n c"))
    assert texts(grid) == [["a", "b"], ["a", "c"]]


def test_a_huge_span_is_refused():
    with pytest.raises(PaperError, match="cells"):
        build_grid([[RawCell("a", columns=10**9)]])


@pytest.mark.parametrize(
    ("drawing", "rules", "headers"),
    [
        ("Method | Acc | F1\n A | 1.5 | 2.5\n B | 3.5 | 4.5", (1,), (1, 1)),
        ("Method | Acc | F1\n A | 1.5 | 2.5\n B | 3.5 | 4.5", (), (1, 1)),
        # Settings as column names: whole numbers above decimals.
        ("k | 10 | 20 | 40\n A | .97 | .96 | .95\n B | .97 | .97 | .95", (), (1, 1)),
        ("k | 10 | 20 | 40\n A | 97 | 96 | 95\n B | 97 | 97 | 95", (1,), (1, 1)),
        # A rule that parts groups of data, not the header.
        ("M | Acc\n A | 1.5\n B | 2.5\n Mean | 2.0", (3,), (1, 1)),
        ("M | Acc\n A | 1.5\n B | 2.5\n Mean | 2.0", (1, 3), (1, 1)),
        # A rule below every row.
        ("[2x1]M | [1x2]X\n a | b\n A | 1.5 | 2\n B | 2.5 | 3", (1, 2, 3), (2, 1)),
        # Two names for each row.
        ("Data | Loss | 0.1 | 0.2\n [2x1]C | CE | 1.5 | 2.5\n L | 3.5 | 4.5", (1,), (1, 2)),
        # A numeric key as row name.
        ("size | a | b\n 256 | 1.5 | 2.5\n 512 | 1.6 | 2.6", (1,), (1, 1)),
        # A section row below the header is not a part of it.
        ("M | a | b\n [1x3]Large models\n A | 1.5 | 2.5", (1,), (1, 1)),
        ("M | a | b\n [1x3]Large models\n A | 1.5 | 2.5", (), (1, 1)),
        # Numbers below a spreading header, in a row without a name of its own.
        ("Reg | [1x2]Size\n | 0.1 | 0.01\n 1 | 0.76 | 0.75\n 2 | 0.72 | 0.71", (1, 2), (2, 1)),
        ("[2x1]Data | [1x2]Noise\n 30 | 50\n A | 30.8 | 28.6\n B | 29.9 | 28.1", (2,), (2, 1)),
        (" | [1x2]C10\n M | 40 labels | 250\n A | 13.8 | 5.1\n B | 12.0 | 5.0", (1, 2), (2, 1)),
        # A header goes on in a row without a name.
        ("M | EnD | EnD\n | +AUX | +T\n A | 8.2 | 2.3\n B | 3.9 | 4.6", (2,), (2, 1)),
        ("Parameter | Meaning\n lr | step size\n b | batch", (1,), (1, 1)),
    ],
)
def test_headers(drawing, rules, headers):
    table = make_table(1, rows_of(drawing), rules=rules)
    assert (table.header_rows, table.header_columns) == headers
    assert table.confidence == 1.0


def test_two_header_rows_with_a_rule_between():
    for rules in [(2,), (1, 2), ()]:
        table = make_table(1, TWO_LEVELS, rules=rules)
        assert (table.header_rows, table.header_columns) == (2, 1)
        assert table.column_headers(4) == ("CIFAR-100", "NLL")


def test_a_table_without_header_is_doubted():
    for rules in [(), (1, 2)]:
        drawing = "A | 0.1 | 0.2\n B | 0.9 | 0.8\n C | 0.7 | 0.6"
        table = make_table(1, rows_of(drawing), rules=rules)
        assert table.header_rows == 0
        assert table.confidence <= DOUBTED


def test_a_list_of_names_and_values_has_no_header():
    for rules in [(), (1,)]:
        table = make_table(1, rows_of("lr | 0.1\n momentum | 0.9"), rules=rules)
        assert (table.header_rows, table.header_columns) == (0, 1)


def test_marked_header_rows_win():
    table = make_table(1, rows_of("a | 1\n b | 2\n c | 3"), header_rows=2)
    assert table.header_rows == 2


def test_section_rows_and_labels_printed_once_name_the_rows_below():
    table = make_table(
        1,
        rows_of(
            """
            Data | Loss | Acc
            [1x3]Clean
            C10 | CE | 95.1
            | GCE | 94.2
            [1x3]Noisy
            C10 | CE | 85.1
            | GCE | 84.2
            """
        ),
        rules=(1,),
    )
    assert row_path(table, 3) == ("Clean", "C10", "GCE")
    assert row_path(table, 6) == ("Noisy", "C10", "GCE")


def test_a_header_repeated_inside_the_body_names_the_columns_below():
    table = make_table(
        1, rows_of("M | Acc | F1\n A | 1.5 | 2.5\n M | BLEU | TER\n A | 3.5 | 4.5"), rules=(1,)
    )
    assert column_path(table, 1, 1) == ("Acc",)
    assert column_path(table, 3, 2) == ("F1", "TER")


def test_the_caption_states_the_uncertainty():
    caption = "Coefficients (standard errors in parentheses)."
    table = make_table(1, rows_of("x | all\n paro | -.085 (.196)"), About(caption=caption))
    (number,) = table.grid[1][1].numbers
    assert (number.value, number.uncertainty, number.uncertainty_kind) == (-0.085, 0.196, "se")


def test_decimal_commas_of_a_column():
    table = make_table(1, rows_of("M | Acc | n\n A | 93,2 | 1,234\n B | 87,1 | 5,678"), rules=(1,))
    assert table.grid[1][1].numbers[0].value == 93.2
    table = make_table(1, rows_of("M | n\n A | 1,234\n B | 5,678"), rules=(1,))
    assert table.grid[1][1].numbers[0].value == 1234


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Test  Error", "test error"),
        ("F-measure", "F–measure"),
        ("Acc. ↑", "acc"),
        ("ERR↓", "ERR"),
        ("Ours†", "ours"),
        (r"$\alpha = 0.1$", "α=0.1"),
        ("EnD_{+AUX}", "EnD+AUX"),
        ("R²", "R^2"),
        ("ﬁne-tuned", "fine-tuned"),
        ("𝜌 = 0.2", r"\rho=0.2"),
        ("top 1", "Top  1"),
        ("ε", "ϵ"),
        (r"\textbf{Ours}", "Ours"),
        ("32×32", r"32 \times 32"),
    ],
)
def test_the_same_header(one, other):
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"), [("CE", "GCE"), ("k = 1", "k = 10"), ("R^2", "R"), ("†", "‡")]
)
def test_different_headers(one, other):
    assert normalise(one) != normalise(other)


@given(st.text(alphabet=r"aB9 -–.:*†↑\${}^_()%=αβ", max_size=30))
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)


def test_panels_name_rows_and_their_columns_begin_anew():
    table = make_table(
        1,
        rows_of(
            """
            [1x3]Panel A
            Model | Acc | F1
            A | 0.15 | 0.17
            [1x3]Panel B
            Model | BLEU | chrF
            C | 30.5 | 55.5
            """
        ),
        rules=(2,),
    )
    assert (row_path(table, 2), column_path(table, 2, 1)) == (("Panel A", "A"), ("Acc",))
    assert (row_path(table, 5), column_path(table, 5, 1)) == (("Panel B", "C"), ("BLEU",))


@pytest.mark.parametrize(
    "head",
    ["[1x2]Models | MSE | MAE", "Data | Horizon | MSE | MAE"],
)
def test_whole_numbers_that_tell_rows_apart_name_them(head):
    drawing = f"""
        {head}
        [2x1]ETT | 96 | 0.33 | 0.36
        192 | 0.37 | 0.39
        [2x1]ILI | 24 | 2.31 | 0.93
        36 | 1.97 | 0.92
        """
    table = make_table(1, rows_of(drawing), rules=(1,))
    assert table.header_columns == 2
    assert row_path(table, 2) == ("ETT", "192")


def test_a_number_for_two_rows_with_names_is_no_name():
    drawing = (
        "M | lr | Acc | F1\n A | [2x1]0.01 | 55.5 | 44.4\n B | 56.6 | 45.5\n C | 0.05 | 1.5 | 2.5"
    )
    table = make_table(1, rows_of(drawing), rules=(1,))
    assert table.header_columns == 1
    assert column_path(table, 2, 1) == ("lr",)
