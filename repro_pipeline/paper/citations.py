"""Which sentence cites which work, in numeric, author-year and superscript styles.

Where a source marks its citations (LaTeX, JATS, TEI), the reader puts `mark` in the text and
`resolve_marks` takes it out again. Where it does not (PDF, Markdown), `link_citations` finds them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from repro_pipeline.paper.model import CitationContext, Reference, Section

_OPEN, _BETWEEN, _CLOSE = "\ue000", "\ue001", "\ue002"
_MARK = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")

LONGEST_SENTENCE = 1000


def mark(keys: Sequence[str]) -> str:
    """A citation of these keys, as a mark in a text that `resolve_marks` will understand."""
    return f"{_OPEN}{_BETWEEN.join(keys)}{_CLOSE}"


def resolve_marks(
    sections: Iterable[Section],
    references: Sequence[Reference],
    show: Callable[[Sequence[str]], str],
) -> tuple[tuple[Section, ...], tuple[Reference, ...]]:
    """Sections with their marks printed, and the references with the sentences that cite them."""
    contexts: dict[str, list[CitationContext]] = defaultdict(list)
    printed: list[Section] = []
    for section in sections:
        for sentence in sentences(section.text):
            keys = {key for found in _MARK.findall(sentence) for key in found.split(_BETWEEN)}
            context = CitationContext(
                sentence=print_marks(sentence, show)[:LONGEST_SENTENCE], section=section.title
            )
            for key in keys:
                contexts[key].append(context)
        printed.append(section.model_copy(update={"text": print_marks(section.text, show)}))
    return tuple(printed), _with_contexts(references, contexts)


def cite(
    sections: Iterable[Section],
    references: Sequence[Reference],
    show: Callable[[Sequence[str]], str],
) -> tuple[tuple[Section, ...], tuple[Reference, ...]]:
    """As `resolve_marks`; works that no mark cites are looked for by the text's own style."""
    printed, marked = resolve_marks(sections, references, show)
    found = {reference.key: reference.contexts for reference in link_citations(printed, references)}
    return printed, tuple(
        reference if reference.contexts else _citing(reference, found[reference.key])
        for reference in marked
    )


def _citing(reference: Reference, contexts: tuple[CitationContext, ...]) -> Reference:
    return reference.model_copy(update={"contexts": contexts})


def marked_keys(text: str) -> tuple[str, ...]:
    """The keys of the marks in a text, in order."""
    return tuple(key for found in _MARK.findall(text) for key in found.split(_BETWEEN))


def print_marks(text: str, show: Callable[[Sequence[str]], str]) -> str:
    """A text with its marks printed."""
    return _MARK.sub(lambda found: show(found[1].split(_BETWEEN)), text)


def link_citations(
    sections: Sequence[Section], references: Sequence[Reference]
) -> tuple[Reference, ...]:
    """References with the sentences that cite them, found by the style that the text uses.

    The style is the one of numeric brackets, raised numbers and author-year that reaches the most
    references. References count from 1 in their order, or by a key that is a number.
    """
    styles = (_numeric, _raised, _author_year)
    finders = [style(references) for style in styles]
    split = [(section.title, sentences(section.text)) for section in sections]
    best: dict[str, list[CitationContext]] = {}
    for finder in finders:
        contexts: dict[str, list[CitationContext]] = defaultdict(list)
        for title, texts in split:
            for sentence in texts:
                for key in finder(sentence):
                    contexts[key].append(
                        CitationContext(sentence=sentence[:LONGEST_SENTENCE], section=title)
                    )
        if len(contexts) > len(best):
            best = contexts
    return _with_contexts(references, best)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text; abbreviations, initials and decimals do not end one."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", text):
        line = " ".join(paragraph.split())
        start = 0
        for end in _END.finditer(line):
            before = line[start : end.start() + 1]
            if _ABBREVIATION.search(before):
                continue
            found.append(line[start : end.end()].strip())
            start = end.end()
        if line[start:].strip():
            found.append(line[start:].strip())
    return tuple(found)


def reference_from_text(
    key: str, text: str, *, blocks: Sequence[str] = (), addresses: str = ""
) -> Reference:
    """A reference from its printed text: year, DOI, arXiv id, and authors and title if it is clear.

    `blocks` are the parts of the entry where the source parts them (authors, title, the rest);
    `addresses` is further text in which only identifiers are looked for.
    """
    everywhere = f"{text} {addresses}"
    doi = _DOI.search(everywhere)
    arxiv = _ARXIV.search(everywhere)
    authors, title = _authors_and_title(text, blocks)
    return Reference(
        key=key,
        text=text,
        title=title,
        authors=authors,
        year=_year(text),
        doi=doi[0].rstrip(".,;)}") if doi else None,
        arxiv=(arxiv[1] or arxiv[2]) if arxiv else None,
    )


def split_names(text: str) -> tuple[str, ...]:
    """The names in `A. Lovelace, C. Babbage, and G. Boole`, or in `Lovelace, A., Babbage, C.`"""
    text = re.sub(r"\s*\(?\b(?:1[89]|20)\d\d[a-z]?\)?\.?$", "", text.strip(" ,;:"))
    text = re.sub(r"(?:,?\s+(?:and|&)\s+)", ", ", text)
    text = re.sub(r",?\s*et\s+al\.?$", "", text)
    parts = [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
    names: list[str] = []
    for part in parts:
        initials = re.fullmatch(r"(?:[A-Z][a-z]?\.[\s-]?|[A-Z]{1,2}(?:\s|$)){1,4}", part)
        if initials and names and not re.search(r"\b[A-Z]\.", names[-1]):
            names[-1] = f"{part} {names[-1]}"
        else:
            names.append(part)
    names = [re.sub(r"(?<=[a-zà-ÿ]{2})\.$", "", name) for name in names]
    return tuple(name for name in names if 1 < len(name) < 60)


# Finding a style's citations

_END = re.compile(
    r"[.!?](?:[\"”’')\]]|\ue000[^\ue002]*\ue002|\[\d[\d,;–\- ]*\]|\^\{\d[\d,–-]*\}|\^\d"
    r"|[⁰¹²³⁴-⁹])*"
    r"\s+(?=[\"“‘'(\[\ue000]?[A-Z0-9À-Þ\ue000])"
)
"""An end of a sentence, with the works cited behind its full stop."""

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|et al|al|resp|Fig|Figs|Eq|Eqs|Sec|Secs|Tab|Tabs|Ref|Refs|No|"
    r"Dr|Mr|Mrs|Ms|Prof|St|approx|w\.r\.t|Appx|App|Alg|Thm|Def|Vol|pp|p|ed|eds|Inc|Ltd|Jr)"
    r"|(?:^|\s)[A-Z]|\b[A-Z]\.[A-Z])\.$"
)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}\\^~\[\]`]+")
_ARXIV = re.compile(
    r"ar[xX]iv(?:\.org/(?:abs|pdf)/|[\s:.,]*(?:preprint|e-prints?)?[\s:.,]*(?:ar[xX]iv)?[\s:.]*)"
    r"(?:abs/)?(?:(\d{4}\.\d{4,5})(?:v\d+)?|([a-z-]+(?:\.[A-Z]{2})?/\d{7}))"
)


def _year(text: str) -> int | None:
    """The year of a reference: the last one that stands alone, not a page or an arXiv id."""
    years = re.findall(r"(?<![\d.:/–-])((?:19|20)\d\d)[a-z]?(?![\d–-]|\.\d)", text)
    return int(years[-1]) if years else None


def _authors_and_title(text: str, blocks: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    parts = [block.strip() for block in blocks if block.strip()]
    if len(parts) >= 2:
        return split_names(parts[0]), parts[1].rstrip(". ") or None
    quoted = re.search(r"[“\"]([^”\"]{8,300}?)[,.]?[”\"]", text)
    if quoted:
        return split_names(text[: quoted.start()]), quoted[1]
    dated = re.match(r"(.{3,400}?)[.,]?\s*\(?((?:19|20)\d\d)[a-z]?\)?[.,:]\s+(.+)", text)
    if dated and len(dated[3]) > 10:
        return split_names(dated[1]), _first_sentence(dated[3])
    inverted = _INVERTED.match(text)
    if inverted and len(text) > inverted.end() + 4:
        return split_names(inverted[0]), _first_sentence(text[inverted.end() :])
    listed = _VANCOUVER.match(text)
    if listed and len(text) > listed.end() + 4:
        return split_names(listed[0].rstrip(". ")), _first_sentence(text[listed.end() :])
    lead = re.match(r"((?:[^.]|(?<=\b[A-Z])\.|(?<=al)\.)+)\.\s+(.+)", text)
    if lead and len(lead[2]) > 4:
        return split_names(lead[1]), _first_sentence(lead[2])
    return (), None


_INVERTED = re.compile(
    r"(?:[A-ZÀ-Þ][\w'’-]+(?:\s[A-ZÀ-Þ][\w'’-]+)?,\s(?:[A-ZÀ-Þ]\.[\s-]?)+(?:,\s?)?(?:and\s|&\s)?)+"
    r"(?=[A-Z0-9“])"
)
"""`Zou, H. and Hastie, T. ` before a title."""

_VANCOUVER = re.compile(
    r"(?:(?:[a-z]{2,3}\s)?[A-ZÀ-Þ][\w'’-]+(?:\s[A-ZÀ-Þ][\w'’-]+)?\s[A-Z]{1,3}(?:,\s|(?=\.\s)))+"
    r"(?:et al)?\.\s+(?=[A-Z0-9“])"
)
"""`Zou H, Hastie TJ. ` before a title."""


def _first_sentence(text: str) -> str | None:
    end = re.search(r"[.?!](?:\s|$)", text)
    title = text[: end.start() + (text[end.start()] != ".")] if end else text
    return title.strip() or None


Finder = Callable[[str], set[str]]


def _by_number(references: Sequence[Reference]) -> dict[int, str]:
    digits = [re.fullmatch(r"\D{0,4}(\d{1,4})", reference.key) for reference in references]
    if references and all(digits):
        return {int(d[1]): r.key for d, r in zip(digits, references, strict=True) if d}
    return {place: reference.key for place, reference in enumerate(references, start=1)}


_BRACKET = re.compile(r"\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\]")
_RAISED = re.compile(
    r"\^\{?(\d{1,3}(?:\s*[,–-]\s*\d{1,3})*)\}?|([⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[,⁻–][⁰¹²³⁴⁵⁶⁷⁸⁹]+)*)"
)
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def _numeric(references: Sequence[Reference]) -> Finder:
    keys = _by_number(references)

    def find(sentence: str) -> set[str]:
        numbers = {n for group in _BRACKET.findall(sentence) for n in _numbers(group)}
        return {keys[number] for number in numbers if number in keys}

    return find


def _raised(references: Sequence[Reference]) -> Finder:
    keys = _by_number(references)

    def find(sentence: str) -> set[str]:
        groups = [
            (found[1] or found[2].translate(_LOWERED))
            for found in _RAISED.finditer(sentence)
            if not sentence[: found.start()].endswith("10")
        ]
        numbers = {number for group in groups for number in _numbers(group)}
        return {keys[number] for number in numbers if number in keys}

    return find


def _numbers(group: str) -> list[int]:
    """The numbers in `1, 3-5`."""
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", group):
        ends = [int(end) for end in re.split(r"\s*[–-]\s*", part) if end]
        if len(ends) == 2 and 0 < ends[1] - ends[0] < 50:
            numbers += range(ends[0], ends[1] + 1)
        else:
            numbers += ends
    return numbers


def _author_year(references: Sequence[Reference]) -> Finder:
    """`Breiman (2001)`, `(Smith and Doe, 2019a; Roe et al., 2020)`: first family name and year."""
    known: dict[tuple[str, str], list[str]] = defaultdict(list)
    for reference in references:
        year = str(reference.year or "")
        suffixed = re.search(rf"{year}([a-z])\b", reference.text) if year else None
        for family in _families(reference):
            known[family, year].append(reference.key)
            if suffixed:
                known[family, year + suffixed[1]].append(reference.key)

    def find(sentence: str) -> set[str]:
        keys: set[str] = set()
        for name, years in _NAME_YEAR.findall(sentence):
            for year in re.findall(r"(?:19|20)\d\d[a-z]?", years):
                family = name.casefold()
                exact = known.get((family, year), [])
                keys.update(exact or known.get((family, year[:4]), []))
        return keys

    return find


_NAME = r"(?:(?:van|von|de|der|den|la|le|di|da|del)\s+)*[A-ZÀ-Þ][\w'’À-ÿ-]+"
_YEARS = r"(?:19|20)\d\d[a-z]?(?:\s*,\s*(?:(?:19|20)\d\d[a-z]?))*"
_NAME_YEAR = re.compile(
    rf"({_NAME})(?:\s+(?:and|&)\s+{_NAME}|(?:,\s+{_NAME})*,?\s+(?:and|&)\s+{_NAME}"
    rf"|,?\s+et\s+al\.?)?(?:['’]s?)?[,\s]*\s?[(\[]?({_YEARS})"
)


def _families(reference: Reference) -> set[str]:
    """The first author's family name, with and without its particle."""
    if not reference.authors:
        first = re.match(_NAME, reference.text)
        return {first[0].casefold()} if first else set()
    words = reference.authors[0].split()
    particles = [word for word in words[:-1] if word.islower()]
    family = words[-1] if words else ""
    return {family.casefold(), " ".join([*particles, family]).casefold()}


def _with_contexts(
    references: Sequence[Reference], contexts: dict[str, list[CitationContext]]
) -> tuple[Reference, ...]:
    return tuple(
        reference.model_copy(update={"contexts": tuple(contexts.get(reference.key, ()))})
        for reference in references
    )
