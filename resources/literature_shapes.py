"""The answers of OpenAlex, Semantic Scholar, arXiv and Crossref, as works. Raises ValueError for others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from lxml import etree

from repro_pipeline.paper.literature import Provider, Work
from repro_pipeline.paper.model import Reference

MOST = 5
_ATOM = {"a": "http://www.w3.org/2005/Atom", "x": "http://arxiv.org/schemas/atom"}


def addresses(provider: Provider, base: str, reference: Reference) -> list[str]:
    """What to ask a provider for, the surest first: by id, then by title."""
    doi, arxiv = reference.doi, reference.arxiv
    title = " ".join((reference.title or "").split())
    asked: list[str | None] = []
    if provider == "openalex":
        asked = [
            doi and f"{base}/works/doi:{quote(doi, safe='/')}",
            title and f"{base}/works?{urlencode({'search': title, 'per-page': MOST})}",
        ]
    elif provider == "semantic_scholar":
        fields = "title,year,authors,externalIds,openAccessPdf"
        paper = f"{base}/graph/v1/paper"
        query = urlencode({"query": title, "limit": MOST, "fields": fields})
        asked = [
            doi and f"{paper}/DOI:{quote(doi, safe='/')}?fields={fields}",
            arxiv and f"{paper}/ARXIV:{quote(arxiv)}?fields={fields}",
            title and f"{paper}/search?{query}",
        ]
    elif provider == "arxiv":
        words = re.sub(r"[^\w\s-]", " ", title)
        query = urlencode({"search_query": f'ti:"{words}"', "max_results": MOST})
        asked = [
            arxiv and f"{base}/api/query?id_list={quote(arxiv)}",
            title and f"{base}/api/query?{query}",
        ]
    else:
        query = urlencode({"query.bibliographic": title, "rows": MOST})
        asked = [
            doi and f"{base}/works/{quote(doi, safe='/')}",
            title and f"{base}/works?{query}",
        ]
    return [one for one in asked if one]


def works_in(provider: Provider, body: bytes) -> list[Work]:
    """The works of an answer, at most MOST; none of an empty one."""
    if provider == "arxiv":
        return _arxiv(body)
    try:
        answer = json.loads(body)
    except ValueError:
        raise ValueError("the answer is no JSON") from None
    if not isinstance(answer, dict):
        raise ValueError("the answer is no JSON object")
    read, many = _READERS[provider]
    found = many(answer)
    if not isinstance(found, list):
        raise ValueError("the answer holds no list of works")
    made = [read(one) for one in found[:MOST] if isinstance(one, dict)]
    return [work for work in made if work is not None]


def _openalex(one: Mapping[str, Any]) -> Work | None:
    title = one.get("title") or one.get("display_name")
    places = [place for place in one.get("locations") or () if isinstance(place, dict)]
    links = [place.get("pdf_url") or place.get("landing_page_url") for place in places]
    links.append((one.get("open_access") or {}).get("oa_url"))
    names = [(a.get("author") or {}).get("display_name") for a in one.get("authorships") or ()]
    return _work("openalex", title, names, one.get("publication_year"), one.get("doi"), links)


def _semantic_scholar(one: Mapping[str, Any]) -> Work | None:
    ids = one.get("externalIds") or {}
    links = [(one.get("openAccessPdf") or {}).get("url")]
    names = [a.get("name") for a in one.get("authors") or ()]
    title, year = one.get("title"), one.get("year")
    return _work("semantic_scholar", title, names, year, ids.get("DOI"), links, ids.get("ArXiv"))


def _crossref(one: Mapping[str, Any]) -> Work | None:
    title = next(iter(one.get("title") or ()), None)
    names = [a.get("family") for a in one.get("author") or ()]
    parts = (one.get("issued") or {}).get("date-parts") or [[None]]
    links = [place.get("URL") for place in one.get("link") or ()]
    return _work("crossref", title, names, next(iter(parts[0]), None), one.get("DOI"), links)


def _work(
    provider: str,
    title: object,
    names: list,
    year: object,
    doi: object,
    links: list,
    arxiv: object = None,
) -> Work | None:
    if not isinstance(title, str) or not title.strip():
        return None
    there = tuple(dict.fromkeys(link for link in links if isinstance(link, str) and link))
    if not isinstance(arxiv, str):
        found = re.search(r"arxiv\.org/(?:abs|pdf)/(\d{4}\.\d{4,5})", " ".join(there), re.I)
        arxiv = found[1] if found else None
    plain = re.sub(r"^https?://(dx\.)?doi\.org/", "", doi) if isinstance(doi, str) else None
    return Work(
        provider=provider,
        title=" ".join(title.split()),
        authors=tuple(n.split()[-1] for n in names if isinstance(n, str) and n.strip()),
        year=year if isinstance(year, int) else None,
        doi=plain or None,
        arxiv=arxiv,
        links=there,
    )


def _arxiv(body: bytes) -> list[Work]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        feed = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        raise ValueError("the answer is no XML") from None
    works = []
    for entry in feed.findall("a:entry", _ATOM)[:MOST]:
        address = entry.findtext("a:id", "", _ATOM)
        found = re.search(r"/abs/(.+?)(v\d+)?$", address)
        year = re.match(r"\d{4}", entry.findtext("a:published", "", _ATOM))
        names = [name.text for name in entry.findall("a:author/a:name", _ATOM)]
        if not found:  # an error is an entry as well
            continue
        doi = entry.findtext("x:doi", None, _ATOM)
        title = entry.findtext("a:title", "", _ATOM)
        made = _work(
            "arxiv", title, names, int(year[0]) if year else None, doi, [address], found[1]
        )
        works += [made] if made else []
    return works


def _one_or(key: str) -> Callable[[Mapping[str, Any]], object]:
    return lambda answer: answer.get(key, [answer])


def _of_crossref(answer: Mapping[str, Any]) -> object:
    message = answer.get("message")
    return _one_or("items")(message) if isinstance(message, dict) else None


_READERS: dict[str, tuple[Callable, Callable]] = {
    "openalex": (_openalex, _one_or("results")),
    "semantic_scholar": (_semantic_scholar, _one_or("data")),
    "crossref": (_crossref, _of_crossref),
}
