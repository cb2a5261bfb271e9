"""The hash chain: how an event is linked to the one before it, and how a broken chain is found.

An event's hash is the SHA-256 of its own JSON form without `hash`, canonical: keys sorted, no
spaces, UTF-8. It holds `prev`, the hash of the event before; the first holds 64 zeros. So an
exported line can be checked without this package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from repro_pipeline.frozen import Frozen, canonical_json
from repro_pipeline.ledger.events import Event, Head, Payload

GENESIS = "0" * 64
"""What the first event of a chain holds as `prev`."""


class Break(Frozen):
    """A place where a chain is not what was appended."""

    chain: str
    seq: int
    """The sequence number of the event, as it stands or as it should."""
    kind: Literal["changed", "removed", "moved", "inserted", "rewritten"]
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


def verify_chain(
    chain: str, events: Iterable[Event], anchors: Iterable[Head] = ()
) -> tuple[Break, ...]:
    """Where the chain is not what was appended; empty where nothing shows.

    `events` are all that stand in the chain, in the order in which they stand. Anchors of other
    chains are ignored. Without an anchor, events removed at the end, and a chain that was rewritten
    as a whole with new hashes, do not show; nor does, with one, what was done after the anchor.
    """
    links = [_Link.of(event, chain) for event in events]
    standing, inserted = _one_per_number(links)
    places = _places(links)
    breaks = [
        *(_broken(link, places) for link in links if not link.intact),
        *(_break(link, "inserted", "was never appended here") for link in inserted if link.intact),
        *_out_of_order(links, inserted),
        *_removed(chain, standing),
        *_replaced(standing),
    ]
    named = {found.seq for found in breaks}
    breaks += _rewritten(chain, standing, anchors, named)
    return tuple(sorted(breaks, key=lambda found: found.seq))


class _Link(NamedTuple):
    """What verification keeps of an event; the event itself only where it is not intact."""

    chain: str
    seq: int
    what: str
    prev: str
    hash: str
    intact: bool
    event: Event | None

    @classmethod
    def of(cls, event: Event, chain: str) -> _Link:
        intact = event.chain == chain and event_hash(event) == event.hash
        what = f"event {event.seq} ({event.kind})"
        kept = None if intact else event
        return cls(chain, event.seq, what, event.prev, event.hash, intact, kept)


def _one_per_number(links: list[_Link]) -> tuple[dict[int, _Link], list[_Link]]:
    """The link that stands for each sequence number from 1, and those beyond."""
    by_seq: dict[int, list[_Link]] = {}
    for item in links:
        by_seq.setdefault(item.seq, []).append(item)
    inserted = [item for seq in by_seq if seq < 1 for item in by_seq[seq]]
    standing = {}
    for seq in sorted(seq for seq in by_seq if seq >= 1):
        following = {item.prev for item in by_seq.get(seq + 1, ()) if item.intact}
        before = standing[seq - 1].hash if seq - 1 in standing else GENESIS

        def fits(item: _Link, following: set[str] = following, before: str = before) -> int:
            return item.intact + (item.hash in following) + (item.prev == before)

        standing[seq] = max(by_seq[seq], key=fits)
        inserted += [item for item in by_seq[seq] if item is not standing[seq]]
    return standing, inserted


def _broken(item: _Link, places: dict[str, int]) -> Break:
    """An event whose hash is wrong: it stands in another's place, or it was changed."""
    place = places.get(item.prev, item.seq - 1) + 1
    there = item.event.model_copy(update={"seq": place, "chain": item.chain})
    if place != item.seq and event_hash(there) == item.hash:
        return _break(item, "moved", f"was appended as event {place}")
    return _break(item, "changed", "is not what was appended: its hash does not fit its content")


def _places(links: list[_Link]) -> dict[str, int]:
    """The number under which the event of each hash was appended, as far as hashes lead to it."""
    places = {GENESIS: 0} | {item.hash: item.seq for item in links if item.intact}
    following = {item.prev: item for item in links if not item.intact}
    for known in [*places]:
        before = known
        while item := following.pop(before, None):
            places[item.hash] = places[before] + 1
            before = item.hash
    return places


def _out_of_order(links: list[_Link], inserted: list[_Link]) -> Iterator[Break]:
    last = 0
    for item in links:
        if item in inserted or not item.intact:
            continue
        if item.seq < last:
            yield _break(item, "moved", f"stands after event {last}")
        last = max(last, item.seq)


def _removed(chain: str, standing: dict[int, _Link]) -> Iterator[Break]:
    last = 0
    for seq in standing:
        if seq > last + 1:
            gap = (
                f"event {last + 1} was"
                if seq == last + 2
                else f"events {last + 1} to {seq - 1} were"
            )
            yield Break(chain=chain, seq=last + 1, kind="removed", sentence=f"{gap} removed")
        last = seq


def _replaced(standing: dict[int, _Link]) -> Iterator[Break]:
    """Well-formed events that do not follow one another: hashes of some were computed anew."""
    loose = [seq for seq in standing if _is_loose(seq, standing)]
    last = max(standing, default=0)
    for seq in loose:
        item, before = standing[seq], standing.get(seq - 1)
        if seq + 1 in loose:
            yield _break(
                item, "changed", "was replaced: it follows another event and has no follower"
            )
        elif seq - 1 in loose:
            continue  # the event before fits on neither side, and is named
        elif before is None:
            yield _break(item, "changed", "does not begin a chain")
        elif seq < last:
            yield _break(before, "changed", f"was replaced: event {seq} follows another")
        else:
            yield _break(before, "changed", f"was replaced, or event {seq}: it follows another")


def _is_loose(seq: int, standing: dict[int, _Link]) -> bool:
    item, before = standing[seq], standing.get(seq - 1)
    if seq == 1:
        return item.intact and item.prev != GENESIS
    return bool(before and before.intact and item.intact and item.prev != before.hash)


def _rewritten(
    chain: str, standing: dict[int, _Link], anchors: Iterable[Head], named: set[int]
) -> Iterator[Break]:
    good = 0
    end = max(standing, default=0)
    for anchor in sorted((a for a in anchors if a.chain == chain), key=lambda anchor: anchor.seq):
        item = standing.get(anchor.seq)
        if item and item.hash == anchor.hash:
            good = anchor.seq
        elif anchor.seq > end:
            what = f"the chain ends with event {end}, but event {anchor.seq} was anchored"
            yield Break(chain=chain, seq=end + 1, kind="removed", sentence=what)
        elif anchor.seq not in named:
            what = (
                f"event {anchor.seq} is not the one that was anchored: "
                f"the chain was rewritten from some event after {good} on"
            )
            yield Break(chain=chain, seq=anchor.seq, kind="rewritten", sentence=what)


def _break(item: _Link, kind: str, sentence: str) -> Break:
    return Break(chain=item.chain, seq=item.seq, kind=kind, sentence=f"{item.what} {sentence}")


def _hash(fields: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json({**fields, "at": time_text(fields["at"])})).hexdigest()
