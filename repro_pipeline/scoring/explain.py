"""Scores explained: what each rests on, by which formula and threshold, and what would change it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from repro_pipeline.frozen import Frozen
from repro_pipeline.scoring.model import (
    ClaimVerdict,
    DimensionScore,
    PairResult,
    Scores,
)
from repro_pipeline.scoring.multiple import NAMES
from repro_pipeline.status import Outcome, Sign, Verdict
from repro_pipeline.wording import counted, duration, number, percent, plain, span


class Explanation(Frozen):
    """One score, told to a person."""

    kind: Literal["overall", "dimension", "claim", "pair", "control", "measure", "integrity"]
    name: str
    outcome: str
    evidence: str
    formula: str
    threshold: str
    """What the outcome is held against; `none` where a number is only shown."""
    change: str
    """What would change the outcome."""

    @property
    def sentence(self) -> str:
        """All of it on one line."""
        return (
            f"{self.name}: {self.outcome}. {self.evidence} Formula: {self.formula.rstrip('.')}. "
            f"Threshold: {self.threshold}. To change it: {self.change.rstrip('.')}."
        )


_FORMULAS = {
    "environment_parity": "|a - b| / max(|a|, |b|) of two runs of one configuration and seed, "
    "on the main claim",
    "metric_parity": "90 % interval within the tolerance around the reported value, for every key claim; "
    "the value is the greatest |value - reported| / max(|reported|, eps)",
    "ablation_faithful": "ablations whose 95 % interval of variant - full has the paper's sign / "
    "all ablations that count",
    "no_leakage": "no file or row under two roles, labels sealed, no reported value shown",
}
_LOSES = {
    "environment_parity": "a repetition that differs by the threshold or more, a seed without a "
    "value, or a package without a hash",
    "metric_parity": "a key claim that is not reproduced",
    "ablation_faithful": "ablations with the opposite sign, or open, beyond the share that is left",
    "no_leakage": "a file or row under two roles, a label that is not sealed, or a reported value "
    "that the agent was shown",
}
_OPEN = {Outcome.NOT_CHECKABLE, Outcome.INCONCLUSIVE}


def explanations(scores: Scores) -> tuple[Explanation, ...]:
    """Every score of a paper, the whole first."""
    return tuple(
        [
            _overall(scores),
            *map(_dimension, scores.dimensions),
            *map(_claim, scores.verdicts),
            *map(_pair, scores.pairs),
            *_control(scores),
            *_measures(scores),
            _integrity(scores),
        ]
    )


def explain(scores: Scores) -> list[str]:
    """The explanations line by line, the checks of each dimension below it."""
    lines = [scores.headline]
    checks = {dimension.id: dimension.checks for dimension in scores.dimensions}
    for one in explanations(scores):
        lines.append(one.sentence)
        # The checks of metric_parity are the claims, which follow.
        if one.kind == "dimension" and one.name != "metric_parity":
            lines += [
                f"  {check.id}: {plain(check.outcome)}. {check.sentence}"
                for check in checks[one.name]
            ]
    lines += [
        f"integrity, {found.severity}: {found.kind}. {found.evidence}" for found in scores.findings
    ]
    return lines


def _overall(scores: Scores) -> Explanation:
    blocking = [
        plain(d.id)
        for d in scores.dimensions
        if d.critical and d.outcome not in {Outcome.PASS, Outcome.NOT_APPLICABLE}
    ]
    if scores.integrity not in {"clean", "unverified"}:
        blocking.append("integrity")
    share = "none" if scores.score is None else percent(scores.score)
    return Explanation(
        kind="overall",
        name="overall",
        outcome=plain(scores.overall),
        evidence=f"{scores.headline} Weighted share of passed dimensions: {share}.",
        formula="fail by a failed critical dimension or a violation; pass if every critical "
        "dimension passes or does not apply, one passes, and integrity is clean or unverified",
        threshold="every critical dimension",
        change=f"{', '.join(blocking)} would have to pass"
        if blocking
        else "a critical dimension that does not pass, or a grave finding",
    )


def _dimension(dimension: DimensionScore) -> Explanation:
    value = "none" if dimension.value is None else number(dimension.value)
    held = "" if dimension.threshold is None else f" Value {value}."
    return Explanation(
        kind="dimension",
        name=dimension.id,
        outcome=plain(dimension.outcome) + (", critical" if dimension.critical else ""),
        evidence=f"{dimension.sentence}{held}",
        formula=_FORMULAS[dimension.id],
        threshold="no exception" if dimension.threshold is None else number(dimension.threshold),
        change=_dimension_change(dimension),
    )


def _dimension_change(dimension: DimensionScore) -> str:
    if dimension.outcome is Outcome.PASS:
        return f"{_LOSES[dimension.id]} would fail it"
    if dimension.outcome is Outcome.NOT_APPLICABLE:
        return "it applies once there is something to check"
    failed = [check for check in dimension.checks if check.outcome is Outcome.FAIL]
    if dimension.id == "metric_parity":
        names = [c.id for c in failed or dimension.checks if c.outcome is not Outcome.PASS]
        return f"another verdict of {', '.join(names)}"
    if failed:
        return f"these would have to pass: {'; '.join(check.id for check in failed)}"
    asked = [plain(check.id) for check in dimension.checks if check.outcome in _OPEN]
    return f"it needs an answer to its open checks: {', '.join(asked)}"


def _claim(verdict: ClaimVerdict) -> Explanation:
    source = f" Values: {plain(verdict.source)}." if verdict.source else ""
    how = (
        "the value, which has no spread, inside the tolerance"
        if verdict.deterministic
        else "90 % interval of the statistic inside the tolerance: two one-sided tests of 5 %; "
        "wholly outside: not reproduced"
    )
    return Explanation(
        kind="claim",
        name=verdict.claim,
        outcome=plain(verdict.verdict),
        evidence=f"{verdict.reason}{_p_value(verdict)}{source}",
        formula=how,
        threshold=span(verdict.tolerance) if verdict.tolerance else "none",
        change=_claim_change(verdict),
    )


def _p_value(verdict: ClaimVerdict) -> str:
    """The p-value of the verdict's own test, as it is and adjusted for the number of claims."""
    own = {
        Verdict.REPRODUCED: (verdict.p_equivalence, verdict.adjusted_p_equivalence),
        Verdict.NOT_REPRODUCED: (verdict.p_difference, verdict.adjusted_p_difference),
    }
    p, adjusted = own.get(verdict.verdict, (None, None))
    if p is None:
        return ""
    aside = "" if adjusted is None else f", adjusted for all claims {adjusted:.2g}"
    return f" p = {p:.2g}{aside}."


def _claim_change(verdict: ClaimVerdict) -> str:
    match verdict.verdict:
        case Verdict.NOT_RUN:
            return "runs that give a value: mend what stopped them"
        case Verdict.INCONCLUSIVE if verdict.tolerance is None:
            return "a reported number to hold the value against"
        case Verdict.INCONCLUSIVE if verdict.seeds_to_decide:
            cost = verdict.seconds_to_decide
            price = "" if cost is None else f", {duration(cost)} more"
            return f"{verdict.seeds_to_decide} seeds in all should decide it{price}"
        case Verdict.INCONCLUSIVE if verdict.n == 1:
            return "a second seed, which would show the spread"
        case Verdict.INCONCLUSIVE:
            return "less spread between seeds: no practical number of them decides it at this value"
    low, high = verdict.tolerance
    margin = min(abs(verdict.value - low), abs(verdict.value - high))
    if verdict.verdict is Verdict.REPRODUCED:
        return f"a value {number(margin)} further off would lie at the tolerance's border"
    return f"a value at least {number(margin)} nearer to the reported one"


def _pair(pair: PairResult) -> Explanation:
    interval = "" if pair.interval95 is None else f" 95 % interval {span(pair.interval95)}."
    return Explanation(
        kind="pair",
        name=f"{pair.pair} ({pair.kind})",
        outcome=plain(pair.sign),
        evidence=f"{pair.reason}{interval}",
        formula="sign of the mean of variant - full over paired seeds, where its 95 % interval "
        "leaves out 0",
        threshold="0",
        change={
            Sign.AGREE: "differences of the other sign, or an interval that holds 0",
            Sign.OPPOSITE: "differences of the paper's sign",
            Sign.UNDECIDED: "more seeds, or less spread between them",
            Sign.NOT_RUN: "runs that give both values",
            Sign.EXCLUDED: "a paper that prints the difference beyond its rounding",
        }[pair.sign],
    )


def _control(scores: Scores) -> Iterator[Explanation]:
    found = scores.false_discovery
    if found is None:
        return
    fallen = [verdict.claim for verdict in scores.verdicts if verdict.stands is False]
    yield Explanation(
        kind="control",
        name="false_discovery",
        outcome=f"{found.reproduced} reproduced and {found.not_reproduced} not reproduced stand",
        evidence=found.sentence,
        formula="p of the k-th smallest of m times m / k, at most that of the next larger one "
        f"({NAMES.get(found.procedure, 'no procedure')})",
        threshold=percent(found.level),
        change=f"more seeds for {', '.join(fallen)}"
        if fallen
        else "fewer seeds or more open claims, under which some verdicts would not stand",
    )


def _measures(scores: Scores) -> Iterator[Explanation]:
    for one in scores.measures:
        yield Explanation(
            kind="measure",
            name=one.id,
            outcome="not scored" if one.value is None else number(one.value),
            evidence=one.evidence,
            formula=one.definition,
            threshold="none",
            change=one.change,
        )


def _integrity(scores: Scores) -> Explanation:
    grave = dict.fromkeys(f.kind for f in scores.findings if f.severity != "info")
    return Explanation(
        kind="integrity",
        name="integrity",
        outcome=str(scores.integrity),
        evidence=f"{counted(len(scores.findings), 'finding')}.",
        formula="the gravest finding's severity: violation, suspect, unverified, else clean",
        threshold="a violation fails the whole, a suspect value keeps it from passing",
        change=f"integrity has to clear: {', '.join(grave)}" if grave else "a grave finding",
    )
