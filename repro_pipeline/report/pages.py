"""What the package's pages share: templates that escape all texts, scripts by their digest, marks.

The texts of papers, logs and models are hostile data: the templates escape all of them, control
characters are dropped, and each page's own policy forbids any request and any script but its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from repro_pipeline.report import facts, figures, words
from repro_pipeline.report.fold import folded

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates() -> Environment:
    """The templates of this package, compiled once: escaping always on, an unknown name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("repro_pipeline.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    made.filters |= {
        "words": words.words,
        "number": words.number,
        "difference": words.difference,
        "percent": words.percent,
        "threshold": words.threshold,
        "tied": words.tied,
        "span": words.span,
        "spread": words.spread,
        "duration": words.duration,
        "unit": words.unit,
        "tone": tone,
        "moment": facts.moment,
        "source": facts.source_words,
        "folded": folded,
        "claims": facts.claims_words,
        "describe": figures.describe,
    }
    return made


def inline_script(name: str) -> dict[str, str]:
    """A script of this package and its digest for the page's policy, which allows no other script."""
    text = (files("repro_pipeline.report") / "templates" / name).read_text("utf-8")
    digest = hashlib.sha256(text.encode()).digest()
    return {"script": text, "script_digest": base64.b64encode(digest).decode()}


_TONES = {
    "yes": {"reproduced", "pass", "agree", "ok", "clean", "hard"},
    "no": {"not_reproduced", "fail", "opposite", "failed", "violation", "unavailable"},
    "maybe": {
        "inconclusive", "undecided", "unverified", "suspect", "partial", "timed_out", "watched",
        "budget_exhausted", "not_checkable",
    },
}  # fmt: skip


def tone(outcome: str) -> str:
    """Which of the four marks an outcome bears: yes, no, maybe or none."""
    return next((name for name, outcomes in _TONES.items() if outcome in outcomes), "none")


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What Unicode calls control characters, without tab and line break."""


def _printable(value: Any) -> Any:
    """Drop control characters, which papers' texts hold and HTML forbids."""
    if not isinstance(value, str) or value.isprintable():
        return value
    return type(value)(_CONTROL.sub("", value))
