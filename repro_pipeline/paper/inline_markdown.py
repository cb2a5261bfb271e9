"""Inline Markdown, HTML and LaTeX as plain text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.latex.text import Printer
from repro_pipeline.paper.latex.tokens import tokenise
from repro_pipeline.paper.names import one_line
from repro_pipeline.paper.tables import RawCell

_MATH = re.compile(
    r"(?<!\\)\$\$?(?!\s?\d+(?:\.\d+)?\s[a-z])(.+?)(?<!\\)\$\$?|\\\((.{1,2000}?)\\\)", re.S
)
_CITATION = re.compile(r"\[[^\[\]@]*@\w[^\[\]]*\]|(?<![\w.])@([\w:./-]*\w)")
_KEY = re.compile(r"@([\w:./-]*\w)")
_BOLD = re.compile(
    r"\*\*(?=\S)((?:[^*]|\*(?!\*))+?)(?<=\S)\*\*|(?<!\w)__(?=\S)((?:[^_]|_(?!_))+?)(?<=\S)__(?!\w)"
)
_ITALIC = re.compile(
    r"(?<![\w*\\])\*(?=[^\s*])([^*]+?)(?<=[^\s\\])\*(?![\w*])|(?<![\w\\])_(?=\S)([^_]+?)(?<=\S)_(?!\w)"
)
_IMAGE = re.compile(r"!\[[^\]]{0,1000}\]\([^)]{0,1000}\)(?:\{[^}]{0,200}\})?")
_LINK = re.compile(r"(?<!\\)\[([^\[\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]{0,500}\")?\)")
_FACE = re.compile(
    r"\\(?:textbf|textit|textrm|text|emph|underline|mathbf|mathrm|boldsymbol|bm)\{([^{}]*)\}"
)
"""Faces that converters leave in cells outside of formulas."""
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)\b[^<>]*>")
_CODE = re.compile(r"`([^`]+)`")
_RAISED = re.compile(r"(?<=[\w.,;:)%*])\^([^\s^{}\[\]]{1,12})\^(?!\w)")
"""Pandoc's raised text, as `93.2^a^`."""
_FOOTNOTE = re.compile(r"\[\^[\w-]+\](?!:)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~$%&-])")


def plain_text(text: str, mark: Callable[[Sequence[str]], str] | None = None) -> str:
    """Text without markup, formulas as they are printed; `mark` writes pandoc's citations."""
    text = _MATH.sub(lambda found: _formula(found[1] or found[2]), text)
    for _ in range(2):  # one face in another
        text = _FACE.sub(r"\1", text)
    text = _IMAGE.sub("", text)
    text = _LINK.sub(r"\1", text)
    if mark is not None:
        text = _CITATION.sub(lambda found: mark(_KEY.findall(found[0])), text)
    text = _CODE.sub(r"\1", text)
    text = _BOLD.sub(lambda found: found[1] or found[2], text)
    text = _ITALIC.sub(lambda found: found[1] or found[2], text)
    text = re.sub(r"<br\s*/?>", " ", text, flags=re.I)
    text = re.sub(r"<sup>([^<]*)</sup>", lambda found: _script("^", found[1]), text, flags=re.I)
    text = re.sub(r"<sub>([^<]*)</sub>", lambda found: _script("_", found[1]), text, flags=re.I)
    text = _RAISED.sub(lambda found: _script("^", found[1]), text)
    text = _FOOTNOTE.sub("", text)
    text = html.unescape(_TAG.sub("", text))
    text = _ESCAPE.sub(r"\1", text)
    return "\n".join(one_line(line) for line in text.split("\n")).strip()


def cell_text(text: str) -> RawCell:
    """A table cell of these words: its text, and whether it begins bold or underlined."""
    bold = re.match(
        r"\W*(?:\*\*|__|<b>|<strong>)|\W*\$?\s*\\(?:mathbf|boldsymbol|bm|textbf)\b", text
    )
    underlined = re.match(r"\W*(?:<u>|<ins>)|\W*\$?\s*\\underline\b", text, re.I)
    return RawCell(one_line(plain_text(text)), bold=bool(bold), underline=bool(underlined))


def _formula(source: str) -> str:
    """A formula in LaTeX as it is printed; as it is written, if it is broken."""
    try:
        printed = Printer().print(tokenise(f"${source}$", "")).text
    except PaperError:
        return source
    return printed.replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;").replace("`", "'")


def _script(sign: str, inside: str) -> str:
    inside = inside.strip()
    if not inside or (sign == "^" and set(inside) <= set("*†‡§¶#")):
        return inside.replace("*", "\\*")
    return f"{sign}{inside}" if len(inside) == 1 else f"{sign}{{{inside}}}"
