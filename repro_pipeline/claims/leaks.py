"""The check that what a model is shown, of paper, references and given code, holds no reported value."""

from __future__ import annotations

from collections.abc import Mapping

from repro_pipeline.claims import context
from repro_pipeline.claims.numerals import Numeral, numerals
from repro_pipeline.claims.secrets import Hit, Secrets
from repro_pipeline.findings import Probe
from repro_pipeline.frozen import Frozen
from repro_pipeline.wording import counted


class ShownValue(Frozen):
    """A number in a shown text that is a claim's value. For people: it is never shown to a model."""

    claims: tuple[str, ...]
    start: int
    end: int
    certain: bool
    """False: a warning only. The value has fewer than three significant digits, is a setting of the
    paper as well, or the words around it name a setting, a count or a reference."""


def leaks(text: str, secrets: Secrets) -> tuple[ShownValue, ...]:
    """The numbers of a text that are claims' values, leaks and warnings, in order.

    It is meant for text from the paper, its references and given code; what the agent's own runs print
    may hold the values, for a right reproduction does.
    """
    return tuple(
        ShownValue(
            claims=hit.claims, start=one.start, end=one.end, certain=_is_certain(text, one, hit)
        )
        for one in numerals(text)
        if (hit := secrets.hit(one, tables=False)) is not None
        and (one.decimal or hit.telling)
        and not (one.in_name and not one.decimal)
    )


def shown_text(shown: Mapping[str, str], secrets: Secrets) -> Probe:
    """Probe `shown_text` of all that an agent was shown (name of the prompt → its text to check).

    The probe's claims are those whose value was shown. Evidence: `hits`, `warnings`, `prompts`.
    """
    found = [one for text in shown.values() for one in leaks(text, secrets)]
    hits = [one for one in found if one.certain]
    claims = tuple(dict.fromkeys(claim for one in hits for claim in one.claims))
    warnings = len(found) - len(hits)
    said = f"{counted(len(hits), 'reported value')} in {counted(len(shown), 'prompt')}"
    if claims:
        said += f", of {', '.join(claims)}"
    return Probe(
        id="shown_text",
        applies=bool(shown) and bool(secrets.of_claims),
        sentence=f"What the agent was shown of paper, references and given code holds {said}; "
        f"{counted(warnings, 'further number')} may be one by chance.",
        evidence={"hits": len(hits), "warnings": warnings, "prompts": len(shown)},
        claims=claims,
    )


def _is_certain(text: str, one: Numeral, hit: Hit) -> bool:
    if not hit.telling or context.is_pointer(text, one) or context.is_hyperparameter(text, one):
        return False
    return not one.whole or not context.is_count(text, one)
