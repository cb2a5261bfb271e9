"""The reference list of a JATS article."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from repro_pipeline.paper.citations import reference_from_text
from repro_pipeline.paper.markup import Reading, child, local_name, named, text_of
from repro_pipeline.paper.model import Reference

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_CITATIONS = ("mixed-citation", "element-citation", "citation", "nlm-citation")
_READING = Reading(frozenset({"tex-math", "annotation", "object-id"}))


def read_references(back: Element) -> list[Reference]:
    """The references in the order of the list; the key is the entry's id."""
    found: list[Reference] = []
    for at, entry in enumerate(named(back, "ref"), start=1):
        citations = list(named(entry, *_CITATIONS))
        key = entry.get("id") or str(at)
        if citations:
            found.append(_reference(key, citations))
        elif text := text_of(entry, _READING.without("label")):
            found.append(reference_from_text(key, text))
    return found


def _reference(key: str, citations: list[Element]) -> Reference:
    """A reference from its parts where they are marked, else from its text."""
    citation = citations[0]
    text = " ".join(_text(one) for one in citations)
    plain = reference_from_text(key, text, addresses=" ".join(_addresses(citation)))
    title = next(
        (
            text_of(part, _READING)
            for name in ("article-title", "chapter-title", "part-title", "data-title", "source")
            for part in named(citation, name)
        ),
        None,
    )
    authors = tuple(_people(citation))
    if title is None and not authors:
        return plain
    year = re.search(r"(?:19|20)\d\d", text_of(next(named(citation, "year"), None)))
    return Reference(
        key=key,
        text=text,
        title=title.rstrip(". ") or None if title else plain.title,
        authors=authors or plain.authors,
        year=int(year[0]) if year else plain.year,
        doi=plain.doi,
        arxiv=plain.arxiv,
    )


def _text(citation: Element) -> str:
    """What an entry prints; parts that stand without punctuation are put together here."""
    between = [citation.text or "", *(part.tail or "" for part in citation)]
    if any(re.search(r"\w|[.,;:]", text) for text in between):
        for part in [*citation, *named(citation, "surname")]:
            part.tail = part.tail or " "
        return re.sub(r"\s+([.,;:)])", r"\1", text_of(citation, _READING))
    parts = [", ".join(_people(citation))]
    parts += [
        text_of(part, _READING).rstrip(".")
        for part in citation
        if local_name(part) not in {"person-group", "name", "string-name", "collab", "etal"}
    ]
    return ". ".join(part for part in parts if part) + "."


def _people(citation: Element) -> Iterator[str]:
    groups = [g for g in citation if local_name(g) == "person-group"]
    authors = [g for g in groups if g.get("person-group-type") in {"author", None}]
    for place in authors or groups or [citation]:
        for person in named(place, "name", "string-name", "collab"):
            given, family = (text_of(child(person, part)) for part in ("given-names", "surname"))
            if text := f"{given} {family}".strip() or text_of(person):
                yield text


def _addresses(citation: Element) -> Iterator[str]:
    """The identifiers of an entry, in the spelling in which they are looked for."""
    for part in named(citation, "pub-id", "ext-link", "uri", "comment"):
        kind = part.get("pub-id-type") or ""
        yield f"{'arXiv:' if kind == 'arxiv' else ''}{text_of(part)}"
        yield from (value for name, value in part.attrib.items() if name.endswith("href"))
