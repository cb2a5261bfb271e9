"""The words for outcomes: of a stage, a claim, a dimension, a check; and for what people are told of."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator

from repro_pipeline.errors import UserError
from repro_pipeline.frozen import Frozen


class Status(StrEnum):
    """How a stage, a run or an attempt ended."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    BUDGET_EXHAUSTED = "budget_exhausted"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"
    NOT_APPLICABLE = "not_applicable"

    @property
    def usable(self) -> bool:
        """Whether a later stage can work with what this one left."""
        return self in {Status.OK, Status.PARTIAL, Status.NOT_APPLICABLE}


class Verdict(StrEnum):
    """What is known of one claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not_reproduced"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not_run"


class Outcome(StrEnum):
    """What is known of a rubric dimension, or of one check in it. Only PASS counts as passed."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_CHECKABLE = "not_checkable"
    NOT_APPLICABLE = "not_applicable"


class Sign(StrEnum):
    """How an ablation's reproduced sign stands to the paper's."""

    AGREE = "agree"
    OPPOSITE = "opposite"
    UNDECIDED = "undecided"
    NOT_RUN = "not_run"
    EXCLUDED = "excluded"


FindingKind = Literal["vulnerable", "yanked", "lookalike", "unlicensed"]
"""What an audit finds against a package."""


class AlertKind(StrEnum):
    """What an alert is about."""

    RUN_FAILED = "run_failed"
    STAGE_FAILED = "stage_failed"
    OVERALL_FAIL = "overall_fail"
    BUDGET = "budget"
    SWEEP = "sweep"


LONGEST = 2000


def _readable(sentence: str) -> str:
    clean = "".join(c if c.isprintable() or c == "\n" else " " for c in sentence[: LONGEST + 1])
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 2] + " …"


class Reason(Frozen):
    """Why something ended as it did: a code for machines and a sentence for people."""

    code: str
    sentence: Annotated[str, BeforeValidator(_readable)]
    """At most LONGEST characters, without control characters: it may quote hostile output."""
    signature: str | None = None
    """Hash of a normalised traceback, so that the same failure is recognised."""

    @classmethod
    def of(cls, error: UserError) -> Reason:
        """The reason that a user's error gives."""
        return cls(code=error.code, sentence=str(error))
