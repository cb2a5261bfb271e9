"""Long lists in sentences are folded, and nothing of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.report.breiman import breiman_report

from repro_pipeline.ledger.events import WarningRecorded
from repro_pipeline.report.fold import folded
from repro_pipeline.report.html import render_html

NAMES = [f"gap-{n}" for n in range(14)]


def test_a_long_list_shows_its_first_items_and_counts_the_others():
    told = folded(f"The paper does not say, and no source at hand does: {', '.join(NAMES)}.")
    assert told.hidden == tuple(NAMES[5:])
    assert told.brief("here") == (
        "The paper does not say, and no source at hand does: gap-0, gap-1, gap-2, gap-3, gap-4, "
        "and 9 more (here)."
    )


def test_what_follows_the_list_stays():
    told = folded(f"'a': No such rows: {'; '.join(NAMES)}. Write others, or none.")
    assert told.brief("here").endswith("gap-4; and 9 more (here). Write others, or none.")


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "No experiment covers: a, b, c.",
        "One, two, three, four, five, six, seven, eight, nine: a colon behind them.",
        "Kept: a. Then one, two, three, four, five, six, seven, eight, nine.",
    ],
)
def test_other_sentences_stay_as_they_are(sentence):
    assert folded(sentence).brief("here") == sentence


@given(st.text("ab:,;. ", max_size=80))
def test_no_word_is_lost(sentence):
    told = folded(sentence)
    mark = "; " if told.shown.endswith(";") else ", "
    hidden = f" {mark.join(told.hidden)}{told.rest}" if told.hidden else ""
    assert f"{told.shown}{hidden}" == sentence


def test_the_page_folds_it_and_keeps_every_item():
    sentence = f"Not covered: {', '.join(NAMES)}."
    warning = WarningRecorded(code="claims_not_covered", sentence=sentence, stage="baseline")
    data = breiman_report()
    page = render_html(data.model_copy(update={"warnings": (warning,)}))
    assert "<summary>and 9 more</summary>" in page
    assert all(name in page for name in NAMES)
