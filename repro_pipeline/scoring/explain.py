"""Scores in sentences: what each rests on, what would change it, and why two scorings differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repro_pipeline.scoring.model import ClaimVerdict, DimensionScore, Scores
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.scoring.words import number, plain
from repro_pipeline.status import Outcome, Verdict

_FORMULAS = {
    "environment_parity": "|a - b| / max(|a|, |b|) of two runs of one configuration and seed, "
    "on the main claim",
    "metric_parity": "90 % interval within the tolerance around the reported value, for every key claim; "
    "the value is the greatest |value - reported| / max(|reported|, eps)",
    "ablation_faithful": "ablations whose 95 % interval of variant - full has the paper's sign / "
    "all ablations that count",
    "no_leakage": "no file or row under two roles, labels sealed, no reported value shown",
}


def explain(scores: Scores) -> list[str]:
    """Which evidence, which formula, which threshold, and what would change it, line by line."""
    lines = [scores.headline]
    for dimension in scores.dimensions:
        lines.append(_dimension(dimension))
        # The checks of metric_parity are the claims, which follow.
        shown = dimension.checks if dimension.id != "metric_parity" else ()
        lines += [f"  {check.id}: {plain(check.outcome)}. {check.sentence}" for check in shown]
    lines += [f"{verdict.claim}: {_claim(verdict)}" for verdict in scores.verdicts]
    lines += [
        f"{pair.pair} ({pair.kind}): {plain(pair.sign)}. {pair.reason}" for pair in scores.pairs
    ]
    lines += [
        f"integrity, {found.severity}: {found.kind}. {found.evidence}" for found in scores.findings
    ]
    return lines + [f"To change it: {step}" for step in dict.fromkeys(_steps(scores))]


def compare(old: Scores, new: Scores, old_rubric: Rubric, new_rubric: Rubric) -> tuple[str, ...]:
    """Which verdicts, pairs, dimensions and outcomes differ, and the settings that made them differ.

    Empty where nothing differs. Where several settings could be the cause, all are named.
    """
    evidence = ["the evidence changed"] if old.evidence != new.evidence else []
    said = []
    for before, after, rules, fields in zip(
        _outcomes(old), _outcomes(new), _RULES, _FIELDS, strict=True
    ):
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) != after.get(name):
                dimensions = rules or ((name,) if name in _FORMULAS else ())
                causes = _changed_rules(old_rubric, new_rubric, dimensions, fields) + evidence
                why = f", because {' and '.join(causes)}" if causes else ""
                was, now = plain(before.get(name, "absent")), plain(after.get(name, "absent"))
                said.append(f"{name} went from {was} to {now}{why}.")
    return tuple(said)


def _outcomes(scores: Scores) -> tuple[dict[str, str], ...]:
    """Claims, pairs, dimensions, and the whole, each by name."""
    return (
        {verdict.claim: verdict.verdict for verdict in scores.verdicts},
        {pair.pair: pair.sign for pair in scores.pairs},
        {dimension.id: dimension.outcome for dimension in scores.dimensions},
        {"integrity": scores.integrity},
        {"overall": scores.overall},
    )


_RULES = (("metric_parity",), (), (), (), tuple(_FORMULAS))
"""The dimensions whose rules can change each of these; a dimension's own where none is named."""
_FIELDS = (
    ("threshold", "eps"),
    (),
    ("threshold", "eps", "key_claims_only"),
    (),
    ("threshold", "eps", "key_claims_only", "critical"),
)


def _changed_rules(
    old: Rubric, new: Rubric, dimensions: Sequence[str], fields: Sequence[str]
) -> list[str]:
    changed = []
    for name in dimensions:
        before, after = getattr(old.dimensions, name), getattr(new.dimensions, name)
        for field in fields:
            was, now = getattr(before, field, None), getattr(after, field, None)
            if was != now:
                changed.append(f"{name}.{field} went from {_value(was)} to {_value(now)}")
    return changed


def _dimension(dimension: DimensionScore) -> str:
    critical = ", critical" if dimension.critical else ""
    held = ""
    if dimension.threshold is not None:
        value = "none" if dimension.value is None else number(dimension.value)
        held = f" Value {value}, threshold {number(dimension.threshold)}."
    return (
        f"{dimension.id}{critical}: {plain(dimension.outcome)}. {dimension.sentence}{held} "
        f"Formula: {_FORMULAS[dimension.id]}."
    )


def _claim(verdict: ClaimVerdict) -> str:
    source = f" Values: {plain(verdict.source)}." if verdict.source else ""
    return f"{plain(verdict.verdict)}. {verdict.reason}{source}"


def _steps(scores: Scores) -> Iterator[str]:
    """What would turn an open result into a decided one."""
    needed = [v.seeds_to_decide for v in scores.verdicts if v.seeds_to_decide]
    if needed:
        yield f"{max(needed)} seeds in all should decide {len(needed)} open claims."
    if any(verdict.verdict is Verdict.NOT_RUN for verdict in scores.verdicts):
        yield "mend what stopped the runs of claims without a value."
    for dimension in scores.dimensions:
        if dimension.id == "metric_parity":
            continue
        for check in dimension.checks:
            if check.outcome in {Outcome.NOT_CHECKABLE, Outcome.INCONCLUSIVE}:
                yield f"{dimension.id} needs an answer to: {check.sentence}"
    if scores.integrity != "clean":
        kinds = dict.fromkeys(f.kind for f in scores.findings if f.severity != "info")
        yield f"integrity has to clear: {', '.join(kinds)}."


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)
