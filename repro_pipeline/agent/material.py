"""What the agent is given of a paper: all of it blinded, none of it a path into the bundle.

Claims come without values, pairs without signs, assumptions, references and given code with every
reported value masked. Nothing else of the bundle reaches a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.bundle.terms import ClaimId, ClaimTerms
from repro_pipeline.claims.blind_files import blind_files, blind_reference
from repro_pipeline.claims.blinding import BlindedPaper, blind_paper, secrets_for
from repro_pipeline.claims.model import Claim, PairKind, ReportedClaims
from repro_pipeline.claims.secrets import Secrets
from repro_pipeline.config import SendToModels
from repro_pipeline.errors import UserError
from repro_pipeline.frozen import Frozen
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.model import Paper

LARGEST_TEXT = 1 << 20
"""Bytes of a reference or a file of given code that is read."""
SECTION = 12_000
"""Characters of a section or a reference that one look-up shows."""


class NotSent(UserError):
    """The configuration keeps from models what the agent would have to send."""

    code = "not_sent_to_models"


class BlindClaim(ClaimTerms):
    """A claim without its value: what is to be measured, not what came out."""

    stands_in: str = ""
    """The table with the headers of row and column; empty for a number of the running text."""


class BlindPair(Frozen):
    """Two claims that the paper compares, without the sign."""

    id: ClaimId
    kind: PairKind
    full: ClaimId
    variant: ClaimId


@dataclass(frozen=True)
class Material:
    """The blinded paper and what belongs to it, as the agent may see it."""

    paper: BlindedPaper
    claims: tuple[BlindClaim, ...]
    pairs: tuple[BlindPair, ...]
    assumptions: tuple[str, ...]
    gaps: tuple[str, ...]
    """What the checklist asks and no source answers, the most influential first."""
    references: Mapping[str, str]
    """File name → masked text."""
    code: Mapping[str, str]
    """Given code to start from: path → masked text; empty where there is none."""
    left_out: tuple[str, ...]
    """Files of the given code that are not text, or hold results, and so are not shown."""
    data: tuple[str, ...]
    """The input files, a line each: how `config["data"]` names them, and their roles."""
    private: bool
    """Whether any input is private: then no run's output is shown."""
    logs: bool
    """Whether the output of runs may be sent to models."""

    def section(self, title: str, words: str = "") -> str | None:
        """The masked text of a part of the paper, from the place on where `words` stand."""
        parts = {part.title: part.text for part in self.paper.parts}
        return _found(parts, title, words)

    def reference(self, name: str, words: str = "") -> str | None:
        """The masked text of a cited work, from the place on where `words` stand."""
        return _found(self.references, name, words)


def material_of(
    bundle: Bundle,
    folder: Path,
    paper: Paper,
    claims: ReportedClaims,
    assumptions: AssumptionLedger,
    send: SendToModels,
) -> Material:
    """The material of a paper. Raises NotSent where `send_to_models` forbids what it needs."""
    if not send.paper:
        raise NotSent(
            "the agent cannot work without the paper's text.",
            where="repro.yaml: send_to_models.paper",
            hint="Allow it, or give the code.",
        )
    if bundle.has_code and not send.code:
        raise NotSent(
            "the given code, which the agent would start from, may not be sent to models.",
            where="repro.yaml: send_to_models.code",
            hint="Allow it, or run the code as given, without --agent.",
        )
    secrets = secrets_for(paper, claims)

    code_top = bundle.task.code.path if bundle.task.code else "code"
    code, left_out = _texts(folder / code_top) if bundle.has_code else ({}, ())
    blinded = blind_files(code, secrets)
    references, _ = _texts(folder / "references")
    return Material(
        paper=blind_paper(paper, claims),
        claims=tuple(_blind(claim, secrets) for claim in claims.claims),
        pairs=tuple(
            BlindPair(id=pair.id, kind=pair.kind, full=pair.full, variant=pair.variant)
            for pair in claims.pairs
        ),
        assumptions=tuple(
            blind_reference(one.id, _assumed(one), secrets)[0] for one in assumptions.assumptions
        ),
        gaps=tuple(f"{gap.item} ({gap.influence}): {gap.question}" for gap in assumptions.gaps),
        references={
            name: blind_reference(name, text, secrets)[0] for name, text in references.items()
        },
        code=blinded.texts,
        left_out=(*left_out, *blinded.withheld),
        data=tuple(
            f'config["data"]["{item.name}"]: {item.path or "a fetched file"}, roles: '
            f"{', '.join(item.roles) or 'none given'}"
            + ("; the labels of its test rows are withheld" if item.sealed_labels else "")
            for item in bundle.task.data
        ),
        private=any(item.private for item in bundle.task.data),
        logs=send.logs,
    )


def _blind(claim: Claim, secrets: Secrets) -> BlindClaim:
    terms = {name: getattr(claim, name) for name in ClaimTerms.model_fields}
    is_cell = isinstance(claim.address, CellAddress)  # a quote would hold the value
    terms["stands_in"] = str(claim.address) if is_cell else ""
    for name in ("metric", "dataset", "method", "over", "stands_in"):  # a header may be a value
        if terms[name]:
            terms[name] = blind_reference(claim.id, terms[name], secrets)[0]
    return BlindClaim(**terms)


def _assumed(one: Assumption) -> str:
    others = f" Alternatives: {', '.join(map(str, one.alternatives))}." if one.alternatives else ""
    known = f"{one.influence} influence, from {one.source.kind}"
    return f"{one.id} ({one.topic}; {known}): {one.statement} Value: {one.value}.{others}"


def _texts(folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """The text files of a folder by path, and the paths of the others."""
    texts, others = {}, []
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or path.is_symlink() or re.search(r"(^|/)(\.|__pycache__)", name):
            continue
        content = path.read_bytes() if path.stat().st_size <= LARGEST_TEXT else b"\0"
        if b"\0" in content:
            others.append(name)
        else:
            texts[name] = content.decode("utf-8", errors="replace")
    return texts, tuple(others)


def _found(texts: Mapping[str, str], name: str, words: str) -> str | None:
    """Of the text whose name holds `name`, what stands around `words`."""
    wanted = name.strip().casefold()
    hits = [text for title, text in texts.items() if title.casefold() == wanted]
    hits = hits or [text for title, text in texts.items() if wanted and wanted in title.casefold()]
    if not hits:
        return None
    text = hits[0]
    at = text.casefold().find(words.strip().casefold()) if words.strip() else 0
    if at < 0:
        return f"[the words do not stand there; its beginning:]\n{text[:SECTION]}"
    start = max(0, at - 1500)
    more = len(text) - start - SECTION
    return text[start : start + SECTION] + (f"\n[… {more} characters follow]" if more > 0 else "")
