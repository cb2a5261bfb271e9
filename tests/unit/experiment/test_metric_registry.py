"""Metrics against their definitions, worked by hand, and properties that hold for any predictions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from repro_pipeline.experiment.metric_registry import NotComputable, metric_named, metric_names

LABELS = ["1", "1", "1", "0", "0", "0", "0", "1"]
GUESSES = ["1", "0", "1", "0", "1", "0", "0.0", "1.0"]


def value(name: str, labels=LABELS, predictions=GUESSES) -> float:
    return metric_named(name).compute(labels, predictions)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("accuracy", 6 / 8),
        ("Test error", 2 / 8),
        ("error-rate", 2 / 8),
        ("precision", 3 / 4),
        ("recall", 3 / 4),
        ("f1", 3 / 4),
        ("macro_f1", 3 / 4),
        ("balanced accuracy", 3 / 4),
    ],
)
def test_by_hand(name, expected):
    assert value(name) == pytest.approx(expected)


def test_three_classes_by_hand():
    labels = ["cat", "cat", "dog", "dog", "dog", "fox"]
    guesses = ["cat", "dog", "dog", "dog", "fox", "cat"]
    # F1: cat 2·1/(2+1+1) = 1/2, dog 2·2/(4+1+1) = 2/3, fox 0
    assert value("macro_f1", labels, guesses) == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert value("balanced_accuracy", labels, guesses) == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    with pytest.raises(NotComputable, match="classes named 0 and 1"):
        value("f1", labels, guesses)


def test_regression_by_hand():
    labels, guesses = ["1", "2", "3"], ["1", "2.5", "2"]
    assert value("mse", labels, guesses) == pytest.approx(1.25 / 3)
    assert value("rmse", labels, guesses) == pytest.approx(math.sqrt(1.25 / 3))
    assert value("mae", labels, guesses) == pytest.approx(0.5)
    assert value("r2", labels, guesses) == pytest.approx(1 - 1.25 / 2)


@pytest.mark.parametrize("guess", ["nan", "inf", "cat"])
def test_no_number_is_no_prediction_of_one(guess):
    with pytest.raises(NotComputable):
        value("mse", ["1", "2"], ["1", guess])


def test_labels_of_one_kind_have_no_auc_and_no_r2():
    with pytest.raises(NotComputable):
        value("auc", ["1", "1"], ["0.1", "0.2"])
    with pytest.raises(NotComputable):
        value("r2", ["2", "2"], ["0.1", "0.2"])


@given(st.lists(st.tuples(st.sampled_from("01"), st.integers(-3, 3)), min_size=2, max_size=40))
def test_auc_is_the_mann_whitney_statistic(rows):
    labels, scores = [label for label, _ in rows], [score for _, score in rows]
    if len(set(labels)) < 2:
        return
    first = [score for label, score in rows if label == "1"]
    other = [score for label, score in rows if label == "0"]
    expected = mannwhitneyu(first, other).statistic / (len(first) * len(other))
    assert value("roc_auc", labels, [str(score) for score in scores]) == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from("01"), st.sampled_from("01")), min_size=1, max_size=40))
def test_shares_lie_between_none_and_all(rows):
    labels, guesses = map(list, zip(*rows, strict=True))
    for name in ("accuracy", "error", "precision", "recall", "f1", "macro_f1", "balanced_accuracy"):
        assert 0 <= value(name, labels, guesses) <= 1
        if name != "error":
            perfect = value(name, labels, labels)
            assert perfect == 1 or "1" not in labels


@given(st.permutations(range(len(LABELS))), st.sampled_from(["accuracy", "f1", "macro_f1", "mae"]))
def test_the_order_of_rows_does_not_matter(order, name):
    shuffled = value(name, [LABELS[n] for n in order], [GUESSES[n] for n in order])
    assert shuffled == pytest.approx(value(name))


def test_every_metric_has_a_name_that_finds_it():
    assert all(metric_named(name) for name in metric_names())
    assert metric_named("BLEU") is None
