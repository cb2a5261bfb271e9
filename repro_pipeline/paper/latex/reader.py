"""From a LaTeX source to a `Paper`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.citations import mark, print_marks, resolve_marks
from repro_pipeline.paper.latex.arguments import Tokens, argument
from repro_pipeline.paper.latex.bibliography import read_bbl, read_bib, read_items
from repro_pipeline.paper.latex.expand import Expanded, expand
from repro_pipeline.paper.latex.siunitx import AS_WRITTEN, roundings
from repro_pipeline.paper.latex.structure import SectionTokens, Structure, TableTokens, part
from repro_pipeline.paper.latex.tabular import printed_part, read_tabular
from repro_pipeline.paper.latex.text import Printer, undefined_commands
from repro_pipeline.paper.latex.tokens import Token
from repro_pipeline.paper.latex.tree import Tree, open_tree
from repro_pipeline.paper.model import (
    Caption,
    Paper,
    Provenance,
    Reference,
    Section,
    Source,
    SourceFormat,
    Table,
)
from repro_pipeline.paper.tables import About, make_table

READER = "latex 2"


def read_latex(path: Path) -> Paper:
    """A paper from a .tex file, a folder, or an archive as arXiv has them. TeX is never run.

    Raises PaperError, with file and line where there is one, for a source that is broken as a
    whole, leaves its folder or is too large; a single broken table is read with low confidence.
    """
    return read_tree(open_tree(path), path.name)


def read_tree(tree: Tree, name: str) -> Paper:
    """A paper from an opened source; `name` is how its `source` is called."""
    expanded = expand(tree)
    structure = part(expanded.tokens)
    references = _references(tree, structure)
    numbers = {reference.key: place for place, reference in enumerate(references, start=1)}

    def show(keys: Sequence[str]) -> str:
        return "[" + ", ".join(str(numbers.get(key, key)) for key in keys) + "]"

    prose = Printer(reference=_reference(structure), citation=mark, footnotes=True)
    inline = Printer(reference=_reference(structure), citation=show)
    body = [_section(section, prose, show) for section in structure.sections]
    abstract = Section(title="Abstract", text=prose.paragraphs(structure.abstract))
    floating = _floating(structure, expanded, prose)
    texts, cited = resolve_marks([abstract, *body, *floating], references, show)
    abstract, *sections = texts[: len(body) + 1]
    tables = _tables(structure, expanded, inline)
    sections = tuple(section for section in sections if section.title or section.text)
    if not sections and not tables and not abstract.text:
        raise PaperError("holds no text.", where=tree.main)
    return Paper(
        source=Source(file=name, format=SourceFormat.LATEX, sha256=tree.sha256, reader=READER),
        title=_title(structure, inline),
        abstract=abstract.text,
        authors=_authors(structure),
        year=_year(structure),
        sections=sections,
        equations=tuple(structure.equations),
        tables=tables,
        figures=tuple(
            Caption(
                number=figure.number, label=figure.label, text=inline.print(figure.caption).text
            )
            for figure in structure.figures
        ),
        references=cited,
        warnings=_warnings(tree, structure, expanded, references),
    )


def _warnings(
    tree: Tree, structure: Structure, expanded: Expanded, references: Sequence[Reference]
) -> tuple[str, ...]:
    warnings = [*expanded.warnings, *structure.warnings]
    if tree.others:
        others = ", ".join(tree.others[:5])
        warnings.append(f"{tree.main} was read as the paper; {others} could be one as well.")
    if not structure.titles:
        warnings.append("The source has no title.")
    if unknown := [reference.key for reference in references if reference.text == ""]:
        warnings.append(
            f"{len(unknown)} cited works are not in the bibliography: {', '.join(unknown[:5])}."
        )
    return tuple(warnings)


def _reference(structure: Structure):
    """How `\\ref` and its kin are printed."""

    def reference(command: str, label: str) -> str:
        names = [name.strip() for name in label.split(",")]
        found = [structure.labels.get(name) for name in names]
        if not any(found) or command == "pageref":
            return "?"
        numbers = ", ".join(item[1] if item else "?" for item in found)
        if command == "eqref":
            return f"({numbers})"
        if command in {"cref", "Cref", "autoref", "Autoref"}:
            kind = next(item[0] for item in found if item)
            return f"{kind.capitalize()} {numbers}"
        return numbers

    return reference


def _section(section: SectionTokens, printer: Printer, show) -> Section:
    return Section(
        title=print_marks(printer.print(section.title).text, show),
        level=section.level,
        text=printer.paragraphs(section.body),
        provenance=Provenance(file=section.origin.file, line=section.origin.line),
    )


def _floating(structure: Structure, expanded: Expanded, printer: Printer) -> list[Section]:
    """Captions and rows of tables as texts, for the works that are cited there."""
    floating: list[Section] = []
    for table in structure.tables:
        rows = read_tabular(
            table.tabular.name, table.tabular.body, printer, expanded.column_types
        ).rows
        texts = [printer.print(tokens).text for tokens in (*table.captions, *table.notes)]
        texts += [" ".join(cell.text for cell in row) for row in rows]
        floating.append(Section(title=table.number or "", text="\n\n".join(texts)))
    for figure in structure.figures:
        text = printer.print(figure.caption).text
        floating.append(Section(title=figure.number or "", text=text))
    return floating


# Tables


def _tables(structure: Structure, expanded: Expanded, printer: Printer) -> tuple[Table, ...]:
    tables: list[Table] = []
    rounding = roundings(expanded.tokens)
    for table in structure.tables:
        origin = table.tabular.origin
        rounded = replace(printer, rounding=rounding.get((origin.file, origin.line), AS_WRITTEN))
        read = _table(len(tables) + 1, table, expanded, rounded)
        if any(cell.text for row in read.grid for cell in row):
            tables.append(read)
    return tuple(tables)


def _table(index: int, table: TableTokens, expanded: Expanded, printer: Printer) -> Table:
    tabular = table.tabular
    cells = replace(printer, shows_undefined=True)
    rows = read_tabular(tabular.name, tabular.body, cells, expanded.column_types)
    caption = " ".join(printer.print(tokens).text for tokens in (*table.captions, *table.notes))
    about = About(
        number=table.number,
        label=table.label,
        caption=caption,
        provenance=Provenance(file=tabular.origin.file, line=tabular.origin.line),
    )
    doubts = [*table.doubts, *rows.doubts]
    if missing := undefined_commands(printed_part(tabular.body)):
        names = ", ".join(f"\\{name}" for name in missing[:5])
        doubts.append(f"What {names} prints is not known: the source does not define it.")
    confidence = 0.3 if not tabular.whole or rows.doubts else 1.0
    return make_table(
        index, rows.rows, about, rules=rows.rules, confidence=confidence, doubts=doubts
    )


# References


def _references(tree: Tree, structure: Structure) -> list[Reference]:
    """The bibliography: printed items, else the .bbl, else the cited entries of the .bib files."""
    printed = [item for tokens in structure.bibliographies for item in read_items(tokens)]
    printed = printed or _from_bbl(tree)
    known = {reference.key: reference for reference in printed}
    entries = {} if printed else _from_bib(tree, structure)
    everything = "*" in structure.cited
    cited = [key for key in structure.cited if key != "*"]
    for key in [*cited, *(entries if everything else ())]:
        known.setdefault(key, entries.get(key) or Reference(key=key, text=""))
    return list(known.values())


def _from_bbl(tree: Tree) -> list[Reference]:
    stem = str(PurePosixPath(tree.main).with_suffix(".bbl"))
    names = [name for name in tree.names if name.endswith(".bbl")]
    chosen = stem if stem in names else names[0] if len(names) == 1 else None
    return read_bbl(tree.text(chosen), chosen) if chosen else []


def _from_bib(tree: Tree, structure: Structure) -> dict[str, Reference]:
    embedded = {
        name: text
        for file in tree.read
        if file.endswith(".tex")
        for name, text in _EMBEDDED.findall(tree.text(file))
    }
    entries: dict[str, Reference] = {}
    for name in structure.bib_files:
        plain_name = name.removesuffix(".bib") + ".bib"
        try:
            found = tree.find(plain_name, ("",))
        except PaperError:
            found = None
        text = tree.text(found) if found else embedded.get(plain_name, "")
        entries = {**read_bib(text, plain_name), **entries}
    if not entries:
        for file in sorted(name for name in tree.names if name.endswith(".bib")):
            entries = {**read_bib(tree.text(file), file), **entries}
    return entries


_EMBEDDED = re.compile(
    r"\\begin\{filecontents\*?\}(?:\[[^\]]*\])?\{([^{}]+)\}(.*?)\\end\{filecontents\*?\}", re.S
)


# Title, authors, year


def _title(structure: Structure, printer: Printer) -> str:
    titles = [printer.print(tokens).text for tokens in structure.titles]
    return next((title for title in titles if title), "")


def _authors(structure: Structure) -> tuple[str, ...]:
    names: list[str] = []
    for tokens in structure.authors:
        for chunk in _split(tokens, {"and", "And", "AND", "AuthorAND"}):
            line = next((part for part in _split(chunk, {"\\"}) if _SHOWN.print(part).text), ())
            names += _names(line)
    return tuple(dict.fromkeys(names))


_SHOWN = Printer(citation=lambda keys: "")


def _split(tokens: Tokens, commands: set[str]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "command" and token.text in commands:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _names(tokens: Tokens) -> list[str]:
    """The names in one line of an author block, without marks, addresses and affiliations.

    A line that prints pages cites a work: of it only the names before its emphasised title count.
    """
    if _PAGES.search(_SHOWN.print(tokens).text):
        tokens = _split(tokens, {"emph", "textit", "textsl", "em", "it"})[0]
    spread: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.kind == "command" and token.text in {"quad", "qquad", "hspace", "hfill", "hskip"}:
            at = argument(tokens, at)[1] if token.text == "hspace" else at
            token = token._replace(kind="char", text=",")
        spread.append(token)
    text = re.sub(r"\^\{[^{}]*\}|\^.|\(\W*\)|[*†‡§¶]", " ", _SHOWN.print(spread).text)
    text = re.sub(r"^[\w ]+:", "", text)  # "Restated from:"
    parts = re.split(r",|;|\band\b|&", text)
    cleaned = [" ".join(re.sub(r"(?<![\w-])\d+(?!\w)|[{}]", " ", part).split()) for part in parts]
    return [
        name
        for name in cleaned
        if 2 < len(name) < 50 and "@" not in name and not _AFFILIATION.search(name)
    ]


_PAGES = re.compile(r"\d+\s*(?:\(\d+\)\s*)?:\s*\d+\s*[-–—]+\s*\d+")
"""Volume and pages: 45:5–32, 45(1):5–32."""


_AFFILIATION = re.compile(
    r"universit|institut|department|school|college|laborator|research|google|facebook|microsoft|"
    r"inc\.|ltd|anonymous|address|email|http|affiliation",
    re.I,
)


def _year(structure: Structure) -> int | None:
    """The year of the stated date."""
    years = [re.search(r"\b(?:19|20)\d\d\b", _SHOWN.print(date).text) for date in structure.dates]
    return next((int(year[0]) for year in years if year), None)
