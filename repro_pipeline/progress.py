"""How far a launch is with a stage's runs, and how long the rest may take, as the ledger tells it."""

from __future__ import annotations

from datetime import datetime

from repro_pipeline.ledger.events import (
    AttemptFinished,
    AttemptStarted,
    Event,
    RunsPlanned,
    StageFinished,
)
from repro_pipeline.ledger.runs import Attempt, Purpose
from repro_pipeline.report.words import duration
from repro_pipeline.status import Status

KINDS = frozenset({"runs_planned", "attempt_started", "attempt_finished", "stage_finished"})
"""The kinds of events that tell of it."""


class Tally:
    """Counts the runs of the stage at work; is given a paper's events in order, from the first.

    A plan that stands in the ledger is not written anew by a later launch, so a run that begins
    brings the plan that it belongs to back.
    """

    def __init__(self) -> None:
        self.plan: RunsPlanned | None = None
        """Whose runs are made; None between two stages."""
        self._plans: list[RunsPlanned] = []
        self._started: dict[tuple[str, int], AttemptStarted] = {}
        self._ok: set[str] = set()
        self._failed: set[str] = set()
        self._begun: datetime | None = None
        self._made, self._seconds = 0, 0.0

    def take(self, event: Event) -> None:
        """Count an event; one of another kind than `KINDS` says nothing."""
        match event.content if event.kind in KINDS else None:
            case RunsPlanned() as plan:
                self._plans.append(plan)
                self._open(plan)
            case AttemptStarted() as started:
                self._started[started.run_key, started.number] = started
                if self.plan is None or started.run_key not in self.plan.planned:
                    self._open(
                        next((p for p in self._plans[::-1] if started.run_key in p.planned), None)
                    )
                self._begun = self._begun or event.at
            case AttemptFinished(attempt=attempt):
                (self._ok if attempt.status is Status.OK else self._failed).add(attempt.run_key)
                self._made += 1
                self._seconds = (event.at - (self._begun or event.at)).total_seconds()
            case StageFinished():
                self._open(None)

    def begin(self) -> None:
        """A launch begins: what stands open was left by one that died."""
        self._open(None)

    def _open(self, plan: RunsPlanned | None) -> None:
        self.plan, self._begun, self._made = plan, None, 0
        self._failed.clear()  # these are tried again

    @property
    def of(self) -> int:
        """How many runs the stage needs."""
        return len(set(self.plan.planned)) if self.plan else 0

    @property
    def ended(self) -> int:
        """How many of them have ended, good ones of earlier launches included."""
        return len(set(self.plan.planned) & (self._ok | self._failed)) if self.plan else 0

    def __str__(self) -> str:
        left = self.of - self.ended
        rest = duration(self._seconds / self._made * left) if self._made else ""
        return f"{self.ended} of {self.of}" + (f", about {rest} left" if left and rest else "")

    def name(self, attempt: Attempt) -> str:
        """Which run it is; of a probe, what it has otherwise than the experiment's other runs."""
        seed = f", seed {attempt.seed}" if attempt.seed is not None else ""
        name = f"{attempt.experiment}{seed}"
        if attempt.purpose is Purpose.PARITY:
            return f"{name}, repeated"
        own = self._started.get((attempt.run_key, attempt.number))
        base = next(
            (
                one
                for one in reversed(self._started.values())
                if one.experiment == attempt.experiment and one.purpose is Purpose.EVAL
            ),
            None,
        )
        if attempt.purpose is not Purpose.PROBE or own is None or base is None:
            return name
        return f"{name}, probe: {_difference(own, base)}"


def _difference(probe: AttemptStarted, base: AttemptStarted) -> str:
    keys = [
        key
        for key in sorted({*probe.config, *base.config})
        if probe.config.get(key) != base.config.get(key)
    ]
    said = [f"other {', '.join(keys)}"] if keys else []
    said += [f"changed code {probe.code_tree[:6]}"] if probe.code_tree != base.code_tree else []
    said += (
        [f"changed data {probe.data_manifest[:6]}"]
        if probe.data_manifest != base.data_manifest
        else []
    )
    return " and ".join(said) or "the same again"
