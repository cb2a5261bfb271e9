"""Macros expanded and files included, by substitution of tokens within fixed bounds.

Of TeX's programming only what papers use is followed: definitions, `\\if` with a known outcome,
`\\csname`. Conditions that cannot be known count as false.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.latex.arguments import plain, words
from repro_pipeline.paper.latex.choices import CHOICES, relation
from repro_pipeline.paper.latex.definitions import (
    HANDLERS,
    HARVESTED,
    Macro,
    brace,
    where,
)
from repro_pipeline.paper.latex.tokens import Token, tokenise
from repro_pipeline.paper.latex.tree import Tree

MOST_TOKENS = 4_000_000
MOST_EXPANSIONS = 300_000
DEEPEST = 200

_WRAPPING = words(
    """textbf textit textsc texttt textrm textsf emph underline mathbf mathrm mathit mathcal mathbb
    boldsymbol bm pmb text mbox textsuperscript textsubscript ^ _"""
)
_CONDITIONS = words(
    """if ifx ifnum ifdim ifodd ifcat ifcase iftrue iffalse ifdefined ifcsname ifmmode ifhmode
    ifvmode ifinner ifvoid ifeof ifpdf ifxetex ifluatex"""
)
_COMPARED = re.compile(
    r"\s*[+-]?\d*\.?\d*\s*(?:[a-z]{1,2})?\s*(?:[<>=]\s*[+-]?\d*\.?\d*(?:[a-z]{1,2})?\s*)?$"
)
_OVER = re.compile(r"[<>=]\s*[+-]?\d*\.?\d+(?:[a-z]{2})?\s$")
_PICTURES = {".pgf", ".tikz", ".pdf_tex", ".eps_tex"}
_PUBLISHERS = re.compile(
    r"neurips|nips|icml|iclr|acl|cvpr|iccv|eccv|aaai|ijcai|ieee|acm|natbib|hyperref|cleveref|"
    r"booktabs|algorithm|fancyhdr|caption|times|rescience|llncs|elsarticle|svproc|tikz|pgf",
    re.I,
)
"""Style files whose macros are not the paper's own."""


@dataclass(frozen=True)
class Expanded:
    """A document without macros, and the column types that it defines."""

    tokens: list[Token]
    column_types: dict[str, Macro]
    warnings: tuple[str, ...]


def expand(tree: Tree) -> Expanded:
    """The main file of a tree with its inclusions and macros replaced.

    Raises PaperError, with file and line, for inclusion or expansion without end, a name that
    leaves the tree, and an argument that does not end.
    """
    expander = Expander(tree)
    for name in tree.names:
        if name.endswith(".sty") and not _PUBLISHERS.search(name):
            expander.harvest(name)
    expander.include(tree.main, None)
    return Expanded(expander.run(), expander.column_types, tuple(expander.warnings))


@dataclass
class _Frame:
    """Tokens that are being read, and the file that they are the whole of."""

    tokens: list[Token]
    at: int = 0
    file: str | None = None


@dataclass
class Expander:
    """The state of an expansion: what is defined, and what is still to be read."""

    tree: Tree
    macros: dict[str, Macro] = field(default_factory=lambda: {"empty": Macro(), "@empty": Macro()})
    environments: dict[str, tuple[Macro, Macro]] = field(default_factory=dict)
    column_types: dict[str, Macro] = field(default_factory=dict)
    switches: dict[str, bool] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    frames: list[_Frame] = field(default_factory=list)
    expansions: int = 0
    out: list[Token] = field(default_factory=list)

    # Reading

    def next(self) -> Token | None:
        """The next token, or None at the end."""
        while self.frames and self.frames[-1].at >= len(self.frames[-1].tokens):
            self.frames.pop()
        if not self.frames:
            return None
        frame = self.frames[-1]
        frame.at += 1
        return frame.tokens[frame.at - 1]

    def push(self, tokens: list[Token] | tuple[Token, ...], file: str | None = None) -> None:
        """Puts tokens before what is still to be read."""
        while self.frames and self.frames[-1].at >= len(self.frames[-1].tokens):
            self.frames.pop()
        self.frames.append(_Frame(list(tokens), 0, file))

    def next_solid(self) -> Token | None:
        """The next token that is no space."""
        token = self.next()
        while token is not None and token.kind in {"space", "par"}:
            token = self.next()
        return token

    def argument(self, caller: Token) -> list[Token]:
        """A group without its braces, or a single token."""
        token = self.next_solid()
        if token is None:
            raise PaperError(f"\\{caller.text} lacks an argument.", where=where(caller))
        return self.group(caller) if token.kind == "{" else [token]

    def group(self, caller: Token) -> list[Token]:
        """What follows up to the brace that closes an opened group."""
        tokens: list[Token] = []
        depth = 1
        while (token := self.next()) is not None:
            depth += (token.kind == "{") - (token.kind == "}")
            if depth == 0:
                return tokens
            tokens.append(token)
        raise PaperError(
            f"the argument of \\{caller.text} does not end.",
            where=where(caller),
            hint="A closing brace is missing.",
        )

    def option(self, caller: Token) -> list[Token] | None:
        """An argument in brackets, if one follows."""
        token = self.next_solid()
        if token is None or token.text != "[":
            if token is not None:
                self.push([token])
            return None
        tokens: list[Token] = []
        depth = 0
        while (token := self.next()) is not None:
            if depth == 0 and token.text == "]":
                return tokens
            depth += (token.kind == "{") - (token.kind == "}")
            tokens.append(token)
        raise PaperError(f"the option of \\{caller.text} does not end.", where=where(caller))

    def optional_group(self, caller: Token) -> list[Token]:
        """A group without its braces, if one follows at once."""
        token = self.next()
        if token is not None and token.kind == "{":
            return self.group(caller)
        if token is not None:
            self.push([token])
        return []

    def star(self) -> bool:
        """Whether a star follows; it is taken."""
        token = self.next_solid()
        if token is not None and token.text == "*":
            return True
        if token is not None:
            self.push([token])
        return False

    # Running

    def run(self) -> list[Token]:
        """Everything, expanded."""
        while (token := self.next()) is not None:
            if token.kind == "command":
                self.command(token)
            else:
                self.out.append(token)
            if len(self.out) > MOST_TOKENS:
                raise PaperError("the document is too large.", where=where(token))
        return self.out

    def command(self, token: Token) -> None:
        """Does what a command does, or passes it on."""
        name = token.text
        if handler := HANDLERS.get(name):
            handler(self, token)
        elif name in CHOICES and name not in self.macros:
            CHOICES[name](self, token)
        elif name in self.macros:
            self.apply(self.macros[name], token)
        elif name in {"begin", "end"}:
            self.environment(token)
        elif name in _CONDITIONS or (name[:2] == "if" and name[2:] in self.switches):
            self.condition(token)
        elif name[-4:] == "true" and name[:-4] in self.switches:
            self.switches[name[:-4]] = True
        elif name[-5:] == "false" and name[:-5] in self.switches:
            self.switches[name[:-5]] = False
        else:
            self.out.append(token)

    def apply(self, macro: Macro, caller: Token) -> None:
        """Replaces a call by its body."""
        self.expansions += 1
        if self.expansions > MOST_EXPANSIONS or len(self.frames) > DEEPEST:
            raise PaperError(
                f"\\{caller.text} expands without end.",
                where=where(caller),
                hint="A macro of the paper calls itself, or grows with each call.",
            )
        if macro.alias is not None:
            alias = caller._replace(text=macro.alias)
            handler = HANDLERS.get(macro.alias)
            handler(self, alias) if handler else self.out.append(alias)
            return
        body = _substitute(macro, self.actual_arguments(macro, caller), caller)
        if len(body) + sum(len(frame.tokens) - frame.at for frame in self.frames) > MOST_TOKENS:
            raise PaperError(f"\\{caller.text} expands to too much.", where=where(caller))
        if self.out and self.out[-1].text in _WRAPPING and self.out[-1].kind != "char":
            body = [brace("{", caller), *body, brace("}", caller)]
        self.push(body)

    def actual_arguments(self, macro: Macro, caller: Token) -> list[list[Token]]:
        """The arguments of a call."""
        arguments: list[list[Token]] = []
        defaults = iter(macro.defaults)
        for place, item in enumerate(macro.pattern):
            if item == "#":
                following = macro.pattern[place + 1 : place + 2]
                delimited = following and following[0] not in {"#", "o", "s"}
                arguments.append(
                    self.until(following[0], caller) if delimited else self.argument(caller)
                )
            elif item == "o":
                given = self.option(caller)
                default = next(defaults, ())
                arguments.append(list(default) if given is None else given)
            elif item == "g":
                arguments.append(self.optional_group(caller))
            elif item == "s":
                arguments.append([caller] if self.star() else [])
            elif place == 0 or macro.pattern[place - 1] not in {"#"}:
                self.next_solid()
        return arguments

    def until(self, literal: str, caller: Token) -> list[Token]:
        """A delimited argument: what stands before a literal token outside of groups."""
        tokens: list[Token] = []
        depth = 0
        while (token := self.next()) is not None:
            if depth == 0 and token.text == literal:
                return tokens
            depth += (token.kind == "{") - (token.kind == "}")
            tokens.append(token)
        raise PaperError(f"the argument of \\{caller.text} does not end.", where=where(caller))

    def environment(self, token: Token) -> None:
        """Replaces the begin or the end of an environment that the paper defines."""
        name_tokens = self.argument(token)
        name = plain(name_tokens).strip()
        if name in self.environments:
            self.apply(self.environments[name][token.text == "end"], token)
        else:
            self.out += [token, brace("{", token), *name_tokens, brace("}", token)]

    # Files

    def include(self, name: str, caller: Token | None) -> None:
        """Reads a file of the tree next."""
        try:
            found = self.tree.find(name)
        except PaperError as error:
            raise PaperError(error.what, where=where(caller) if caller else name) from None
        if PurePosixPath(name).suffix in _PICTURES:
            return
        if found is None:
            place = f"{where(caller)}: " if caller else ""
            self.warnings.append(f"{place}the file '{name}' is not in the source.")
            return
        if any(frame.file == found for frame in self.frames):
            raise PaperError(
                f"the file '{found}' includes itself.", where=where(caller) if caller else found
            )
        if len(self.frames) > DEEPEST:
            raise PaperError("files are included too deeply.", where=where(caller or Token))
        self.push(tokenise(self.tree.text(found), found), found)

    def harvest(self, name: str) -> None:
        """Takes the plain macros of a style file that comes with the paper."""
        tokens = tokenise(self.tree.text(name), name, at_is_letter=True)
        other = Expander(self.tree)
        for place, token in enumerate(tokens):
            if token.kind == "command" and token.text in HARVESTED:
                other.frames = [_Frame(tokens[place + 1 : place + 4000])]
                try:
                    HARVESTED[token.text](other, token)
                except PaperError:
                    continue
        for macro_name, macro in other.macros.items():
            internal = "@" in macro_name or any("@" in t.text for t in macro.body)
            if not internal and macro.alias is None:
                self.macros.setdefault(macro_name, macro)

    # Conditions

    def condition(self, token: Token) -> None:
        """Goes on in the branch that holds."""
        if self.outcome(token):
            return
        self.skip(token, stop_at_else=True)

    def outcome(self, token: Token) -> bool:
        """Whether a condition is known to hold."""
        name = token.text
        if name[2:] in self.switches:
            return self.switches[name[2:]]
        if name in {"iftrue", "ifpdf"}:
            return True
        if name == "ifdefined":
            defined = self.next_solid()
            return defined is not None and defined.text in self.macros
        if name in {"ifx", "if", "ifcat"}:
            first, second = self.next_solid(), self.next_solid()
            if first is None or second is None:
                return False
            if second.text == "detokenize":
                return not self.argument(second) and first.text == "relax"
            return self.meaning(first) == self.meaning(second)
        if name in {"ifnum", "ifdim"}:
            holds = relation(self.compared())
            if holds is None:
                self.out.append(token)  # so that what is printed here is known to be unknown
            return bool(holds)
        return False

    def meaning(self, token: Token) -> tuple:
        """What `\\ifx` compares: a macro's text, wherever it was defined, else the token itself."""
        macro = self.macros.get(token.text) if token.kind == "command" else None
        if macro is None:
            return token.kind, token.text
        return macro.pattern, plain(macro.body), macro.alias

    def compared(self) -> str:
        """The relation that `\\ifnum` or `\\ifdim` tests, with the space that ends it."""
        text = ""
        while (token := self.next()) is not None:
            if token.kind == "command" and token.text in self.macros:
                self.apply(self.macros[token.text], token)
                continue
            if token.kind not in {"char", "space"} or not _COMPARED.match(text + token.text):
                if token.kind != "space" and token.text != "relax":
                    self.push([token])
                break
            text += token.text
            if token.kind == "space" and _OVER.search(text):
                break
        return text

    def skip(self, caller: Token, *, stop_at_else: bool) -> None:
        """Drops tokens up to the `\\fi`, or the `\\else`, that belongs to a condition."""
        depth = 0
        while (token := self.next()) is not None:
            if token.kind != "command":
                continue
            if token.text in _CONDITIONS or (
                token.text[:2] == "if" and token.text[2:] in self.switches
            ):
                depth += 1
            elif token.text == "fi":
                if depth == 0:
                    return
                depth -= 1
            elif token.text == "else" and depth == 0 and stop_at_else:
                return
        raise PaperError(f"\\{caller.text} has no \\fi.", where=where(caller))


def _substitute(macro: Macro, arguments: list[list[Token]], caller: Token) -> list[Token]:
    """The body with its arguments; its own tokens get the place of the call."""
    tokens: list[Token] = []
    for token in macro.body:
        if token.kind != "#":
            tokens.append(token._replace(file=caller.file, line=caller.line))
        elif token.text.startswith("##"):
            tokens.append(token._replace(text=token.text[1:]))
        elif token.text[1:].isdigit() and int(token.text[1:]) <= len(arguments):
            tokens += arguments[int(token.text[1:]) - 1]
    return tokens
