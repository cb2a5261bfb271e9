"""Printed numbers are read whole or not at all."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.paper.numbers import (
    column_uses_decimal_comma,
    parse_numbers,
    stated_uncertainty,
)


@pytest.mark.parametrize(
    ("text", "value", "quantum", "uncertainty"),
    [
        ("93.2", 93.2, 0.1, None),
        ("93.2 ± 0.4", 93.2, 0.1, 0.4),
        ("93.2±.4", 93.2, 0.1, 0.4),
        ("93.2 +/- 0.4", 93.2, 0.1, 0.4),
        (r"$93.2 \pm 0.4$", 93.2, 0.1, 0.4),
        ("93.2(4)", 93.2, 0.1, 0.4),
        ("93.25(12)", 93.25, 0.01, 0.12),
        ("93.2 (0.4)", 93.2, 0.1, 0.4),
        ("93.2 (±0.4)", 93.2, 0.1, 0.4),
        ("93.2_{±0.4}", 93.2, 0.1, 0.4),
        ("93.2_0.4", 93.2, 0.1, 0.4),
        ("(93.2 ± 0.4)", 93.2, 0.1, 0.4),
        ("1.00 ± NA", 1.0, 0.01, None),
        (".932", 0.932, 0.001, None),
        ("-.035", -0.035, 0.001, None),
        ("−0.5", -0.5, 0.1, None),
        ("–0.5", -0.5, 0.1, None),
        ("+2.1", 2.1, 0.1, None),
        ("1,234.5", 1234.5, 0.1, None),
        ("1,234", 1234, 1, None),
        ("82,783", 82783, 1, None),
        ("1\u2009234", 1234, 1, None),
        ("50000", 50000, 1, None),
        ("1.2e-3", 0.0012, 0.0001, None),
        ("1.2e − 3", 0.0012, 0.0001, None),
        ("1E+03", 1000, 1000, None),
        ("1.2 × 10^{-3}", 0.0012, 0.0001, None),
        ("1.2×10⁻³", 0.0012, 0.0001, None),
        ("1.2 × 10−3", 0.0012, 0.0001, None),
        (r"$0.5 \cdot 10^{-6}$", 5e-7, 1e-7, None),
        ("10^{-3}", 0.001, 0.001, None),
        ("(1.2 ± 0.1) × 10^{-3}", 0.0012, 0.0001, 0.0001),
        ("1.2e-3 ± 1e-4", 0.0012, 0.0001, 0.0001),
        ("(0.4)", 0.4, 0.1, None),
        ("93.2^{±0.4}", 93.2, 0.1, 0.4),
        ("93.2 (SD 0.4)", 93.2, 0.1, 0.4),
        ("93.2 (s.e. = 40.1)", 93.2, 0.1, 40.1),
        ("0", 0, 1, None),
        ("0.00", 0, 0.01, None),
        ("93.", 93, 1, None),
    ],
)
def test_one_number(text, value, quantum, uncertainty):
    (quantity,) = parse_numbers(text)
    assert quantity.value == pytest.approx(value, rel=1e-12)
    assert quantity.quantum == pytest.approx(quantum, rel=1e-12)
    assert quantity.uncertainty == (uncertainty and pytest.approx(uncertainty, rel=1e-12))
    assert quantity.uncertainty_kind == ("unstated" if uncertainty else None)


@pytest.mark.parametrize(
    ("text", "value", "unit", "relation", "mark"),
    [
        ("93.2%", 93.2, "percent", "=", None),
        ("93.2 %", 93.2, "percent", "=", None),
        (r"93.2\%", 93.2, "percent", "=", None),
        ("93.2% ± 0.4%", 93.2, "percent", "=", None),
        ("93.2 ± 0.4 %", 93.2, "percent", "=", None),
        ("12.3M", 12.3, "M", "=", None),
        ("5.2 ms", 5.2, "ms", "=", None),
        ("2.5×", 2.5, "x", "=", None),
        ("$12.50", 12.5, "$", "=", None),
        ("3 days", 3, "days", "=", None),
        ("<0.01", 0.01, None, "<", None),
        ("> 99.9", 99.9, None, ">", None),
        ("≈ 5", 5, None, "~", None),
        ("~5", 5, None, "~", None),
        ("↑2.1", 2.1, None, "=", "↑"),
        ("2.1 ↓", 2.1, None, "=", "↓"),
        ("93.2*", 93.2, None, "=", "*"),
        ("93.2†", 93.2, None, "=", "†"),
        ("†93.2", 93.2, None, "=", "†"),
        ("0.45∗∗∗", 0.45, None, "=", "***"),
        ("93.2^{a}", 93.2, None, "=", "a"),
        ("93.2ᵃ", 93.2, None, "=", "a"),
        ("93.2^1", 93.2, None, "=", "1"),
        ("93.2 [5]", 93.2, None, "=", "[5]"),
        ("93.2* ± 0.4", 93.2, None, "=", "*"),
        ("12.3^{ab}", 12.3, None, "=", "ab"),
        ("12^{a,b}", 12, None, "=", "a,b"),
        ("93.2^{1,2}", 93.2, None, "=", "1,2"),
        ("5.2#", 5.2, None, "=", "#"),
        ("5.2^{a,*}", 5.2, None, "=", "a,*"),
        ("5.2^{AB}", 5.2, None, "=", "AB"),
        ("1.00 (reference)", 1.0, None, "=", None),
        ("×1.5", 1.5, "x", "=", None),
        ("2.0X", 2.0, "x", "=", None),
    ],
)
def test_unit_relation_and_mark(text, value, unit, relation, mark):
    (quantity,) = parse_numbers(text)
    got = (quantity.value, quantity.unit, quantity.relation, quantity.mark)
    assert got == (value, unit, relation, mark)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("93.2/87.1", (93.2, 87.1)),
        ("93.2 / 87.1 / 90.0", (93.2, 87.1, 90.0)),
        ("0.97; 0.98; 0.99", (0.97, 0.98, 0.99)),
        ("93.2, 87.1", (93.2, 87.1)),
        ("93.2,87.1", (93.2, 87.1)),
        ("1.0 ± 0.1 / 2.0 ± 0.2", (1.0, 2.0)),
        ("93.2 → 94.1", (93.2, 94.1)),
        # A bracket that need not be an uncertainty is a number of its own.
        ("45.2 (44.1)", (45.2, 44.1)),
        ("-.085 (.196)", (-0.085, 0.196)),
        ("93.2 (+1.2)", (93.2, 1.2)),
        ("93.2 (-1.2)", (93.2, -1.2)),
        ("93.2 (↓1.2)", (93.2, 1.2)),
        ("12 (45%)", (12, 45)),
        ("8(2)", (8, 2)),
        ("1,234 (54.8)", (1234, 54.8)),
        ("93.2 (4)", (93.2, 4)),
        ("93.2 [92.8, 93.6]", (93.2, 92.8, 93.6)),
        ("0.85 (0.82-0.88)", (0.85, 0.82, 0.88)),
        ("0.85 (0.82 – 0.88)", (0.85, 0.82, 0.88)),
        ("0.85 (95% CI: 0.82 to 0.88)", (0.85, 0.82, 0.88)),
        ("-1.2 (-2.3, -0.1)", (-1.2, -2.3, -0.1)),
        ("-1.2 (-2.3; 0.1)", (-1.2, -2.3, 0.1)),
        ("-1.2 [-2.3 to -0.1]", (-1.2, -2.3, -0.1)),
        ("-1.2 (-2.3 - -0.1)", (-1.2, -2.3, -0.1)),
        ("1,234 (1,100–1,400)", (1234, 1100, 1400)),
        ("12.3M/45M", (12.3, 45)),
        # A change, or unequal errors, set beside the number.
        ("93.2 ↑1.2", (93.2, 1.2)),
        ("93.2_{↓1.2}", (93.2, 1.2)),
        ("93.2_{+1.2}", (93.2, 1.2)),
        ("93.2^{-1.2}", (93.2, -1.2)),
        ("93.2^{+0.4}_{-0.3}", (93.2, 0.4, -0.3)),
        ("93.2 (+0.4/-0.3)", (93.2, 0.4, -0.3)),
        ("93.2 ± 0.4 (+1.2)", (93.2, 1.2)),
        ("93.2 ± 0.4 [92.8, 93.6]", (93.2, 92.8, 93.6)),
        ("93.2 +2.1", (93.2, 2.1)),
        ("93.2 −0.4", (93.2, -0.4)),
    ],
)
def test_several_numbers(text, values):
    assert tuple(quantity.value for quantity in parse_numbers(text)) == values


@pytest.mark.parametrize(
    "text",
    """
    |-|—|–|--|---|n/a|N/A|NA|none|✓|OOM|∞|inf|nan|NaN|.|,|±|%|*|†|()|Table 3|ResNet-50|BERT|v1.2
    |1.2.3|2020-05-01|2020/05/01|12/05/2020|05/2020|May 2020|32x32x3|5x5|3D|16-bit|1st|0.1-0.5|1–5
    |3.7 + 0.1|1:30|2h 30m|p<0.01|p = 0.03|-/87.1|n/a / 87.1|93.2/-|1,23|1,23,456|- 0.5|0.4 0.5
    |1 234|2^5|2^{10}|93^1|1.2 × 103|10-3|1.2e-3 ± 0.1|1.2 ± 0.1 × 10^-3|±0.4|1e999|1e-999|007|05
    |93.2 (3rd)|93.2 (R1)|5M ± 2K|93.2 ± |(93.2|93.2)|1'23|12a|x5|93.2 or 87.1|#|3.5.|..5|5e|1e5.5
    |λ = 0.1|0.5 + x|GPT-3.5|Llama 2 7B|12 layers|127.0.0.1|2^n|10^k|2^N|5^{th}|[1]-[3]|[28]|[3, 5]
    """.strip()
    .replace("\n    ", "")
    .split("|"),
)
def test_not_a_number(text):
    assert parse_numbers(text) == ()


def test_stated_brackets_hold_the_uncertainty():
    (quantity,) = parse_numbers("-.085 (.196)", bracketed_spread=True)
    assert (quantity.value, quantity.uncertainty) == (-0.085, 0.196)
    (quantity,) = parse_numbers("150 (60)", bracketed_spread=True)
    assert (quantity.value, quantity.uncertainty) == (150, 60)
    assert len(parse_numbers("150 (+60)", bracketed_spread=True)) == 2


@pytest.mark.parametrize(
    ("text", "value", "uncertainty"),
    [
        ("93,2", 93.2, None),
        ("0,5 ± 0,1", 0.5, 0.1),
        ("0,5(1)", 0.5, 0.1),
        ("1.234", 1234, None),
        ("1.234,5", 1234.5, None),
        ("88", 88, None),
    ],
)
def test_decimal_comma(text, value, uncertainty):
    (quantity,) = parse_numbers(text, decimal_comma=True)
    assert (quantity.value, quantity.uncertainty) == (value, uncertainty)


def test_numbers_with_a_decimal_comma_are_parted_by_comma_and_space():
    found = parse_numbers("0,5, 0,6", decimal_comma=True)
    assert [number.value for number in found] == [0.5, 0.6]
    assert parse_numbers("1.234,5.6", decimal_comma=True) == ()


def test_an_interval_with_decimal_commas():
    found = parse_numbers("0,5 (0,4-0,6)", decimal_comma=True)
    assert [number.value for number in found] == [0.5, 0.4, 0.6]


def test_a_point_is_not_read_in_a_column_of_commas():
    assert parse_numbers("93.2", decimal_comma=True) == ()


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (["Acc", "93,2", "87,1", "88"], True),
        (["93,2", "1.234,5", "-"], True),
        (["1,234", "5,678"], False),
        (["93,2", "87,1", "90.4"], False),
        (["1,2", "3", "4"], False),
        (["93.2"], False),
        ([], False),
    ],
)
def test_the_column_shows_its_decimal_comma(column, shown):
    assert column_uses_decimal_comma(column) is shown


@pytest.mark.parametrize(
    ("caption", "kind"),
    [
        ("Mean and standard deviation over five seeds.", "sd"),
        ("mean ± std", "sd"),
        ("Standard errors in parentheses", "se"),
        ("with 95% confidence intervals", "ci"),
        ("95% CI", "ci"),
        ("Accuracy on the standard split", None),
        ("SE-ResNet on the SD-198 data", None),
        ("standard deviation; standard error in brackets", None),
    ],
)
def test_stated_uncertainty(caption, kind):
    assert stated_uncertainty(caption) == kind


decimals = st.decimals(-99999, 99999, places=3).map(lambda number: f"{number:f}")


@given(st.text(max_size=60))
def test_any_text_gives_numbers_or_nothing(text):
    for quantity in parse_numbers(text):
        assert math.isfinite(quantity.value)
        assert quantity.quantum > 0


@given(st.text(alphabet="0123456789.,-+±()/%e ×^*xM", max_size=25), st.booleans())
def test_no_digit_of_the_text_is_dropped(text, comma):
    found = parse_numbers(text, decimal_comma=comma)
    if found:
        used = re.findall(r"\d", "".join(quantity.text for quantity in found))
        in_brackets = len(re.findall(r"\d", text))
        assert len(used) >= in_brackets


@given(st.integers(-(10**7), 10**7), st.integers(0, 5))
def test_a_printed_decimal_comes_back(digits, places):
    printed = f"{digits / 10**places:.{places}f}"
    (quantity,) = parse_numbers(printed)
    assert quantity.value == float(printed)
    assert quantity.quantum == pytest.approx(10.0**-places)
    assert quantity.text == printed


@given(
    decimals, st.integers(1, 999), st.sampled_from(["{} ± {}", "{}±{}", "{} +/- {}", "{} (±{})"])
)
def test_uncertainty_survives_any_spelling(number, spread, spelling):
    (quantity,) = parse_numbers(spelling.format(number, f"{spread / 1000:.3f}"))
    assert quantity.value == float(number)
    assert quantity.uncertainty == pytest.approx(spread / 1000)


@given(st.lists(decimals, min_size=2, max_size=4), st.sampled_from(["/", " / ", "; ", ", ", " | "]))
def test_parts_keep_their_order(numbers, separator):
    found = parse_numbers(separator.join(numbers))
    assert [quantity.value for quantity in found] == [float(number) for number in numbers]


@given(st.integers(1000, 10**9))
def test_thousands_groups(number):
    assert parse_numbers(f"{number:,}")[0].value == number
    with_points = f"{number:,}".replace(",", ".")
    assert parse_numbers(with_points, decimal_comma=True)[0].value == number
