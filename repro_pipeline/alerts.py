"""What is worth telling someone: read from a launch's events, not from its colour.

A reproduction that failed is a good launch: its stages end with a row that says so. So rows are looked
at beside the state of launches. An alert is known by what it is about, and is sent once per channel;
each try stands in the ledger, and one that failed is repeated a few times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from repro_pipeline.asking.budget import KINDS, spent
from repro_pipeline.bundle.task import Budget
from repro_pipeline.environment.model import DataManifest
from repro_pipeline.frozen import Frozen, digest
from repro_pipeline.ledger.events import PROJECT_CHAIN, AlertTried, Event
from repro_pipeline.project import Project
from repro_pipeline.report.privacy import is_private
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import AlertKind, Outcome, Status

_TOLD = {Status.FAILED, Status.PARTIAL, Status.TIMED_OUT, Status.BUDGET_EXHAUSTED}
"""A blocked stage follows from another, and a cancelled one was cancelled by someone."""
_FIRST_PAUSE = timedelta(seconds=30)


class Alert(Frozen):
    """Something that went wrong, once."""

    about: AlertKind
    paper: str | None
    stage: str | None = None
    reason: str
    launch: str | None = None

    @property
    def id(self) -> str:
        """Digest of what it is about."""
        return digest(self)

    @property
    def title(self) -> str:
        """One line: `tiny, stage baseline: failed`."""
        where = ", ".join(filter(None, [self.paper, self.stage and f"stage {self.stage}"]))
        return f"{where or 'project'}: {_SAYS[self.about]}"

    @property
    def hint(self) -> str:
        """What to do next."""
        return f"repro logs {self.paper}" if self.paper else "repro status"


_SAYS = {
    AlertKind.RUN_FAILED: "a launch broke off",
    AlertKind.STAGE_FAILED: "a stage ended badly",
    AlertKind.OVERALL_FAIL: "the scores fail",
    AlertKind.BUDGET: "the budget is nearly spent",
    AlertKind.SWEEP: "a sweep came to another conclusion",
}


def alerts_of_launch(project: Project, paper: str, launch: str) -> Iterator[Alert]:
    """What the stages of a launch left that someone should know.

    Where an input is private, a reason is told by its code alone: its sentence may quote a run.
    """
    rows = {
        event.payload["stage"]: event.content
        for event in project.ledger.events(paper, kinds={"stage_finished"})
        if event.payload["launch"] == launch
    }
    private, told = _private(project, paper), partial(Alert, paper=paper, launch=launch)
    for stage, row in rows.items():
        if row.status in _TOLD and row.reason:
            said = row.reason.code if private else row.reason.sentence
            reason = f"{row.status}: {said}"
            yield told(about=AlertKind.STAGE_FAILED, stage=stage, reason=reason)
    for event in project.ledger.events(PROJECT_CHAIN, kinds={"sweep_ended"}):
        row = event.content
        if (row.paper, row.launch) == (paper, launch) and row.changed:
            yield told(about=AlertKind.SWEEP, stage="sweep", reason=row.sentence)
        elif (row.paper, row.launch) == (paper, launch) and row.status in _TOLD and row.reason:
            reason = f"{row.status}: {row.reason.code if private else row.reason.sentence}"
            yield told(about=AlertKind.STAGE_FAILED, stage="sweep", reason=reason)
    scored = rows.get("scores")
    for event in project.ledger.events(paper, kinds={"scored"}) if scored else ():
        if event.payload["scores"] == scored.output and event.payload["overall"] == Outcome.FAIL:
            said = event.payload["headline"]
            yield told(about=AlertKind.OVERALL_FAIL, stage="scores", reason=said)


def broken_launch(paper: str | None, job: str, launch: str, sentence: str) -> Alert:
    """A launch that the orchestrator counts as failed."""
    said = sentence.strip().splitlines()[0][:300] if sentence.strip() else "no reason was given"
    return Alert(about=AlertKind.RUN_FAILED, paper=paper, reason=f"{job}: {said}", launch=launch)


def budget_alerts(project: Project, paper: str, task: Budget, share: float) -> Iterator[Alert]:
    """An alert for each limit of a paper's budget of which at least `share` is spent."""
    limits = project.config.budget.stricter(task)
    for name, amount in _spent(list(project.ledger.events(paper))).items():
        limit = getattr(limits, name)
        if limit and amount >= share * limit:
            reason = f"{share:.0%} of the budget's {name} ({limit:g}) is spent."
            yield Alert(about=AlertKind.BUDGET, paper=paper, reason=reason)


@dataclass(frozen=True)
class Due:
    """An alert to be sent through a channel now, for which time."""

    alert: Alert
    channel: str
    number: int


def due(
    project: Project, fresh: Iterable[Alert], channels: Collection[str], now: datetime
) -> tuple[Due, ...]:
    """What is to be sent: what was never tried, and what failed, is not given up, and rested enough."""
    tried: dict[tuple[str, str], Event] = {}
    for event in project.ledger.events(PROJECT_CHAIN, kinds={"alert_tried"}):
        tried[event.payload["alert"], event.payload["channel"]] = event
    wanted = set(project.config.alerts.on)
    new = {
        (alert.id, channel): Due(alert, channel, 1)
        for alert in fresh
        if alert.about in wanted
        for channel in channels
        if (alert.id, channel) not in tried
    }
    again = [
        Due(_alert(event.content), channel, event.payload["number"] + 1)
        for (_, channel), event in tried.items()
        if channel in channels and _again(event, project.config.alerts.tries, now)
    ]
    return (*new.values(), *again)


def tried(one: Due, error: str | None) -> AlertTried:
    """The event of a try; `error` says why it was not delivered."""
    return AlertTried(
        alert=one.alert.id,
        **one.alert.model_dump(),
        channel=one.channel,
        number=one.number,
        delivered=error is None,
        sentence=error or "",
    )


def _again(event: Event, most: int, now: datetime) -> bool:
    number = event.payload["number"]
    rested = now - event.at >= _FIRST_PAUSE * 2 ** (number - 1)
    return not event.payload["delivered"] and number < most and rested


def _alert(event: AlertTried) -> Alert:
    return Alert(**{name: getattr(event, name) for name in Alert.model_fields})


def _spent(events: Sequence[Event]) -> Mapping[str, float]:
    """What counts against a paper's budget, by the names of its limits, as the limits count it: models
    over all launches, and the stages of the last launch."""
    models = spent(e for e in events if e.kind in KINDS)
    rows = {e.payload["stage"]: e.payload for e in events if e.kind == "stage_finished"}
    last = next((e.payload["launch"] for e in reversed(events) if e.kind == "stage_finished"), None)
    seconds = sum(row["seconds"] for row in rows.values() if row["launch"] == last)
    return {"usd": models.usd, "tokens": models.tokens, "wall_clock": seconds}


def _private(project: Project, paper: str) -> bool:
    row = latest(project, paper, "data_manifest")
    return bool(row and row.output) and is_private(output_of(project, row, DataManifest))
