"""Glyphs to words, words to columns: whatever the numbers, the digits stay in their cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.paper.pdf.chars import Glyph
from repro_pipeline.paper.pdf.columns import Piece, TableLine, body_columns, pieces
from repro_pipeline.paper.pdf.drawings import Rule
from repro_pipeline.paper.pdf.lines import lines
from repro_pipeline.paper.pdf.ruled import join_rules
from repro_pipeline.paper.pdf.words import Word, words_of


def glyphs(text: str, x: float, y: float = 100, size: float = 10, **other) -> list[Glyph]:
    """Glyphs half an em wide, one after the other; a space in the text moves on by 0.3 em."""
    found = []
    for char in text:
        if char != " ":
            found.append(Glyph(char, x, y, 0.5 * size, size, other.get("font", "F"), False, 0, 0.0))
        x += (0.3 if char == " " else 0.5) * size
    return found


def texts(found: list[Glyph]) -> list[str]:
    return [word.text for word in sorted(words_of(found), key=lambda word: (word.y, word.x0))]


def test_gaps_part_words() -> None:
    assert texts(glyphs("two words", 50)) == ["two", "words"]


def test_a_raised_digit_is_a_mark() -> None:
    mark = glyphs("1", 70, y=96.5, size=7)
    assert texts(glyphs("93.2", 50) + mark) == ["93.2¹"]
    assert texts(mark + glyphs("93.2", 50)) == ["93.2¹"]  # in whatever order the file has them
    assert texts(glyphs("10", 50) + glyphs("−3", 60, y=96.5, size=7)) == ["10⁻³"]


def test_a_small_digit_on_the_baseline_is_a_digit() -> None:
    assert texts(glyphs("93.", 50) + glyphs("2", 65, y=100, size=8)) == ["93.2"]


def test_the_line_above_is_not_raised_text() -> None:
    assert texts(glyphs("93.2", 50) + glyphs("1", 70, y=90, size=7)) == ["1", "93.2"]


def test_an_uncertainty_below_stays_with_its_value() -> None:
    below = glyphs("±0.4", 70, y=101.5, size=7)
    assert texts(glyphs("93.2", 50) + below) == ["93.2±0.4"]
    star = glyphs("∗", 84, y=96.5, size=7)
    assert texts(glyphs("93.2", 50) + below + star) == ["93.2±0.4∗"]


def test_accents_are_set_over_their_letters() -> None:
    text = glyphs("Jorg", 50)
    assert texts([*text, *glyphs("¨", 55)]) == ["Jörg"]


def test_small_capitals_are_one_word() -> None:
    assert texts(glyphs("S", 50, size=10) + glyphs("PECTER", 55, size=8)) == ["SPECTER"]


def test_lines_end_at_wide_gaps() -> None:
    found = words_of(glyphs("left part", 50) + glyphs("right part", 200))
    assert [line.text for line in lines(found)] == ["left part", "right part"]


def test_pieces_of_rules_are_joined() -> None:
    rules = [Rule(10, 5, 50, 5), Rule(50.5, 5, 90, 5), Rule(10, 5.5, 90, 5.5), Rule(10, 30, 90, 30)]
    assert join_rules(rules) == [Rule(10, 5, 90, 5), Rule(10, 30, 90, 30)]


def word(text: str, x: float, y: float, size: float = 10) -> Word:
    return Word(text, x, x + 0.5 * size * len(text), y, size, "F", bold=False)


@st.composite
def grids(draw) -> tuple[list[list[str]], list[list[Word]], float]:
    """A grid of labels and numbers, its words set in columns with a separation."""
    height, width = draw(st.integers(3, 8)), draw(st.integers(2, 7))
    separation = draw(st.sampled_from([4.0, 6.0, 12.0]))
    number = st.from_regex(r"-?[0-9]{1,3}\.[0-9]{1,2}", fullmatch=True)
    label = st.from_regex(r"[A-Z][a-z]{1,9}", fullmatch=True)
    cells = [[draw(label), *(draw(number) for _ in range(width - 1))] for _ in range(height)]
    # Labels all of one width, close to numbers, cannot be told from `Top 5` in one cell.
    cells[0][0], cells[1][0] = "Ab", "Abcdefgh"
    alignments = ["l", *(draw(st.sampled_from("lcr")) for _ in range(width - 1))]
    widths = [max(5.0 * len(row[column]) for row in cells) for column in range(width)]
    rows = []
    for place, row in enumerate(cells):
        x, found = 50.0, []
        for column, text in enumerate(row):
            slack = widths[column] - 5.0 * len(text)
            shift = {"l": 0.0, "c": slack / 2, "r": slack}[alignments[column]]
            found.append(word(text, x + shift, 100 + 12.0 * place))
            x += widths[column] + separation
        rows.append(found)
    return cells, rows, separation


@given(grids())
def test_columns_of_numbers_are_found_however_near(grid) -> None:
    cells, rows, _ = grid
    lines = [TableLine(row[0].y, 10, pieces(row, [])) for row in rows]
    columns, cut = body_columns(lines)
    assert len(columns) == len(cells[0])
    for line, row in zip(cut, cells, strict=True):
        assert [piece.text for piece in line.pieces] == row
    for line in cut:
        for piece, column in zip(line.pieces, columns, strict=True):
            assert column.x0 - 0.2 <= piece.x0 and piece.x1 <= column.x1 + 0.2


@given(st.lists(st.from_regex(r"[0-9]\.[0-9] ± 0\.[0-9]", fullmatch=True), min_size=3, max_size=9))
def test_a_value_and_its_uncertainty_are_one_cell(values: list[str]) -> None:
    lines = []
    for place, value in enumerate(values):
        first, sign, second = value.split()
        y = 100 + 12.0 * place
        row = [word("Label", 50, y), word(first, 120, y), word(sign, 138, y), word(second, 146, y)]
        lines.append(TableLine(y, 10, pieces(row, [])))
    columns, cut = body_columns(lines)
    assert len(columns) == 2
    assert [line.pieces[1].text for line in cut] == values


@pytest.mark.parametrize("parts", [("1.5", "±", "0.2"), ("1.5", "|", "0.2"), ("1.5", "(0.2)")])
def test_what_belongs_to_a_number_stays_with_it_at_a_distance(parts: tuple[str, ...]) -> None:
    lines = []
    for y in (100, 112, 124, 136):
        row, x = [word("Label", 50, y)], 120.0
        for part in parts:
            row.append(word(part, x, y))
            x = row[-1].x1 + 6.5
        lines.append(TableLine(y, 10, pieces([*row, word("7.5", x + 20, y)], [])))
    columns, cut = body_columns(lines)
    assert len(columns) == 3
    for line in cut:
        inside = [piece.text for piece in line.pieces if columns[1].x0 <= piece.x0 <= columns[1].x1]
        assert " ".join(inside) == " ".join(parts)


def test_a_text_alone_does_not_hide_the_columns_below_it() -> None:
    lines = [
        TableLine(100, 10, (Piece((word("Trained", 50, 100), word("elsewhere", 88, 100))),)),
        *(
            TableLine(
                y, 10, pieces([word("A", 50, y), word("1.5", 80, y), word("2.5", 120, y)], [])
            )
            for y in (112, 124, 136)
        ),
    ]
    assert len(body_columns(lines)[0]) == 3
