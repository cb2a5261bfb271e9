"""Claims: each value is the one that stands at its address; what contradicts the paper is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bundle.task import Task
from repro_pipeline.claims.extract import extract_claims
from repro_pipeline.claims.model import PairKind
from repro_pipeline.errors import AddressError, BundleError
from repro_pipeline.paper.model import (
    Cell,
    Paper,
    Provenance,
    Section,
    Source,
    SourceFormat,
    Table,
)
from repro_pipeline.paper.numbers import parse_numbers
from repro_pipeline.yamlfile import parse_model

ROWS = """
Data      | Forest       | Single | Tree   | Both        | Note
Waveform  | 17.2         | 17.3   | 34.0   | 1.5 / 2.5   | n/a
Twonorm   | 3.9          | 3.9    | 24.7   | 1.5 / 2.5   | < 0.1
Threenorm | 17.5 ± 0.3   | 17.7   | 38.4 % | 1.5 / 2.5   | ~5
"""


def table(rows=ROWS, **more):
    grid = []
    for number, line in enumerate(rows.strip().splitlines()):
        texts = [text.strip() for text in line.split("|")]
        grid.append(
            tuple(
                Cell(
                    text=text,
                    numbers=parse_numbers(text) if number and place else (),
                    provenance=Provenance(file="paper.tex", line=10 + number),
                )
                for place, text in enumerate(texts)
            )
        )
    return Table(index=1, number="Table 2", label="tab:x", grid=tuple(grid), **more)


PAPER = Paper(
    source=Source(file="paper.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="test 1"),
    title="A paper",
    tables=(table(),),
    sections=(
        Section(
            title="Results", text="The error falls to 3.9 percent. It was 5.25 before, then 3.9."
        ),
    ),
)


def task(*claims, pairs=""):
    text = "claims:\n" + "".join(
        f"  - {{id: {claim_id}, metric: error, reported: {reported}{more}}}\n"
        for claim_id, reported, more in (
            (claim[0], claim[1], f", {claim[2]}" if len(claim) > 2 else "") for claim in claims
        )
    )
    return parse_model(text + pairs, Task, name="task.yaml")


def cell(row, column, table="Table 2", part=0):
    return f"{{table: {table}, row: [{row}], column: [{column}], part: {part}}}"


def only(reported, more="key: true", paper=PAPER):
    return extract_claims(paper, task(("a", reported, more))).claims[0]


# --- addresses ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Table 2", "{label: 'tab:x'}", "{index: 1}"])
def test_a_cell_gives_value_rounding_and_the_line_it_was_read_at(name):
    claim = only(cell("Twonorm", "Tree", name))
    assert (claim.value, claim.quantum, claim.text) == (24.7, 0.1, "24.7")
    assert (claim.uncertainty, claim.unit) == (None, None)
    assert str(claim.provenance) == "paper.tex:12"


def test_an_uncertainty_is_read_with_its_value():
    claim = only(cell("Threenorm", "Forest"))
    assert (claim.value, claim.uncertainty, claim.uncertainty_kind) == (17.5, 0.3, "unstated")


def test_a_part_of_a_cell_is_one_of_its_numbers():
    assert only(cell("Waveform", "Both")).value == 1.5
    assert only(cell("Waveform", "Both", part=1)).value == 2.5


@pytest.mark.parametrize(
    ("quote", "value", "quantum"),
    [("falls to 3.9 percent", 3.9, 0.1), ("was 5.25", 5.25, 0.01), ("then 3.9", 3.9, 0.1)],
)
def test_a_quote_gives_the_number_in_it(quote, value, quantum):
    claim = only(f"{{quote: {quote}}}")
    assert (claim.value, claim.quantum) == (value, quantum)
    assert claim.provenance.file == "paper.tex"


@pytest.mark.parametrize(
    ("value", "quantum", "text"),
    [
        (3.9, 0.1, "3.9"),
        (4.0, 0.1, "4.0"),
        (12345678, 1, "12345678"),
        (1200, 100, "1200"),
        (0.00012, 0.00001, "0.00012"),
    ],
)
def test_a_stated_value_is_what_a_person_said(value, quantum, text):
    claim = only(f"{{value: {value}, quantum: {quantum}, uncertainty: 0.5, source: an author}}")
    assert (claim.value, claim.quantum, claim.text) == (value, quantum, text)
    assert (claim.uncertainty, claim.uncertainty_kind, claim.provenance) == (0.5, "unstated", None)


def test_a_claim_without_a_number_has_none():
    claim = only("{value: null, source: figure 3}")
    assert (claim.value, claim.quantum, claim.text) == (None, None, "")


def test_what_the_task_says_of_a_claim_is_kept():
    claim = only(
        cell("Twonorm", "Forest"),
        "dataset: d, method: m, direction: lower, statistic: median, over: draws, n_runs: 9, "
        "unit: percent",
    )
    assert (claim.dataset, claim.method, claim.direction, claim.statistic) == (
        "d",
        "m",
        "lower",
        "median",
    )
    assert (claim.over, claim.n_runs, claim.unit, claim.key) == ("draws", 9, "percent", False)


@pytest.mark.parametrize(
    ("reported", "told"),
    [
        (cell("Waveform", "Note"), "is not a number"),
        (cell("Twonorm", "Note"), "'< 0.1' is a bound or an estimate, not a value."),
        (cell("Threenorm", "Note"), "'~5' is a bound or an estimate, not a value."),
        (cell("Waveform", "Forrest"), "there is no column 'Forrest'"),
        (cell("Ringnorm", "Forest"), "there is no row 'Ringnorm'"),
        (cell("Twonorm", "Forest", "Table 7"), "there is no 'Table 7'"),
        (cell("Twonorm", "Forest", part=1), "has no part 1"),
        ("{quote: no such words}", "the paper has no such text"),
        ("{quote: 'falls to 3.9', occurrence: 2}", "the quote occurs 1 time, not 2"),
    ],
)
def test_an_address_without_a_value_is_refused(reported, told):
    with pytest.raises(AddressError) as error:
        only(reported)
    assert str(error.value).startswith("claim a: ")
    assert told in str(error.value)


def test_a_bound_in_running_text_is_no_value():
    text = "The error stays below < 0.1 percent."
    paper = PAPER.model_copy(update={"sections": (Section(title="R", text=text),)})
    with pytest.raises(AddressError, match="is a bound or an estimate"):
        only("{quote: stays below < 0.1}", paper=paper)


def test_all_faulty_claims_are_told_at_once_and_only_those():
    with pytest.raises(AddressError) as error:
        extract_claims(
            PAPER,
            task(
                ("a", cell("Waveform", "Note")),
                ("b", cell("Waveform", "Forest")),
                ("c", cell("Nothing", "Forest")),
                ("d", "{quote: no such words}"),
            ),
        )
    told = str(error.value).splitlines()
    assert [line.split(":")[0] for line in told] == ["claim a", "claim c", "claim d"]


def test_a_task_without_claims_is_refused():
    with pytest.raises(BundleError, match=r"task\.yaml: names no claims"):
        extract_claims(PAPER, Task())


# --- units --------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["percent", "'%'", "pct", "Percent"])
def test_one_unit_has_several_names(unit):
    claim = only(cell("Threenorm", "Tree"), f"unit: {unit}")
    assert (claim.value, claim.unit) == (38.4, unit.strip("'"))


def test_a_unit_other_than_the_printed_one_is_refused():
    """Read as a fraction, 38.4 % would be a hundred times too large."""
    with pytest.raises(AddressError) as error:
        only(cell("Threenorm", "Tree"), "unit: fraction")
    assert str(error.value) == (
        "claim a: Table 2, row 'Threenorm', column 'Tree': the paper prints '38.4 %' in percent, "
        "the task says fraction. Write `unit: percent`."
    )


def test_pairs_must_be_of_one_unit_and_metric():
    claims = (
        ("a", cell("Twonorm", "Forest"), "unit: percent"),
        ("b", cell("Twonorm", "Tree"), "unit: seconds"),
    )
    with pytest.raises(BundleError, match="compares error in percent with error in seconds"):
        extract_claims(PAPER, task(*claims, pairs="ablations: [{id: p, full: a, variant: b}]\n"))


# --- pairs --------------------------------------------------------------------------------------


def pair(full, variant, expected="", kind="ablations"):
    given = task(
        ("a", full),
        ("b", variant),
        pairs=f"{kind}: [{{id: p, full: a, variant: b{expected}}}]\n",
    )
    return extract_claims(PAPER, given).pairs[0]


def stated(value, quantum):
    return f"{{value: {value!r}, quantum: {quantum}, source: x}}"


@pytest.mark.parametrize(
    ("full", "variant", "sign"),
    [
        (cell("Waveform", "Forest"), cell("Waveform", "Tree"), 1),
        (cell("Waveform", "Tree"), cell("Waveform", "Forest"), -1),
        (cell("Threenorm", "Forest"), cell("Threenorm", "Single"), 1),  # 17.5, 17.7: beyond ±0.1
    ],
)
def test_the_sign_of_a_pair_is_variant_minus_full(full, variant, sign):
    found = pair(full, variant)
    assert (found.expected_sign, found.excluded, found.kind) == (sign, None, PairKind.ABLATION)
    assert found.expected_difference * sign > 0


@pytest.mark.parametrize(
    ("full", "variant"),
    [
        (cell("Twonorm", "Forest"), cell("Twonorm", "Single")),  # 3.9, 3.9
        (cell("Waveform", "Forest"), cell("Waveform", "Single")),  # 17.2, 17.3: ±0.05 each
        (stated(12345678.2, 0.1), stated(12345678.3, 0.1)),  # the same, far from zero
        (stated(0.3, 0.1), stated(0.2, 0.1)),
        (stated(17, 1), stated(17.5, 0.1)),  # 17 may be 17.45
        (stated(1200, 100), stated(1250, 10)),
    ],
)
def test_a_difference_within_rounding_is_excluded_by_name(full, variant):
    found = pair(full, variant)
    assert found.expected_sign is None
    assert re.search(r"within (their )?rounding \(±[0-9.]+\)", found.excluded)


@pytest.mark.parametrize(
    ("full", "variant"),
    [
        (stated(17.2, 0.1), stated(17.4, 0.1)),
        (stated(12345678.2, 0.1), stated(12345678.4, 0.1)),
        (stated(17, 1), stated(17.6, 0.1)),
        (stated(1e-12, 1e-13), stated(1.2e-12, 1e-13)),
    ],
)
def test_a_difference_beyond_rounding_counts(full, variant):
    assert pair(full, variant).expected_sign == 1


@given(st.integers(-(10**9), 10**9), st.integers(-5, 5), st.integers(0, 6))
def test_one_unit_of_the_last_digit_is_the_limit_at_any_size(number, steps, decimals):
    """Printed with so many decimals, values `steps` last digits apart."""
    quantum = f"1e-{decimals}"
    full = f"{{value: {number / 10**decimals!r}, quantum: {quantum}, source: x}}"
    variant = f"{{value: {(number + steps) / 10**decimals!r}, quantum: {quantum}, source: x}}"
    found = pair(full, variant)
    assert (found.excluded is not None) == (abs(steps) <= 1)
    if abs(steps) > 1:
        assert found.expected_sign == (1 if steps > 0 else -1)


def test_a_sign_against_the_papers_values_is_refused():
    full, variant = cell("Waveform", "Forest"), cell("Waveform", "Tree")
    assert pair(full, variant, ", expected_sign: 1").expected_sign == 1
    with pytest.raises(BundleError) as error:
        pair(full, variant, ", expected_sign: -1")
    assert str(error.value) == (
        "task.yaml: ablation p: expects the sign -1, but the paper prints 34.0 against 17.2."
    )


def test_claims_without_values_need_the_sign_said():
    nothing = "{value: null, source: figure 3}"
    assert pair(nothing, nothing, ", expected_sign: -1").expected_sign == -1
    with pytest.raises(BundleError, match="has claims without values and no `expected_sign`"):
        pair(nothing, cell("Waveform", "Tree"))


def test_a_comparison_is_kept_apart_from_ablations():
    found = pair(cell("Waveform", "Forest"), cell("Waveform", "Tree"), kind="comparisons")
    assert found.kind is PairKind.COMPARISON


# --- the main claim -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marks", "main", "key"),
    [
        (("", "", ""), "a", ("a", "b", "c")),
        (("", "key: true", "key: true"), "b", ("b", "c")),
        (("", "key: true", "key: true, main: true"), "c", ("b", "c")),
    ],
)
def test_the_main_claim_is_the_marked_one_or_the_first_key_claim(marks, main, key):
    claims = [
        (name, cell("Twonorm", "Forest"), mark or "key: false")
        for name, mark in zip("abc", marks, strict=True)
    ]
    found = extract_claims(PAPER, task(*claims))
    assert (found.main, tuple(claim.id for claim in found.key_claims)) == (main, key)
    assert (found.proposed_by, found.claim("b").id) == ("task.yaml", "b")
    with pytest.raises(KeyError):
        found.claim("z")
