"""What a bench's ledger holds: the plan, and a row for each trial that ended; and what is left to spend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import repro_pipeline
from repro_pipeline.bench.plan import Ceiling, Plan, TrialKey
from repro_pipeline.bench.trial import TrialRow
from repro_pipeline.errors import UserError
from repro_pipeline.frozen import canonical_json
from repro_pipeline.ledger.events import PROJECT_CHAIN, BenchPlanned, BenchTrialEnded
from repro_pipeline.project import Project

ACTOR = f"code:repro-pipeline/{repro_pipeline.__version__}"


class CeilingReached(UserError):
    """No further trial may be started."""

    code = "ceiling_reached"


class AtWork(UserError):
    """Another process runs the trial."""

    code = "at_work"


def keep_plan(project: Project, plan: Plan) -> Plan:
    """Record a plan, grown out of the one that stands. Raises UserError where conditions differ."""
    with project.locked("_plan"):  # two that add something each keep both
        standing = plan_of(project)
        grown = standing.grown(plan) if standing else plan
        stored = project.store.put(canonical_json(grown.model_dump(mode="json", by_alias=True)))
        project.ledger.append(PROJECT_CHAIN, BenchPlanned(plan=stored), actor=ACTOR)
    return grown


def plan_of(project: Project) -> Plan | None:
    """The plan that stands; None where nothing was planned."""
    events = list(project.ledger.events(PROJECT_CHAIN, kinds={"bench_planned"}))
    if not events:
        return None
    return Plan.model_validate_json(project.store.get(events[-1].content.plan))


def planned(project: Project) -> Plan:
    """The plan that stands. Raises UserError where nothing was planned."""
    plan = plan_of(project)
    if plan is None:
        raise UserError("holds no plan of a comparison.", where=str(project.root))
    return plan


def rows_of(project: Project) -> tuple[TrialRow, ...]:
    """The rows of all trials that ended, in the order in which they did."""
    events = project.ledger.events(PROJECT_CHAIN, kinds={"bench_trial_ended"})
    return tuple(
        TrialRow.model_validate_json(project.store.get(event.content.row)) for event in events
    )


def keep_row(project: Project, row: TrialRow) -> None:
    """Record a trial's row."""
    costs = [one for one in (row.cost, row.judging) if one]
    project.ledger.append(
        PROJECT_CHAIN,
        BenchTrialEnded(
            trial=row.key.name,
            row=project.store.put(canonical_json(row.model_dump(mode="json"))),
            status=row.status,
            reason=row.reason,
            tokens=sum(one.tokens_in + one.tokens_out for one in costs),
            usd=None if any(one.usd is None for one in costs) else sum(one.usd for one in costs),
        ),
        actor=ACTOR,
    )


def ended(project: Project) -> set[str]:
    """The names of the trials that ended."""
    events = project.ledger.events(PROJECT_CHAIN, kinds={"bench_trial_ended"})
    return {event.content.trial for event in events}


@contextmanager
def started(project: Project, plan: Plan, key: TrialKey) -> Iterator[None]:
    """Hold a trial, so that no other process runs it meanwhile.

    Raises AtWork where one does, and CeilingReached where the trial may not be started.
    """
    with ExitStack() as held:
        with project.locked(_START):  # who starts a trial sees all that others have started
            if _held(project, key):
                raise AtWork(
                    f"another process is at work on {key.name}.", hint="Run this again later."
                )
            held.enter_context(project.locked(_lock(key)))
            check_ceiling(project, plan, key)
        yield


def under_way(project: Project, key: TrialKey) -> bool:
    """Whether some process is at work on a trial now."""
    with project.locked(_START):
        return _held(project, key)


def wait_for(project: Project, key: TrialKey) -> None:
    """Return when no process is at work on a trial."""
    with project.locked(_lock(key)):
        return


_START = "_start-trial"


def _lock(key: TrialKey) -> str:
    return f"trial.{key.name}"


def _held(project: Project, key: TrialKey) -> bool:
    try:
        with project.locked(_lock(key), wait=False):
            return False
    except UserError:
        return True


def check_ceiling(project: Project, plan: Plan, key: TrialKey) -> None:
    """Raises CeilingReached where a trial that uses up its budget would break the ceiling.

    A trial is started whole or not at all, so that none has a smaller budget than another. A program
    that says nothing of its cost counts with its whole budget, and so does a trial under way. A judge
    may use as much again.
    """
    if plan.contestant(key.contestant).agent == "trivial" or plan.ceiling == Ceiling():
        return
    others = _others_under_way(project, key)
    for limit, spent in _spent(project, plan).items():
        most, one = getattr(plan.ceiling, limit), getattr(plan.budget, limit)
        if most is None:
            continue
        if one is None:
            raise CeilingReached(
                f"a ceiling in {limit} needs a budget in {limit} for each trial.",
                where="--budget",
                hint=f"Say how much one trial may use, as --budget {limit}=….",
            )
        one *= 2 if plan.judge else 1
        taken = spent + others * one
        if taken + one > most:
            raise CeilingReached(
                f"{key.name} is not started: {taken:g} of {most:g} {limit} are used, and it may use "
                f"{one:g}.",
                hint="Raise the ceiling, and run the same command again: what ended stays.",
            )


def _others_under_way(project: Project, key: TrialKey) -> int:
    """How many other trials that ask for something some process is at work on."""
    plan, done = plan_of(project), ended(project)
    others: Iterable[TrialKey] = plan.trials() if plan else ()
    return sum(
        one != key
        and one.name not in done
        and plan.contestant(one.contestant).agent != "trivial"
        and _held(project, one)
        for one in others
    )


def _spent(project: Project, plan: Plan) -> dict[str, float]:
    spent = {"usd": 0.0, "tokens": 0.0}
    for row in rows_of(project):
        silent = row.cost.told_by == "nobody"
        asked = plan.contestant(row.contestant).agent != "trivial"
        spent["tokens"] += (
            (plan.budget.tokens or 0)
            if silent and asked
            else row.cost.tokens_in + row.cost.tokens_out
        )
        unknown = row.cost.usd is None and asked
        spent["usd"] += (plan.budget.usd or 0.0) if unknown else row.cost.usd or 0.0
        if judging := row.judging:
            spent["tokens"] += judging.tokens_in + judging.tokens_out
            spent["usd"] += (plan.budget.usd or 0.0) if judging.usd is None else judging.usd
    return spent
