"""Reading arguments out of a list of tokens: groups, options, environments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repro_pipeline.paper.latex.tokens import Token

Tokens = Sequence[Token]

LONGEST_OPTION = 3000
"""A bracket that does not close within so many tokens is a bracket, not an option."""


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def skip_space(tokens: Tokens, at: int) -> int:
    """The next place that holds no space."""
    while at < len(tokens) and tokens[at].kind in {"space", "par"}:
        at += 1
    return at


def group_end(tokens: Tokens, at: int) -> int:
    """The place of the `}` that closes the `{` at a place, or the end of the tokens."""
    depth = 0
    for place in range(at, len(tokens)):
        kind = tokens[place].kind
        depth += (kind == "{") - (kind == "}")
        if depth == 0:
            return place
    return len(tokens)


def argument(tokens: Tokens, at: int) -> tuple[Tokens, int]:
    """A mandatory argument, a group or a single token, and the place after it."""
    at = skip_space(tokens, at)
    if at >= len(tokens):
        return (), at
    if tokens[at].kind == "{":
        end = group_end(tokens, at)
        return tokens[at + 1 : end], end + 1
    return tokens[at : at + 1], at + 1


def option(tokens: Tokens, at: int, brackets: str = "[]") -> tuple[Tokens | None, int]:
    """An optional argument in brackets and the place after it; None where there is none."""
    start = skip_space(tokens, at)
    if start >= len(tokens) or tokens[start].text != brackets[0]:
        return None, at
    depth = 0
    for place in range(start + 1, min(start + LONGEST_OPTION, len(tokens))):
        token = tokens[place]
        if token.text == brackets[1] and depth == 0 and token.kind == "char":
            return tokens[start + 1 : place], place + 1
        depth += (token.kind == "{") - (token.kind == "}")
        if depth < 0 or token.kind == "par":
            break
    return None, at


def star(tokens: Tokens, at: int) -> int:
    """The place after a star, if there is one."""
    return at + 1 if at < len(tokens) and tokens[at].text == "*" else at


def plain(tokens: Tokens) -> str:
    """Tokens as source text."""
    parts: list[str] = []
    for token, following in zip(tokens, [*tokens[1:], None], strict=False):
        if token.kind == "command":
            word = token.text[-1:].isalpha() and following is not None
            gap = " " if word and following.kind == "char" and following.text.isalpha() else ""
            parts.append(f"\\{token.text}{gap}")
        else:
            parts.append(token.text)
    return "".join(parts)


def environment_name(tokens: Tokens, at: int) -> str | None:
    """The name in `\\begin{name}` or `\\end{name}` at a place, else None."""
    if at < len(tokens) and tokens[at].kind == "command" and tokens[at].text in {"begin", "end"}:
        return plain(argument(tokens, at + 1)[0]).strip()
    return None


def environment_end(
    tokens: Tokens, at: int, name: str, outer: Sequence[str] = ()
) -> tuple[int, bool]:
    """The place of the `\\end{name}` for a body that starts at a place, and whether it is there.

    The search stops at the `\\end` of one of the outer environments, or at the last token.
    """
    depth = 0
    for place in range(at, len(tokens)):
        found = environment_name(tokens, place)
        if found == name:
            depth += 1 if tokens[place].text == "begin" else -1
            if depth < 0:
                return place, True
        elif found in outer and tokens[place].text == "end":
            return place, False
    return len(tokens), False


def is_balanced(tokens: Tokens) -> bool:
    """Whether every brace has its partner."""
    depth = 0
    for token in tokens:
        depth += (token.kind == "{") - (token.kind == "}")
        if depth < 0:
            return False
    return depth == 0


def skip_arguments(tokens: Tokens, at: int, signature: str) -> int:
    """The place after arguments that are not printed.

    In `signature`: m mandatory, o optional, p in parentheses, d a length.
    """
    for kind in signature:
        if kind == "m":
            at = argument(tokens, at)[1]
        elif kind == "o":
            at = option(tokens, at)[1]
        elif kind == "p":
            at = option(tokens, at, "()")[1]
        else:
            at = _after_dimension(tokens, at)
    return at


_DIMENSION = re.compile(
    r"=?\s*-?[\d.]*\s*(?:pt|mm|cm|in|ex|em|pc|bp|mu|\\[a-z]+)"
    r"(?:\s*(?:plus|minus)\s*[\d.]+\s*\w\w)*"
)


def _after_dimension(tokens: Tokens, at: int) -> int:
    """The place after `1.5em plus 2pt`."""
    start = skip_space(tokens, at)
    text = ""
    for token in tokens[start : start + 40]:
        if token.kind not in {"char", "space", "command"}:
            break
        text += f"\\{token.text}" if token.kind == "command" else token.text
    match = _DIMENSION.match(text)
    if not match:
        return at
    length = 0
    for place, token in enumerate(tokens[start : start + 40]):
        length += len(token.text) + (token.kind == "command")
        if length >= match.end():
            return start + place + 1
    return at
