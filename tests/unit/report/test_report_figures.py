"""What is drawn lies where the numbers say, and the rebuilt table is the paper's."""

from __future__ import annotations

import base64
import itertools
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.report.breiman import breiman_claims, breiman_report, breiman_table, verdict_of

from repro_pipeline.paper.model import Cell, Table
from repro_pipeline.report.figures import PANEL, denominator, forest, panels
from repro_pipeline.report.grid import rebuilt
from repro_pipeline.report.model import ClaimTable
from repro_pipeline.report.plots import forest_markdown
from repro_pipeline.report.rows import ClaimRow, claim_rows
from repro_pipeline.scoring.rubric import MetricParityRule
from repro_pipeline.scoring.sensitivity import movements

RULE = MetricParityRule()
CLAIM = breiman_claims().claims[0]


def row(reported: float | None, values: list[float], *, quantum: float | None = 0.1) -> ClaimRow:
    """A claim of this reported value whose seeds gave these values."""
    printed = "" if reported is None else f"{reported:g}"
    given_value = {"value": reported, "text": printed, "quantum": quantum}
    claim = CLAIM.model_copy(update=given_value)
    judged = claim if reported else claim.model_copy(update={"value": 1.0, "quantum": 0.1})
    verdict = verdict_of(judged, dict(enumerate(values)))
    words = str(verdict.verdict).replace("_", " ")
    return ClaimRow(claim, verdict, "A claim", printed, "", "", "", words, (), ())


def spread(middle: float, by: float = 0.001) -> list[float]:
    return [middle * (1 + by * step) for step in (-1, 0, 1)]


def test_a_value_at_the_tolerance_lies_on_the_edge_of_the_band():
    drawn = forest((row(20.0, spread(21.0)), row(20.0, spread(19.0)), row(20.0, [20.0] * 3)), RULE)
    left, width = drawn.band
    above, below, equal = drawn.marks
    assert above.x == pytest.approx(left + width, abs=0.02)
    assert below.x == pytest.approx(left, abs=0.02)
    assert equal.x == 50
    assert above.text == "+5.0\u00a0%"


@given(st.lists(st.floats(0.5, 1.5), min_size=1, max_size=8), st.sampled_from([0.01, 0.05, 0.2]))
def test_marks_stand_in_the_order_of_the_values_and_within_their_intervals(ratios, tolerance):
    rows = tuple(row(40.0, spread(40.0 * ratio)) for ratio in ratios)
    marks = forest(rows, MetricParityRule(threshold=tolerance)).marks
    ordered = sorted(marks, key=lambda mark: mark.row.verdict.value)
    assert [mark.x for mark in ordered] == sorted(mark.x for mark in marks)
    for mark in marks:
        assert 0 <= mark.low <= mark.x <= mark.high <= 100


def test_a_far_value_neither_squeezes_the_others_nor_hides():
    drawn = forest((row(20.0, spread(2000.0)), row(20.0, spread(20.6))), RULE)
    far, near = drawn.marks
    assert (far.beyond, far.x) == ("high", 100)
    assert far.text == "+9,900\u00a0%"
    assert near.beyond == ""
    assert near.x - 50 > 4
    assert forest((row(20.0, spread(0.1)),), RULE).marks[0].beyond == "low"


def test_an_image_places_claims_as_the_page_does():
    rows = (row(20.0, spread(20.6)), row(20.0, spread(2000.0)), row(20.0, spread(0.1)))
    scores = breiman_report().scores
    shown = scores.model_copy(update={"verdicts": tuple(one.verdict for one in rows)})
    image = base64.b64decode(forest_markdown(shown, RULE.threshold).split("base64,")[1][:-1])
    marks = re.findall(r'<path d="M([\d.]+) \d+(\w[^"]*)" fill', image.decode())
    left, right = (float(marks[n][0]) for n in (2, 1))
    assert float(marks[0][0]) == pytest.approx(
        left + (right - left) * forest(rows, RULE).marks[0].x / 100, abs=0.1
    )
    assert len({shape for _, shape in marks}) == 3, "an arrow to either side, and a marker"


def test_nothing_is_drawn_without_a_value_or_a_number():
    unrun, wordless = forest((row(20.0, []), row(None, spread(3.0), quantum=None)), RULE).marks
    assert unrun.x is wordless.x is None
    assert unrun.text == "no value"
    assert wordless.text == "no reported number"


def test_the_denominator_is_that_of_the_relative_error():
    assert denominator(row(-4.0, []).claim, RULE) == 4.0
    assert denominator(row(0.0, [], quantum=0.1).claim, RULE) == 0.05
    assert denominator(row(0.0, []).claim, MetricParityRule(eps=2.0)) == 2.0
    assert denominator(row(0.0, [], quantum=None).claim, RULE) is None


@pytest.mark.parametrize("tolerance", [1e-9, 0.05, 0.5, 0.999])
def test_the_axis_has_a_few_ticks_at_any_tolerance(tolerance):
    drawn = forest((row(20.0, spread(20.0)),), MetricParityRule(threshold=tolerance))
    positions = [at for at, _ in drawn.ticks]
    assert 3 <= len(positions) <= 7
    assert positions == sorted(set(positions))
    assert (50, "0") in drawn.ticks
    assert all(near + 15 < far for near, far in itertools.pairwise(positions)), "labels collide"


def test_equal_values_lie_on_the_diagonal_of_the_scatter_plot():
    rows = tuple(row(value, [value] * 3) for value in (2.0, 20.0, 60.0))
    (panel,) = panels(rows, RULE)
    assert panel.logarithmic
    for point in panel.points:
        assert point.y == pytest.approx(PANEL - point.x)
    above = panels((*rows, row(20.0, spread(25.0))), RULE)[0].points
    assert any(point.y < PANEL - point.x - 3 for point in above)


@pytest.mark.parametrize("values", [(0.0, 5.0), (-3.0, 4.0), (7.0, 7.0), (1e-5, 1e5)])
@pytest.mark.parametrize("tolerance", [0.05, 0.9])
def test_the_scatter_plot_stays_within_its_frame(values, tolerance):
    rows = tuple(row(value, spread(value)) for value in values)
    (panel,) = panels(rows, MetricParityRule(threshold=tolerance))
    for point in panel.points:
        assert 0 <= point.x <= PANEL
        assert 0 <= point.y <= PANEL
    assert all(math.isfinite(float(part)) for part in panel.band.replace(",", " ").split())
    assert panel.ticks


def test_each_metric_and_unit_has_its_own_scatter_plot():
    other = row(3.0, spread(3.0))
    other = ClaimRow(
        other.claim.model_copy(update={"metric": "rmse", "unit": None}),
        *list(vars(other).values())[1:],
    )
    titles = [panel.title for panel in panels((row(2.0, spread(2.0)), other), RULE)]
    assert titles == ["test error, %", "rmse"]


def named(metric: str, unit: str | None, value: float = 2.0) -> ClaimRow:
    one = row(value, spread(value))
    claim = one.claim.model_copy(update={"metric": metric, "unit": unit})
    return ClaimRow(claim, *list(vars(one).values())[1:])


def test_a_claim_without_a_unit_stands_with_those_of_its_metric():
    rows = (named("steps", "steps", 2363.0), named("steps", None, 1000.0))
    (panel,) = panels(rows, RULE)
    assert (panel.title, len(panel.points)) == ("steps", 2)
    two = (named("time", "s"), named("time", "ms"), named("time", None))
    assert [p.title for p in panels(two, RULE)] == ["time, s", "time, ms", "time"]


def test_the_axis_has_room_for_the_longest_tick():
    (short,), (long,) = (panels((named("m", None, v),), RULE) for v in (2.0, 234567.0))
    longest = [max(len(text) for _, text in panel.ticks) for panel in (short, long)]
    assert long.margin - short.margin == 7 * (longest[1] - longest[0]) > 0


def test_labels_of_points_in_one_place_do_not_overlap():
    rows = tuple(row(4.9, spread(4.5)) for _ in range(3))
    (panel,) = panels((*rows, row(38.0, spread(38.0))), RULE)
    heights = sorted(point.label_y for point in panel.points if point.label)
    assert len(heights) == 3
    assert all(low - high >= 14 for high, low in itertools.pairwise(heights))


def test_a_spanning_cell_is_one_cell_and_claims_are_never_swallowed():
    def cell(text: str, *, spanned: bool = False) -> Cell:
        return Cell(text=text, spanned=spanned)

    table = Table(
        index=1,
        header_rows=2,
        grid=(
            (cell(""), cell("Error"), cell("Error", spanned=True), cell("Time")),
            (cell("", spanned=True), cell("train"), cell("test"), cell("Time", spanned=True)),
            (cell("A"), cell("5"), cell("5", spanned=True), cell("1")),
        ),
    )
    claims = breiman_report()
    rows = claim_rows(claims.evidence.claims, claims.scores)[:1]
    place = {rows[0].claim.id: (2, 2)}
    first, second, body = rebuilt(ClaimTable(table=table, places=place), rows)
    assert [(c.text, c.rows, c.columns, c.scope) for c in first] == [
        ("", 2, 1, ""),
        ("Error", 1, 2, "colgroup"),
        ("Time", 2, 1, "col"),
    ]
    assert [c.text for c in second] == ["train", "test"]
    assert [(c.text, c.columns, len(c.claims)) for c in body] == [
        ("A", 1, 0),
        ("5", 1, 0),
        ("5", 1, 1),
        ("1", 1, 0),
    ]


def test_the_rebuilt_table_covers_each_place_once():
    data = breiman_report()
    lines = rebuilt(breiman_table(), claim_rows(data.evidence.claims, data.scores))
    assert sum(cell.rows * cell.columns for line in lines for cell in line) == 5 * 5
    assert sum(len(cell.claims) for line in lines for cell in line) == 16


def test_movement_is_the_paired_difference_and_knows_no_reported_value():
    evidence = breiman_report().evidence
    found = {(item.experiment.id, item.claim): item for item in movements(evidence)}
    item = found["ringnorm-half-mean", "ringnorm-selection"]
    runs = {(run.experiment, run.seed): run.values for run in evidence.runs}
    gaps = [
        runs["ringnorm-half-mean", seed][item.claim] - runs["ringnorm", seed][item.claim]
        for seed in evidence.seeds
    ]
    assert item.difference == pytest.approx(sum(gaps) / 5)
    assert item.n == 5
    assert item.interval95[0] < item.difference < item.interval95[1]
    assert found["threenorm-leaf-of-five", "threenorm-selection"].n == 4
    other = evidence.claims.model_copy(
        update={
            "claims": tuple(c.model_copy(update={"value": 1.0}) for c in evidence.claims.claims)
        }
    )
    assert movements(evidence.model_copy(update={"claims": other})) == movements(evidence)


def test_a_planned_sensitivity_experiment_that_did_not_run_is_listed():
    evidence = breiman_report().evidence
    none = tuple(run for run in evidence.runs if run.experiment != "ringnorm-half-mean")
    readings = [
        item.reading
        for item in movements(evidence.model_copy(update={"runs": none}))
        if item.experiment.id == "ringnorm-half-mean"
    ]
    assert readings == ["not run"] * 4
