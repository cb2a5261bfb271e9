"""Events as lines for people, and which of them someone asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime

from repro_pipeline.bundle.folder import PAPER_ID
from repro_pipeline.choices import meant
from repro_pipeline.errors import LedgerError
from repro_pipeline.ledger.events import KINDS, PROJECT_CHAIN, Event
from repro_pipeline.report.words import plain

SUMMARY = 160
"""Characters of an event's content that a line shows at most."""


def line_of(event: Event) -> str:
    """Number, time in UTC, actor, kind and content of an event on one line without control signs."""
    at = f"{event.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    try:
        said = _summary(event.kind, event.payload)
    except (KeyError, TypeError, ValueError):  # of a newer program, or altered
        said = _fields(event.payload)
    kind = plain(event.kind)
    return f"{event.seq:>5} {at} {plain(event.actor):<12} {kind:<20} {plain(said)[:SUMMARY]}"


def known_kinds(kinds: Collection[str]) -> None:
    """Raises LedgerError for a kind that no event has."""
    for kind in kinds:
        if kind not in KINDS:
            raise LedgerError(
                f"no event is of the kind '{kind}'.",
                hint=f"{meant(kind, sorted(KINDS))}The kinds: {', '.join(sorted(KINDS))}.",
            )


def file_name(chain: str) -> str:
    """The chain's name, which can name a file. Raises LedgerError for one that could lead elsewhere."""
    if chain != PROJECT_CHAIN and not PAPER_ID.fullmatch(chain):
        raise LedgerError(
            f"the chain '{plain(chain)}' bears no paper's id: this program did not write it.",
            hint="Name the chains to export.",
        )
    return chain


def since(text: str) -> Callable[[Event], bool]:
    """Whether an event is of that number or later, or was recorded at that time or later.

    `text` is a number, or a date or time in ISO 8601; without a zone it is UTC. Raises LedgerError.
    """
    if re.fullmatch(r"[0-9]{1,18}", text):
        return lambda event: event.seq >= int(text)
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise LedgerError(
            f"'{text}' is neither the number of an event nor a time.",
            hint="Write 40, 2026-05-01, or 2026-05-01T12:30.",
        ) from error
    start = at if at.tzinfo else at.replace(tzinfo=UTC)
    return lambda event: event.at >= start


def _summary(kind: str, content: dict) -> str:
    """What an event says, in a few words."""
    match kind:
        case "stage_finished":
            return f"{content['stage']} {content['status']}{_because(content)}"
        case "attempt_started":
            return _run(content)
        case "attempt_finished":
            one = content["attempt"]
            return f"{_run(one)} {one['status']}{_because(one)}"
        case "assumption_recorded":
            return f"{content['assumption']['id']}: {content['assumption']['statement']}"
        case "runs_planned":
            planned = len(content["planned"])
            return f"{content['stage']}: {planned} runs, {content['to_run']} to run"
        case "model_called":
            price = "price unknown" if content["usd"] is None else f"US$ {content['usd']:.4f}"
            tokens = f"{content['tokens_in']} + {content['tokens_out']} tokens"
            return f"{content['step']} {content['role']} {content['model']}, {tokens}, {price}"
        case "review_decided":
            return f"{content['claim']} {content['decision']} by {content['reviewer']}: {content['reason']}"
    return _fields(content)


def _fields(content: dict) -> str:
    return " ".join(f"{key}={value}" for key, value in content.items() if key != "kind")


def _run(content: dict) -> str:
    seed = "unseeded" if content["seed"] is None else f"seed {content['seed']}"
    return f"{content['experiment']} {seed} {content['purpose']} #{content['number']}"


def _because(content: dict) -> str:
    return f": {content['reason']['sentence']}" if content.get("reason") else ""
