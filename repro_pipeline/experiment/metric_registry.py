"""The metrics that trusted code computes from predictions and labels, by the names that papers use.

Every function takes equally long sequences over the same rows and returns a fraction or a value in
the labels' own unit. Labels of classes are texts; numbers written differently (1, 1.0) are one class.
Formulas: accuracy, precision, recall and F1 as in van Rijsbergen (1979); ROC AUC as the Mann-Whitney
statistic; R² as 1 - RSS/TSS.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

METRICS_VERSION = 1
"""Goes up when a value that a function here returns changes: old runs are then read anew."""

Labels = Sequence[str]


class NotComputable(ValueError):
    """The predictions do not fit the metric; the message is a sentence's end."""


def accuracy(labels: Labels, predictions: Labels) -> float:
    """Share of the rows whose predicted class is the label."""
    return _mean(_same(one, other) for one, other in zip(labels, predictions, strict=True))


def error(labels: Labels, predictions: Labels) -> float:
    """Share of the rows whose predicted class is not the label."""
    return 1.0 - accuracy(labels, predictions)


def balanced_accuracy(labels: Labels, predictions: Labels) -> float:
    """Mean over the labels' classes of the recall."""
    counts = _counts(labels, predictions)
    return _mean(hit / (hit + missed) for hit, missed, _ in counts.values() if hit + missed)


def macro_f1(labels: Labels, predictions: Labels) -> float:
    """Mean over all classes, labelled or predicted, of 2 tp / (2 tp + fp + fn)."""
    return _mean(_f1(*counts) for counts in _counts(labels, predictions).values())


def binary_f1(labels: Labels, predictions: Labels) -> float:
    """F1 of the class 1. Raises NotComputable where the classes are not 0 and 1."""
    return _f1(*_positive(labels, predictions))


def precision(labels: Labels, predictions: Labels) -> float:
    """tp / (tp + fp) of the class 1, 0 where nothing is predicted as such."""
    hit, _, false = _positive(labels, predictions)
    return hit / (hit + false) if hit + false else 0.0


def recall(labels: Labels, predictions: Labels) -> float:
    """tp / (tp + fn) of the class 1."""
    hit, missed, _ = _positive(labels, predictions)
    return hit / (hit + missed) if hit + missed else 0.0


def roc_auc(labels: Labels, scores: Labels) -> float:
    """Chance that a random row of class 1 scores above one of class 0, ties counting half."""
    if {_canonical(label) for label in labels} != {"0.0", "1.0"}:
        raise NotComputable("needs rows of both classes 0 and 1")
    truth = np.array([_canonical(label) == "1.0" for label in labels])
    values = _numbers(scores)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    positive, negative = int(truth.sum()), int((~truth).sum())
    above = ranks[inverse][truth].sum() - positive * (positive + 1) / 2
    return float(above / (positive * negative))


def mse(labels: Labels, predictions: Labels) -> float:
    """Mean squared error."""
    return float(np.mean(_residuals(labels, predictions) ** 2))


def rmse(labels: Labels, predictions: Labels) -> float:
    """Root of the mean squared error."""
    return math.sqrt(mse(labels, predictions))


def mae(labels: Labels, predictions: Labels) -> float:
    """Mean absolute error."""
    return float(np.mean(np.abs(_residuals(labels, predictions))))


def r2(labels: Labels, predictions: Labels) -> float:
    """1 - RSS/TSS. Raises NotComputable for labels that are all the same."""
    truth = _numbers(labels)
    total = float(np.sum((truth - truth.mean()) ** 2))
    if total == 0:
        raise NotComputable("needs labels that are not all the same")
    return 1.0 - float(np.sum(_residuals(labels, predictions) ** 2)) / total


@dataclass(frozen=True)
class Metric:
    """A metric of the registry."""

    compute: Callable[[Labels, Labels], float]
    share: bool = True
    """Whether it is a share of 1, which a claim in per cent states times 100."""
    of_scores: bool = False
    """Whether it takes the column `score` instead of `prediction`."""


_REGISTRY = {
    "accuracy": Metric(accuracy),
    "error": Metric(error),
    "balanced_accuracy": Metric(balanced_accuracy),
    "macro_f1": Metric(macro_f1),
    "f1": Metric(binary_f1),
    "precision": Metric(precision),
    "recall": Metric(recall),
    "roc_auc": Metric(roc_auc, of_scores=True),
    "mse": Metric(mse, share=False),
    "rmse": Metric(rmse, share=False),
    "mae": Metric(mae, share=False),
    "r2": Metric(r2),
}
_ALIASES = {
    "acc": "accuracy",
    "top_1_accuracy": "accuracy",
    "error_rate": "error",
    "misclassification_rate": "error",
    "f1_macro": "macro_f1",
    "f1_score": "f1",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "mean_squared_error": "mse",
    "mean_absolute_error": "mae",
    "r_squared": "r2",
}


def metric_named(name: str) -> Metric | None:
    """The metric of that name as papers write it: `test_error` and `Test error` are `error`."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_").removeprefix("test_")
    return _REGISTRY.get(_ALIASES.get(plain, plain))


def metric_names() -> tuple[str, ...]:
    """The names of the registry."""
    return tuple(_REGISTRY)


def _canonical(text: str) -> str:
    try:
        return repr(float(text) + 0.0)
    except ValueError:
        return text.strip()


def _same(one: str, other: str) -> bool:
    return _canonical(one) == _canonical(other)


def _counts(labels: Labels, predictions: Labels) -> dict[str, tuple[int, int, int]]:
    """Per class: true positives, false negatives, false positives."""
    truth = [_canonical(label) for label in labels]
    guess = [_canonical(prediction) for prediction in predictions]
    hits = Counter(one for one, other in zip(truth, guess, strict=True) if one == other)
    of_truth, of_guess = Counter(truth), Counter(guess)
    return {
        name: (hits[name], of_truth[name] - hits[name], of_guess[name] - hits[name])
        for name in sorted({*truth, *guess})
    }


def _positive(labels: Labels, predictions: Labels) -> tuple[int, int, int]:
    counts = _counts(labels, predictions)
    if not set(counts) <= {"0.0", "1.0"}:
        raise NotComputable("needs classes named 0 and 1")
    return counts.get("1.0", (0, 0, 0))


def _f1(hit: int, missed: int, false: int) -> float:
    return 2 * hit / (2 * hit + missed + false) if hit + missed + false else 0.0


def _numbers(texts: Labels) -> np.ndarray:
    try:
        numbers = np.array([float(text) for text in texts])
    except ValueError:
        raise NotComputable("needs numbers") from None
    if not np.isfinite(numbers).all():
        raise NotComputable("needs finite numbers")
    return numbers


def _residuals(labels: Labels, predictions: Labels) -> np.ndarray:
    return _numbers(labels) - _numbers(predictions)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return float(sum(listed) / len(listed))
