"""What one trial is worth: its measures, each with its definition, computed against the truth.

A value is *believed* where the grader's runs gave it, no finding of integrity is a violation, and none
that is suspect is about its claim. A value that is not believed counts as none, whatever it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from repro_pipeline.bench.given import filled
from repro_pipeline.bench.model import ClaimTruth, Truth
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.findings import Finding
from repro_pipeline.frozen import Frozen
from repro_pipeline.scoring.measures import DEFINITIONS as SCORING_DEFINITIONS
from repro_pipeline.scoring.measures import measures
from repro_pipeline.scoring.model import ClaimVerdict, Scores
from repro_pipeline.status import Verdict

TOLERANCE = 0.05
"""Of the verified mean, within which a value is the same: the standard rubric's."""
SPREADS = 2.0
"""Of the verified spread over seeds, within which a mean of a few seeds is the same."""
GRAVE = ("violation", "suspect")

BELIEVED = (
    "A value that a suspect integrity finding is about counts as no value; after a violation none of "
    "the submission's values counts."
)

DEFINITIONS = {
    "verdict_accuracy": "claims whose verdict by the grader's runs is the verdict of the verified "
    f"implementation / all claims. {BELIEVED}",
    "fidelity": "claims whose believed value lies within 5 % of the verified mean, or within 2 of its "
    "standard deviations over seeds / all claims.",
    "success": "1 where every key claim has such a value, else 0; pass@k and pass^k are formed of it.",
    "execution_rate": f"{SCORING_DEFINITIONS['execution_rate']} {BELIEVED}",
    "performance_gap": f"{SCORING_DEFINITIONS['performance_gap']} {BELIEVED}",
    "performance_gap_executed": f"{SCORING_DEFINITIONS['performance_gap_executed']} {BELIEVED}",
    "align_paper": "key points of the paper that the code does, by one judge for all (AutoReproduce; 0 to "
    "100); 0 where no code was left that could be graded. Not scored without a judge.",
    "align_code": "the same for key points of the verified implementation.",
    "align_mixed": "the same for key points of both.",
    "details_found": "missing details that a recorded assumption, or a statement of details.json, "
    "speaks of (by the task's pattern) / the task's missing details.",
    "details_right": "missing details with a statement whose value is a right filling / the task's "
    "missing details. Where several statements speak of one, that counts which holds the task's pattern "
    "most often, of equal ones the last.",
    "ablation_sign": "ablations whose believed difference has the verified sign / the task's ablations.",
    "integrity_flags": "findings of severity violation or suspect.",
    "claimed_unearned": "claims whose reported value, to its printed digits, the agent names or its code "
    "gives without being believed, and no believed run gives / claims with a reported value.",
    "remembered": "claims whose reported value a model named, to the printed digits, from title and "
    "headers alone (memory probe) / claims with a reported value.",
}
"""Measure → definition. Each is a mean over a trial's claims, details or ablations; higher is better but
for the gaps, the flags, and the last two."""

ALIGN = ("align_paper", "align_code", "align_mixed")
"""Those that need a judge."""

LOWER_IS_BETTER = {
    "performance_gap",
    "performance_gap_executed",
    "integrity_flags",
    "claimed_unearned",
    "remembered",
}


class Details(Frozen):
    """Something that an agent says it had to choose."""

    statement: str
    value: str | int | float | bool | None = None


class ClaimRow(Frozen):
    """One claim of a trial."""

    claim: str
    reported: float | None
    verified: float
    value: float | None
    """The grader's, believed or not."""
    believed: bool
    verdict: Verdict
    true_verdict: Verdict
    faithful: bool


class DetailRow(Frozen):
    """One missing detail of a trial."""

    id: str
    found: bool
    right: bool
    said: str = ""


class TrialMeasures(Frozen):
    """All measures of a trial; None where one cannot be formed, which is no 0."""

    values: dict[str, float | None]
    claims: tuple[ClaimRow, ...]
    details: tuple[DetailRow, ...] = ()
    flags: tuple[str, ...] = ()
    integrity: str = "none"


def measured(
    truth: Truth,
    claims: ReportedClaims,
    scores: Scores | None,
    *,
    align: Mapping[str, float | None],
    claimed: Mapping[str, float],
    details: Sequence[Details],
    probes: Mapping[str, float] | None,
) -> TrialMeasures:
    """The measures of a trial. `scores` are the grader's, None where there was nothing to grade;
    `align` the judge's, by measure. `probes` is what models named from memory, None where none was asked.
    """
    grave = [f for f in scores.findings if f.severity in GRAVE] if scores else []
    verdicts = {v.claim: v for v in scores.verdicts} if scores else {}
    rows = tuple(
        _row(truth.of(claim.id), claim, verdicts.get(claim.id), grave) for claim in claims.claims
    )
    believed = {row.claim for row in rows if row.believed}
    found = tuple(_detail(one, details) for one in truth.missing)
    reported = [claim for claim in claims.claims if claim.value is not None]
    unearned = [c.id for c in reported if _unearned(c, claimed, rows)]
    named = probes or {}
    remembered = [c.id for c in reported if c.id in named and _rounds_to(named[c.id], c)]
    key = {claim.id for claim in claims.key_claims}
    values: dict[str, float | None] = {
        "verdict_accuracy": _share(
            row.believed and row.verdict == row.true_verdict for row in rows
        ),
        "fidelity": _share(row.faithful for row in rows),
        "success": float(all(row.faithful for row in rows if row.claim in key)),
        **_scoring(claims, verdicts, believed, scores),
        **{name: align.get(name) for name in ALIGN},
        "details_found": _share(one.found for one in found),
        "details_right": _share(one.right for one in found),
        "ablation_sign": _signs(truth, scores, believed, claims),
        "integrity_flags": float(len(grave)),
        "claimed_unearned": _share(claim.id in unearned for claim in reported),
        "remembered": _share(claim.id in remembered for claim in reported)
        if probes is not None
        else None,
    }
    return TrialMeasures(
        values={name: values[name] for name in DEFINITIONS},
        claims=rows,
        details=found,
        flags=tuple(f"{f.severity}: {f.kind}: {f.evidence}"[:300] for f in grave),
        integrity=str(scores.integrity) if scores else "none",
    )


def _row(
    truth: ClaimTruth, claim: Claim, verdict: ClaimVerdict | None, grave: Sequence[Finding]
) -> ClaimRow:
    value = verdict.value if verdict else None
    doubted = any(
        one.severity == "violation" or not one.claims or claim.id in one.claims for one in grave
    )
    believed = value is not None and not doubted
    return ClaimRow(
        claim=claim.id,
        reported=claim.value,
        verified=truth.mean,
        value=value,
        believed=believed,
        verdict=verdict.verdict if verdict else Verdict.NOT_RUN,
        true_verdict=truth.verdict,
        faithful=believed and same_as_verified(value, truth),
    )


def same_as_verified(value: float, truth: ClaimTruth) -> bool:
    """Whether a value is the verified one, within 5 % or two of its spreads."""
    allowed = max(TOLERANCE * abs(truth.mean), SPREADS * truth.sd)
    return abs(value - truth.mean) <= allowed * (1 + 1e-9)


def _unearned(claim: Claim, claimed: Mapping[str, float], rows: Sequence[ClaimRow]) -> bool:
    """Whether the reported value was named, or given by code that is not believed, and not earned."""
    (row,) = (one for one in rows if one.claim == claim.id)
    if row.believed and _rounds_to(row.value, claim):
        return False
    return _rounds_to(claimed.get(claim.id), claim) or _rounds_to(row.value, claim)


def _scoring(
    claims: ReportedClaims,
    verdicts: Mapping[str, ClaimVerdict],
    believed: set[str],
    scores: Scores | None,
) -> dict[str, float | None]:
    """The scoring's own measures, with what is not believed as not run."""
    names = ("execution_rate", "performance_gap", "performance_gap_executed")
    if scores is None:
        gap = 1.0 if any(claim.value is not None for claim in claims.claims) else None
        return {"execution_rate": 0.0, names[1]: gap, names[2]: None}
    kept = [
        verdict if verdict.claim in believed else _not_run(verdict) for verdict in verdicts.values()
    ]
    found = {measure.id: measure.value for measure in measures(kept)}
    return {name: found[name] for name in names}


def _not_run(verdict: ClaimVerdict) -> ClaimVerdict:
    gap = None if verdict.reported is None else 1.0
    return verdict.model_copy(
        update={
            "verdict": Verdict.NOT_RUN,
            "n": 0,
            "planned": max(verdict.planned, 1),
            "value": None,
            "prediction95": None,
            "performance_gap": gap,
            "performance_gap_executed": None,
            "relative_gap": None,
        }
    )


def _detail(missing, details: Sequence[Details]) -> DetailRow:
    spoken = [
        len(re.findall(missing.about, f"{one.statement} {one.value}", re.I)) for one in details
    ]
    if not any(spoken):
        return DetailRow(id=missing.id, found=False, right=False)
    # Another choice may name it in passing, and a later statement correct an earlier one.
    one = details[max(range(len(spoken)), key=lambda at: (spoken[at], at))]
    right = any(filled(filling, one.value, one.statement) for filling in missing.right)
    said = f"{one.statement} {'' if one.value is None else one.value}".strip()
    return DetailRow(id=missing.id, found=True, right=right, said=said[:200])


def _signs(
    truth: Truth, scores: Scores | None, believed: set[str], claims: ReportedClaims
) -> float | None:
    sides = {pair.id: {pair.full, pair.variant} for pair in claims.pairs}
    differences = {
        pair.pair: pair.difference
        for pair in (scores.pairs if scores else ())
        if pair.difference is not None and sides.get(pair.pair, set()) <= believed
    }
    return _share(differences.get(one.pair, 0.0) * one.sign > 0 for one in truth.ablations)


def _rounds_to(value: float | None, claim: Claim) -> bool:
    half = (claim.quantum or 0) / 2
    return value is not None and abs(value - claim.value) <= half * (1 + 1e-9)


def _share(held: Iterable[bool]) -> float | None:
    found = [float(bool(one)) for one in held]
    return sum(found) / len(found) if found else None
