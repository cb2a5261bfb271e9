"""From the rows of trials and their plan to a card's numbers, comparisons and sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from repro_pipeline.bench.card import (
    Card,
    Comparison,
    Conditions,
    ContestantLine,
    Dated,
    Imported,
    Number,
    Passes,
    TaskLine,
    TrialLine,
)
from repro_pipeline.bench.compare import (
    bootstrap_interval,
    holm,
    mean_or_none,
    paired,
    pass_all,
    pass_at,
    sign_flip,
)
from repro_pipeline.bench.measures import DEFINITIONS, LOWER_IS_BETTER
from repro_pipeline.bench.model import Reported
from repro_pipeline.bench.plan import Contestant, Plan
from repro_pipeline.bench.suite import Suite
from repro_pipeline.bench.trial import TrialRow
from repro_pipeline.errors import UserError
from repro_pipeline.statistics import mean

LEVEL = 0.05
COMPARED = ("verdict_accuracy", "fidelity", "performance_gap", "details_right", "ablation_sign")
"""The measures that contestants are compared by: one family for the correction."""
BASELINES = ("trivial", "at-once")

COST_DEFINITIONS = {
    "tokens": "tokens in and out of all questions of a trial, by the provider's count (estimated where "
    "it gives none); of a command, what it says of itself, marked †.",
    "usd": "the price of these tokens; not given where a price is not known; † as for tokens.",
    "minutes": "time of the agent from its start to its end, its waiting for models included and the "
    "grading left out.",
}

STATISTICS = {
    "mean": "mean over tasks of the mean over a task's repeats, so that every task weighs the same. "
    "Trials that failed count; (k/n) marks a measure that could be formed for k of the n trials only.",
    "interval": "95 % percentile bootstrap over tasks (10,000 draws); not given for fewer than three "
    "tasks. With few tasks it is narrower than it should be, and it speaks of tasks like these only.",
    "comparison": "mean over tasks of the paired difference (each contestant's mean over repeats), with "
    "the same interval; p by the two-sided sign-flip test over tasks, exact up to 14 tasks.",
    "correction": "Holm's step-down over all pairs of contestants and all compared measures; level 5 %.",
    "pass@k": "mean over tasks of 1 - C(n - c, k) / C(n, k), with c of n repeats a success (Chen et al. "
    "2021).",
    "pass^k": "mean over tasks of C(c, k) / C(n, k): the probability that all of k runs succeed.",
}


def card_of(plan: Plan, rows: Sequence[TrialRow], suite: Suite, conditions_of=None) -> Card:
    """The card of a comparison. Raises UserError where no trial ended, or no baseline is among them."""
    if not rows:
        raise UserError("no trial has ended: there is nothing to report.")
    ran = {row.contestant for row in rows}
    baselines = tuple(c.name for c in plan.contestants if c.agent in BASELINES and c.name in ran)
    if not baselines:
        raise UserError(
            "there is no baseline among the results, and without one their numbers say little.",
            hint="Run the same command with --agent trivial (it asks no model and costs nothing).",
        )
    conditions = _conditions(plan, rows, suite, conditions_of)
    return Card(
        report=f"{suite.file.title} ({suite.file.name})",
        version=suite.file.version,
        conditions=conditions,
        baselines=baselines,
        definitions={**DEFINITIONS, **COST_DEFINITIONS},
        statistics=STATISTICS,
        planned=sum(1 for _ in plan.trials()),
        ended=len(rows),
        numbers=tuple(_numbers(plan, rows)),
        passes=tuple(_passes(plan, rows)),
        comparisons=_comparisons(plan, rows, conditions),
        dated=tuple(_dated(plan, rows, suite)),
        trials=tuple(_line(row) for row in rows),
        imported=tuple(Imported(**one.model_dump()) for one in suite.file.published),
    )


def _conditions(plan: Plan, rows: Sequence[TrialRow], suite: Suite, conditions_of) -> Conditions:
    from repro_pipeline.bench.roster import make_agent

    of = conditions_of or (lambda one: make_agent(one, suite, allow=plan.allow).conditions())
    return Conditions(
        suite=plan.suite,
        suite_version=plan.suite_version,
        suite_content=plan.suite_content,
        tasks=tuple(_task_line(suite, name) for name in plan.tasks),
        contestants=tuple(
            ContestantLine(
                name=one.name,
                agent=one.agent,
                models=_models(one),
                cutoff=one.cutoff or "not stated",
                conditions=of(one),
            )
            for one in plan.contestants
        ),
        repeats=plan.repeats,
        budget=plan.budget.model_dump(exclude_none=True),
        limits=plan.limits.model_dump(mode="json"),
        retries="an answer that cannot be read is asked for once more; a provider that is down or "
        "limits the rate is asked up to four times; the same for all",
        environment=f"one lock for all, made of: {', '.join(plan.packages) or 'Python alone'}; "
        f"runs in {plan.runner}",
        grader_seeds=plan.seeds,
        judge="none: align scores are not scored"
        if plan.judge is None
        else f"{plan.judge.model}, the same for all; it sees the blinded paper, the code and the verified "
        "implementation, and its cost is no contestant's",
        scoring_code=plan.scoring_code,
        program=plan.program,
        replayed=sum(row.replayed for row in rows),
    )


def _models(contestant) -> dict[str, str]:
    roles = contestant.models
    if roles is None:
        return {}
    return {
        role: one.model
        for role in ("reader", "planner", "coder", "judge")
        if (one := roles.of(role))
    }


def _task_line(suite: Suite, name: str) -> TaskLine:
    truth = suite.task(name).truth
    sources = {one.reported for one in truth.claims}
    return TaskLine(
        id=name,
        split=truth.split,
        kind=truth.kind,
        difficulty=truth.difficulty,
        published=truth.published.isoformat(),
        reported_from=" and ".join(one for one in Reported if one in sources),
    )


def _numbers(plan: Plan, rows: Sequence[TrialRow]) -> Iterator[Number]:
    forms: dict[str, Callable[[TrialRow], float | None]] = {
        name: (lambda row, name=name: row.measures.values[name]) for name in DEFINITIONS
    }
    forms["usd"] = lambda row: row.cost.usd
    forms["minutes"] = lambda row: row.cost.seconds / 60
    for contestant in plan.contestants:
        forms["tokens"] = partial(_tokens, contestant=contestant)
        for split in ("all", "development", "held_out"):
            own = [
                row
                for row in rows
                if row.contestant == contestant.name and split in ("all", row.split)
            ]
            for measure, form in forms.items():
                by_task = _by_task(own, form)
                if by_task:
                    values = list(by_task.values())
                    yield Number(
                        contestant=contestant.name,
                        measure=measure,
                        split=split,
                        value=mean(values),
                        interval=bootstrap_interval(values),
                        tasks=len(values),
                        trials=sum(form(row) is not None for row in own),
                        of_trials=len(own),
                        own_word=measure in ("tokens", "usd")
                        and any(row.cost.told_by == "agent" for row in own),
                    )


def _tokens(row: TrialRow, contestant: Contestant) -> float | None:
    """None for a program that says nothing of them, which is no 0."""
    program = contestant.models is None and contestant.agent != "trivial"
    if program and row.cost.told_by == "nobody":
        return None
    return float(row.cost.tokens_in + row.cost.tokens_out)


def _by_task(
    rows: Iterable[TrialRow], form: Callable[[TrialRow], float | None]
) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for row in rows:
        if (value := form(row)) is not None:
            found.setdefault(row.task, []).append(value)
    return {task: mean(values) for task, values in found.items()}


def _passes(plan: Plan, rows: Sequence[TrialRow]) -> Iterator[Passes]:
    for contestant in plan.contestants:
        by_task: dict[str, list[float]] = {}
        for row in rows:
            if row.contestant == contestant.name:
                by_task.setdefault(row.task, []).append(row.measures.values["success"] or 0.0)
        for k in range(1, plan.repeats + 1):
            counted = [(len(v), int(sum(v))) for v in by_task.values() if len(v) >= k]
            if counted:
                yield Passes(
                    contestant=contestant.name,
                    k=k,
                    at=mean_or_none([pass_at(k, n, c) for n, c in counted]),
                    all=mean_or_none([pass_all(k, n, c) for n, c in counted]),
                    tasks=len(counted),
                )


def _comparisons(
    plan: Plan, rows: Sequence[TrialRow], conditions: Conditions
) -> tuple[Comparison, ...]:
    made: list[Comparison] = []
    for one, other in itertools.combinations([c.name for c in plan.contestants], 2):
        for measure in COMPARED:
            sides = [
                _by_task(
                    [row for row in rows if row.contestant == name],
                    lambda row, measure=measure: row.measures.values[measure],
                )
                for name in (one, other)
            ]
            differences = list(paired(*sides).values())
            if differences:
                made.append(
                    Comparison(
                        one=one,
                        other=other,
                        measure=measure,
                        difference=mean(differences),
                        interval=bootstrap_interval(differences),
                        p=sign_flip(differences),
                        adjusted_p=None,
                        tasks=len(differences),
                        tests=0,
                        condition=condition(one, other, len(differences), conditions),
                        result="",
                    )
                )
    tested = [one for one in made if one.p is not None]
    adjusted = dict(zip(map(id, tested), holm([one.p for one in tested]), strict=True))
    return tuple(
        filled.model_copy(update={"result": result(filled)})
        for one in made
        for filled in [
            one.model_copy(update={"adjusted_p": adjusted.get(id(one)), "tests": len(tested)})
        ]
    )


def condition(one: str, other: str, tasks: int, conditions: Conditions) -> str:
    """What a comparison of two contestants holds for, and for nothing else."""
    limits = ", ".join(
        f"{name} {value:,.10g}{' s' if name == 'wall_clock' else ''}"
        for name, value in conditions.budget.items()
    )
    models = {
        line.name: " and ".join(dict.fromkeys(line.models.values())) or "no model of ours"
        for line in conditions.contestants
    }
    these = f"these {tasks}" if tasks > 1 else "this one"
    budget = f"at most {limits.replace('_', ' ')}" if limits else "no limit"
    repeats = "1 repeat" if conditions.repeats == 1 else f"up to {conditions.repeats} repeats"
    return (
        f"If tasks are like {these} of {conditions.suite} {conditions.suite_version}, with "
        f"{models[one]} in {one} and {models[other]} in {other}, {budget} in a trial, and {repeats}"
    )


def result(one: Comparison) -> str:
    """What a comparison shows, to be said with its condition only."""
    measure = one.measure.replace("_", " ")
    if one.p is None:
        return f"{one.one} and {one.other} have the same {measure} on every task."
    if one.tests * 2 ** (1 - one.tasks) > LEVEL:
        return (
            f"nothing can be shown of {measure} ({one.difference:+.3g}): for {one.tests} tests at once, "
            f"so few tasks are not enough, whatever the difference."
        )
    if one.adjusted_p is None or one.adjusted_p > LEVEL:
        return (
            f"no difference in {measure} between {one.one} and {one.other} is shown "
            f"({one.difference:+.3g}, p = {one.adjusted_p:.2g} after Holm)."
        )
    better = (one.difference > 0) != (one.measure in LOWER_IS_BETTER)
    word = "better" if better else "worse"
    return (
        f"{one.one} is {word} than {one.other} in {measure} by {abs(one.difference):.3g} "
        f"(p = {one.adjusted_p:.2g} after Holm)."
    )


def _dated(plan: Plan, rows: Sequence[TrialRow], suite: Suite) -> Iterator[Dated]:
    published = {name: suite.task(name).truth.published.isoformat() for name in plan.tasks}
    for contestant in plan.contestants:
        if contestant.models is None:
            continue
        groups: dict[str, list[TrialRow]] = {}
        for row in rows:
            if row.contestant == contestant.name:
                groups.setdefault(_when(published[row.task], contestant.cutoff), []).append(row)
        for when, own in groups.items():
            by_task = _by_task(own, lambda row: row.measures.values["verdict_accuracy"])
            remembered = _by_task(own, lambda row: row.measures.values["remembered"])
            yield Dated(
                contestant=contestant.name,
                when=when,
                tasks=len(by_task),
                verdict_accuracy=mean_or_none(list(by_task.values())),
                remembered=mean_or_none(list(remembered.values())),
            )


def _when(published: str, cutoff: str | None) -> str:
    if cutoff is None:
        return "cut-off not stated"
    before = published[: len(cutoff)] <= cutoff
    return f"published {'before' if before else 'after'} the cut-off"


def _line(row: TrialRow) -> TrialLine:
    values = row.measures.values
    return TrialLine(
        task=row.task,
        contestant=row.contestant,
        repeat=row.repeat,
        status=row.status,
        reason=row.reason.sentence if row.reason else "",
        integrity=row.measures.integrity,
        success=bool(values["success"]),
        verdict_accuracy=values["verdict_accuracy"] or 0.0,
        flags=row.measures.flags,
        unscored=row.unscored,
    )
