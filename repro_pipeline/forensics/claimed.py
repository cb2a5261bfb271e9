"""What a submission says of its own runs, held against re-runs with its seeds and fresh ones."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from repro_pipeline.bundle.terms import Direction
from repro_pipeline.claims.model import Claim
from repro_pipeline.findings import Finding
from repro_pipeline.forensics.submitted import ClaimedRun, ListedAttempt, Submission
from repro_pipeline.frozen import digest
from repro_pipeline.statistics import prediction_interval
from repro_pipeline.wording import counted, number

Place = tuple[str, int]
"""Experiment and seed."""
Values = Mapping[str, float]

_TOLERANCE = 1e-3
_ROUNDING = 0.02
_MOST_CHOICES = 20_000


def findings(
    said: Submission,
    claims: Sequence[Claim],
    again: Mapping[Place, Values | None],
    fresh: Mapping[str, Sequence[Values]],
    *,
    repeatable: bool | None,
    experiments: Sequence[str],
) -> Iterator[Finding]:
    """What speaks against the submitter's claims.

    `again` are the re-runs of claimed runs, None where one failed; `fresh` the values of the grader's
    own runs per experiment, those of seeds that the submission passed over included; `repeatable`
    says whether two runs of one seed gave the same bits.
    """
    yield from _differing(said.runs, claims, again, fresh, repeatable)
    if repeatable:
        yield from _copies(said.runs, again)
    yield from _picked(said.runs, claims, again, fresh)
    yield from _unusable(said.runs, again, experiments)
    yield from _no_runs(said)
    yield from attempts(said)


def same(claimed: float, found: float) -> bool:
    """Whether a claimed value is the one that was found, up to 0.1 % and the claimed value's rounding."""
    digits = repr(claimed).partition(".")[2]
    rounding = 0.5 * 10.0 ** -len(digits) if digits.isdigit() and len(digits) <= 6 else 0.0
    allowed = max(
        _TOLERANCE * max(abs(claimed), abs(found)),
        min(rounding * (1 + 1e-9), _ROUNDING * abs(found)),
    )
    return abs(claimed - found) <= allowed


def _differing(
    runs: Sequence[ClaimedRun],
    claims: Sequence[Claim],
    again: Mapping[Place, Values | None],
    fresh: Mapping[str, Sequence[Values]],
    repeatable: bool | None,
) -> Iterator[Finding]:
    """Claimed values that the submitted code does not give with the claimed seed."""
    known = {claim.id for claim in claims}
    agreeing, differing = [], []
    for run in runs:
        found = again.get((run.experiment, run.seed))
        for claim, value in run.values.items():
            if found and claim in found and claim in known:
                (agreeing if same(value, found[claim]) else differing).append(
                    (run, claim, value, found[claim])
                )
    if not differing:
        return
    foreign = [
        one
        for one in differing
        if _foreign(one[1], one[2], one[3], fresh.get(one[0].experiment, ()))
    ]
    shown = "; ".join(
        f"{run.name}: {claim} claimed {number(value)}, found {number(found)}"
        for run, claim, value, found in (foreign or differing)[:3]
    )
    edited = _one_edit([(value, found) for _, _, value, found in differing])
    far = [one for one in foreign if abs(one[2] - one[3]) > 0.05 * max(abs(one[3]), 1e-12)]
    if repeatable is False:
        # Code that repeats nothing can only be held against its own spread.
        severity = "suspect" if foreign else "unverified"
    elif foreign:
        severity = "violation" if far or agreeing else "suspect"
    else:
        severity = "suspect" if agreeing or edited else "unverified"
    total = len(agreeing) + len(differing)
    yield Finding(
        kind="claimed_not_reproduced",
        evidence=f"{len(differing)} of {counted(total, 'claimed value')} differ from a re-run "
        "with the same "
        f"seed{', beyond what other seeds give' if foreign else ''}"
        f"{', all by the same amount' if edited else ''}: {shown}.",
        severity=severity,
        claims=tuple(dict.fromkeys(one[1] for one in differing)),
    )


def _one_edit(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether all claimed values differ from the found ones by one summand or one factor."""
    if len(pairs) < 3 or len({found for _, found in pairs}) < 2:
        return False
    offsets = [value - found for value, found in pairs]
    ratios = [value / found for value, found in pairs if found]
    return any(
        max(numbers) - min(numbers) <= 1e-3 * max(abs(n - neutral) for n in numbers)
        for numbers, neutral in ((offsets, 0.0), (ratios, 1.0))
        if numbers
    )


def _foreign(claim: str, value: float, found: float, fresh: Sequence[Values]) -> bool:
    """Whether a claimed value lies outside what the code gives (99.9 % prediction interval)."""
    sample = [values[claim] for values in fresh if claim in values] + [found]
    if len(sample) < 3:
        return abs(value - found) > 0.05 * abs(found)
    low, high = prediction_interval(sample, 0.999)
    slack = _TOLERANCE * abs(found)
    return not low - slack <= value <= high + slack


def _copies(runs: Sequence[ClaimedRun], again: Mapping[Place, Values | None]) -> Iterator[Finding]:
    """One run's values under several seeds, where the code gives different ones."""
    by_values = defaultdict(list)
    for run in runs:
        if run.values:
            by_values[run.experiment, tuple(sorted(run.values.items()))].append(run)
    for (experiment, _), group in by_values.items():
        found = {run.name: again.get((experiment, run.seed)) for run in group}
        unlike = [
            run
            for run in group
            if (values := found[run.name])
            and any(not same(value, values[c]) for c, value in run.values.items() if c in values)
        ]
        if len(group) > 1 and unlike and len({digest(v) for v in found.values() if v}) > 1:
            yield Finding(
                kind="claimed_copies",
                evidence=f"{', '.join(run.name for run in group[:3])} claim the same values, "
                "and the code gives "
                "different ones for these seeds.",
                severity="violation",
                claims=tuple(group[0].values),
            )


def _picked(
    runs: Sequence[ClaimedRun],
    claims: Sequence[Claim],
    again: Mapping[Place, Values | None],
    fresh: Mapping[str, Sequence[Values]],
) -> Iterator[Finding]:
    """Claimed values that are all better, or all nearer to the paper, than what other seeds give.

    Under no choice every assignment of the values to claimed and other seeds is as likely: the
    chance is the share of assignments whose mean is at least as extreme (Fisher's permutation test),
    times the number of tests.
    """
    tests = []
    for claim in claims:
        for experiment, values in fresh.items():
            shown = [
                run.values[claim.id]
                for run in runs
                if run.experiment == experiment and claim.id in run.values
            ]
            others = [one[claim.id] for one in values if claim.id in one]
            if len(shown) < 2 or len(others) < 3:
                continue
            if claim.direction is not Direction.MATCH:
                sign = -1.0 if claim.direction is Direction.LOWER else 1.0
                tests.append(
                    (
                        claim.id,
                        "better",
                        _chance([sign * v for v in shown], [sign * v for v in others]),
                    )
                )
            if claim.value is not None:
                near = (
                    [-abs(v - claim.value) for v in shown],
                    [-abs(v - claim.value) for v in others],
                )
                tests.append((claim.id, "nearer to the paper", _chance(*near)))
    worst = sorted(
        (test for test in tests if test[2] * max(1, len(tests)) < _alarm(runs)),
        key=lambda t: t[2],
    )
    if worst:
        claim, how, chance = worst[0]
        yield Finding(
            kind="picked_seeds",
            evidence=f"The claimed values of {claim} are {how} than those of seeds that were "
            "not shown (chance "
            f"{chance:.2g}).",
            severity="suspect" if chance * len(tests) < 1e-3 else "unverified",
            claims=tuple(dict.fromkeys(test[0] for test in worst)),
        )


def _alarm(runs: Sequence[ClaimedRun]) -> float:
    """Below which chance seeds look picked: less readily where they are 0, 1, 2, … without a gap."""
    seeds = sorted({run.seed for run in runs})
    first = bool(seeds) and seeds[0] in (0, 1)
    return 1e-3 if first and seeds == list(range(seeds[0], seeds[0] + len(seeds))) else 0.02


def _chance(shown: Sequence[float], others: Sequence[float]) -> float:
    """The share of choices of as many values whose sum is at least that of the shown ones."""
    pool, k = [*shown, *others], len(shown)
    if len(set(pool)) == 1:
        return 1.0
    total = math.fsum(shown) - 1e-12 * abs(math.fsum(shown))
    if math.comb(len(pool), k) > _MOST_CHOICES:
        from scipy.stats import mannwhitneyu

        return float(mannwhitneyu(shown, others, alternative="greater").pvalue)
    choices = list(itertools.combinations(pool, k))
    return sum(math.fsum(choice) >= total for choice in choices) / len(choices)


def _unusable(
    runs: Sequence[ClaimedRun], again: Mapping[Place, Values | None], experiments: Sequence[str]
) -> Iterator[Finding]:
    bad = [run for run in runs if run.fault]
    if bad:
        yield Finding(
            kind="claimed_nothing",
            evidence=f"{counted(len(bad), 'claimed run')} without values: {bad[0].name}, "
            f"{bad[0].fault}.",
            severity="unverified",
        )
    failed = [place for place, values in again.items() if values is None]
    if failed:
        yield Finding(
            kind="claimed_run_fails",
            evidence=f"The code fails with {counted(len(failed), 'seed')} for which values "
            "are claimed: "
            f"{failed[0][0]} seed {failed[0][1]}.",
            severity="unverified",
        )
    strangers = sorted({run.experiment for run in runs} - set(experiments))
    if strangers:
        yield Finding(
            kind="claimed_unknown_experiment",
            evidence="Runs are claimed of experiments that are not in experiment.yaml: "
            f"{', '.join(strangers[:3])}.",
            severity="unverified",
        )


def _no_runs(said: Submission) -> Iterator[Finding]:
    if said.no_runs:
        yield Finding(
            kind="unlisted_run",
            evidence=f"{counted(len(said.no_runs), 'folder')} in runs/ that cannot be read as "
            "runs/<experiment>/<seed>, a seed being a whole number without leading zeros: "
            f"{', '.join(said.no_runs[:3])}.",
            severity="unverified",
        )


def attempts(said: Submission) -> Iterator[Finding]:
    """Is every attempt accounted for, and every run an attempt?"""
    if said.attempts is None:
        if said.runs:
            yield Finding(
                kind="attempts_not_listed",
                evidence="There is no attempts.jsonl: whether runs were left out (selective "
                "reporting) is not "
                "checkable.",
                severity="unverified",
            )
        return
    runs = {(run.experiment, run.seed): run for run in said.runs}
    reported = [a for a in said.attempts if a.reported]
    yield from _dropped(reported, runs)
    yield from _contradictions(reported, runs)
    listed = {(a.experiment, a.seed) for a in said.attempts if a.status == "ok"}
    unlisted = [run for place, run in runs.items() if place not in listed]
    if unlisted:
        yield Finding(
            kind="unlisted_run",
            evidence=f"{counted(len(unlisted), 'run')} without a successful attempt in "
            "attempts.jsonl: "
            f"{unlisted[0].name}.",
            severity="unverified",
        )
    silent = [a for a in said.attempts if a.status == "failed" and not a.reason]
    if silent:
        yield Finding(
            kind="unexplained_failure",
            evidence=f"{counted(len(silent), 'failed attempt')} without a reason: "
            f"{silent[0].experiment} seed "
            f"{silent[0].seed}.",
            severity="unverified",
        )
    if any(a.seconds is not None and a.seconds < 0 for a in said.attempts):
        yield Finding(
            kind="impossible_times",
            evidence="An attempt ended before it started.",
            severity="unverified",
        )


def _dropped(
    reported: Sequence[ListedAttempt], runs: Mapping[Place, ClaimedRun]
) -> Iterator[Finding]:
    dropped = {(a.experiment, a.seed) for a in reported if a.status == "ok"} - set(runs)
    if dropped:
        first = sorted(dropped, key=str)[0]
        yield Finding(
            kind="dropped_run",
            evidence=f"{counted(len(dropped), 'successful attempt')} whose run is not shown: "
            f"{first[0]} seed "
            f"{first[1]}. The rest is a choice.",
            severity="suspect",
        )


def _contradictions(
    reported: Sequence[ListedAttempt], runs: Mapping[Place, ClaimedRun]
) -> Iterator[Finding]:
    by_place = defaultdict(list)
    for attempt in reported:
        if attempt.status == "ok":
            by_place[attempt.experiment, attempt.seed].append(attempt)
    for place, several in by_place.items():
        run = runs.get(place)
        if run is None:
            continue
        told = [a for a in several if a.values]
        unlike = [
            a
            for a in told
            if any(not same(a.values[c], v) for c, v in run.values.items() if c in a.values)
        ]
        if told and len(unlike) == len(told):
            yield Finding(
                kind="attempt_contradicts_run",
                evidence=f"attempts.jsonl gives other values for {run.name} than its metrics.json.",
                severity="suspect",
                claims=tuple(run.values),
            )
        elif unlike:
            yield Finding(
                kind="best_of_attempts",
                evidence=f"{run.name} was attempted {len(several)} times with different "
                "values, of which one is "
                "shown.",
                severity="suspect",
                claims=tuple(run.values),
            )
        elif len(several) > 1:
            yield Finding(
                kind="several_attempts",
                evidence=f"{run.name} was attempted {len(several)} times with success.",
                severity="unverified",
            )
