"""The check that no prompt of the agent holds a reported value."""

from __future__ import annotations

from collections.abc import Callable

from repro_pipeline.claims.blinding import secrets_for
from repro_pipeline.claims.leaks import leaks
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.errors import UserError
from repro_pipeline.paper.model import Paper


class Leak(UserError):
    """A prompt would show a reported value. Its text names the claim, never the value."""

    code = "blinding_failed"


def guard_for(paper: Paper, claims: ReportedClaims) -> Callable[[str], None]:
    """A check of a text that raises Leak where it holds a reported value of a claim."""
    secrets = secrets_for(paper, claims)

    def guard(text: str) -> None:
        shown = (one for one in leaks(text, secrets) if one.certain)
        named = sorted({claim for one in shown for claim in one.claims})
        if named:
            raise Leak(
                f"a question would show the reported value of {', '.join(named[:5])}; it was not sent.",
                hint="This is a fault of the pipeline: please report it.",
            )

    return guard
