"""An expanded document parted into sections, floats and lists, with everything numbered.

Nothing is printed yet: a reference may name a table that comes later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from repro_pipeline.errors import PaperError
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
from repro_pipeline.paper.latex.floats import TabularTokens, find_tabulars, read_float
from repro_pipeline.paper.latex.symbols import CITATIONS
from repro_pipeline.paper.latex.tabular import TABULARS
from repro_pipeline.paper.latex.tokens import Token

TABLES = words("table wraptable sidewaystable margintable SCtable turnpage longtable xltabular")
FIGURES = words("figure wrapfigure sidewaysfigure marginfigure SCfigure teaserfigure")
EQUATIONS = words(
    "equation align gather multline eqnarray displaymath flalign alignat math dmath subequations"
)
LEVELS = {"chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3}
_BOXES = words("center minipage threeparttable ThreePartTable strip flushleft landscape")


@dataclass
class SectionTokens:
    """A heading with the tokens up to the next heading."""

    title: Tokens
    level: int
    origin: Token
    body: list[Token] = field(default_factory=list)


@dataclass(frozen=True)
class TableTokens:
    """A tabular and what its float says of it."""

    tabular: TabularTokens
    number: str | None = None
    label: str | None = None
    captions: tuple[Tokens, ...] = ()
    notes: tuple[Tokens, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class FigureTokens:
    """The caption of a figure."""

    caption: Tokens
    number: str | None = None
    label: str | None = None


@dataclass
class Structure:
    """A document in parts."""

    titles: list[Tokens] = field(default_factory=list)
    authors: list[Tokens] = field(default_factory=list)
    dates: list[Tokens] = field(default_factory=list)
    abstract: Tokens = ()
    sections: list[SectionTokens] = field(default_factory=list)
    tables: list[TableTokens] = field(default_factory=list)
    figures: list[FigureTokens] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)
    bibliographies: list[Tokens] = field(default_factory=list)
    bib_files: list[str] = field(default_factory=list)
    labels: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Kind and number of what a label names."""
    cited: list[str] = field(default_factory=list)
    """Keys in the order of their first citation."""
    warnings: list[str] = field(default_factory=list)


def part(tokens: list[Token]) -> Structure:
    """The parts of a document. Raises PaperError, with file and line, where it breaks off."""
    scan = _Scan(tokens)
    begin = scan.document_begin()
    if begin is None:
        scan.out.warnings.append("The source has no \\begin{document}; all of it was read.")
        scan.read(tokens)
    else:
        end, whole = environment_end(tokens, begin.after, "document")
        if not whole:
            raise PaperError(
                "the document has no \\end{document}.",
                where=f"{begin.token.file}:{begin.token.line}",
                hint="The source breaks off; fetch it again.",
            )
        scan.read(tokens[: begin.at], heads_only=True)
        scan.read(tokens[begin.after : end])
    _collect_citations(tokens, scan.out)
    return scan.out


@dataclass(frozen=True)
class _Begin:
    at: int
    after: int
    token: Token


class _Scan:
    """One pass over the tokens, with the counters as they stand."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.out = Structure()
        self.counters = Counters()
        self.anchor = ("section", "")

    def document_begin(self) -> _Begin | None:
        for at, token in enumerate(self.tokens):
            is_begin = token.kind == "command" and token.text == "begin"
            if is_begin and environment_name(self.tokens, at) == "document":
                return _Begin(at, argument(self.tokens, at + 1)[1], token)
        return None

    def read(self, tokens: Tokens, *, heads_only: bool = False) -> None:
        """Sorts tokens into parts; before the document only title, authors and settings count."""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.kind != "command":
                if not heads_only:
                    self.keep(token)
                at += 1
            elif handler := _HEADS.get(token.text):
                at = handler(self, tokens, at)
            elif heads_only:
                at += 1
            elif token.text == "begin":
                at = self.environment(tokens, at)
            elif token.text in LEVELS:
                at = self.section(tokens, at)
            elif body := _BODY.get(token.text):
                at = body(self, tokens, at)
            else:
                self.keep(token)
                at += 1

    def keep(self, token: Token) -> None:
        """Adds a token to the text of the current section."""
        if not self.out.sections:
            self.out.sections.append(SectionTokens((), 1, token))
        self.out.sections[-1].body.append(token)

    def section(self, tokens: Tokens, at: int) -> int:
        token = tokens[at]
        after = star(tokens, at + 1)
        starred = after > at + 1
        _, after = option(tokens, after)
        title, after = argument(tokens, after)
        level = LEVELS[token.text]
        if not starred:
            self.anchor = ("section", self.counters.step_section(level))
        self.out.sections.append(SectionTokens(title, level, token))
        return after

    def environment(self, tokens: Tokens, at: int) -> int:
        name = environment_name(tokens, at) or ""
        start = argument(tokens, at + 1)[1]
        bare = name.rstrip("*")
        if bare in TABLES | FIGURES or bare in TABULARS:
            return self.float(tokens, at, name, start)
        if bare in EQUATIONS:
            return self.equation(tokens, at, name, start)
        if bare == "thebibliography":
            end, _ = environment_end(tokens, start, name)
            self.out.bibliographies.append(tokens[start:end])
            return argument(tokens, end + 1)[1]
        if bare in {"abstract", "Abstract"}:
            end, whole = environment_end(tokens, start, name)
            _require(whole, tokens[at], name)
            self.out.abstract = self.out.abstract or tokens[start:end]
            return argument(tokens, end + 1)[1]
        if bare in _BOXES:
            end, whole = environment_end(tokens, start, name)
            if whole and _is_captioned_box(tokens[start:end]):
                return self.float(tokens, at, name, start)
        for token in tokens[at:start]:
            self.keep(token)
        return start

    def float(self, tokens: Tokens, at: int, name: str, start: int) -> int:
        """A float, or a tabular outside of one; its text is taken out of the section's."""
        end, whole = environment_end(tokens, start, name, outer=("document",))
        _require(whole, tokens[at], name)
        after = argument(tokens, end + 1)[1]
        body = tokens[start:end]
        kind = "figure" if name.rstrip("*") in FIGURES else "table"
        is_tabular = name.rstrip("*") in TABULARS
        content = tokens[at:after] if is_tabular else body
        read = read_float(content, kind, self.counters, is_float=not is_tabular)
        self.out.labels |= read.labels
        self.out.figures += [
            FigureTokens(caption, number, label) for caption, number, label in read.figures
        ]
        for found in read.tables:
            self.out.tables.append(
                TableTokens(
                    found.tabular,
                    found.number,
                    found.label,
                    found.captions,
                    read.notes,
                    found.doubts,
                )
            )
        return after

    def equation(self, tokens: Tokens, at: int, name: str, start: int) -> int:
        end, whole = environment_end(tokens, start, name, outer=("document",))
        _require(whole, tokens[at], name)
        after = argument(tokens, end + 1)[1]
        body = tokens[start:end]
        if name.rstrip("*") == "subequations":
            self.read(body)
            return after
        if not name.endswith("*") and name not in {"math", "displaymath"}:
            self.anchor = ("equation", self.counters.step("equation"))
        for place, token in enumerate(body):
            if token.kind == "command" and token.text == "label":
                self.out.labels[plain(argument(body, place + 1)[0]).strip()] = self.anchor
        source = re.sub(r"\\label\{[^{}]*\}", "", plain(body))
        self.out.equations.append(" ".join(source.split()))
        for token in tokens[at:after]:
            self.keep(token)
        return after

    # Single commands

    def label(self, tokens: Tokens, at: int) -> int:
        name, after = argument(tokens, at + 1)
        self.out.labels[plain(name).strip()] = self.anchor
        return after

    def appendix(self, tokens: Tokens, at: int) -> int:
        self.counters.begin_appendix()
        return at + 1

    def paragraph(self, tokens: Tokens, at: int) -> int:
        """A run-in heading stays in the text, at the start of a paragraph."""
        title, after = argument(tokens, option(tokens, star(tokens, at + 1))[1])
        origin = tokens[at]
        self.keep(origin._replace(kind="par", text="\n\n"))
        for token in title:
            self.keep(token)
        if not plain(title).rstrip().endswith((".", ":", "?", "!")):
            self.keep(origin._replace(kind="char", text="."))
        self.keep(origin._replace(kind="space", text=" "))
        return after

    def display(self, tokens: Tokens, at: int) -> int:
        r"""`\[ … \]`."""
        end = next(
            (
                place
                for place in range(at + 1, len(tokens))
                if tokens[place].kind == "command" and tokens[place].text == "]"
            ),
            None,
        )
        if end is None:
            raise PaperError(r"\[ has no \].", where=f"{tokens[at].file}:{tokens[at].line}")
        self.out.equations.append(" ".join(plain(tokens[at + 1 : end]).split()))
        for token in tokens[at : end + 1]:
            self.keep(token)
        return end + 1

    def bibliography(self, tokens: Tokens, at: int) -> int:
        names, after = argument(tokens, option(tokens, at + 1)[1])
        self.out.bib_files += [name.strip() for name in plain(names).split(",") if name.strip()]
        return after

    def title(self, tokens: Tokens, at: int) -> int:
        content, after = argument(tokens, option(tokens, at + 1)[1])
        self.out.titles.append(content)
        return after

    def author(self, tokens: Tokens, at: int) -> int:
        content, after = argument(tokens, option(tokens, at + 1)[1])
        self.out.authors.append(content)
        return after

    def date(self, tokens: Tokens, at: int) -> int:
        content, after = argument(tokens, at + 1)
        self.out.dates.append(content)
        return after

    def abstract(self, tokens: Tokens, at: int) -> int:
        content, after = argument(tokens, at + 1)
        self.out.abstract = self.out.abstract or content
        return after

    def setting(self, tokens: Tokens, at: int) -> int:
        return self.counters.setting(tokens, at)


Handler = Callable[[_Scan, Tokens, int], int]

_HEADS: dict[str, Handler] = {
    **dict.fromkeys(["title", "icmltitle"], _Scan.title),
    **dict.fromkeys(["author", "icmlauthor"], _Scan.author),
    **dict.fromkeys(["date", "acmYear", "copyrightyear"], _Scan.date),
    **dict.fromkeys(["bibliography", "addbibresource"], _Scan.bibliography),
    **dict.fromkeys(
        words(
            """setcounter addtocounter thetable thefigure thesection theequation numberwithin
            counterwithin counterwithout"""
        ),
        _Scan.setting,
    ),
    "abstract": _Scan.abstract,
}
_BODY: dict[str, Handler] = {
    "label": _Scan.label,
    "appendix": _Scan.appendix,
    "paragraph": _Scan.paragraph,
    "subparagraph": _Scan.paragraph,
    "[": _Scan.display,
}


def _require(whole: bool, token: Token, name: str) -> None:
    if not whole:
        raise PaperError(
            f"\\begin{{{name}}} has no \\end{{{name}}}.", where=f"{token.file}:{token.line}"
        )


def _is_captioned_box(body: Tokens) -> bool:
    """A box with a caption of its own is a float by another name, unless a float is inside."""
    captioned = False
    for at, token in enumerate(body):
        if token.kind == "command" and token.text == "begin":
            name = (environment_name(body, at) or "").rstrip("*")
            if name in (TABLES | FIGURES) - {"longtable", "xltabular"}:
                return False
        captioned |= token.kind == "command" and token.text in {"captionof", "caption"}
    return captioned and bool(find_tabulars(body))


def _collect_citations(tokens: Tokens, out: Structure) -> None:
    seen: dict[str, None] = {}
    for at, token in enumerate(tokens):
        if token.kind == "command" and (token.text in CITATIONS or token.text == "nocite"):
            after = star(tokens, at + 1)
            _, after = option(tokens, after)
            _, after = option(tokens, after)
            keys = plain(argument(tokens, after)[0])
            seen |= dict.fromkeys(key.strip() for key in keys.split(",") if key.strip())
    out.cited = list(seen)
