"""Experiments whose runs fail alike for what their code writes: their further runs are not started."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from repro_pipeline.ledger.runs import NOT_STARTED, Attempt, Purpose, Run
from repro_pipeline.status import Reason

if TYPE_CHECKING:
    from repro_pipeline.experiment.runs import PlannedRun

STRUCTURAL = frozenset(
    {
        "metrics_missing",
        "metrics_empty",
        "metrics_malformed",
        "metrics_unknown_claim",
        "metrics_repeated_claim",
    }
)
"""Reasons that lie in what the code writes: no file, no JSON, other claims than declared. A value that is
no finite number or is lacking, an exit status, a limit, a time may come of the seed alone, and is never
among them."""
# One run's fault may be its seed's. Where a second seed ends with the same sentence, and no run of the
# experiment otherwise, a third would most likely cost its whole time to say so again. Should it not,
# little is lost: a run under way that ends otherwise has the others started after all, and the next
# launch begins with the runs that were tried least.
_ENOUGH = 2


class Halts:
    """What a launch learns of how each experiment's runs end. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: dict[str, list[Attempt]] = defaultdict(list)
        self._aside: list[PlannedRun] = []

    def take(self, run: PlannedRun, end: Attempt) -> None:
        """Count the end of a run."""
        with self._lock:
            self._ends[_experiment(run)].append(end)

    def puts_aside(self, run: PlannedRun) -> bool:
        """Whether a run is not to be started now; if so, it is kept until the others have ended."""
        with self._lock:
            aside = self._why(run) is not None
            if aside:
                self._aside.append(run)
            return aside

    def released(self) -> list[PlannedRun]:
        """Take out the runs of experiments of which a run has ended otherwise since."""
        with self._lock:
            out = [run for run in self._aside if self._why(run) is None]
            self._aside = [run for run in self._aside if self._why(run) is not None]
            return out

    def not_run(self) -> Iterable[tuple[PlannedRun, Reason]]:
        """The runs that were put aside, each with the reason why it is not run."""
        with self._lock:
            return [(run, reason) for run in self._aside if (reason := self._why(run))]

    def _why(self, run: PlannedRun) -> Reason | None:
        # A probe is changed so that it fails, or claimed to do well alone: each is asked for itself.
        if run.identity.purpose is Purpose.PROBE:
            return None
        ends = self._ends[_experiment(run)]
        reasons = {end.reason for end in ends}
        alike = len(reasons) == 1 and is_structural(ends[0])
        if not alike or len({end.seed for end in ends}) < _ENOUGH:
            return None
        return Reason(
            code=NOT_STARTED,
            sentence=f"Not run: the first {len(ends)} runs of this experiment ended the same way: "
            f"{ends[0].reason.sentence.rstrip('.')}; mend the code and run again.",
        )


def is_structural(end: Attempt) -> bool:
    """Whether an attempt failed for what its code writes."""
    return end.reason is not None and end.reason.code in STRUCTURAL


def tries(run: Run | None) -> int:
    """How often a run was really started."""
    return sum(attempt.started for attempt in run.attempts) if run else 0


def _experiment(run: PlannedRun) -> str:
    """What the runs of an experiment have in common: all but the seed."""
    return run.identity.model_copy(update={"seed": None}).run_key + run.experiment.id
