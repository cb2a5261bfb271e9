"""Align scores: their scale, their agreement, quotes that are held against files, and no score for none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.agent.align_judge import Points, Sample, gather_alignment
from repro_pipeline.asking.questions import shown
from repro_pipeline.errors import UserError
from repro_pipeline.evidence.alignment import (
    SCALES,
    Alignment,
    Checked,
    Judgement,
    KeyPoint,
    Level,
    LevelEvidence,
)
from repro_pipeline.evidence.spans import CodeSpan, code_fault
from repro_pipeline.scoring.align import NO_JUDGE, align_measures, krippendorff_alpha, level_score

PAPER = "We train with a learning rate of 0.1. The loss is the mean of squares, as usual."
CODE = {"train.py": "rate = 0.1\nloss = mean_of_squares(x)\n", "README.md": "a note about it\n"}
REFERENCE = {"main.py": "learning_rate = 0.1\n"}


def test_every_level_sums_to_a_hundred():
    assert {level: (scale.points, scale.worth) for level, scale in SCALES.items()} == {
        Level.PAPER: (5, 20),
        Level.CODE: (4, 25),
        Level.MIXED: (5, 20),
    }
    assert all(scale.points * scale.worth == 100 for scale in SCALES.values())


# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", example C: twelve units, four
# observers, values missing; the paper gives 0.849 for interval data.
PUBLISHED = (
    (1, 1, 1),
    (2, 2, 3, 2),
    (3, 3, 3, 3),
    (3, 3, 3, 3),
    (2, 2, 2, 2),
    (1, 2, 3, 4),
    (4, 4, 4, 4),
    (1, 1, 2, 1),
    (2, 2, 2, 2),
    (5, 5, 5),
    (1, 1),
    (3,),
)


def test_alpha_is_the_published_one():
    assert krippendorff_alpha(PUBLISHED) == pytest.approx(0.849, abs=5e-4)


def test_alpha_by_hand_and_where_there_is_none():
    # Two units, two samples: observed 2 * 4 = 8; of all 12 ordered pairs of 0, 2, 10, 10:
    # 2 * (4 + 100 + 100 + 64 + 64 + 0) = 664; alpha = 1 - 3 * 8 / 664.
    assert krippendorff_alpha([(0, 2), (10, 10)]) == pytest.approx(1 - 24 / 664)
    assert krippendorff_alpha([(5, 5), (5, 5)]) is None
    assert krippendorff_alpha([(5,), (), (7,)]) is None
    assert krippendorff_alpha([(0, 0), (20, 20)]) == 1


units = st.lists(st.lists(st.integers(0, 20), max_size=4), max_size=6)


@given(units, st.integers(1, 5), st.integers(-50, 50))
def test_alpha_is_at_most_one_and_heeds_no_scale(values, factor, shift):
    alpha = krippendorff_alpha(values)
    moved = krippendorff_alpha([[factor * v + shift for v in unit] for unit in values])
    assert (alpha is None) == (moved is None)
    if alpha is not None:
        assert alpha <= 1
        assert moved == pytest.approx(alpha)


def judged(point, points, fault=None):
    span = CodeSpan(file="train.py", first=1, last=1, quote="rate = 0.1")
    made = Judgement(point=point, evidence=(span,), reasoning="so", points=points)
    return Checked(judgement=made, fault=fault)


def level(*samples, wanted=None, stopped=None):
    return LevelEvidence(
        level=Level.PAPER, samples=samples, wanted=wanted or len(samples), stopped=stopped
    )


def test_a_point_is_the_mean_of_its_samples_and_a_level_their_sum():
    first = tuple(judged(n, 20) for n in range(1, 6))
    second = tuple(judged(n, 10) for n in range(1, 6))
    scored = level_score(level(first, second))
    assert scored.points == (15, 15, 15, 15, 15)
    assert scored.score == 75


def test_void_judgements_count_for_nothing_and_are_told():
    first = tuple(judged(n, 20, fault="the quote does not stand there") for n in range(1, 6))
    second = tuple(judged(n, 10) for n in range(1, 6))
    scored = level_score(level(first, second))
    assert (scored.score, scored.void) == (50, 5)
    assert "5 judgements void" in scored.reason
    # With a point that no judgement counts for the level has no score: not a lower one.
    third = (*second[:4], judged(5, 20, fault="made up"))
    scored = level_score(level(first, third))
    assert scored.score is None
    assert "no judgement counts for point 5" in scored.reason


def test_without_a_judge_nothing_is_scored_and_nothing_is_zero():
    for measure in align_measures(None):
        assert measure.value is None
        assert measure.evidence == NO_JUDGE
    stopped = Alignment(levels=(level(stopped="Asking stopped: no key."),))
    assert [one.value for one in align_measures(stopped)] == [None, None, None]
    assert align_measures(stopped)[0].evidence == "Asking stopped: no key."


# --- quotes


@pytest.mark.parametrize(
    ("span", "fault"),
    [
        (("train.py", 1, 1, "rate = 0.1"), None),
        (("train.py", 1, 2, "rate  =  0.1\n  loss = mean_of_squares(x)"), None),
        (("train.py", 2, 2, "rate = 0.1"), None),  # miscounted by a line
        (("train.py", 1, 1, "rate = 0.2"), "does not stand"),
        (("other.py", 1, 1, "rate = 0.1"), "no file"),
        (("train.py", 40, 41, "rate = 0.1"), "no such lines"),
        (("train.py", 2, 1, "rate = 0.1"), "no such lines"),
        (("train.py", 1, 1, "0.1"), "too short"),
    ],
)
def test_a_span_is_evidence_only_where_its_quote_stands(span, fault):
    file, first, last, quote = span
    found = code_fault(CodeSpan(file=file, first=first, last=last, quote=quote), CODE)
    assert found is None if fault is None else fault in found


def test_files_are_shown_whole_the_most_telling_first():
    files = {"a.py": "nothing of note\n" * 30, "b.py": "squares = 1\n", "c.py": "x\n" * 30}
    text, left_out = shown(files, "the mean of squares", 300)
    assert "squares = 1" in text
    assert "   1 squares" in text
    assert left_out == ("a.py",)


# --- asking


def scripted(points, samples):
    """An `ask` that answers from lists; an error among them is raised."""
    asked = []

    def ask(*, prompt, values, answer_model, check):
        asked.append((prompt, values))
        made = (points if answer_model is Points else samples).pop(0)
        if isinstance(made, Exception):
            raise made
        if fault := check(made):
            raise UserError(fault)
        return made

    return ask, asked


def key_points(quote="a learning rate of 0.1"):
    return Points(
        points=tuple(KeyPoint(paper_quote=quote, statement=f"It is {n}.") for n in range(5))
    )


def sample(points, quote="rate = 0.1", count=5):
    span = {"file": "train.py", "first": 1, "last": 1, "quote": quote}
    return Sample(
        judgements=[
            {"point": n, "evidence": [span], "reasoning": "so", "points": points}
            for n in range(1, count + 1)
        ]
    )


def scores_of(alignment):
    return {one.id: one.value for one in align_measures(alignment)}


def test_the_paper_level_is_asked_once_and_judged_k_times():
    ask, asked = scripted([key_points()], [sample(20), sample(16), sample(18)])
    found = gather_alignment(ask, PAPER, CODE)
    assert [prompt for prompt, _ in asked] == ["judge-points", *["judge-align"] * 3]
    assert scores_of(found) == {"align_paper": 90, "align_code": None, "align_mixed": None}
    assert "no reference code" in found.levels[1].stopped
    # The same evidence gives the same scores without another question.
    assert scores_of(Alignment.model_validate_json(found.model_dump_json()))["align_paper"] == 90


def test_all_levels_with_reference_code():
    span = CodeSpan(file="main.py", first=1, last=1, quote="learning_rate = 0.1")
    of_code = Points(points=tuple(KeyPoint(reference=span, statement=f"{n}") for n in range(4)))
    mixed = Points(
        points=tuple(
            KeyPoint(paper_quote="a learning rate of 0.1", reference=span, statement=f"{n}")
            for n in range(5)
        )
    )
    ask, asked = scripted(
        [key_points(), of_code, mixed], [sample(20), sample(25, count=4), sample(10)]
    )
    found = gather_alignment(ask, PAPER, CODE, REFERENCE, samples=1)
    assert scores_of(found) == {"align_paper": 100, "align_code": 100, "align_mixed": 50}
    assert len(asked) == 6  # 3 * (1 + samples): the cost is bounded
    assert "not shown" in str(asked[2][1]["paper"])


def test_points_without_a_quote_that_is_there_are_void_and_none_for_what_is_absent_are_not():
    ask, _ = scripted([key_points()], [sample(20, quote="rate = 0.7"), sample(0, quote="rate = 7")])
    found = gather_alignment(ask, PAPER, CODE, samples=2)
    first, second = found.levels[0].samples
    assert all(one.fault for one in first)
    assert all(one.fault is None for one in second)
    assert scores_of(found)["align_paper"] == 0


@pytest.mark.parametrize(
    ("points", "samples", "says"),
    [
        ([key_points("a quote that is made up")], [], "point 1: the quote does not stand"),
        ([Points(points=key_points().points[:3])], [], "must be 5 points"),
        ([UserError("the budget of usd is exhausted.")], [], "budget"),
        ([key_points()], [sample(21)], "more than 20"),
        ([key_points()], [sample(20, count=4)], "one judgement"),
        ([key_points()], [UserError("no model.")], "no model"),
    ],
)
def test_without_a_sound_answer_a_level_is_not_scored(points, samples, says):
    ask, _ = scripted(points, samples)
    found = gather_alignment(ask, PAPER, CODE, samples=1)
    assert says in found.levels[0].stopped
    assert scores_of(found)["align_paper"] is None


def test_what_was_judged_before_the_budget_ended_counts():
    ask, _ = scripted([key_points()], [sample(20), UserError("the budget is exhausted.")])
    found = gather_alignment(ask, PAPER, CODE, REFERENCE)
    (paper, code, mixed) = align_measures(found)
    assert paper.value == 100
    assert "1 sample of 3" in paper.evidence
    assert "budget" in paper.evidence
    assert (code.value, mixed.value) == (None, None)
    assert "budget" in code.evidence
