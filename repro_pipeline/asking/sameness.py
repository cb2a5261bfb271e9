"""Whether a question is the one that was answered before, when runs, paths and times may differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from repro_pipeline.asking.prompt import without_output
from repro_pipeline.chat import ChatRequest

SHOWN = 200
"""Characters of a difference that are shown."""

_NORMAL = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"0x[0-9a-fA-F]{6,}"), "ADDRESS"),
    (
        re.compile(r"(?<![\w/])/(?:tmp|home|root|Users|private|var)(?:/[\w.@+-]+)+/(?=[\w.@+-]+)"),
        "PATH/",
    ),
)
_FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d{5,}(?:[eE][+-]?\d+)?")
"""A number with so many digits that its last ones may be noise."""
_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?s\b")
"""How long something took: in run output it never matters."""


@dataclass(frozen=True)
class Sameness:
    """How a question stands to a recorded one."""

    kind: Literal["same", "drift", "different"]
    where: str = ""
    """The first difference, in both spellings."""


def compare(recorded: ChatRequest, asked: ChatRequest) -> Sameness:
    """`same` but for paths, times and noise; `drift`: only run output differs; else `different`."""
    if (recorded.answer_schema, len(recorded.messages)) != (
        asked.answer_schema,
        len(asked.messages),
    ):
        return Sameness("different", "the answer's schema, or the number of messages")
    drift = ""
    for before, now in zip(recorded.messages, asked.messages, strict=True):
        frame, outputs = without_output(before.content)
        frame_now, outputs_now = without_output(now.content)
        if (before.role, normal(frame)) != (now.role, normal(frame_now)):
            return Sameness("different", _first(normal(frame), normal(frame_now)))
        for one, other in zip(outputs, outputs_now, strict=True):
            before_it, now_it = (_DURATION.sub("SECONDS", normal(text)) for text in (one, other))
            if not drift and before_it != now_it:
                drift = _first(before_it, now_it)
    return Sameness("drift", drift) if drift else Sameness("same")


def normal(text: str) -> str:
    """The text with paths, times, addresses, and the noise of floating-point numbers taken out."""
    for pattern, word in _NORMAL:
        text = pattern.sub(word, text)
    return _FLOAT.sub(lambda number: f"{float(number[0]):.4g}", text)


def _first(before: str, now: str) -> str:
    """The first line in which two texts differ, in both spellings."""
    old, new = before.splitlines(), now.splitlines()
    place = next(
        (n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]),
        min(len(old), len(new)),
    )
    lines = [(lines[place] if place < len(lines) else "(nothing)")[:SHOWN] for lines in (old, new)]
    return f"line {place + 1}: was '{lines[0]}', is '{lines[1]}'"
