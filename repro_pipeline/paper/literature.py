"""Cited works from outside: which record is the work, what may never be looked at, and what was brought.

Pure: whatever talks to a network lies behind `ports.Literature`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.paper.model import Paper, Reference
from repro_pipeline.sandbox.egress import address_of

_SAME = 0.9
"""Share of their words that two titles must have in common (Jaccard)."""
_YEARS_APART = 2
"""A preprint may be this much older than the article."""
_OURS = re.compile(
    r"\bour\b.{0,40}\b(code|implementation|source|models?|repository|scripts?|framework|software)\b"
    r"|\bwe (\w+ )?(release|publish|open-?source|make|share|provide|host)\b",
    re.IGNORECASE,
)
_PERHAPS_OURS = re.compile(
    r"\b(code|implementation|models?|scripts?|software)\b.{0,60}"
    r"\b(is|are|will be|has been|made|at|on|under|found)\b"
    r"|\b(project|code|repository)( (page|website|url|link))?\s*:|\bavailable\b",
    re.IGNORECASE,
)
_THEIRS = re.compile(
    r"\b(original (authors?|code|implementation)|authors'|official (code|implementation)"
    r"|their (code|own)|(provided|released|shared|published) by|(code|implementation) (of|by|from)"
    r"|we (use|used|adapt|build|extend))\b",
    re.IGNORECASE,
)
_REPOSITORY = re.compile(r"\b(github\.com|gitlab\.com|bitbucket\.org)/([\w.-]+)/([\w.-]+)", re.I)
_TAIL = re.compile(r"(\.git)?[.,;:)]*$")


class Work(Frozen):
    """A record of a published work, as a provider has it."""

    provider: str
    title: str
    authors: tuple[str, ...] = ()
    """Family names."""
    year: int | None = None
    doi: str | None = None
    arxiv: str | None = None
    links: tuple[str, ...] = ()
    """Addresses of texts and code that the record names."""


class CodeTree(Frozen):
    """Code of a cited work at one commit."""

    repository: str
    """host/owner/name."""
    commit: str
    licence: str | None
    """SPDX id; None where none is named: read, and never copied on."""
    files: dict[str, Sha256]
    """Those that matter, in the artifact store, by their path."""


class Excluded(Frozen):
    """What was not looked at, and the rule that forbids it."""

    what: str
    rule: str


class Brought(Frozen):
    """What came of looking for one cited work."""

    key: str
    work: Work | None = None
    text: Sha256 | None = None
    """Its text, in the artifact store."""
    code: CodeTree | None = None
    excluded: tuple[Excluded, ...] = ()
    failures: tuple[str, ...] = ()
    """Why something could not be had, in sentences."""


def plain_title(title: str) -> str:
    """A title as words: no case, accents, marks or markup."""
    text = unicodedata.normalize("NFKD", re.sub(r"<[^>]+>|\\[a-z]+", " ", title))
    text = "".join(char for char in text if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def same_title(one: str, other: str) -> bool:
    """Whether two titles are of one work, up to spelling; a short title must be the same."""
    first, second = plain_title(one).split(), plain_title(other).split()
    if not first or not second:
        return False
    if first == second:
        return True
    common, union = set(first) & set(second), set(first) | set(second)
    return min(len(first), len(second)) >= 5 and len(common) / len(union) >= _SAME


def mismatch(reference: Reference, work: Work) -> str | None:
    """Why a record is not the cited work; None where it is."""
    ids = [(reference.doi, work.doi), (_bare(reference.arxiv), _bare(work.arxiv))]
    for one, other in ids:
        if one and other and one.lower() == other.lower():
            same = reference.title is None or _related(reference.title, work.title)
            return None if same else f"it has another title: '{work.title}'"
    if reference.title is None or not same_title(reference.title, work.title):
        return f"it has another title: '{work.title}'"
    if reference.year and work.year and abs(reference.year - work.year) > _YEARS_APART:
        return f"it is of {work.year}, not of {reference.year}"
    if reference.authors and work.authors:
        cited = {plain_title(name) for name in " ".join(reference.authors).split()}
        if not any(set(plain_title(name).split()) & cited for name in work.authors):
            return f"it is by {work.authors[0]}, who is not cited"
    return None


def _related(one: str, other: str) -> bool:
    """Whether two titles under one id share half of their words: ids are mistyped."""
    first, second = set(plain_title(one).split()), set(plain_title(other).split())
    return len(first & second) >= 0.5 * min(len(first), len(second))


def _bare(arxiv: str | None) -> str | None:
    return re.sub(r"v\d+$", "", arxiv) if arxiv else None


def repositories_in(text: str) -> Iterator[str]:
    """The code repositories that a text names, as host/owner/name."""
    for host, owner, name in _REPOSITORY.findall(text):
        yield f"{host.lower()}/{owner}/{_TAIL.sub('', name)}"


class Exclusions:
    """What may never be looked at: the paper itself, its authors' code, and what restates its results."""

    def __init__(self, paper: Paper, named: Iterable[str] = ()) -> None:
        self._title = paper.title
        self._named = _by_task(named)
        for text in (paper.abstract, *(section.text for section in paper.sections)):
            for sentence in re.split(r"(?<=[.!?])\s", text):
                if _speaks_of_own_code(sentence):
                    for found in repositories_in(sentence):
                        self._named.setdefault(
                            _address(found), "the paper names it as its own code"
                        )

    @property
    def addresses(self) -> tuple[str, ...]:
        """All that is excluded, as host/path."""
        return tuple(self._named)

    def of_work(self, work: Work) -> Excluded | None:
        """The rule against a work; None where there is none."""
        if same_title(work.title, self._title):
            return Excluded(what=work.title, rule="it is the paper itself")
        return None

    def of_address(self, address: str) -> Excluded | None:
        """The rule against an address: it is an excluded one, or lies below it."""
        return _excluded(address, self._named)

    def of_text(self, what: str, text: str) -> Excluded | None:
        """The rule against a page, such as a README, that bears the paper's title: a mirror, or results."""
        title = plain_title(self._title)
        if len(title.split()) >= 3 and title in plain_title(text):
            return Excluded(
                what=what, rule="it bears the paper's title, so it may restate its results"
            )
        return None


def excluded_by_task(address: str, named: Iterable[str]) -> Excluded | None:
    """The rule against an address by the task's `exclude` alone; None where there is none."""
    return _excluded(address, _by_task(named))


def _by_task(named: Iterable[str]) -> dict[str, str]:
    """The task's excluded sources; its packages (`pip:name`) are no addresses."""
    sources = (one for one in named if not one.lower().startswith("pip:"))
    return {_address(one): "task.yaml: exclude" for one in sources}


def _excluded(address: str, rules: Mapping[str, str]) -> Excluded | None:
    asked = _address(address)
    anywhere = asked[asked.find("/") :] if "/" in asked else asked  # for `owner/name`
    for one, rule in rules.items():
        if any(f"{text}/".startswith(f"{one}/") for text in (asked, anywhere)):
            return Excluded(what=address, rule=rule)
    return None


def _speaks_of_own_code(sentence: str) -> bool:
    """Whether a sentence is about the paper's own code; where it may be, it is, unless it names others."""
    if _OURS.search(sentence):
        return True
    return bool(_PERHAPS_OURS.search(sentence)) and not _THEIRS.search(sentence)


def _address(text: str) -> str:
    host, path = address_of(text)
    return "/".join((host, *path))


Provider = Literal["openalex", "semantic_scholar", "arxiv", "crossref"]
