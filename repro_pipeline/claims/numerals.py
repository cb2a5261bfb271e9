"""Numbers in any text, read in every way that they can be meant: for hiding them, not for citing them.

`paper.numbers` reads what a cell surely says. Here the risk is the other way round: a number that is
overlooked is shown. So `1,234` is 1234 and 1.234, a space inside of a number is forgiven, and numbers
in words are read as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

LONGEST = 40
"""Digits of a number; more are an identifier."""


@dataclass(frozen=True)
class Reading:
    """One way to read a printed number."""

    value: float
    quantum: float
    """One unit of the last printed digit."""

    @property
    def digits(self) -> int:
        """Significant digits: 3 for 93.2, 93.0 and 0.932, 1 for 300, whose zeros may be round."""
        steps = str(round(abs(self.value) / self.quantum))
        return len(steps if self.quantum < 1 else steps.rstrip("0"))


@dataclass(frozen=True)
class Numeral:
    """A number in a text, from `start` to `end`, with its unit and its spread."""

    start: int
    stop: int
    """Where the number alone ends."""
    end: int
    readings: tuple[Reading, ...]
    unit: str = ""
    """`%`, `points`, `times`, or nothing."""
    spread: bool = False
    in_name: bool = False
    """A part of a name, as in `ResNet-50` or `fc1`."""
    in_words: bool = False

    @property
    def whole(self) -> bool:
        """Whether it is likeliest a whole number, as `1,234` is."""
        return self.readings[0].quantum >= 1

    @property
    def decimal(self) -> bool:
        """Whether it can be a number with decimals, as `1,234` can."""
        return any(reading.quantum < 1 for reading in self.readings)


_SPACE = "[ \u00a0\u2002-\u200a\u202f]"
_GROUP = r"(?:,|\{,\}|'|\\,|[ \u00a0\u2009\u202f])(?=\d\d\d(?!\d))"
_DIGITS = rf"(?:\d{{1,3}}(?:{_GROUP}\d\d\d)+|\d+)"
_POINT = rf"(?:[.·,．]|\{{[.,]\}}|{_SPACE}\.{_SPACE}|\.{_SPACE}(?=\d{{1,2}}(?![\d.])))"
_POWER = (
    r"(?:[eE][+\-−–]?\d{1,3}(?!\d)"
    r"|\s?(?:[×x*·⋅]|\\times|\\cdot)\s?10\s?"
    r"(?:(?:\^|\*\*)\s?\{?[+\-−–]?\d{1,3}\}?|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[\-−–]\d{1,3}))"
)
_BARE = rf"(?:{_DIGITS}(?:{_POINT}\d+(?![\d]))?|[.]\d+)"
_NUMBER = re.compile(rf"(?<!\d)(?P<number>{_BARE})(?P<power>{_POWER})?")
_TAIL = re.compile(
    r"(?:\s?\$)?\s?(?:"
    r"(?P<percent>\\?[%％]|\bper\s?cents?\b|\bpct\b)(?:[ -]?(?P<also>points?\b))?"
    r"|(?P<points>\bpercentage[ -]points?\b|\bpoints?\b|\bpp\b|\bpts\b|\bp\.p\.)"
    r"|(?P<times>\\times(?![A-Za-z])|[×x](?!\w|\s?\d)|-?\s?fold\b|\btimes\b)"
    r"|(?P<kilo>K|k|thousand)\b|(?P<mega>M|million)\b|(?P<giga>B|billion)\b)"
)
_SPREAD = re.compile(
    rf"(?:\s?\$)?\s?(?:(?:±|\\pm|\+/[-−]|\+[-−])\s?\$?\s?{_BARE}(?:{_POWER})?(?:\s?\\?%)?\$?"
    rf"|[(\[]\s?(?:±|\\pm|\+/-|s\.?d\.?|std\.?|s\.?e\.?)?\s?[=:]?\s?\d*[.,]\d+(?:\s?\\?%)?\s?[)\]])"
)
_SCALE = {"kilo": 3, "mega": 6, "giga": 9}
_UNITS = {"percent": "%", "points": "points", "times": "times"}
_POINTS = str.maketrans("·．", "..")
_SHARE = re.compile(
    r"(?<![\d.,/])(\d{1,6})(?:\s?/\s?|\s(?:out )?of (?:the |all |these )?)(\d{2,7})(?![\d/]|[.,]\d)"
)
_SMALLEST_WHOLE = 20
"""A share of fewer than this is too coarse to tell a value."""
_EXACT = 1e-9
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−–", "0123456789+---")


def numerals(text: str) -> tuple[Numeral, ...]:
    """The numbers of a text in order, those in words included. Whatever the text, it ends."""
    plain = _plain_digits(text)
    found: list[Numeral] = []
    for match in _NUMBER.finditer(plain):
        if found and match.start() < found[-1].end:
            continue  # the spread of the number before
        places = [(match.start(), match.end("number"), match["power"]), *_pieces(match)]
        found += [one for place in places if (one := _numeral(plain, *place)) is not None]
    return tuple(sorted([*found, *_in_words(text), *_shares(plain)], key=lambda one: one.start))


def _shares(text: str) -> Iterator[Numeral]:
    """Two counts that tell a share: `280 of 300`."""
    for match in _SHARE.finditer(text):
        part, whole = int(match[1]), int(match[2])
        if whole >= _SMALLEST_WHOLE and 0 < part < whole:
            share = Reading(part / whole, _EXACT)
            yield Numeral(match.start(), match.end(), match.end(), (share,))


def _pieces(match: re.Match[str]) -> list[tuple[int, int, None]]:
    """Where blanks may group digits as well as part numbers (`17 932`): the parts."""
    if " " not in match["number"] or "." in match["number"]:
        return []
    parts = re.finditer(r"\d+", match["number"])
    return [(match.start() + part.start(), match.start() + part.end(), None) for part in parts]


def _plain_digits(text: str) -> str:
    """The same text, place by place, with every script's digits as 0-9."""
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.digit(c)) if not c.isascii() and unicodedata.category(c) == "Nd" else c
        for c in text
    )


def _numeral(text: str, start: int, stop: int, written_power: str | None) -> Numeral | None:
    printed = text[start:stop]
    if len(printed) > LONGEST:
        return None
    stop += len(written_power or "")
    tail = _TAIL.match(text, stop)
    spread = _SPREAD.match(text, tail.end() if tail else stop)
    if spread and not tail:
        tail = _TAIL.match(text, spread.end())
    kind = tail.lastgroup if tail else ""
    if tail and tail["also"]:
        kind = "points"
    power = _exponent(written_power) + _SCALE.get(kind, 0)
    readings = tuple(
        Reading(float(value), float(Decimal(1).scaleb(value.as_tuple().exponent)))
        for way in _ways(printed)
        if -30 < (value := Decimal(way).scaleb(power)).adjusted() < 30
    )
    if not readings:
        return None
    return Numeral(
        start=start,
        stop=stop,
        end=max([stop, *(found.end() for found in (tail, spread) if found)]),
        readings=readings,
        unit=_UNITS.get(kind, ""),
        spread=spread is not None,
        in_name=bool(re.search(r"[A-Za-z_]$|[A-Za-z][-–]$", text[max(0, start - 2) : start])),
    )


def _exponent(power: str | None) -> int:
    if not power:
        return 0
    raised = re.sub(r"^\s?\D+\s?10(?!$)", "", power.translate(_SUPERSCRIPT))
    return int(re.sub(r"[^\d+\-]", "", raised))


def _ways(printed: str) -> Iterator[str]:
    """The decimal numbers that a printed one can stand for, the likeliest first."""
    text = re.sub(r"[{}\\'\s\u2009\u202f\u00a0]", "", printed).translate(_POINTS)
    if text.count(".") + text.count(",") == 0:
        yield text
        return
    last = max(text.rfind("."), text.rfind(","))
    head, decimals = re.sub("[.,]", "", text[:last]), text[last + 1 :]
    grouped = len(decimals) == 3 and head not in ("", "0")
    if grouped and text[last] == ",":
        yield head + decimals
        if decimals == "000":
            return  # nobody prints 10 as 10,000
    yield f"{head or '0'}.{decimals}"
    if grouped and text[last] == ".":
        yield head + decimals


# Numbers in words

_ONES = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_ONE_WORD = rf"(?:{'|'.join([*_TENS, *sorted(_ONES, key=len, reverse=True)])})"
_WORDS = re.compile(
    rf"\b(?P<whole>{_ONE_WORD}(?:[ -]{_ONE_WORD})?(?:[ -]hundred)?)"
    rf"(?:[ -]point(?P<decimals>(?:[ -]{_ONE_WORD})+))?\b",
    re.I,
)


def _in_words(text: str) -> Iterator[Numeral]:
    """Numbers in words that have a unit behind them; others (`two methods`) tell nothing."""
    for match in _WORDS.finditer(text):
        tail = _TAIL.match(text, match.end())
        value = _value_of(match["whole"].lower())
        if not tail or value is None or tail.lastgroup in _SCALE:
            continue
        decimals = [str(_ONES.get(w, "")) for w in re.findall(r"\w+", match["decimals"] or "")]
        printed = Decimal(f"{value}.{''.join(decimals)}" if any(decimals) else value)
        quantum = Decimal(1).scaleb(printed.as_tuple().exponent)
        kind = "points" if tail["also"] else tail.lastgroup
        yield Numeral(
            start=match.start(),
            stop=match.end(),
            end=tail.end(),
            readings=(Reading(float(printed), float(quantum)),),
            unit=_UNITS[kind],
            in_words=True,
        )


def _value_of(words: str) -> int | None:
    parts = re.findall(r"\w+", words)
    hundreds = 100 if parts[-1] == "hundred" else 1
    parts = [part for part in parts if part != "hundred"]
    if len(parts) == 2 and not (parts[0] in _TENS and 0 < _ONES.get(parts[1], 0) < 10):
        return None
    return hundreds * sum(_TENS.get(part, _ONES.get(part, 0)) for part in parts)
