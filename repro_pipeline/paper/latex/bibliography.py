"""Cited works from `thebibliography`, from a .bbl of BibTeX or biblatex, and from .bib files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from repro_pipeline.paper.citations import reference_from_text
from repro_pipeline.paper.latex.arguments import Tokens, argument, option, plain
from repro_pipeline.paper.latex.text import Printer
from repro_pipeline.paper.latex.tokens import Token, tokenise
from repro_pipeline.paper.model import Reference

_PRINTER = Printer(citation=lambda keys: "")


def read_items(tokens: Tokens) -> list[Reference]:
    """The `\\bibitem`s of a `thebibliography`, or the `\\entry`s of a biblatex .bbl."""
    starts = [
        at
        for at, token in enumerate(tokens)
        if token.kind == "command" and token.text in {"bibitem", "entry"}
    ]
    found: list[Reference] = []
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=False):
        item = tokens[start:end]
        reference = _bibitem(item) if item[0].text == "bibitem" else _entry(item)
        if reference is not None:
            found.append(reference)
    return found


def read_bbl(text: str, file: str) -> list[Reference]:
    """The references of a .bbl file."""
    return read_items(tokenise(text, file))


def read_bib(text: str, file: str) -> dict[str, Reference]:
    """The entries of a .bib file by key; entries that cannot be read are left out."""
    strings: dict[str, str] = {}
    found: dict[str, Reference] = {}
    for kind, body in _entries(text):
        if kind in {"comment", "preamble"}:
            continue
        if kind == "string":
            strings |= _fields(body, strings)
            continue
        key, _, rest = body.partition(",")
        fields = _fields(rest, strings)
        if key.strip() and fields:
            found.setdefault(key.strip(), _from_fields(key.strip(), fields, file))
    return found


def _bibitem(tokens: Tokens) -> Reference | None:
    """An item; natbib's label gives the year that is printed in citations."""
    label, at = option(tokens, 1)
    key, at = argument(tokens, at)
    end = next(
        (
            place
            for place in range(at, len(tokens))
            if tokens[place].text == "end" and tokens[place].kind == "command"
        ),
        len(tokens),
    )
    content = tokens[at:end]
    name = plain(key).strip()
    if not name:
        return None
    blocks = _blocks(content)
    text = " ".join(_PRINTER.print(content).text.split())
    reference = reference_from_text(name, text, blocks=blocks, addresses=_addresses(content))
    years = re.findall(r"\((\d{4})[a-z]?\)", plain(label)) if label else []
    return reference.model_copy(update={"year": int(years[-1])}) if years else reference


def _blocks(content: Tokens) -> list[str]:
    """The parts between `\\newblock`s: authors, title, where it appeared."""
    blocks: list[list[Token]] = [[]]
    for token in content:
        if token.kind == "command" and token.text == "newblock":
            blocks.append([])
        else:
            blocks[-1].append(token)
    return [_PRINTER.print(block).text for block in blocks]


def _addresses(content: Tokens) -> str:
    """Addresses behind links, in which identifiers are looked for."""
    return " ".join(token.text for token in content if token.kind == "verbatim")


def _entry(tokens: Tokens) -> Reference | None:
    """An entry of biblatex's own .bbl format."""
    key, _ = argument(tokens, 1)
    fields: dict[str, str] = {}
    authors: list[str] = []
    for at, token in enumerate(tokens):
        if token.kind != "command":
            continue
        if token.text == "field":
            name, after = argument(tokens, at + 1)
            value, _ = argument(tokens, after)
            fields[plain(name).strip()] = _PRINTER.print(value).text
        elif token.text in {"verb", "verbatim"} and plain(argument(tokens, at + 1)[0]) == "doi":
            after = argument(tokens, at + 1)[1]
            following = plain(tokens[after : after + 200])
            doi = re.search(r"\\verb\s+(\S+)", following)
            fields.setdefault("doi", doi[1] if doi else "")
        elif token.text in {"given", "family"} and not authors:
            authors = _entry_names(tokens)
    if not plain(key).strip():
        return None
    return _from_fields(plain(key).strip(), {**fields, "author": " and ".join(authors)}, "")


def _entry_names(tokens: Tokens) -> list[str]:
    """`family={X}, given={Y}` of the first list of names."""
    names: list[str] = []
    for at, token in enumerate(tokens):
        if token.kind == "command" and token.text == "name":
            source = plain(tokens[at : at + 6000])
            end = re.search(r"\\name|\\field|\\list|\\strng", source[5:])
            block = source[: end.start() + 5] if end else source
            for family in re.finditer(r"family=\{(.+?)\}\s*,", block):
                given = re.search(r"given=\{(.+?)\}\s*,", block[family.end() : family.end() + 300])
                names.append(f"{given[1]} {family[1]}" if given else family[1])
            return [printed(name) for name in names]
    return names


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Kind and body of each `@kind{…}`; one that does not close ends at the next `@`."""
    for match in re.finditer(r"^[ \t]*@\s*(\w+)\s*([{(])", text, re.M):
        opened, closed = ("{", "}") if match[2] == "{" else ("(", ")")
        depth = 1
        at = match.end()
        while at < len(text) and depth:
            if text[at] == "\\":
                at += 1
            elif text[at] in (opened, closed):
                depth += 1 if text[at] == opened else -1
            elif text[at] == "@" and text[at - 1] == "\n":
                break
            at += 1
        yield match[1].lower(), text[match.end() : at - 1]


_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w-]*)\s*=\s*")


def _fields(body: str, strings: Mapping[str, str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    at = 0
    while match := _FIELD.match(body, at):
        value, at = _value(body, match.end(), strings)
        fields.setdefault(match[1].lower(), value)
    return fields


def _value(body: str, at: int, strings: Mapping[str, str]) -> tuple[str, int]:
    """A field's value, which may be several parts joined by `#`."""
    parts: list[str] = []
    while True:
        while at < len(body) and body[at].isspace():
            at += 1
        start = at
        if at < len(body) and body[at] in '{"':
            quoted = body[at] == '"'
            depth = 0
            at += 1
            while at < len(body) and (depth or body[at] != ('"' if quoted else "}")):
                depth += (body[at] == "{") - (body[at] == "}")
                at += 2 if body[at] == "\\" else 1
            parts.append(body[start + 1 : at])
            at += 1
        else:
            word = re.match(r"[^\s,#]*", body[at:])
            at += len(word[0]) if word else 0
            parts.append(strings.get(body[start:at].lower(), body[start:at]))
        joint = re.match(r"\s*#", body[at:])
        if not joint:
            return " ".join("".join(parts).split()), at
        at += joint.end()


def printed(source: str) -> str:
    """What a piece of LaTeX prints: `17.8\\,\\%` gives `17.8%`. Unknown commands print nothing."""
    return _PRINTER.print(tokenise(source, "")).text


def _from_fields(key: str, fields: Mapping[str, str], file: str) -> Reference:
    clean = {name: printed(value) for name, value in fields.items() if name != "author"}
    authors = tuple(
        _given_first(printed(name))
        for name in re.split(r"\s+and\s+", fields.get("author") or fields.get("editor", ""))
        if name.strip() and name.strip().lower() != "others"
    )
    year = re.search(r"\b(1[89]\d\d|20\d\d)\b", clean.get("year") or clean.get("date", ""))
    where = next(
        (
            clean[name]
            for name in ("journal", "journaltitle", "booktitle", "publisher", "howpublished")
            if clean.get(name)
        ),
        "",
    )
    title = clean.get("title", "")
    parts = [", ".join(authors), title, where, year[1] if year else ""]
    text = ". ".join(part.rstrip(".") for part in parts if part)
    archive = " ".join(
        fields.get(name, "") for name in ("eprint", "url", "note", "journal", "volume", "number")
    )
    if fields.get("archiveprefix", fields.get("eprinttype", "")).lower() == "arxiv":
        archive = f"arXiv:{archive}"
    found = reference_from_text(key, text, addresses=f"{archive} {fields.get('doi', '')}")
    return found.model_copy(
        update={
            "title": title or None,
            "authors": authors,
            "year": int(year[1]) if year else None,
            "doi": fields.get("doi", "").strip().removeprefix("https://doi.org/") or found.doi,
        }
    )


def _given_first(name: str) -> str:
    """`Lovelace, Ada` as `Ada Lovelace`."""
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family.strip()}" if comma else name.strip()
