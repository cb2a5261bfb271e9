"""The hash chain: how an event is linked to the one before it, and how a broken chain is found.

An event's hash is the SHA-256 of its own JSON form without `hash`, canonical: keys sorted, no
spaces, UTF-8. It holds `prev`, the hash of the event before; the first holds 64 zeros. So an
exported line can be checked without this package.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any, Literal

from repro_pipeline.frozen import Frozen, canonical_json
from repro_pipeline.ledger.events import Event, Head, Payload

GENESIS = "0" * 64
"""What the first event of a chain holds as `prev`."""


class Break(Frozen):
    """A place where a chain is not what was appended."""

    chain: str
    seq: int
    """The sequence number of the event, as it stands or as it should."""
    kind: Literal["changed", "removed", "moved", "inserted", "anchor"]
    sentence: str


def start(chain: str) -> Head:
    """The head of a chain that holds no event yet."""
    return Head(chain=chain, seq=0, hash=GENESIS)


def link(head: Head, payload: Payload, *, at: datetime, actor: str) -> Event:
    """The event that `payload` becomes after `head`. Raises ValueError for a time without zone."""
    if at.tzinfo is None:
        raise ValueError("an event's time needs a time zone")
    fields = {
        "chain": head.chain,
        "seq": head.seq + 1,
        "kind": payload.kind,
        "key": payload.key,
        "at": at.astimezone(UTC),
        "actor": actor,
        "schema_version": payload.version,
        "payload": payload.model_dump(mode="json"),
        "prev": head.hash,
    }
    return Event(**fields, hash=_hash(fields))


def event_hash(event: Event) -> str:
    """The hash that the event should have, from its other fields."""
    return _hash({name: getattr(event, name) for name in Event.model_fields if name != "hash"})


def head_of(event: Event) -> Head:
    """The head of a chain that ends with this event."""
    return Head(chain=event.chain, seq=event.seq, hash=event.hash)


def time_text(at: datetime) -> str:
    """The one spelling of a time of day in UTC, as in an event's JSON form."""
    return at.isoformat().replace("+00:00", "Z")


def _hash(fields: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json({**fields, "at": time_text(fields["at"])})).hexdigest()
