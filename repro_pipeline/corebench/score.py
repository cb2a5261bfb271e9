"""CORE-Bench's rule: which questions of a capsule were answered rightly.

A numeric answer is right within the 95 % prediction interval of the original code's runs, a list where
it is the first run's, a text where it is the first run's but for case (Siegel et al. 2024, section 3.3
and the benchmark's own evaluation). A question whose words hold `fig` is asked of a figure (vision), any
other is written; a task is solved where all of its questions are right. An absent answer is not right.

Three differences: an answer of the wrong kind fails its own question alone, where the benchmark's code
leaves out all that follow; a text is compared as it is written, where there a text such as `1` is
made the number 1.0 first; and so is true or false, which there is the number 1 or 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from repro_pipeline.frozen import Frozen
from repro_pipeline.statistics import prediction_interval


def as_written(value: Any) -> Any:
    """True and false as texts, all else as it is. Raises ValueError for what no float can hold."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError("is beyond the range of numbers")
    return value


_LARGEST = 1e300
Scalar = Annotated[int | float | str, BeforeValidator(as_written)]
"""One answer: an integer stays one, so that it is written as it was given."""


class AnswerGiven(Frozen):
    """An answer, and where it stands; without one, why."""

    value: Scalar | tuple[Scalar, ...] | None = None
    by: Literal["mapping", "reader", "report", "nobody"]
    place: str = ""
    """File and lines of the output, or how a mapping looked for it."""
    why: str = ""
    """Why there is no answer."""


class QuestionScore(Frozen):
    """One question of a task."""

    question: str
    kind: Literal["number", "list", "text"]
    asked_of: Literal["written", "vision"]
    answer: AnswerGiven
    correct: bool
    expected: str
    """What is right, in words."""


class TaskScore(Frozen):
    """A task by the benchmark's rule."""

    capsule_id: str
    questions: tuple[QuestionScore, ...]
    written: tuple[int, int]
    """Right ones, of how many; so is `vision`."""
    vision: tuple[int, int]
    answered: int
    solved: bool


def score_task(
    capsule_id: str, results: Sequence[Mapping[str, Any]], answers: Mapping[str, AnswerGiven]
) -> TaskScore:
    """Score the answers by question; `results` are those of the original code's runs."""
    scored = tuple(
        _score(question, [run[question] for run in results], answers.get(question, _NONE))
        for question in results[0]
    )

    def right(asked_of: str) -> tuple[int, int]:
        of_it = [one for one in scored if one.asked_of == asked_of]
        return sum(one.correct for one in of_it), len(of_it)

    return TaskScore(
        capsule_id=capsule_id,
        questions=scored,
        written=right("written"),
        vision=right("vision"),
        answered=sum(one.answer.value is not None for one in scored),
        solved=all(one.correct for one in scored),
    )


_NONE = AnswerGiven(by="nobody", why="Nobody answered it.")


def _score(question: str, truth: Sequence[Any], answer: AnswerGiven) -> QuestionScore:
    first = as_written(truth[0])
    if isinstance(first, int | float):
        kind, (right, expected) = "number", _number(truth, answer.value)
    elif isinstance(first, list):
        kind, right, expected = "list", answer.value == tuple(map(as_written, first)), str(first)
    else:
        kind, expected = "text", str(first)
        right = answer.value is not None and _text(answer.value) == expected.lower()
    return QuestionScore(
        question=question,
        kind=kind,
        asked_of="vision" if "fig" in question else "written",
        answer=answer,
        correct=right,
        expected=expected,
    )


def _number(truth: Sequence[float], value: Any) -> tuple[bool, str]:
    values = [float(one) for one in truth]
    found = prediction_interval(values) or (values[0], values[0])
    low, high = found
    number = number_in(value)
    said = f"{low!r}" if low == high else f"{low:.6g} to {high:.6g}"
    return number is not None and low <= number <= high, said


def number_in(value: Any) -> float | None:
    """A number, or a text that is one with or without a percent sign, as the benchmark reads it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value.replace("%", "") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    return str(value).lower()
