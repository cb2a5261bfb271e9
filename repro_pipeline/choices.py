"""The name that was meant by one that is not known, and what there is to choose from.

Commands use it before anything heavy is loaded: only the standard library is imported here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

MOST_LISTED = 12
"""Texts that are listed in a sentence."""
_LONGEST = 200
"""A longer name, which code may have written, is not a slip of the hand, and costs time to compare."""


def choices(name: str, known: Sequence[str], lead: str = "There are") -> str:
    """What to say to one who gave a name that is not known: the nearest that is, and what there is."""
    return f"{meant(name, known)}{lead}: {listed(known) or 'none'}."


def meant(name: str, known: Sequence[str]) -> str:
    """A question, with a space behind it, whether the nearest known name was meant; empty for none."""
    near = nearest(name, known)
    return f"Did you mean '{short(near)}'? " if near else ""


def nearest(key: str, known: Sequence[str]) -> str | None:
    """The known key that a typo was most likely meant for: one slip away, else much like it."""
    if len(key) > _LONGEST:
        return None
    key = key.lower()
    slips = [one for one in known if len(key + one) > 2 and _is_one_slip(key, one)]
    near = slips or difflib.get_close_matches(key, known, n=1)
    return near[0] if near else None


def _is_one_slip(one: str, other: str) -> bool:
    """Whether a letter lost, put in, exchanged, or two swapped lead from one word to the other."""
    short, long = sorted((one, other), key=len)
    if len(long) > len(short) + 1:
        return False
    if len(long) == len(short):
        differ = [n for n, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
        first = differ[0] if differ else 0
        swapped = one[first + 1 : first + 2] + one[first : first + 1] == other[first : first + 2]
        return len(differ) <= 1 or (differ == [first, first + 1] and swapped)
    return any(long[:n] + long[n + 1 :] == short for n in range(len(long)))


def listed(texts: Sequence[str]) -> str:
    """The first of some texts, each short, and whether there are more."""
    more = ["…"] if len(texts) > MOST_LISTED else []
    return ", ".join([*map(short, texts[:MOST_LISTED]), *more])


def short(text: str) -> str:
    """A text as it can stand in a sentence: one line, 60 characters at most."""
    text = re.sub(r"\s+", " ", text[:500])
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= 60 else f"{text[:60]}…"
