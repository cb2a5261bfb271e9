"""Does a model know a paper's results by heart? Each is asked once, from title and headers alone.

A model that remembers the values was not blind, whatever was masked. Nothing follows from it by itself:
it is evidence that stands beside the verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repro_pipeline.asking.ask import Desk, ask
from repro_pipeline.asking.prompt import Block
from repro_pipeline.bundle.terms import ClaimId
from repro_pipeline.claims.blinding import secrets_for
from repro_pipeline.claims.masking import Reach, mask_text
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.errors import UserError
from repro_pipeline.findings import Probe
from repro_pipeline.frozen import Frozen
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.model import Paper
from repro_pipeline.wording import counted

STEP = "memory_probe"


class Remembered(Frozen):
    """What a model says a claim's value is."""

    claim: ClaimId
    value: float | None = None


class Memory(Frozen):
    """A model's answer."""

    values: tuple[Remembered, ...]


def probe_memory(
    desk: Desk, paper: Paper, claims: ReportedClaims, roles: Sequence[str]
) -> tuple[Probe, ...]:
    """A probe `memory` per model that plays one of `roles`, asked once each.

    A model that cannot be asked gives a probe that does not apply, and says why. What was answered
    before is taken from the ledger.
    """
    by_model: dict[str, str] = {}
    for role in roles:
        if desk.roles.of(role) is not None:
            by_model.setdefault(desk.model_of(role), role)
    return tuple(_probe(desk, paper, claims, model, role) for model, role in by_model.items())


def _probe(desk: Desk, paper: Paper, claims: ReportedClaims, model: str, role: str) -> Probe:
    try:
        answer = ask(
            desk,
            step=STEP,
            role=role,
            prompt="memory-probe",
            values={
                "paper": Block("title", _title(paper, claims), "source"),
                "results": Block("results", asked_of(paper, claims), "source"),
            },
            answer_model=Memory,
        )
    except UserError as error:
        return Probe(
            id="memory",
            applies=False,
            sentence=f"{model} was not asked what it remembers of the paper: {error}",
            evidence={"model": model},
        )
    said = {one.claim: one.value for one in answer.values if one.value is not None}
    return judged(model, claims.claims, said)


def judged(model: str, claims: Sequence[Claim], said: Mapping[str, float]) -> Probe:
    """What a model's words (claim → value) show. The probe's claims are those that it knew.

    A hit rounds to the printed digits. The chance level is the number of hits to expect if the model's
    own values were dealt to the claims in a random order: hits above it are known, not guessed. It needs
    two answers. Evidence: `model`, `asked`, `answered`, `hits`, `chance`.
    """
    asked = [claim for claim in claims if claim.value is not None]
    answered = [claim for claim in asked if claim.id in said]
    hits = tuple(claim.id for claim in answered if _is_hit(claim, said[claim.id]))
    matches = sum(_is_hit(claim, said[other.id]) for claim in answered for other in answered)
    chance = matches / len(answered) if len(answered) > 1 else None
    by_chance = "" if chance is None else f", where {chance:.2g} were to be expected by chance"
    return Probe(
        id="memory",
        applies=bool(asked),
        sentence=(
            f"Asked for {counted(len(asked), 'masked value')} from title and headers alone, {model} "
            f"named {len(answered)}, of which {len(hits)} right to the printed digits{by_chance}."
        ),
        evidence={
            "model": model,
            "asked": len(asked),
            "answered": len(answered),
            "hits": len(hits),
            "chance": chance,
        },
        claims=hits,
    )


def asked_of(paper: Paper, claims: ReportedClaims) -> str:
    """The results that are asked for, a line each: headers, data set, metric and unit; no value."""
    secrets = secrets_for(paper, claims)
    lines = []
    for claim in claims.claims:
        if claim.value is None:
            continue
        where = str(claim.address) if isinstance(claim.address, CellAddress) else "the running text"
        terms = (claim.dataset, claim.method, claim.metric, claim.unit and f"in {claim.unit}")
        said = f"{claim.id}: {', '.join(term for term in terms if term)} ({where})"
        lines.append(mask_text(said, secrets, where=claim.id, reach=Reach.VALUES)[0])
    return "\n".join(lines)


def _title(paper: Paper, claims: ReportedClaims) -> str:
    secrets = secrets_for(paper, claims)
    return mask_text(paper.title, secrets, where="title", reach=Reach.VALUES)[0]


def _is_hit(claim: Claim, value: float) -> bool:
    half = (claim.quantum or 0) / 2
    return abs(value - claim.value) <= half * (1 + 1e-9)
