"""A float's tabulars with the caption, number and label that belong to each."""

from __future__ import annotations

from dataclasses import dataclass, field

from repro_pipeline.paper.latex.arguments import (
    Tokens,
    argument,
    environment_end,
    environment_name,
    option,
    plain,
    star,
    words,
)
from repro_pipeline.paper.latex.counters import Counters
from repro_pipeline.paper.latex.tabular import TABULARS
from repro_pipeline.paper.latex.tokens import Token

_SUBFLOATS = words("subtable subfigure subfloat")
_GROUPS = words("minipage threeparttable floatrow tabularx")


@dataclass(frozen=True)
class TabularTokens:
    """A tabular environment: its name, the tokens inside of it, and where it begins."""

    name: str
    body: Tokens
    origin: Token
    whole: bool = True
    """Whether its end was found."""


@dataclass(frozen=True)
class FloatTable:
    """A tabular of a float with what names it."""

    tabular: TabularTokens
    number: str | None
    label: str | None
    captions: tuple[Tokens, ...]
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class FloatParts:
    """What was read from a float; figures are (caption, number, label)."""

    tables: tuple[FloatTable, ...]
    figures: tuple[tuple[Tokens, str | None, str | None], ...]
    labels: dict[str, tuple[str, str]]
    notes: tuple[Tokens, ...]


@dataclass
class _Caption:
    tokens: Tokens
    kind: str
    group: tuple[int, ...]
    sub: str
    """The letter of the sub-float that it is in, or the empty text."""
    number: str | None = None
    label: str | None = None


@dataclass
class _Walk:
    """Captions, tabulars and labels in the order in which they stand."""

    kind: str
    captions: list[_Caption] = field(default_factory=list)
    tabulars: list[tuple[TabularTokens, tuple[int, ...], str, int]] = field(default_factory=list)
    early_labels: list[str] = field(default_factory=list)
    notes: list[Tokens] = field(default_factory=list)
    groups: int = 0
    subs: int = 0

    def read(self, tokens: Tokens, group: tuple[int, ...] = (), sub: str = "") -> None:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.kind != "command":
                at += 1
            elif token.text == "begin":
                at = self.environment(tokens, at, group, sub)
            elif token.text in {"caption", "captionof", "subcaption", "tablecaption"}:
                at = self.caption(tokens, at, group, sub)
            elif token.text in {"subfloat", "subtable", "subfigure", "subcaptionbox"}:
                at = self.boxed(tokens, at, group)
            elif token.text == "label":
                name, at = argument(tokens, at + 1)
                self.label(plain(name).strip(), sub)
            else:
                at += 1

    def environment(self, tokens: Tokens, at: int, group: tuple[int, ...], sub: str) -> int:
        name = environment_name(tokens, at) or ""
        start = argument(tokens, at + 1)[1]
        if name in TABULARS:
            end, whole = environment_end(tokens, start, name)
            body = tokens[start:end]
            if whole and is_layout(body):
                self.read(body, group, sub)
                return argument(tokens, end + 1)[1]
            self.tabulars.append(
                (TabularTokens(name, body, tokens[at], whole), group, sub, len(self.captions))
            )
            if name.rstrip("*") in {"longtable", "xltabular", "longtblr"}:
                self.inner_captions(body, group, sub)
            return argument(tokens, end + 1)[1]
        if name == "tablenotes":
            end, _ = environment_end(tokens, start, name)
            self.notes.append(tokens[option(tokens, start)[1] : end])
            return argument(tokens, end + 1)[1]
        if name.rstrip("*") in _SUBFLOATS | _GROUPS:
            end, whole = environment_end(tokens, start, name)
            if whole:
                is_sub = name.rstrip("*") in _SUBFLOATS
                inner = self.next_sub() if is_sub else sub
                self.groups += 1
                self.read(tokens[start:end], (*group, self.groups), inner)
                return argument(tokens, end + 1)[1]
        return start

    def next_sub(self) -> str:
        self.subs += 1
        return chr(ord("a") + self.subs - 1) if self.subs <= 26 else str(self.subs)

    def caption(self, tokens: Tokens, at: int, group: tuple[int, ...], sub: str) -> int:
        """Notes a caption; a starred one has no number."""
        name = tokens[at].text
        after = star(tokens, at + 1)
        starred = after > at + 1
        kind = self.kind
        if name == "captionof":
            which, after = argument(tokens, after)
            kind = plain(which).strip()
        if name == "subcaption" and not sub:
            sub = self.next_sub()
        _, after = option(tokens, after)
        content, after = argument(tokens, after)
        self.captions.append(_Caption(content, "" if starred else kind, group, sub))
        for place, token in enumerate(content):
            if token.kind == "command" and token.text == "label":
                self.label(plain(argument(content, place + 1)[0]).strip(), sub)
        return after

    def inner_captions(self, body: Tokens, group: tuple[int, ...], sub: str) -> None:
        for at, token in enumerate(body):
            if token.kind == "command" and token.text == "caption" and not self.captions:
                self.caption(body, at, group, sub)
            elif token.kind == "command" and token.text == "label":
                self.label(plain(argument(body, at + 1)[0]).strip(), sub)

    def boxed(self, tokens: Tokens, at: int, group: tuple[int, ...]) -> int:
        """`\\subfloat[caption]{…}` and `\\subcaptionbox{caption}{…}`."""
        sub = self.next_sub()
        after = star(tokens, at + 1)
        self.groups += 1
        inner = (*group, self.groups)
        if tokens[at].text == "subcaptionbox":
            content, after = argument(tokens, option(tokens, after)[1])
            _, after = option(tokens, after)
        else:
            content, after = option(tokens, after)
        if content:
            self.captions.append(_Caption(content, self.kind, inner, sub))
        body, after = argument(tokens, after)
        self.read(body, inner, sub)
        return after

    def label(self, name: str, sub: str) -> None:
        """A label names the last caption before it."""
        known = [caption for caption in self.captions if not sub or caption.sub == sub]
        if known and known[-1].label is None:
            known[-1].label = name
        else:
            self.early_labels.append(name)


def read_float(tokens: Tokens, kind: str, counters: Counters, *, is_float: bool) -> FloatParts:
    """The tables and figures of a float (`kind` table or figure), or of a tabular on its own.

    Steps the counters for each caption that is numbered.
    """
    walk = _Walk(kind)
    walk.read(tokens)
    main = [caption for caption in walk.captions if not caption.sub]
    for caption in main:
        if caption.kind in {"table", "figure"}:
            caption.number = counters.step(caption.kind)
    for caption in walk.captions:
        if caption.sub and main:
            owner = main[-1]
            caption.kind = owner.kind
            caption.number = f"{owner.number}{caption.sub}" if owner.number else None
    if len(main) == 1 and main[0].label is None and walk.early_labels:
        main[0].label = walk.early_labels.pop(0)
    labels = {
        caption.label: (caption.kind, caption.number or "")
        for caption in walk.captions
        if caption.label
    }
    if main:
        labels |= {name: (main[-1].kind, main[-1].number or "") for name in walk.early_labels}
    tables = [
        _table(place, walk, main)
        for place, (tabular, *_) in enumerate(walk.tabulars)
        if _holds_text(tabular, is_float and kind == "table")
    ]
    figures = tuple(
        (caption.tokens, _name(caption), caption.label)
        for caption in walk.captions
        if caption.kind == "figure"
    )
    return FloatParts(tuple(tables), figures, labels, tuple(walk.notes))


def is_layout(body: Tokens) -> bool:
    """Whether a tabular only sets others side by side: all but captions stands inside of those."""
    inner = outer = 0
    at = 0
    while at < len(body):
        token = body[at]
        name = environment_name(body, at) if token.text == "begin" else None
        if token.kind == "command" and token.text in {"caption", "captionof"}:
            after = star(body, at + 1)
            after = argument(body, after)[1] if token.text == "captionof" else after
            at = argument(body, option(body, after)[1])[1]
        elif name in TABULARS:
            end, _ = environment_end(body, argument(body, at + 1)[1], name)
            if any(token.kind == "&" for token in body[at:end]):
                inner += end - at
            at = argument(body, end + 1)[1]
        else:
            outer += token.kind == "char" and token.text.isalnum()
            at += 1
    return inner > 4 * outer


def find_tabulars(tokens: Tokens) -> list[TabularTokens]:
    """The tabulars in these tokens that are not inside of another."""
    walk = _Walk("table")
    walk.read(tokens)
    return [tabular for tabular, *_ in walk.tabulars]


def _table(place: int, walk: _Walk, main: list[_Caption]) -> FloatTable:
    tabular, _, sub, _ = walk.tabulars[place]
    owner, doubts = _owner(place, walk, main)
    own = [caption for caption in walk.captions if sub and caption.sub == sub]
    captions = tuple(caption.tokens for caption in ([owner] if owner else []) + own)
    number = _name(owner) if owner else None
    label = owner.label if owner else None
    if sub and number:
        number, label = f"{number}{sub}", own[0].label if own and own[0].label else label
    if not tabular.whole:
        doubts.append(
            f"\\begin{{{tabular.name}}} at {tabular.origin.file}:{tabular.origin.line} has no end."
        )
    return FloatTable(tabular, number, label, captions, tuple(doubts))


def _owner(place: int, walk: _Walk, main: list[_Caption]) -> tuple[_Caption | None, list[str]]:
    """The numbered caption that a tabular belongs to."""
    _, group, _, before = walk.tabulars[place]
    if len(main) < 2:
        return (main[0] if main else None), []
    for depth in range(len(group), 0, -1):
        near = [caption for caption in main if caption.group[:depth] == group[:depth]]
        if len(near) == 1:
            return near[0], []
    if len(main) == len(walk.tabulars):
        return main[place], []
    following = walk.captions[before:]
    nearest = next((caption for caption in following if not caption.sub), main[-1])
    return nearest, ["Which of the float's captions belongs to this table is a guess."]


def _name(caption: _Caption) -> str | None:
    return f"{caption.kind.capitalize()} {caption.number}" if caption.number else None


def _holds_text(tabular: TabularTokens, in_table: bool) -> bool:
    """Whether a tabular is a table: not a frame for pictures, nor (outside of a table) one column."""
    _, start = option(tabular.body, 0)
    content = tabular.body[start:]
    if not in_table and not any(token.kind == "&" for token in content):
        return False
    return any(token.kind == "char" and token.text.isalnum() for token in _visible(content))


def _visible(tokens: Tokens) -> list[Token]:
    """Tokens without the column specification and the names of pictures."""
    shown: list[Token] = []
    at = argument(tokens, 0)[1]
    while at < len(tokens):
        if tokens[at].kind == "command" and tokens[at].text in {
            "includegraphics",
            "includesvg",
            "begin",
            "end",
            "cmidrule",
            "cline",
            "label",
            "vspace",
            "hspace",
            "multirow",
            "multicolumn",
        }:
            skip = 2 if tokens[at].text in {"multirow", "multicolumn"} else 1
            _, at = option(tokens, star(tokens, at + 1))
            for _ in range(skip):
                _, at = argument(tokens, at)
        else:
            shown.append(tokens[at])
            at += 1
    return shown
