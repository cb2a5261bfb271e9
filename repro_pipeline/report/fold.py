"""A sentence that ends in a long list, as its first items and the others: what a warning may be."""

from __future__ import annotations

from dataclasses import dataclass

_LONG, _SHOWN = 8, 5
"""From how many items on a list is long, and how many of it are shown."""


@dataclass(frozen=True)
class Folded:
    """A sentence in parts; without a long list, all of it is `shown`."""

    shown: str
    hidden: tuple[str, ...] = ()
    """Items that are not in `shown`."""
    rest: str = ""
    """What the sentence goes on with behind the list."""

    def brief(self, where: str) -> str:
        """The sentence without its hidden items, how many these are, and where they stand."""
        if not self.hidden:
            return self.shown
        return f"{self.shown} and {len(self.hidden)} more ({where}){self.rest}"


def folded(sentence: str) -> Folded:
    """The sentence, folded where a list behind one of its colons is long: `…: a, b, c, d, e, f.`"""
    start = sentence.find(": ")
    while start >= 0:
        body = sentence[start + 2 :]
        end = body.find(". ")
        listed = body.removesuffix(".") if end < 0 else body[:end]
        for mark in ("; ", ", "):
            items = listed.split(mark)
            if len(items) >= _LONG:
                shown = f"{sentence[:start]}: {mark.join(items[:_SHOWN])}{mark.rstrip()}"
                return Folded(shown, tuple(items[_SHOWN:]), body[len(listed) :])
        start = sentence.find(": ", start + 2)
    return Folded(sentence)
