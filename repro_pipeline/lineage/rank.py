"""Rank the cited works by how much the paper rests on them, and find those that are at hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from repro_pipeline.lineage.model import Lineage, RankedReference
from repro_pipeline.paper.literature import Brought, Exclusions
from repro_pipeline.paper.model import CitationContext, Paper, Reference, Table
from repro_pipeline.ports import ArtifactStore, Literature

_SECTIONS = (
    (re.compile(r"experiment|setup|set-up|implementation|training|evaluation|detail", re.I), 3.0),
    (re.compile(r"method|model|approach|algorithm|data|result", re.I), 2.0),
    (re.compile(r"related|introduction|background|conclusion|discussion", re.I), 0.5),
)
_CUES = (
    (
        r"\bthe original (paper|work|authors?|study|implementation|publication)\b",
        "the original",
        6.0,
    ),
    (
        r"\b(re-?produc|re-?plicat|re-?implement|re-?evaluat)\w*\b[^.]{0,80}"
        r"\b(of|by|in|from|paper|results?|experiments?)\b[^.]{0,25}(\[|\(|\bet al)",
        "reproduced",
        6.0,
    ),
    (r"\b(we|as) follow(ing|ed)?\b|(?<!\bthe )\bfollowing\b", "followed", 4.0),
    (
        r"\bsame\b[^.]{0,60}\bas\b|\bas (in|described|defined|given|proposed)\b",
        "the same as",
        4.0,
    ),
    (r"\b(described|defined|given|specified|detailed) (in|by)\b", "described there", 3.0),
    (
        r"\b(taken|borrowed|adopted|adapted|generated|constructed) (from|as)\b",
        "taken from there",
        3.0,
    ),
    (
        r"\b(implementation|code|settings?|hyper-?parameters?|data) (of|from|by)\b",
        "uses its parts",
        3.0,
    ),
    (
        r"\b(built?|building|builds|based|extends?|extending|adaptation) (up)?on\b",
        "built upon",
        3.0,
    ),
    (r"\b(initiali[sz]\w*|pre-?trained|fine-?tun\w*)\b", "its weights are used", 2.0),
    (r"\b(similar(ly)?|akin|analogous(ly)?|identical) to\b|\bin line with\b", "similar to it", 2.5),
    (r"\b(we|is|are|was|were) (use|used|adopt|adopted|employ|employed)\b", "used", 2.0),
)
_WHATEVER_SECTION = {"the original", "reproduced"}
"""Ways of citing that weigh the same in an introduction."""
_IDENTITY_WEIGHT = 2.0
_SAME_TITLE, _NAMED_IN_TITLE, _IN_TABLE = 12.0, 4.0, 2.0
_DECAY = 0.5
_WIDELY, _PER_SECTION, _AT_MOST = 3, 1.5, 12.0
_CONTRAST = re.compile(r"\b(unlike|in contrast (to|with)|instead of|different(ly)? from)\b", re.I)
_DEFAULT_WEIGHT = 1.0
TOP = 3
"""Works of the first ranks without which the lineage warns."""


def rank_references(paper: Paper, texts: dict[str, str]) -> Lineage:
    """The paper's references, those first that it rests on most, each with its reasons.

    `texts` are the local reference files, name → content. A sentence that cites a work counts by
    the weight of its section, times the weight of the words that say that something was taken
    from it. A work's score is the sum over its sentences, each halved for every stronger one: so
    being mentioned often is worth at most as much again as the strongest mention. A work whose title or
    name the paper bears in its own, and one that stands in a table of results, are lifted. It is a
    heuristic for reading order, not a measure.
    """
    ranked = sorted(
        (
            _rank(reference, texts, lifts=_lifts(paper, reference, place))
            for place, reference in enumerate(paper.references, start=1)
        ),
        key=lambda reference: (-reference.score, reference.key),
    )
    unread = tuple(r.key for r in ranked[:TOP] if r.score > 0 and r.local_file is None)
    return Lineage(ranked=tuple(ranked), unread=unread)


def read_references(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """The text files among a bundle's `references/`, name → content."""
    texts = {}
    for name in names:
        if Path(name).suffix in {".md", ".txt", ".tex", ".py", ".yaml", ".yml", ".json", ".bib"}:
            texts[name] = (folder / name).read_text(encoding="utf-8", errors="replace")
    return texts


def bring(
    lineage: Lineage, paper: Paper, exclude: Sequence[str], literature: Literature, *, top: int
) -> list[Brought]:
    """What came of looking for those of the `top` works that are not at hand and matter at all."""
    exclusions = Exclusions(paper, exclude)
    references = {reference.key: reference for reference in paper.references}
    wanted = [one for one in lineage.ranked[:top] if one.score > 0 and one.local_file is None]
    return [literature.bring(references[one.key], exclusions) for one in wanted]


def with_brought(lineage: Lineage, brought: Sequence[Brought]) -> Lineage:
    """A lineage with what was brought from outside: a work with a text or code is no longer unread."""
    had = {one.key for one in brought if one.text or one.code}
    unread = tuple(key for key in lineage.unread if key not in had)
    return lineage.model_copy(update={"brought": tuple(brought), "unread": unread})


def brought_texts(lineage: Lineage, store: ArtifactStore) -> dict[str, str]:
    """The texts and code that were brought, by a name that says of which work. Raises IntegrityError."""
    texts = {}
    for one in lineage.brought:
        files = dict(one.code.files) if one.code else {}
        if one.text:
            files["paper.txt"] = one.text
        for path, digest in files.items():
            name = f"brought/{one.key}/{path}"
            texts[name] = store.get(digest).decode("utf-8", errors="replace")
    return texts


def _rank(
    reference: Reference, texts: dict[str, str], *, lifts: dict[str, float]
) -> RankedReference:
    strengths, reasons = list(lifts.values()), list(lifts)
    for context in reference.contexts:
        cues = _cues(context.sentence)
        identity = bool(_WHATEVER_SECTION & set(cues))
        weight = _IDENTITY_WEIGHT if identity else _weight(context)
        strengths.append(weight * max(cues.values(), default=1.0))
        where = f"in '{context.section}'" if context.section else "in the text"
        reasons.append(f"cited {where}" + (f" ({', '.join(cues)})" if cues else ""))
    strengths.sort(reverse=True)
    score = sum(strength * _DECAY**place for place, strength in enumerate(strengths))
    if not reasons:
        reasons.append("listed, but no sentence that cites it was found")
    return RankedReference(
        key=reference.key,
        title=reference.title,
        score=round(score, 2),
        reasons=tuple(dict.fromkeys(reasons)),
        local_file=_local_file(reference, texts),
    )


def _lifts(paper: Paper, reference: Reference, place: int) -> dict[str, float]:
    """What speaks for a work beside the sentences that cite it: reason → strength."""
    lifts = {}
    own, theirs = _plain(re.sub(r"^\W*re\W+", "", paper.title, flags=re.I)), _plain(reference.text)
    title = _plain(reference.title or "")
    if (len(own) > 20 and own in theirs) or (len(title) > 20 and title in own):
        lifts["the paper bears its title"] = _SAME_TITLE
    elif (name := _name_of(reference)) and re.search(rf"\b{re.escape(name)}\b", paper.title, re.I):
        lifts["the paper bears its name in the title"] = _NAMED_IN_TITLE
    own_places = {c.section for c in reference.contexts if _weight(c) >= _DEFAULT_WEIGHT}
    if len(own_places) >= _WIDELY:
        lifts[f"cited in {len(own_places)} sections"] = min(
            _PER_SECTION * len(own_places), _AT_MOST
        )
    cited = _printed(reference, place)
    tables = [str(table) for table in paper.tables if cited.search(_text_of(table))]
    if tables and reference.contexts:
        lifts[f"stands in {tables[0]}"] = _IN_TABLE
    return lifts


def _name_of(reference: Reference) -> str | None:
    """The name that a work gives its subject: `BERT` of `BERT: Pre-training of …`."""
    found = re.match(r"([A-Za-z][\w+-]{3,20}):\s", reference.title or "")
    return found[1] if found else None


def _printed(reference: Reference, place: int) -> re.Pattern[str]:
    """How a table's cell may cite a work: its number, or first author and year."""
    family = reference.authors[0].split()[-1] if reference.authors else None
    named = rf"|\b{re.escape(family)}\b[^|]{{0,40}}{reference.year}" if family else ""
    return re.compile(rf"\[(\d+,\s*)*{place}(,\s*\d+)*\]{named}")


def _text_of(table: Table) -> str:
    return " | ".join(cell.text for row in table.grid for cell in row if not cell.spanned)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def _weight(context: CitationContext) -> float:
    return next((w for pattern, w in _SECTIONS if pattern.search(context.section)), _DEFAULT_WEIGHT)


def _cues(sentence: str) -> dict[str, float]:
    """The ways in which a sentence says that it takes something from what it cites, weighted."""
    if _CONTRAST.search(sentence):
        return {}
    return {name: weight for pattern, name, weight in _CUES if re.search(pattern, sentence, re.I)}


def _local_file(reference: Reference, texts: dict[str, str]) -> str | None:
    """The file that names the reference's key in its head, or bears it as its name."""
    key = re.compile(rf"^key:\s*['\"]?{re.escape(reference.key)}['\"]?\s*$", re.M)
    for name, text in texts.items():
        if Path(name).stem == reference.key or key.search(text[:2000]):
            return name
    return None
