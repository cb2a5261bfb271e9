"""Numbers as people read them, and tables for the terminal and for Markdown."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from unit.report.breiman import breiman_claims, breiman_report, hostile_report

from repro_pipeline.bundle.terms import Statistic
from repro_pipeline.report import words
from repro_pipeline.report.html import render_html
from repro_pipeline.report.markdown import ablations_markdown
from repro_pipeline.report.markdown_report import render_markdown
from repro_pipeline.report.plots import forest_markdown
from repro_pipeline.report.text import claims_rows
from repro_pipeline.scoring.observations import UNCOVERED

CLAIM = breiman_claims().claims[0]


@pytest.mark.parametrize(
    ("value", "quantum", "text"),
    [
        (17.4, 0.1, "17.40"),
        (17.456, 0.1, "17.46"),
        (93.0, 1.0, "93.0"),
        (-0.004, 0.1, "0.00"),
        (-792.23, 0.1, "−792.23"),
        (0.0867, 0.0001, "0.08670"),
        (1234.5, 100.0, "1234"),
        (0.123456, None, "0.1235"),
        (1.2e-8, 1e-9, "1.2e−08"),
        (2.5e12, 0.1, "2.5e+12"),
    ],
)
def test_a_reproduced_number_has_one_digit_more_than_the_printed_one(value, quantum, text):
    assert words.number(value, quantum) == text


@given(st.floats(-1e6, 1e6), st.sampled_from([10.0, 1.0, 0.1, 0.001]))
def test_a_number_is_shown_to_within_half_of_its_last_digit(value, quantum):
    shown = float(words.number(value, quantum).replace("−", "-"))
    assert abs(shown - value) <= 0.051 * quantum + 0.5 * (quantum > 1) + 1e-9


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0 %"), (0.0123, "1.2 %"), (0.00012, "0.01 %"), (9.876, "988 %"), (99.0, "9,900 %")],
)
def test_a_fraction_is_shown_in_per_cent(value, text):
    assert words.percent(value).replace("\u00a0", " ") == text
    assert words.percent(-value, signed=True)[0] in "−0"
    assert words.percent(value, signed=True)[0] in "+0"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.21, "0.21 s"),
        (0.97, "1.0 s"),
        (9.96, "10 s"),
        (59.97, "1 min"),
        (391, "6 min 31 s"),
        (3600, "1 h"),
        (7384, "2 h 3 min"),
        (200000, "2 d 7 h"),
    ],
)
def test_durations(seconds, text):
    assert words.duration(seconds) == text


@given(st.floats(0, 1e9))
def test_no_duration_is_without_words(seconds):
    assert words.duration(seconds)


def test_a_reported_value_stands_as_printed():
    assert words.reported(CLAIM) == "17.8"
    assert words.reported(CLAIM.model_copy(update={"value": None, "text": ""})) == "no number"
    stated = CLAIM.model_copy(update={"text": "", "value": 3.0, "quantum": 0.1})
    assert words.reported(stated) == "3.0"
    assert words.reported(CLAIM.model_copy(update={"uncertainty": 0.4})) == "17.8 ± 0.4"
    printed = CLAIM.model_copy(update={"text": "17.8 (0.4)", "uncertainty": 0.4})
    assert words.reported(printed) == "17.8 (0.4)"


def test_a_statistic_that_is_no_mean_is_named_and_the_mean_shown_beside_it():
    verdict = breiman_report().scores.verdicts[0]
    median = CLAIM.model_copy(update={"statistic": Statistic.MEDIAN})
    assert words.reproduced(CLAIM, verdict) == "17.70 ± 0.22"
    assert words.reproduced(median, verdict) == "median 17.70 (mean 17.70 ± 0.22)"
    inside_runs = median.model_copy(update={"over": "data sets"})
    assert words.reproduced(inside_runs, verdict) == "17.70 ± 0.22"


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        (None, "–"),
        ((9.98, 10.02), "9.98 to 10.02"),
        ((9.9991, 10.0012), "9.999 to 10.001"),
        ((10.0, 10.0), "10.00"),
        ((-1e-12, 1e-12), "-1e-12 to 1e-12"),
    ],
)
def test_the_ends_of_an_interval_are_told_apart_unless_it_has_no_width(ends, text):
    assert words.span(ends, 0.1) == text


def test_a_spread_is_never_shown_as_none_where_there_is_one_nor_as_one_where_there_is_none():
    verdict = breiman_report().scores.verdicts[0]
    small = verdict.model_copy(update={"sd": 0.0031})
    assert words.reproduced(CLAIM, small) == "17.70 ± 0.0031"
    for equal in ("deterministic", "tied"):
        same = verdict.model_copy(update={"sd": 3e-17, equal: True})
        assert words.reproduced(CLAIM, same) == "17.70"
    once = verdict.model_copy(update={"sd": None})
    assert words.reproduced(CLAIM, once) == "17.70"


def test_runs_without_spread_are_said_and_counted():
    data = breiman_report()
    first, *others = data.scores.verdicts
    for update, said in (
        ({"deterministic": True}, "deterministic (5 equal runs)"),
        ({"deterministic": True, "n": 1}, "deterministic"),
        ({"tied": True}, "same value in all 5 seeds"),
    ):
        verdicts = (first.model_copy(update=update), *others)
        scores = data.scores.model_copy(update={"verdicts": verdicts})
        assert claims_rows(scores, data.evidence.claims)[1][-1].endswith(f", {said}")


def test_no_seed_is_counted_where_no_run_was_planned():
    verdict = breiman_report().scores.verdicts[0]
    none = {"n": 0, "planned": 1}
    uncovered = verdict.model_copy(update={**none, "missing": (UNCOVERED,)})
    failed = verdict.model_copy(update={**none, "missing": ("seed 1 failed",)})
    assert [words.seeds(one) for one in (verdict, failed, uncovered)] == [
        "5/5",
        "0/1",
        "not planned",
    ]


def test_every_table_of_claims_says_which_interval_is_which():
    data = breiman_report()
    text = " ".join(render_html(data).replace("\u00a0", " ").split())
    for shown in (text, render_markdown(data)):
        assert words.SPREAD in shown and words.INTERVALS in shown
    assert (
        "90 % interval"
        in base64.b64decode(forest_markdown(data.scores, 0.05).split("base64,")[1][:-1]).decode()
    )


def test_claims_of_one_data_set_and_method_are_told_apart_by_their_metric():
    twin = CLAIM.model_copy(update={"id": "twin", "metric": "train_error"})
    names = words.labels((CLAIM, twin))
    assert names == {
        CLAIM.id: "Waveform · AdaBoost · test_error",
        "twin": "Waveform · AdaBoost · train_error",
    }
    nameless = CLAIM.model_copy(update={"dataset": None, "method": None})
    assert words.labels((nameless,)) == {CLAIM.id: CLAIM.id}
    alike = [CLAIM.model_copy(update={"id": name, "method": None}) for name in ("one", "two")]
    assert words.labels(tuple(alike)) == {"one": "Waveform · one", "two": "Waveform · two"}


@given(
    st.lists(
        st.tuples(*[st.sampled_from([None, "a", "b", "\u202e"])] * 2, st.sampled_from("mn")),
        max_size=6,
    )
)
def test_no_two_claims_are_called_alike(parts):
    claims = tuple(
        CLAIM.model_copy(
            update={"id": f"c{index}", "dataset": part[0], "method": part[1], "metric": part[2]}
        )
        for index, part in enumerate(parts)
    )
    names = words.labels(claims)
    assert list(names) == [claim.id for claim in claims]
    assert len(set(names.values())) == len(claims)
    assert all(names.values())


def test_rows_for_the_terminal_begin_with_a_header_and_hold_every_claim():
    data = breiman_report()
    header, *rows = claims_rows(data.scores, data.evidence.claims)
    assert header == ("claim", "reported", "reproduced", "seeds", "error", "verdict")
    assert rows[4] == (
        "twonorm-adaboost ★",
        "4.9 %",
        "4.60 ± 0.12",
        "5/5",
        "6.1\u00a0%",
        "inconclusive",
    )
    assert rows[13][-1] == "not reproduced, better than reported"
    assert rows[3][-1] == "reproduced, unverified"
    assert len(rows) == 16


def test_no_text_steers_a_terminal():
    assert words.plain("a\x1b[31mb\r\nc\u202ed\x9b") == "a [31mb cd"
    data = hostile_report()
    for row in claims_rows(data.scores, data.evidence.claims):
        assert all(text.replace("\u00a0", " ").isprintable() for text in row)


@pytest.mark.parametrize("make", [breiman_report, hostile_report])
def test_markdown_is_one_table_whatever_the_texts_hold(make):
    data = make()
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(
        ablations_markdown(data.scores, data.evidence.claims)
    )
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == 1
    assert kinds.count("tr_open") == 12 + 1
    assert kinds.count("td_open") == 12 * 8
    inside = [child.type for token in tokens for child in token.children or ()]
    assert set(inside) <= {"text", "text_special"}
    texts = "".join(child.content for token in tokens for child in token.children or ())
    assert ("single</style><b>input|*x*" in texts) == (make is hostile_report)


def test_without_pairs_markdown_says_so():
    data = breiman_report()
    claims = data.evidence.claims.model_copy(update={"pairs": ()})
    assert "no ablation" in ablations_markdown(data.scores, claims)
