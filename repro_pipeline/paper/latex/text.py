"""Tokens as the text that a reader sees, with what is bold and underlined."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.latex.arguments import (
    Tokens,
    argument,
    environment_end,
    group_end,
    option,
    plain,
    skip_arguments,
    star,
)
from repro_pipeline.paper.latex.siunitx import AS_WRITTEN, Rounding, printed_number
from repro_pipeline.paper.latex.symbols import (
    ACCENTS,
    BOLD,
    CITATIONS,
    DECLARATIONS,
    DROPPED,
    ENVIRONMENT_ARGUMENTS,
    FONTS,
    FOOTNOTES,
    FUNCTIONS,
    LAST_KEPT,
    MATH_ENVIRONMENTS,
    NUMBERS,
    REFERENCES,
    RELATIONS,
    SYMBOLS,
    TEXT,
    UNDERLINED,
)
from repro_pipeline.paper.latex.tokens import Token
from repro_pipeline.paper.names import one_line

DEEPEST = 60
"""Deeper nesting of groups is an attack, not a paper."""


@dataclass(frozen=True)
class Printed:
    """A text, and whether its first letter or digit is bold or underlined."""

    text: str
    bold: bool = False
    underline: bool = False


@dataclass(frozen=True)
class Printer:
    """How references and citations are printed."""

    reference: Callable[[str, str], str] = lambda command, label: "?"
    """The text for a command (`ref`, `cref`, …) and a label."""
    citation: Callable[[Sequence[str]], str] = lambda keys: "[" + ", ".join(keys) + "]"
    """The text for the keys of a citation."""
    footnotes: bool = False
    """Whether footnotes are printed, in parentheses; in tables and titles they are left out."""
    shows_undefined: bool = False
    """Whether an undefined command is printed as it is written: `\\m0.24` is no number."""
    rounding: Rounding = AS_WRITTEN
    """How siunitx is set up to round."""

    def print(self, tokens: Tokens) -> Printed:
        """Tokens as printed text on one line. Raises PaperError for groups nested too deeply."""
        pieces = _Pieces(self)
        pieces.read(tokens, _Style())
        first = next(
            (style for text, style in pieces.out if any(char.isalnum() for char in text)), _Style()
        )
        text = _tidy("".join(text for text, _ in pieces.out))
        return Printed(one_line(text), first.bold, first.underline)

    def paragraphs(self, tokens: Tokens) -> str:
        """Tokens as paragraphs parted by blank lines."""
        pieces = _Pieces(self)
        pieces.read(tokens, _Style())
        text = _tidy("".join(text for text, _ in pieces.out))
        blocks = re.split(r"\n\s*\n", text)
        lines = (["  ".join(line.split("\t")) for line in block.split("\n")] for block in blocks)
        joined = ("\n".join(" ".join(line.split()) for line in block).strip() for block in lines)
        return "\n\n".join(block for block in joined if block)


@dataclass(frozen=True)
class _Style:
    bold: bool = False
    underline: bool = False
    math: bool = False
    depth: int = 0


@dataclass
class _Pieces:
    """Printed pieces in the making."""

    printer: Printer
    out: list[tuple[str, _Style]] = field(default_factory=list)

    def add(self, text: str, style: _Style) -> None:
        self.out.append((text, style))

    def read(self, tokens: Tokens, style: _Style) -> None:
        """Prints a group's tokens; a declaration in it holds to its end."""
        if style.depth > DEEPEST:
            place = f"{tokens[0].file}:{tokens[0].line}" if tokens else ""
            raise PaperError("groups are nested too deeply.", where=place)
        style = replace(style, depth=style.depth + 1)
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.kind == "command":
                if token.text in _FACES:
                    style = replace(style, bold=_FACES[token.text])
                elif token.text in {"(", "["}:
                    style = replace(style, math=True)
                elif token.text in {")", "]"}:
                    style = replace(style, math=False)
                at = self.command(tokens, at, style)
            elif token.kind == "$":
                style = replace(style, math=not style.math)
                at += 1
            elif token.kind == "{":
                end = group_end(tokens, at)
                self.read(tokens[at + 1 : end], style)
                at = end + 1
            elif token.kind in {"^", "_"}:
                at = self.script(tokens, at, style)
            else:
                self.character(token, style)
                at += 1

    def character(self, token: Token, style: _Style) -> None:
        if token.kind == "verbatim":
            self.add(token.text, style)
        elif token.kind == "par":
            self.add("\n\n", style)
        elif token.kind in {"&", "space"}:
            if token.kind == "&" or not style.math:
                self.add(" ", style)
        elif token.kind == "char":
            if style.math and token.text in "=<>+-":
                self.operator(token.text, style)
            else:
                self.add(_CHARACTERS.get(token.text, token.text), style)

    def operator(self, sign: str, style: _Style) -> None:
        """A relation with space around it; a sign before a number without."""
        before = "".join(text for text, _ in self.out[-4:]).rstrip()
        unary = sign in "+-" and (not before or before[-1] in "=<>≤≥≈~±×·([{,;/:^_|→↑↓")
        self.add(
            {"-": "−"}.get(sign, sign) if unary else f" {({'-': '−'}).get(sign, sign)} ", style
        )

    def script(self, tokens: Tokens, at: int, style: _Style) -> int:
        """A raised or lowered argument, in braces where it has more than one character."""
        content, end = self._whole_argument(tokens, at + 1)
        inner = _Pieces(self.printer)
        inner.read(content, replace(style, math=True))
        text = _tidy("".join(piece for piece, _ in inner.out)).strip()
        if tokens[at].kind == "^" and text and set(text) <= set("∘○°"):
            self.add("°", style)
        elif tokens[at].kind == "^" and text and set(text) <= _MARKS:
            self.add(text, style)
        elif text:
            sign = tokens[at].text
            self.add(f"{sign}{text}" if len(text) == 1 else f"{sign}{{{text}}}", style)
        return end

    def command(self, tokens: Tokens, at: int, style: _Style) -> int:
        """Prints a command and returns the place after its arguments."""
        name = tokens[at].text
        after = star(tokens, at + 1) if name not in {"\\", "times", "cdot"} else at + 1
        if name in RELATIONS:
            text = RELATIONS[name]
            self.add(text if name in {"ast", "sim"} and not style.math else f" {text} ", style)
            return at + 1
        if name in SYMBOLS:
            self.add(SYMBOLS[name], style)
            return self._after_line_end(tokens, after) if name in {"\\", "item"} else at + 1
        if name in FUNCTIONS:
            self.add(f" {name} " if style.math else name, style)
            return at + 1
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, tokens, at, style)
        for names, kind in _FAMILIES:
            if name in names:
                return kind(self, tokens, after, name, style)
        return self._unknown(tokens, at, style)

    def _after_line_end(self, tokens: Tokens, at: int) -> int:
        return option(tokens, at)[1]

    def _unknown(self, tokens: Tokens, at: int, style: _Style) -> int:
        """Of an unknown command the arguments are printed, apart; an option before them is not."""
        given, after = option(tokens, at + 1)
        if given is None or after >= len(tokens) or tokens[after].kind != "{":
            after = at + 1
        if self.printer.shows_undefined and _is_undefined(tokens, at):
            self.add(f"\\{tokens[at].text} ", style)
        elif style.math and tokens[at].text.isalpha() and not _opens(tokens, after):
            self.add(tokens[at].text, style)
        while _opens(tokens, after):
            end = group_end(tokens, after)
            self.read(tokens[after + 1 : end], style)
            after = end + 1
            if _opens(tokens, after):
                self.add(" ", style)  # or `\\block{25}{6}` would read as 256
        return after

    def _whole_argument(self, tokens: Tokens, at: int) -> tuple[Tokens, int]:
        """An argument; where it is a bare command such as `\\text`, with the group behind it."""
        content, end = argument(tokens, at)
        bare = len(content) == 1 and content[0].kind == "command"
        if bare and end < len(tokens) and tokens[end].kind == "{" and tokens[end - 1] is content[0]:
            group, after = argument(tokens, end)
            if after <= len(tokens):  # else the group has no end
                return [*content, tokens[end], *group, tokens[after - 1]], after
        return content, end


def undefined_commands(tokens: Tokens) -> tuple[str, ...]:
    """The commands of unknown meaning whose text may be missing or torn, without repeats.

    A command with one argument is taken to set it in some colour or face.
    """
    found: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at].kind == "command" and tokens[at].text in NUMBERS:
            _, at = printed_number(tokens[at].text, tokens, at + 1)  # units are siunitx's own
            continue
        if _is_undefined(tokens, at):
            found.append(tokens[at].text)
        at += 1
    return tuple(dict.fromkeys(found))


def _is_undefined(tokens: Tokens, at: int) -> bool:
    if tokens[at].kind != "command" or _is_known(tokens[at].text):
        return False
    _, after = option(tokens, at + 1)
    groups = 0
    while _opens(tokens, after):
        after = group_end(tokens, after) + 1
        groups += 1
    return groups != 1


def _is_known(name: str) -> bool:
    known = (
        name in _FACES
        or name in RELATIONS
        or name in SYMBOLS
        or name in FUNCTIONS
        or name in _SPECIAL
    )
    return known or not name.isalpha() or any(name in names for names, _ in _FAMILIES)


def _opens(tokens: Tokens, at: int) -> bool:
    return at < len(tokens) and tokens[at].kind == "{"


_FACES = {
    **dict.fromkeys(["bfseries", "bf", "boldmath"], True),
    **dict.fromkeys(["mdseries", "normalfont", "unboldmath"], False),
}
_CHARACTERS = {"~": " ", "\u00a0": " "}
_MARKS = set("*∗†‡§¶‖⋆★♣♦♥♠◇△▽•#,")


def _dropped(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    return skip_arguments(tokens, at, DROPPED[name])


def _last_kept(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    content, end = argument(tokens, skip_arguments(tokens, at, LAST_KEPT[name]))
    pieces.read(content, style)
    return end


def _bold(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    content, end = argument(tokens, at)
    math = style.math and name != "textbf"
    pieces.read(content, replace(style, bold=True, math=math))
    return end


def _underlined(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    content, end = argument(tokens, at)
    pieces.read(content, replace(style, underline=True))
    return end


def _text(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    content, end = argument(tokens, at)
    pieces.read(content, replace(style, math=style.math and name.startswith("operatorname")))
    return end


def _font(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    content, end = argument(tokens, at)
    pieces.read(content, replace(style, math=style.math or name == "ensuremath"))
    return end


def _nothing(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    return at


def _accent(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    content, end = argument(tokens, at)
    letter = pieces.printer.print(content).text
    letter = {"ı": "i", "ȷ": "j"}.get(letter, letter)
    accented = letter[:1] + ACCENTS[name] + letter[1:] if letter else ""
    pieces.add(unicodedata.normalize("NFC", accented), style)
    return end


def _citation(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    _, at = option(tokens, at)
    _, at = option(tokens, at)
    keys, end = argument(tokens, at)
    names = [key.strip() for key in plain(keys).split(",") if key.strip()]
    if names:
        pieces.add(pieces.printer.citation(names), style)
    return end


def _reference(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    label, end = argument(tokens, at)
    pieces.add(pieces.printer.reference(name, plain(label).strip()), style)
    return end


def _footnote(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    _, at = option(tokens, at)
    content, end = argument(tokens, at)
    if pieces.printer.footnotes and name not in {"thanks", "Thanks"}:
        pieces.add(" (", style)
        pieces.read(content, replace(style, math=False))
        pieces.add(")", style)
    return end


def _number(pieces: _Pieces, tokens: Tokens, at: int, name: str, style: _Style) -> int:
    text, end = printed_number(name, tokens, at, pieces.printer.rounding)
    pieces.add(text, style)
    return end


_FAMILIES: tuple[tuple[frozenset[str] | dict, Callable], ...] = (
    (BOLD, _bold),
    (UNDERLINED, _underlined),
    (FONTS, _font),
    (TEXT, _text),
    (CITATIONS, _citation),
    (REFERENCES - {"hyperref"}, _reference),
    (FOOTNOTES, _footnote),
    (NUMBERS, _number),
    (LAST_KEPT, _last_kept),
    (DROPPED, _dropped),
    (DECLARATIONS, _nothing),
    (ACCENTS, _accent),
)


def _fraction(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    above, end = argument(tokens, at + 1)
    below, end = argument(tokens, end)
    for content, sign in ((above, "/"), (below, "")):
        inner = _Pieces(pieces.printer)
        inner.read(content, style)
        text = _tidy("".join(piece for piece, _ in inner.out)).strip()
        pieces.add((f"({text})" if re.search(r"[ +]", text) else text) + sign, style)
    return end


def _raised_text(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    sign = "_" if tokens[at].text == "textsubscript" else "^"
    content, end = argument(tokens, at + 1)
    script = tokens[at]._replace(kind=sign, text=sign)
    pieces.script(
        [script, script._replace(kind="{"), *content, script._replace(kind="}")], 0, style
    )
    return end


def _begin(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    """An environment in running text: its arguments are left out, its body is printed."""
    name, after = argument(tokens, at + 1)
    words = plain(name).strip()
    end, _ = environment_end(tokens, after, words)
    start = skip_arguments(tokens, after, ENVIRONMENT_ARGUMENTS.get(words.rstrip("*"), "o"))
    body = tokens[start:end]
    math = style.math or words.rstrip("*") in MATH_ENVIRONMENTS
    pieces.read(body, replace(style, math=math))
    return argument(tokens, end + 1)[1]


def _end(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    return argument(tokens, at + 1)[1]


def _diagonal(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    _, start = option(tokens, at + 1)
    first, start = argument(tokens, start)
    second, end = argument(tokens, start)
    pieces.read(first, style)
    pieces.add(" \\ ", style)
    pieces.read(second, style)
    return end


def _paragraph_break(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    pieces.add("\n\n", style)
    return at + 1


def _space(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    pieces.add(" ", style)
    return argument(tokens, star(tokens, at + 1))[1]


def _guarded_space(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    """`\\xspace`: the space that the command name before it has swallowed."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    word = following is not None and following.kind in {"char", "command", "$"}
    if word and following.text not in set(".,;:!?'/-)]~%\\") | {"xspace"}:
        pieces.add(" ", style)
    return at + 1


def _root(pieces: _Pieces, tokens: Tokens, at: int, style: _Style) -> int:
    _, start = option(tokens, at + 1)
    content, end = argument(tokens, start)
    whole = len(content) > 1  # √(1 + x) is not √1 + x
    pieces.add("√(" if whole else "√", style)
    pieces.read(content, style)
    pieces.add(")" if whole else "", style)
    return end


_SPECIAL: dict[str, Callable[[_Pieces, Tokens, int, _Style], int]] = {
    **dict.fromkeys(["frac", "tfrac", "dfrac", "nicefrac", "sfrac"], _fraction),
    **dict.fromkeys(["textsuperscript", "textsubscript", "tnote", "footnoteref"], _raised_text),
    **dict.fromkeys(["diagbox", "backslashbox", "slashbox"], _diagonal),
    "begin": _begin,
    "end": _end,
    "par": _paragraph_break,
    "hspace": _space,
    "xspace": _guarded_space,
    "sqrt": _root,
}

_LIGATURES = (
    ("---", "—"),
    ("--", "–"),
    ("``", "“"),
    ("''", "”"),
)


def _tidy(text: str) -> str:
    """Dashes and quotes as printed, and no doubled or stray spaces."""
    for written, printed in _LIGATURES:
        text = text.replace(written, printed)
    text = re.sub(r"\u2009\s|\s\u2009|(?<!\d)\u2009|\u2009(?!\d)", " ", text)
    text = re.sub(r"[ \t]+([,.;:)\]%](?:\s|$))", r"\1", text)
    return re.sub(r"[ \t]{2,}", " ", text)
