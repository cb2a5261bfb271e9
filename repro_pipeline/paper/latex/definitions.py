"""What the defining and including commands of LaTeX do to an expander."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.latex.arguments import plain, words
from repro_pipeline.paper.latex.tokens import Token

if TYPE_CHECKING:
    from repro_pipeline.paper.latex.expand import Expander

KEPT = words(
    """begin end item section subsection subsubsection paragraph subparagraph chapter part caption
    captionof label ref cite citet citep multicolumn multirow makecell hline toprule midrule
    bottomrule cmidrule cline tabularnewline input include title author abstract textbf textit emph
    footnote bibliography bibitem documentclass usepackage maketitle appendix num SI newline par
    thebibliography tabular table figure verb url href includegraphics cr"""
) | {"\\"}
"""Commands whose meaning is fixed here; a paper that redefines one changes its looks only."""

COUNTERS = words("thetable thefigure thesection theequation")
"""Redefinitions that are passed on, since they change the printed numbers."""


@dataclass(frozen=True)
class Macro:
    """A macro: what its parameters look like, and the tokens that it stands for.

    `pattern` holds '#' for each parameter, 'o' for one with a default, 's' for a star, 'g' for a
    group that may be left out, and the text of each literal token between parameters. `alias`
    names a command that it copies.
    """

    pattern: tuple[str, ...] = ()
    body: tuple[Token, ...] = ()
    defaults: tuple[tuple[Token, ...], ...] = ()
    alias: str | None = None


def where(token: Token) -> str:
    """File and line, for messages."""
    return f"{token.file}:{token.line}"


def brace(kind, origin: Token) -> Token:
    """A brace that stands where another token does."""
    return Token(kind, kind, origin.file, origin.line)


def _name_in(tokens: list[Token]) -> str | None:
    return next((token.text for token in tokens if token.kind == "command"), None)


def _define(expander: Expander, name: str | None, macro: Macro, caller: Token) -> None:
    if name is None or name in KEPT:
        return
    if name in COUNTERS:
        braces = brace("{", caller), brace("}", caller)
        expander.out += [Token("command", name, caller.file, caller.line), braces[0]]
        expander.out += [*macro.body, braces[1]]
    else:
        expander.macros[name] = macro


def _new_command(expander: Expander, caller: Token) -> None:
    expander.star()
    name = _name_in(expander.argument(caller))
    macro = _macro(expander, caller)
    if caller.text != "providecommand" or name not in expander.macros:
        _define(expander, name, macro, caller)


def _macro(expander: Expander, caller: Token) -> Macro:
    count = plain(expander.option(caller) or []).strip()
    default = expander.option(caller) if count else None
    pattern = ["#"] * (int(count) if count.isdigit() else 0)
    if default is not None and pattern:
        pattern[0] = "o"
    body = tuple(expander.argument(caller))
    return Macro(tuple(pattern), body, () if default is None else (tuple(default),))


def _def(expander: Expander, caller: Token) -> None:
    name = expander.next_solid()
    pattern: list[str] = []
    while (token := expander.next()) is not None and token.kind != "{":
        if token.kind != "space":
            pattern.append("#" if token.kind == "#" else token.text)
    if name is None or token is None:
        raise PaperError(f"\\{caller.text} lacks its text.", where=where(caller))
    _define(expander, name.text, Macro(tuple(pattern), tuple(expander.group(caller))), caller)


def _let(expander: Expander, caller: Token) -> None:
    name, value = expander.next_solid(), expander.next_solid()
    if value is not None and value.text == "=" and value.kind == "char":
        value = expander.next_solid()
    if name is None or value is None or name.kind != "command":
        return
    if value.kind != "command":
        _define(expander, name.text, Macro(body=(value,)), caller)
    else:
        copied = expander.macros.get(value.text, Macro(alias=value.text))
        _define(expander, name.text, copied, caller)


def _operator(expander: Expander, caller: Token) -> None:
    expander.star()
    name = _name_in(expander.argument(caller))
    text = expander.argument(caller)
    command = Token("command", "operatorname", caller.file, caller.line)
    body = (command, brace("{", caller), *text, brace("}", caller))
    _define(expander, name, Macro(body=body), caller)


def _document_command(expander: Expander, caller: Token) -> None:
    name = _name_in(expander.argument(caller))
    pattern: list[str] = []
    defaults: list[tuple[Token, ...]] = []
    known = True
    spec = iter(expander.argument(caller))
    for token in spec:
        if token.text in {"m", "o", "s", "g"}:
            pattern.append({"m": "#"}.get(token.text, token.text))
            defaults += [()] if token.text == "o" else []
        elif token.text == "O":
            pattern.append("o")
            next(spec, None)
            default: list[Token] = []
            for inner in spec:
                if inner.kind == "}":
                    break
                default.append(inner)
            defaults.append(tuple(default))
        elif token.kind == "char" and token.text not in "+!":
            known = False
    body = tuple(expander.argument(caller))
    if known:
        _define(expander, name, Macro(tuple(pattern), body, tuple(defaults)), caller)


def _new_environment(expander: Expander, caller: Token) -> None:
    expander.star()
    name = plain(expander.argument(caller)).strip()
    begin = _macro(expander, caller)
    end = Macro(body=tuple(expander.argument(caller)))
    standard = name.rstrip("*") in KEPT or name in _ENVIRONMENTS
    if not standard:
        expander.environments[name] = (begin, end)


_ENVIRONMENTS = words(
    """tabularx tabulary longtable equation align gather itemize enumerate description proof theorem
    lemma definition document center quote minipage subtable subfigure wraptable threeparttable
    sidewaystable array table* figure* tabular*"""
)


def _column_type(expander: Expander, caller: Token) -> None:
    name = plain(expander.argument(caller)).strip()
    expander.column_types[name] = _macro(expander, caller)


def _input(expander: Expander, caller: Token) -> None:
    token = expander.next_solid()
    if token is None:
        return
    if token.kind == "{":
        name = plain(expander.group(caller))
    else:
        name = ""
        while token is not None and token.kind == "char" and not token.text.isspace():
            name += token.text
            token = expander.next()
        if token is not None:
            expander.push([token])
    expander.include(name.strip(), caller)


def _import(expander: Expander, caller: Token) -> None:
    folder, name = plain(expander.argument(caller)), plain(expander.argument(caller))
    expander.include(f"{folder.strip().rstrip('/')}/{name.strip()}", caller)


def _expand_after(expander: Expander, caller: Token) -> None:
    """`\\expandafter\\newcommand\\csname name\\endcsname` defines the command of that name."""
    first = expander.next_solid()
    second = expander.next_solid()
    if second is not None and second.text == "csname":
        _csname(expander, second)
    elif second is not None:
        expander.push([second])
    if first is not None:
        expander.push([first])


def _csname(expander: Expander, caller: Token) -> None:
    name = ""
    while (token := expander.next()) is not None:
        if token.kind == "command":
            if token.text == "endcsname":
                break
            inner = expander.macros.get(token.text)
            name += plain(inner.body) if inner else token.text
        else:
            name += token.text
    expander.push([caller._replace(text=name.strip())])


def _use_name(expander: Expander, caller: Token) -> None:
    expander.push([caller._replace(text=plain(expander.argument(caller)).strip())])


def _define_name(expander: Expander, caller: Token) -> None:
    name = plain(expander.argument(caller)).strip()
    expander.push([caller._replace(text="def"), caller._replace(text=name)])


def _new_switch(expander: Expander, caller: Token) -> None:
    name = expander.next_solid()
    if name is not None and name.text[:2] == "if":
        expander.switches[name.text[2:]] = False


def _new_toggle(expander: Expander, caller: Token) -> None:
    expander.switches[f"\\{plain(expander.argument(caller))}"] = False


def _set_toggle(expander: Expander, caller: Token) -> None:
    expander.switches[f"\\{plain(expander.argument(caller))}"] = caller.text == "toggletrue"


def _if_toggle(expander: Expander, caller: Token) -> None:
    name = plain(expander.argument(caller))
    yes, no = expander.argument(caller), expander.argument(caller)
    expander.push(yes if expander.switches.get(f"\\{name}") else no)


def _else(expander: Expander, caller: Token) -> None:
    expander.skip(caller, stop_at_else=False)


def _nothing(expander: Expander, caller: Token) -> None:
    """A command without effect on the text."""


HARVESTED: dict[str, Callable[[Expander, Token], None]] = {
    "newcommand": _new_command,
    "providecommand": _new_command,
    "DeclareRobustCommand": _new_command,
    "def": _def,
    "DeclareMathOperator": _operator,
}
HANDLERS: dict[str, Callable[[Expander, Token], None]] = {
    **HARVESTED,
    "renewcommand": _new_command,
    "gdef": _def,
    "edef": _def,
    "xdef": _def,
    "let": _let,
    "NewDocumentCommand": _document_command,
    "RenewDocumentCommand": _document_command,
    "DeclareDocumentCommand": _document_command,
    "newenvironment": _new_environment,
    "renewenvironment": _new_environment,
    "newcolumntype": _column_type,
    "input": _input,
    "include": _input,
    "subfile": _input,
    "import": _import,
    "subimport": _import,
    "csname": _csname,
    "expandafter": _expand_after,
    **dict.fromkeys(["@nameuse", "csuse"], _use_name),
    **dict.fromkeys(["@namedef", "csdef", "csgdef", "csedef"], _define_name),
    "newif": _new_switch,
    "newtoggle": _new_toggle,
    "toggletrue": _set_toggle,
    "togglefalse": _set_toggle,
    "iftoggle": _if_toggle,
    "else": _else,
    **dict.fromkeys(
        ["fi", "long", "global", "protected", "noexpand", "protect", "relax"],
        _nothing,
    ),
}
