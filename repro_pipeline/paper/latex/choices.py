"""Commands that choose between their arguments, as macros of papers use them.

A condition that cannot be known chooses the last argument, and the command itself is passed on, so
that what it prints is known to be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from repro_pipeline.paper.latex.arguments import plain
from repro_pipeline.paper.latex.tokens import Token

if TYPE_CHECKING:
    from repro_pipeline.paper.latex.expand import Expander


def _choice(test: Callable[[Expander, Token], bool | None]) -> Callable[[Expander, Token], None]:
    """A command with a test and two branches; one that ends in `T` or `F` has that branch only."""

    def choose(expander: Expander, caller: Token) -> None:
        holds = test(expander, caller)
        kind = re.search(r"(?<=[a-z])(?:TF|T|F)$", caller.text)
        branches = kind[0] if kind else "TF"
        yes = expander.argument(caller) if "T" in branches else []
        no = expander.argument(caller) if "F" in branches else []
        if holds is None:
            expander.out.append(caller)
        expander.push(yes if holds else no)

    return choose


def _given(expander: Expander, caller: Token) -> bool:
    return bool(expander.argument(caller))


def _not_given(expander: Expander, caller: Token) -> bool:
    return not expander.argument(caller)


def _text(expander: Expander, caller: Token) -> str:
    """An argument's text; a macro of the paper in it counts as what it stands for."""
    shown = [
        inner
        for token in expander.argument(caller)
        for inner in (
            expander.macros[token.text].body if token.text in expander.macros else [token]
        )
    ]
    return plain(shown).strip()


def _empty(expander: Expander, caller: Token) -> bool:
    return not _text(expander, caller)


def _filled(expander: Expander, caller: Token) -> bool:
    return not _empty(expander, caller)


def _same(expander: Expander, caller: Token) -> bool:
    return _text(expander, caller) == _text(expander, caller)


def _stated(expander: Expander, caller: Token) -> bool | None:
    """The test of `ifthen`: an equality of texts or a relation of numbers."""
    tokens = expander.argument(caller)
    first = next((token.text for token in tokens if token.kind != "space"), "")
    if first == "equal":
        expander.push(tokens[1:])
        return _same(expander, caller)
    return relation(plain(tokens))


def relation(text: str) -> bool | None:
    """Whether `3 > 2` or `0.5pt < 1pt` holds; None where it is no relation of such numbers."""
    found = re.fullmatch(
        r"\s*([+-]?\d*\.?\d+)\s*([a-z]{2})?\s*([<>=])\s*([+-]?\d*\.?\d+)\s*([a-z]{2})?\s*", text
    )
    if not found or found[2] != found[5]:
        return None
    left, right = Decimal(found[1]), Decimal(found[4])
    return {"<": left < right, ">": left > right, "=": left == right}[found[3]]


CHOICES: dict[str, Callable[[Expander, Token], None]] = {
    **dict.fromkeys(["IfBooleanTF", "IfBooleanT", "IfBooleanF"], _choice(_given)),
    **dict.fromkeys(["IfValueTF", "IfValueT", "IfValueF"], _choice(_given)),
    **dict.fromkeys(["IfNoValueTF", "IfNoValueT", "IfNoValueF"], _choice(_not_given)),
    **dict.fromkeys(["IfBlankTF", "ifstrempty", "ifblank", "ifdefempty"], _choice(_empty)),
    **dict.fromkeys(["notblank", "notempty"], _choice(_filled)),
    "ifstrequal": _choice(_same),
    "ifthenelse": _choice(_stated),
}
