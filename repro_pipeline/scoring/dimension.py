"""How the checks of a dimension make its outcome."""

from __future__ import annotations

from collections.abc import Sequence

from repro_pipeline.scoring.model import Check
from repro_pipeline.status import Outcome


def combine(checks: Sequence[Check]) -> Outcome:
    """The outcome that a dimension's checks make together.

    One failed check fails it. It passes only if some check passed and none is open. It is not
    applicable only if no check applies. Otherwise it is inconclusive; so it is without any check.
    """
    outcomes = {check.outcome for check in checks}
    if Outcome.FAIL in outcomes:
        return Outcome.FAIL
    if outcomes == {Outcome.NOT_APPLICABLE}:
        return Outcome.NOT_APPLICABLE
    if Outcome.PASS in outcomes and outcomes <= {Outcome.PASS, Outcome.NOT_APPLICABLE}:
        return Outcome.PASS
    return Outcome.INCONCLUSIVE


def summary(checks: Sequence[Check]) -> str:
    """The sentences that carry a combined outcome: of the failed checks, else of the open ones."""
    open_outcomes = {Outcome.INCONCLUSIVE, Outcome.NOT_CHECKABLE}
    for carrying in ({Outcome.FAIL}, open_outcomes, {Outcome.PASS}):
        said = dict.fromkeys(check.sentence for check in checks if check.outcome in carrying)
        if said:
            return " ".join(said)
    return " ".join(check.sentence for check in checks)
