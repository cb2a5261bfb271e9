"""Numbers and units as the package siunitx sets them, in the digits in which they are written."""

from __future__ import annotations

import re

from repro_pipeline.paper.latex.arguments import Tokens, argument, option, plain


def printed_number(name: str, tokens: Tokens, at: int) -> tuple[str, int]:
    """What a command such as `num` or `SI` prints, and the place after its arguments."""
    _, at = option(tokens, at)
    first, end = argument(tokens, at)
    if name in {"si", "unit"}:
        return _unit(first), end
    parts = [first]
    if name in {"numrange", "SIrange"}:
        second, end = argument(tokens, end)
        parts.append(second)
    written = "–".join(re.sub(r"\s+", "", plain(part)) for part in parts)
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
