"""A ledger that reads each event once: for work on a paper that asks its chain many times.

A chain is only ever added to. So what was read stands; a question after `renew` reads what came after
it, whoever wrote that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from repro_pipeline.ledger.chain import head_of
from repro_pipeline.ledger.events import PROJECT_CHAIN, Event, Head, Payload
from repro_pipeline.ports import Ledger


class KeptLedger:
    """`ports.Ledger` over another one; keeps the chain that was asked last, and the project's.

    What is appended by it stands in the answers at once, what others append after `renew`.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._kept: dict[str, list[Event]] = {}
        self._known: set[str] = set()
        """The chains that were read since they were last to be renewed."""

    def renew(self) -> None:
        """Look at the next question whether others appended."""
        self._known.clear()

    def append(self, chain: str, payload: Payload, *, actor: str) -> Event:
        """Append once per key; nothing is written, nor anybody waited for, where the key stands."""
        kept, key = self._read(chain), payload.key
        for event in kept:
            if event.key == key:
                return event
        event = self._ledger.append(chain, payload, actor=actor)
        if event.seq == (kept[-1].seq if kept else 0) + 1:
            kept.append(event)
        else:  # others appended as well
            self._known.discard(chain)
        return event

    def events(self, chain: str, *, kinds: Collection[str] = (), after: int = 0) -> Iterator[Event]:
        """The events of a chain in order, of the given kinds (all by default)."""
        return iter(
            [
                event
                for event in self._read(chain)
                if event.seq > after and (not kinds or event.kind in kinds)
            ]
        )

    def stored(self, chain: str) -> Iterator[Event]:
        """As they stand now: nothing kept can prove anything."""
        return self._ledger.stored(chain)

    def chains(self) -> tuple[str, ...]:
        """The names of all chains."""
        return self._ledger.chains()

    def head(self, chain: str) -> Head | None:
        """Where the chain ends; None for an empty chain."""
        kept = self._read(chain)
        return head_of(kept[-1]) if kept else None

    def _read(self, chain: str) -> list[Event]:
        if chain not in self._kept:
            project = self._kept.get(PROJECT_CHAIN)
            self._kept = {PROJECT_CHAIN: project} if project is not None else {}
            self._known &= {PROJECT_CHAIN}
        kept = self._kept.setdefault(chain, [])
        if chain not in self._known:
            kept += self._ledger.events(chain, after=kept[-1].seq if kept else 0)
            self._known.add(chain)
        return kept
