"""Printed numbers: what a table cell or a quote says, or that it says no number. Never a guess.

A text counts as numbers only if the whole of it is read: a number with sign, power of ten, unit,
uncertainty and marks, or several of these with a separator between them. A bracket whose meaning
is open, as in `45.2 (44.1)`, gives a further number, not an uncertainty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Literal

from repro_pipeline.paper.model import Quantity

UncertaintyKind = Literal["sd", "se", "ci"]

LONGEST = 200
"""A longer text is prose, not a cell of numbers."""

LARGEST_SHARE = Decimal("0.25")
"""A number in brackets is an uncertainty up to this share of the value before it.

Above it, it may as well be a second result (`45.2 (44.1)`), and so may one behind a whole number
(`1234 (54.8)`, a count and its share): it is given as a number of its own.
"""


def parse_numbers(
    text: str, *, decimal_comma: bool = False, bracketed_spread: bool = False
) -> tuple[Quantity, ...]:
    """The numbers that a text consists of, in order; empty where it is not wholly numbers.

    `decimal_comma` reads `93,2` as 93.2 and `1.234` as 1234 (see `column_uses_decimal_comma`).
    `bracketed_spread` says that the paper states that brackets hold the uncertainty.
    """
    clean = _clean(text) if any(map(str.isdigit, text)) else ""
    if not clean or len(clean) > LONGEST or _DATE.fullmatch(clean):
        return ()
    found: list[Quantity] = []
    position = 0
    while True:
        item = _grammar(decimal_comma).match(clean, position)
        quantities = _quantities(item, decimal_comma, bracketed_spread) if item else ()
        if not quantities:
            return ()
        found += quantities
        if item.end() == len(clean):
            break
        separator = _separator(clean, item)
        if separator is None:
            return ()
        position = separator.end()
    if len(found) == 1:
        found = [found[0].model_copy(update={"text": " ".join(text.split())})]
    return tuple(found)


def find_numbers(text: str) -> tuple[tuple[int, int, Quantity], ...]:
    """The numbers in running text, each with the places where it starts and ends.

    Numbers that are a part of a name or a count of a thing's kind are left out: `ResNet-50`,
    `5-shot`, `Table 3`, `[12]`.
    """
    text = _BRACED.sub(lambda braced: f"{braced[1]}{braced[2]}  ", _DASH.sub("-", text))
    found: list[tuple[int, int, Quantity]] = []
    position = 0
    while start := _NUMBER_START.search(text, position):
        item = _WITH_POINT.match(text, start.start())
        quantities = _quantities(item, False, False) if item else ()
        if item and not quantities and item["open"]:
            item = _WITH_POINT.match(text[: item.start("open")].rstrip(), start.start())
            quantities = _quantities(item, False, False) if item else ()
        if not item or not quantities or _IN_NAME.match(text, item.end()):
            position = start.end() + 1
            continue
        if not _NAMED.search(text[max(0, start.start() - 20) : start.start()]):
            found += [(item.start(), item.end(), quantity) for quantity in quantities]
        position = item.end()
    return tuple(found)


def column_uses_decimal_comma(texts: Iterable[str]) -> bool:
    """Whether a column writes decimals with a comma.

    At least two of its texts, and half of those that are numbers, can only be read so, and none
    can only be read with a point.
    """
    commas = numbers = 0
    for text in texts:
        with_point = parse_numbers(text)
        with_comma = parse_numbers(text, decimal_comma=True)
        if with_point and not with_comma:
            return False
        numbers += bool(with_comma)
        commas += bool(with_comma and not with_point)
    return commas >= 2 and 2 * commas >= numbers


def stated_uncertainty(text: str) -> UncertaintyKind | None:
    """The kind of uncertainty that a caption or a header names, if it names just one."""
    kinds = {kind for kind, words in _KINDS.items() if words.search(text)}
    return kinds.pop() if len(kinds) == 1 else None


_KINDS: dict[UncertaintyKind, re.Pattern[str]] = {
    "sd": re.compile(
        r"(?i:\bstandard[ -]dev|\bstd\b|\bstd\.?[ -]?dev|\bstdev|\bs\.d\.)|(?<![\w-])SDs?(?![\w-])"
    ),
    "se": re.compile(r"(?i:\bstandard[ -]error|\bstd\.? err|\bs\.e\.)|(?<![\w-])SEM?(?![\w-])"),
    "ci": re.compile(r"(?i:\bconfidence[ -](?:interval|bound|region))|(?<![\w-])CIs?(?![\w-])"),
}

_DATE = re.compile(
    r"\d{4}/\d{1,2}(?:/\d{1,2})?|\d{1,2}/\d{1,2}/\d{2,4}|\d{1,2}/(?:19|20)\d\d|\d{4}-\d\d-\d\d"
)

_UNITS = """
    % percent pct permille ‰ pp pts points
    K M B G T k mil million billion thousand Million Billion
    ns µs μs us ms s sec secs second seconds min mins minute minutes h hr hrs hour hours
    d day days week weeks
    bit bits kB KB MB GB TB PB KiB MiB GiB TiB
    FLOP FLOPs FLOPS MFLOPs MFLOPS GFLOP GFLOPs GFLOPS TFLOPs TFLOPS PFLOPs PFLOPS MACs GMACs
    Hz kHz MHz GHz W kW mW J kJ kWh dB V mV eV meV kg g mg nm µm μm mm cm m km px °C °
    fps FPS bpc bpd bpp bpb nats dims params parameters
    x X × $ € £ ¥
    img/s images/s samples/s tok/s tokens/s it/s m/s km/h ms/step s/it
"""
_PERCENT = {
    "%": "percent",
    "pct": "percent",
    "percent": "percent",
    "‰": "permille",
    "×": "x",
    "X": "x",
}


def _grammar(decimal_comma: bool) -> re.Pattern[str]:
    return _WITH_COMMA if decimal_comma else _WITH_POINT


def _number(point: str, group: str) -> str:
    """A decimal number without a sign: `1,234.5`, `.932`, `0.5`, `12`; no needless leading zeros."""
    whole = rf"(?:[1-9]\d{{0,2}}(?:{group}\d\d\d)+|[1-9]\d{{0,2}}(?:['\u2009]\d\d\d)+|0|[1-9]\d*)"
    return rf"(?:{whole}(?:{point}\d*)?|{point}\d+)(?!\d)"


def _power(name: str) -> str:
    """`e-3`, `× 10^-3`, or `×10-3`, where the minus shows that a raised exponent was flattened."""
    return (
        rf"(?:[eE](?P<{name}_e>(?:[+-]|\s[+-]\s)?\d{{1,3}})(?!\d)"
        rf"|\s?[×x·⋅∙*]\s?10(?:\s?\^\s?(?P<{name}_t>[+-]?\d{{1,3}})|(?P<{name}_f>-\d{{1,3}}))(?!\d))"
    )


def _compile(point: str, group: str) -> re.Pattern[str]:
    number = _number(point, group)
    unit = "|".join(re.escape(unit) for unit in sorted(_UNITS.split(), key=len, reverse=True))
    unit = rf"(?:{unit})(?![A-Za-z0-9]|/[A-Za-z])"
    sign = "*†‡§¶‖♣♦♠♥★☆⋆◇◆∘•#"
    raised = rf"[a-zA-Z{sign}]{{1,3}}"
    mark = (
        rf"(?:\s?(?:\^?[{sign}]+|\^(?!(?:th|st|nd|rd)\b){raised}(?:,\s?{raised})*(?![a-zA-Z])"
        r"|\^\d(?:,\d)*(?!\d)|[↑↓▲▼⇑⇓△▽]|\[\d{1,3}\]))"
    )
    missing = r"(?:n/?a|nan|-)"
    return re.compile(
        rf"""\s?(?P<before>(?:[*†‡§¶‖♣♦♠♥★☆⋆◇◆∘•#]|[↑↓▲▼⇑⇓△▽]\s?)*)
        (?P<relation>[<>≤≥~≈∼≲≳]\s?)?
        (?P<sign>[+-])?(?P<currency>(?:US)?\$|€|£|¥)?
        (?:(?P<ten>10)\^(?P<ten_t>[+-]?\d{{1,3}})(?!\d)|(?P<value>{number}){_power("power")}?)
        (?P<mark1>{mark}*)
        (?:\s?(?P<unit1>{unit}))?
        (?P<mark2>{mark}*)
        (?:\s?[_^]?\s?±\s?(?:(?P<spread>{number}){_power("spread_power")}?|(?i:{missing}))
            (?:\s?(?P<unit2>{unit}))?
          |_(?P<below>{number}))?
        (?:(?P<space>\s?)_?(?P<open>[(\[])\s?(?P<inner>[^()\[\]]{{1,60}}?)\s?[)\]])?
        (?P<mark3>{mark}*)""",
        re.VERBOSE,
    )


_WITH_POINT = _compile(r"\.", ",")
_WITH_COMMA = _compile(",", r"\.")

_NUMBER_START = re.compile(
    r"(?<![\w.\[^_/-])(?:[<>≤≥~≈∼]\s?)?[+-]?(?:US\$|[$€£])?(?=\.?\d)", re.ASCII
)
_BRACED = re.compile(r"([\^_])\{([^{}]{1,20})\}")
_IN_NAME = re.compile(r"-?[A-Za-z_\d]|\.\d|/\w|\^")
_NAMED = re.compile(
    r"(?:\b(?:tables?|tab\.|figures?|figs?\.|sections?|secs?\.|eqs?\.|equations?|appendix|chapter|"
    r"pages?|pp?\.|algorithms?|theorem|lemma|steps?|v|version)\s?\(?|\[[\d,;\s-]*)$",
    re.I,
)
_DASH = re.compile("[−‐‑‒–﹣－]")

_GROUPED = re.compile(
    r"\((?P<value>[^()]+?)±\s?(?P<spread>[^()]+?)\)(?P<tail>\s?[×x·⋅∙*]\s?10\^[+-]?\d{1,3}|\s?%)?"
)
_STATED = re.compile(r"(?:±|(?:SD|sd|std|Std|s\.d\.|SE|SEM|se|s\.e\.)\s?[=:±]?)\s?(\.?\d.*)")
_INTERVAL = re.compile(r"^(?:9\d(?:\.\d)?\s?%\s?)?(?:CI|CrI|C\.I\.)\s?[:=,]?\s?")
_ENDS = re.compile(r"(?!.*[,;]\s)(-?[^\s/;-][^/;-]*?)\s?(?:-|to)\s?(-?[^\s;-][^;-]*)")
_CITED = re.compile(r"\[\d+(?:\s?[,;-]\s?\d+)*\]")
_ENCLOSED = re.compile(r"[(\[](?P<inner>[^()\[\]]+)[)\]]")
_SLASH = re.compile(r"\s?(?:[/;|&]|→)\s?")
_COMMA = re.compile(r",(?:\s|(?=[+-]?\d*\.\d))")

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵃᵇᶜᵈᵉ", "0123456789+-abcde")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+|[ᵃᵇᶜᵈᵉ]")
_SPELLINGS = (
    (re.compile(r"\\pm(?![A-Za-z])|\+/[-−]|\+[-−]"), "±"),
    (re.compile(r"\\times(?![A-Za-z])"), "×"),
    (re.compile(r"\\cdot(?![A-Za-z])"), "·"),
    (re.compile(r"\\%|％"), "%"),
    (re.compile(r"\\uparrow(?![A-Za-z])"), "↑"),
    (re.compile(r"\\downarrow(?![A-Za-z])"), "↓"),
    (_DASH, "-"),
    (re.compile("[∗⁎＊]"), "*"),
    (re.compile(r"\\[,;!: ]|[\u202f\u2006\u2008\u200a]"), "\u2009"),
    (re.compile("(?<!\\d)\u2009|\u2009(?!\\d{3})"), " "),
    (re.compile("[\u200b\u2060\ufeff\u00ad]"), ""),
    (re.compile(r"\{\s*([^{}]*?)\s*\}"), r"\1"),
)
_CHANGES = (
    (re.compile(r"\^(\+[\d.,]+)_(-[\d.,]+)$|_(-[\d.,]+)\^(\+[\d.,]+)$"), r" (\1\4/\2\3)"),
    (re.compile(r"(?<!10)(?:_([+-][\d.,]+%?)|\^(\+[\d.,]+%?|-\d*\.\d+%?))$"), r" (\1\2)"),
    (re.compile(r"^([+-]?\d*\.\d+%?) ([+-]\d*\.\d+%?)$"), r"\1 (\2)"),
    (re.compile(r"(?<=[\d%])\s?[_^]?([↑↓▲▼⇑⇓]\s?\.?\d[\d.,]*%?)$"), r" (\1)"),
    (re.compile(r"\s?[(\[]\s?ref(?:erence|\.)?\s?[)\]]$", re.I), ""),
    (re.compile(r"^×\s?(\d[\d.,]*)$"), r"\1×"),
)
"""What stands behind a number as a change of it, or its two unequal errors, as in brackets."""


def _clean(text: str) -> str:
    """One spelling for each sign that a number is made of."""
    if len(text) > 4 * LONGEST:
        return ""
    if text.count("$") % 2 == 0:
        text = text.replace("$", "")
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    text = _RAISED.sub(lambda raised: "^" + raised[0].translate(_SUPERSCRIPTS), text)
    for pattern, spelling in _CHANGES:
        text = pattern.sub(spelling, text)
    text = re.sub(r"[ \t\r\n\f\v\u00a0\u2002-\u2005\u2007]+", " ", text).strip()
    grouped = _GROUPED.fullmatch(text)
    if grouped:
        tail = (grouped["tail"] or "").strip()
        return f"{grouped['value'].strip()}{tail} ± {grouped['spread'].strip()}{tail}"
    if _CITED.fullmatch(text):
        return ""
    enclosed = _ENCLOSED.fullmatch(text)
    return enclosed["inner"].strip() if enclosed else text


def _separator(text: str, item: re.Match[str]) -> re.Match[str] | None:
    """What parts two numbers; a comma without space does only where it cannot be in a number."""
    found = _SLASH.match(text, item.end()) or _COMMA.match(text, item.end())
    tight = found is not None and found[0] == ","
    return None if tight and "." not in (item["value"] or "") else found


def _quantities(
    item: re.Match[str], decimal_comma: bool, bracketed_spread: bool
) -> tuple[Quantity, ...]:
    """The number of a match, and the numbers in a bracket behind it that are not its uncertainty."""
    try:
        value = _decimal(item, "value", "power", decimal_comma)
        unit = _unit(item)
        share = LARGEST_SHARE if _quantum(value) < 1 else 0
        largest = None if bracketed_spread else share * value
        uncertainty, further = _spread(item, value, unit, largest, decimal_comma)
        number = float(-value if item["sign"] == "-" else value)
        quantum = float(_quantum(value))
        spread = None if uncertainty is None else float(uncertainty)
    except (InvalidOperation, OverflowError, _NotNumbers):
        return ()
    representable = abs(number) < 1e300 and 1e-300 < quantum < 1e300
    if not representable or (spread is not None and spread >= 1e300):
        return ()
    marks = "".join(item[name] or "" for name in ("before", "mark1", "mark2", "mark3"))
    quantity = Quantity(
        text=item[0].strip(),
        value=number,
        quantum=quantum,
        uncertainty=spread,
        uncertainty_kind=None if spread is None else "unstated",
        unit=unit,
        relation=_RELATIONS[(item["relation"] or "=").strip()],
        mark=re.sub(r"[\s^]", "", marks) or None,
    )
    return (quantity, *further)


class _NotNumbers(Exception):
    """The text has the outline of numbers but cannot be read as such."""


_RELATIONS: dict[str, Literal["=", "<", ">", "~"]] = {
    **dict.fromkeys("=", "="),
    **dict.fromkeys("<≤≲", "<"),
    **dict.fromkeys(">≥≳", ">"),
    **dict.fromkeys("~≈∼", "~"),
}


def _decimal(item: re.Match[str], name: str, power: str, decimal_comma: bool) -> Decimal:
    """The decimal of a named group, times its power of ten. Keeps the printed digits."""
    if name == "value" and item["ten"]:
        return Decimal(f"1e{item['ten_t']}")
    digits = item[name]
    if decimal_comma:
        digits = digits.replace(".", "").replace(",", ".")
    digits = re.sub("[,'\u2009]", "", digits)
    exponent = item[f"{power}_e"] or item[f"{power}_t"] or item[f"{power}_f"] or "0"
    raised = name == "value" and re.search(r"\^(?:\d|[ijkmnA-Z]\b)", item["mark1"] or "")
    if raised and "." not in digits:
        raise _NotNumbers  # 2^5 and 10^n are powers, 93.2^1 has a footnote
    return Decimal(digits).scaleb(int(exponent.replace(" ", "")))


def _quantum(value: Decimal) -> Decimal:
    """One unit of the last printed digit."""
    return Decimal(1).scaleb(value.as_tuple().exponent)


def _unit(item: re.Match[str]) -> str | None:
    """The unit; a unit on value and spread alike must be the same."""
    units = {unit for unit in (item["unit1"], item["unit2"], item["currency"]) if unit}
    if len(units) > 1:
        raise _NotNumbers
    unit = units.pop() if units else None
    return _PERCENT.get(unit, unit) if unit else None


def _spread(
    item: re.Match[str],
    value: Decimal,
    unit: str | None,
    largest: Decimal | None,
    decimal_comma: bool,
) -> tuple[Decimal | None, tuple[Quantity, ...]]:
    """The uncertainty that follows a value, else the further numbers in the bracket behind it."""
    inner = item["inner"]
    if item["spread"] or item["below"]:
        name = "spread" if item["spread"] else "below"
        if name == "spread" and _is_unequal(item):
            raise _NotNumbers
        spread = _decimal(item, name, "spread_power", decimal_comma)
        return spread, _bracket(inner, decimal_comma) if inner else ()
    if inner is None:
        return None, ()
    if item["open"] == "(" and (stated := _STATED.fullmatch(inner)):
        (spread,) = parse_numbers(stated[1], decimal_comma=decimal_comma) or (None,)
        if spread is None or spread.unit not in (None, unit):
            raise _NotNumbers
        return _plain(spread), ()
    if item["open"] and not item["space"] and _is_concise(item, inner):
        return int(inner) * _quantum(value), ()
    further = _bracket(inner, decimal_comma)
    if item["open"] != "[" and _is_uncertainty(inner, further, largest, unit):
        return _plain(further[0]), ()
    return None, further


def _is_unequal(item: re.Match[str]) -> bool:
    """`1.2e-3 ± 0.1` and `1.2 ± 0.1 × 10^-3`: does the power belong to both?"""
    on_value = any(item[f"power_{kind}"] for kind in "etf")
    on_spread = item["spread_power_t"] or item["spread_power_f"]
    return bool(on_spread) if not on_value else not (on_spread or item["spread_power_e"])


def _is_concise(item: re.Match[str], inner: str) -> bool:
    """`93.2(4)`: an uncertainty in units of the last digit."""
    decimals = item["value"] and re.search(r"[.,]\d+$", item["value"])
    return bool(decimals) and item["open"] == "(" and re.fullmatch(r"[1-9]\d?", inner) is not None


def _bracket(inner: str, decimal_comma: bool) -> tuple[Quantity, ...]:
    """The numbers in a bracket: one, several, or the two ends of an interval."""
    inner = _INTERVAL.sub("", inner)
    found = [parse_numbers(inner, decimal_comma=decimal_comma)]
    if not found[0] and (ends := _ENDS.fullmatch(inner)):
        found = [parse_numbers(part, decimal_comma=decimal_comma) for part in ends.groups()]
    if not all(found):
        raise _NotNumbers
    return tuple(quantity for numbers in found for quantity in numbers)


def _is_uncertainty(
    inner: str, further: tuple[Quantity, ...], largest: Decimal | None, unit: str | None
) -> bool:
    """One plain number in no other unit; small, with decimals, where the paper does not state it."""
    if len(further) != 1 or further[0].mark or further[0].relation != "=" or inner[0] in "+-":
        return False
    if further[0].unit not in (None, unit):
        return False
    return largest is None or (further[0].quantum < 1 and _plain(further[0]) <= largest)


def _plain(quantity: Quantity) -> Decimal:
    return Decimal(repr(quantity.value))
