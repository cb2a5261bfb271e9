"""The printed names of tables and figures, as captions and labels write them."""

from __future__ import annotations

import re

CAPTION = re.compile(
    r"^\W{0,4}(?P<kind>(?i:table|tab\.|figure|fig\.))\s*"
    r"(?P<number>[A-Z]?\.?\d+(?:\.\d+)*[a-z]?|[IVX]+)\b"
    r"(?:\s*[*_]{0,3}[.:|–—-][*_]{0,3}\s*|\s*[*_]{2,3}\s*|\s+(?=[A-Z(])|\s*$)(?P<text>.*)",
    re.S,
)
"""A caption; prose such as `Table 2 shows …` has a small letter after the number."""

_LABEL = re.compile(r"(?P<kind>table|tab|figure|fig)\b\.?\s*(?P<number>\S+?)[.:]?", re.I)


def number_of(found: re.Match[str]) -> str:
    """`Table 2` for a match of CAPTION."""
    kind = "Table" if found["kind"].lower().startswith("tab") else "Figure"
    return f"{kind} {found['number'].lstrip('.')}"


def caption_number(label: str, caption: str) -> tuple[str | None, str]:
    """The printed name and the caption without it: from the label, else from the caption itself.

    A label that is no number (`Key resources table`) is the name as it stands.
    """
    if found := _LABEL.fullmatch(label):
        return number_of(found), caption
    if label:
        return label.rstrip(".: "), caption
    own = CAPTION.match(caption)
    return (number_of(own), own["text"].strip()) if own else (None, caption)
