"""environment_parity: a lock with hashes, fixed seeds, and a repetition that gives the same result."""

from __future__ import annotations

from collections.abc import Mapping

from repro_pipeline.evidence.model import Evidence
from repro_pipeline.ledger.runs import Purpose, Run
from repro_pipeline.scoring.dimension import combine, summary
from repro_pipeline.scoring.model import Check, DimensionScore
from repro_pipeline.scoring.observations import Observation
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.status import Outcome, Status
from repro_pipeline.wording import counted, number

_NAMED = 3
"""So many examples are named in a sentence."""


def score(
    evidence: Evidence, rubric: Rubric, observed: Mapping[str, Observation]
) -> DimensionScore:
    """Score the dimension; its value is the main claim's greatest relative difference."""
    rule = rubric.dimensions.environment_parity
    repetition, difference = _repetition(evidence, rule.threshold)
    checks = (_lock(evidence), _seeds(evidence, observed), repetition)
    return DimensionScore(
        id="environment_parity",
        outcome=combine(checks),
        critical=rule.critical,
        value=difference,
        threshold=rule.threshold,
        sentence=summary(checks),
        checks=checks,
    )


def relative_difference(first: float, second: float) -> float:
    """|first - second| / max(|first|, |second|); 0 where both are equal."""
    if first == second:
        return 0.0
    return abs(first - second) / max(abs(first), abs(second))


def _lock(evidence: Evidence) -> Check:
    environment = evidence.environment
    if environment is None:
        why = f" ({evidence.failures[0].sentence.rstrip('.')})" if evidence.failures else ""
        return _check("locked", Outcome.NOT_CHECKABLE, f"No environment was built{why}.")
    lock = environment.lock
    if not lock.hashed:
        return _check(
            "locked",
            Outcome.FAIL,
            f"Not every one of the {lock.packages} locked packages has a hash.",
        )
    return _check(
        "locked", Outcome.PASS, f"{counted(lock.packages, 'package')} locked, each with a hash."
    )


def _seeds(evidence: Evidence, observed: Mapping[str, Observation]) -> Check:
    if evidence.code_tree is None:
        return _check("seeds", Outcome.NOT_CHECKABLE, "No code was frozen, so no seed was used.")
    if not evidence.seeds:
        if _all_repetitions_identical(evidence):
            return _check(
                "seeds",
                Outcome.PASS,
                "The code takes no seed and needs none: its repetition gave the same bits.",
            )
        return _check(
            "seeds",
            Outcome.NOT_CHECKABLE,
            "The code takes no seed, so its randomness cannot be fixed.",
        )
    absent = {
        (one.experiments[0], sentence)
        for one in observed.values()
        if one.experiments
        for sentence in one.missing
    }
    if absent:
        named = [f"{experiment}: {sentence}" for experiment, sentence in sorted(absent)]
        more = f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return _check(
            "seeds",
            Outcome.INCONCLUSIVE,
            f"Not every planned seed gave its values: {'; '.join(named[:_NAMED])}{more}.",
        )
    if not any(one.experiments for one in observed.values()):
        return _check("seeds", Outcome.NOT_CHECKABLE, "No experiment covers any claim.")
    return _check("seeds", Outcome.PASS, f"All {len(evidence.seeds)} planned seeds ran.")


def _repetition(evidence: Evidence, threshold: float) -> tuple[Check, float | None]:
    """The check that a repetition gives the same result, and the main claim's difference."""
    main = evidence.claims.main
    pairs = _pairs(evidence)
    differences = {
        claim: max(
            relative_difference(run.values[claim], again.values[claim])
            for run, again in pairs
            if claim in run.values and claim in again.values
        )
        for claim in dict.fromkeys(
            claim for run, again in pairs for claim in run.values if claim in again.values
        )
    }
    if main not in differences:
        return (
            _check("repetition", Outcome.NOT_CHECKABLE, _why_none(evidence, differences)),
            None,
        )
    worst = differences[main]
    passed = worst < threshold
    sentence = (
        f"Two runs of one configuration and seed differ by {number(worst)} (relative) on {main}, "
        f"{'below' if passed else 'not below'} {number(threshold)}; {_others(differences, main)}"
    )
    return _check("repetition", Outcome.PASS if passed else Outcome.FAIL, sentence), worst


def _pairs(evidence: Evidence) -> list[tuple[Run, Run]]:
    """Every repetition that gave values, with the evaluation run that it repeats."""
    evaluated = {
        (run.experiment, run.seed): run for run in evidence.runs if run.purpose is Purpose.EVAL
    }
    return [
        (evaluated[again.experiment, again.seed], again)
        for again in evidence.integrity.parity
        if again.values and (again.experiment, again.seed) in evaluated
    ]


def _all_repetitions_identical(evidence: Evidence) -> bool:
    pairs = _pairs(evidence)
    return bool(pairs) and all(run.values == again.values for run, again in pairs)


def _others(differences: Mapping[str, float], main: str) -> str:
    moved = {claim: gap for claim, gap in differences.items() if gap}
    if not moved:
        return f"equal to the last bit in {counted(len(differences), 'value')} compared."
    others = [f"{claim} {number(gap)}" for claim, gap in sorted(moved.items()) if claim != main]
    same = len(differences) - len(moved)
    equal = f"{same} of {counted(len(differences), 'value')} are equal to the last bit"
    return f"{equal}; others differ: {', '.join(others)}." if others else f"{equal}."


def _why_none(evidence: Evidence, differences: Mapping[str, float]) -> str:
    main = evidence.claims.main
    if not evidence.integrity.parity:
        return "No run was repeated with the same seed."
    failed = [run for run in evidence.integrity.parity if run.counted.status is not Status.OK]
    why = f"; {counted(len(failed), 'repetition')} failed" if failed else ""
    other = f" Compared were: {', '.join(sorted(differences))}." if differences else ""
    return f"No repetition has a value to compare for the main claim {main}{why}.{other}"


def _check(name: str, outcome: Outcome, sentence: str) -> Check:
    return Check(id=name, outcome=outcome, sentence=sentence)
