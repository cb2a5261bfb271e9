"""Headers in the form in which they are compared, whichever format they came from."""

from __future__ import annotations

import re
import unicodedata


def one_line(text: str) -> str:
    """A text with single blanks; a thin or fixed space that groups the digits of a number stays."""
    text = re.sub(r"(?<=\d)[\u2009\u202f\u00a0](?=\d{3}(?!\d))", "\u2009", text)
    text = re.sub(r"(?<!\d)\u2009|\u2009(?!\d{3})|[^\S\u2009]", " ", text)
    return re.sub(" {2,}", " ", text).strip()


def normalise(text: str) -> str:
    """A header in the form in which headers are compared.

    Case, white space, kinds of dash and quote, LaTeX against Unicode, footnote marks and arrows at
    the ends, and a final full stop or colon make no difference.
    """
    text = _COMMAND.sub(lambda command: _SYMBOLS.get(command[1], command[1]), text)
    text = unicodedata.normalize("NFKC", text).casefold().translate(_ALIKE)
    text = re.sub(r"[\s${}\\^_\u200b\u00ad]+", "", text)
    return _ENDS.sub("", text) or text


_COMMAND = re.compile(r"\\([A-Za-z]+|[%&#_$])\s?")
_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho
    sigmaf sigma tau upsilon phi chi psi omega"""
_SYMBOLS = {
    **{name: chr(0x3B1 + place) for place, name in enumerate(_GREEK.split())},
    **{name.capitalize(): chr(0x391 + place) for place, name in enumerate(_GREEK.split())},
    "varepsilon": "ε",
    "vartheta": "θ",
    "varphi": "φ",
    "pm": "±",
    "times": "×",
    "cdot": "·",
    "to": "→",
    "rightarrow": "→",
    "uparrow": "↑",
    "downarrow": "↓",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "infty": "∞",
    "ell": "l",
    **dict.fromkeys(
        ["mathbf", "mathrm", "mathit", "text", "textbf", "textit", "emph", "left", "right"], ""
    ),
}
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        **dict.fromkeys("‘’′`", "'"),
        **dict.fromkeys("“”″", '"'),
        **dict.fromkeys("∗⁎⋆★", "*"),
        **dict.fromkeys("∙⋅•", "·"),
        "×": "x",
        "ϵ": "ε",
        "ϑ": "θ",
        "ϕ": "φ",
        "ς": "σ",
        "∆": "δ",
    }
)
_ENDS = re.compile(r"^[*†‡§¶‖↑↓⇑⇓▲▼]+|[*†‡§¶‖↑↓⇑⇓▲▼.:]+$")
