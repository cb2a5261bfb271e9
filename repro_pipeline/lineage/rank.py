"""Rank the cited works by how much the paper rests on them, and find those that are at hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from repro_pipeline.lineage.model import Lineage, RankedReference
from repro_pipeline.paper.model import CitationContext, Paper, Reference

_SECTIONS = (
    (re.compile(r"experiment|setup|set-up|implementation|training|evaluation|detail", re.I), 3.0),
    (re.compile(r"method|model|approach|algorithm|data|result", re.I), 2.0),
    (re.compile(r"related|introduction|background|conclusion|discussion", re.I), 0.5),
)
_CUES = (
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
    (r"\bwe (use|used|adopt|employ)\b", "used", 2.0),
)
_CONTRAST = re.compile(r"\b(unlike|in contrast (to|with)|instead of|different(ly)? from)\b", re.I)
_DEFAULT_WEIGHT = 1.0
TOP = 3


def rank_references(paper: Paper, texts: dict[str, str]) -> Lineage:
    """The paper's references, those first that it rests on most, each with its reasons.

    `texts` are the local reference files, name → content. A sentence that cites a work counts by
    the weight of its section, times the weight of the words that say that something was taken
    from it. A work's score is the sum over its sentences, each halved for every stronger one: so
    being mentioned often is worth at most as much again as the strongest mention. It is a heuristic
    for reading order, not a measure.
    """
    ranked = sorted(
        (_rank(reference, texts) for reference in paper.references),
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


def _rank(reference: Reference, texts: dict[str, str]) -> RankedReference:
    strengths, reasons = [], []
    for context in reference.contexts:
        cues = _cues(context.sentence)
        strengths.append(_weight(context) * max(cues.values(), default=1.0))
        where = f"in '{context.section}'" if context.section else "in the text"
        reasons.append(f"cited {where}" + (f" ({', '.join(cues)})" if cues else ""))
    strengths.sort(reverse=True)
    score = sum(strength * 0.5**place for place, strength in enumerate(strengths))
    if not reasons:
        reasons.append("listed, but no sentence that cites it was found")
    return RankedReference(
        key=reference.key,
        title=reference.title,
        score=round(score, 2),
        reasons=tuple(dict.fromkeys(reasons)),
        local_file=_local_file(reference, texts),
    )


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
