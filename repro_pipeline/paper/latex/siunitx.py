"""Numbers and units as the package siunitx sets them, in the digits in which they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from repro_pipeline.paper.latex.arguments import Tokens, argument, option, plain


@dataclass(frozen=True)
class Rounding:
    """How numbers are rounded: to so many `places` or significant `figures`, or (`none`) not."""

    mode: str = "none"
    precision: int = 2

    def with_options(self, options: str) -> Rounding:
        """The rounding after options such as `round-mode = places, round-precision = 1`."""
        given = dict(re.findall(r"round-(mode|precision)\s*=\s*\{?\s*(\w+)", options))
        digits = given.get("precision", "")
        precision = int(digits) if digits.isdigit() and len(digits) < 3 else self.precision
        return Rounding(given.get("mode", self.mode), precision)

    def of(self, text: str) -> str:
        """A number as it is printed; one with an uncertainty is left as it is, as siunitx does."""
        found = _PLAIN.fullmatch(text)
        if self.mode not in {"places", "figures"} or not found or not any(map(str.isdigit, text)):
            return text
        value = Decimal(found["digits"].replace(" ", ""))
        last = -self.precision
        if self.mode == "figures":
            last = value.adjusted() - self.precision + 1 if value else 0
        rounded = value.quantize(Decimal(1).scaleb(last), ROUND_HALF_UP)
        return f"{found['before']}{rounded:f}{found['after']}"


AS_WRITTEN = Rounding()

_PLAIN = re.compile(
    r"(?P<before>[<>~]?\s?[+\-−]?)(?P<digits>\d*\.?\d+|\d+\.)"
    r"(?P<after>(?:[eEdD][+-]?\d+|\s?×\s?10\S+)?\s?[*†‡]*)"
)


def roundings(tokens: Tokens) -> dict[tuple[str, int], Rounding]:
    """The rounding at each `\\begin` by its file and line, as `\\sisetup` has it in that group."""
    found: dict[tuple[str, int], Rounding] = {}
    groups = [AS_WRITTEN]
    for at, token in enumerate(tokens):
        if token.kind == "{" or (token.kind == "command" and token.text == "begin"):
            if token.text == "begin":
                found[token.file, token.line] = groups[-1]
            groups.append(groups[-1])
        elif token.kind == "}" or (token.kind == "command" and token.text == "end"):
            groups = groups[:-1] or [AS_WRITTEN]
        elif token.kind == "command" and token.text == "sisetup":
            groups[-1] = groups[-1].with_options(plain(argument(tokens, at + 1)[0]))
    return found


def printed_number(
    name: str, tokens: Tokens, at: int, rounding: Rounding = AS_WRITTEN
) -> tuple[str, int]:
    """What a command such as `num` or `SI` prints, and the place after its arguments."""
    options, at = option(tokens, at)
    rounding = rounding.with_options(plain(options or ()))
    first, end = argument(tokens, at)
    if name in {"si", "unit"}:
        return _unit(first), end
    parts = [first]
    if name in {"numrange", "SIrange"}:
        second, end = argument(tokens, end)
        parts.append(second)
    written = "–".join(rounding.of(re.sub(r"\s+", "", plain(part))) for part in parts)
    written = re.sub(r"\\pm|\+-|\+/-", " ± ", written).replace(";", ", ")
    written = re.sub(r"[eEdD]([+-]?\d+)$", r" × 10^{\1}", written).lstrip()
    if name == "ang":
        return f"{written}°", end
    if name in {"SI", "qty", "SIrange"}:
        _, end = option(tokens, end)
        unit, end = argument(tokens, end)
        return f"{written} {_unit(unit)}", end
    return written, end


def _unit(tokens: Tokens) -> str:
    names = [token.text for token in tokens if token.kind == "command"]
    if not names:
        return plain(tokens)
    return "".join(_UNITS.get(name, name) for name in names)


_UNITS = {
    "percent": "%",
    "second": "s",
    "milli": "m",
    "micro": "µ",
    "nano": "n",
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "metre": "m",
    "meter": "m",
    "gram": "g",
    "byte": "B",
    "hertz": "Hz",
    "watt": "W",
    "joule": "J",
    "minute": "min",
    "hour": "h",
    "day": "d",
    "degree": "°",
    "celsius": "°C",
    "per": "/",
    "decibel": "dB",
    "ms": "ms",
}
