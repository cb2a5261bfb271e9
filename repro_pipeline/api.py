"""A project in a notebook: `from repro_pipeline import open_project`, and tables as data frames.

Everything is read from the ledger and the store; nothing is run and nothing is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.errors import BundleError
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.events import PROJECT_CHAIN
from repro_pipeline.ledger.projections import State, advance, attempts, runs
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.project import Project
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of

if TYPE_CHECKING:
    import pandas as pd

    from repro_pipeline.ledger.runs import Attempt, Run

_CLAIMS = {
    "paper": "string",
    "claim": "string",
    "dataset": "string",
    "method": "string",
    "metric": "string",
    "unit": "string",
    "key": "boolean",
    "reported": "Float64",
    "value": "Float64",
    "sd": "Float64",
    "low90": "Float64",
    "high90": "Float64",
    "n": "Int64",
    "planned": "Int64",
    "relative_error": "Float64",
    "verdict": "string",
    "source": "string",
    "reason": "string",
}
_RUNS = {
    "paper": "string",
    "experiment": "string",
    "kind": "string",
    "purpose": "string",
    "seed": "Int64",
    "status": "string",
    "claim": "string",
    "value": "Float64",
    "attempts": "Int64",
    "seconds": "Float64",
    "run_key": "string",
}
_ATTEMPTS = {
    "paper": "string",
    "experiment": "string",
    "purpose": "string",
    "seed": "Int64",
    "number": "Int64",
    "status": "string",
    "failure": "string",
    "reason": "string",
    "exit_code": "Int64",
    "started_at": "datetime64[us, UTC]",
    "seconds": "Float64",
    "cpu_seconds": "Float64",
    "peak_memory_bytes": "Int64",
    "written_bytes": "Int64",
    "log": "string",
    "run_key": "string",
}
_ASSUMPTIONS = {
    "paper": "string",
    "assumption": "string",
    "topic": "string",
    "statement": "string",
    "value": "string",
    "alternatives": "object",
    "influence": "string",
    "source": "string",
    "reference": "string",
    "file": "string",
    "line": "Int64",
    "claims": "object",
    "sensitivity": "string",
    "proposed_by": "string",
}


def open_project(folder: str | Path = ".") -> Results:
    """The project in a folder, or the nearest above it.

    Raises UserError where there is none, or where its configuration is wrong.
    """
    from resources.opening import locate_project
    from resources.opening import open_project as opened

    return Results(opened(locate_project(Path(folder))))


@dataclass(frozen=True)
class Results:
    """What a project holds. Each method takes a paper's id, or gives the rows of all papers."""

    project: Project

    @property
    def papers(self) -> tuple[str, ...]:
        """The papers of which the ledger knows, by id."""
        chains = self.project.ledger.chains()
        return tuple(sorted(chain for chain in chains if chain != PROJECT_CHAIN))

    def claims(self, paper: str | None = None) -> pd.DataFrame:
        """One row per claim: what the paper reports, what was reproduced, and the verdict.

        Values are in the claim's unit; `low90` and `high90` are the interval that the verdict rests
        on. Before a paper is scored, what is not known is missing.
        """
        return self._frame(_CLAIMS, paper, lambda one, _: _claims(self.project, one))

    def runs(self, paper: str | None = None) -> pd.DataFrame:
        """One row per run and claim that it gave a value for; one per run that gave none."""
        return self._frame(_RUNS, paper, lambda _, state: _runs(state))

    def attempts(self, paper: str | None = None) -> pd.DataFrame:
        """One row per attempt, failed ones included; `log` is its digest in the store."""
        return self._frame(_ATTEMPTS, paper, lambda _, state: map(_attempt_row, attempts(state)))

    def assumptions(self, paper: str | None = None) -> pd.DataFrame:
        """One row per assumption as it stood before anything was implemented."""
        return self._frame(_ASSUMPTIONS, paper, lambda one, _: _assumptions(self.project, one))

    def _frame(
        self,
        columns: dict[str, str],
        paper: str | None,
        rows_of: Callable[[str, State], Iterable[dict[str, Any]]],
    ) -> pd.DataFrame:
        import pandas as pd

        found = []
        for one in self.papers if paper is None else (self._known(paper),):
            state = advance(State(), self.project.ledger.events(one))
            found += [{"paper": one, **row} for row in rows_of(one, state)]
        return pd.DataFrame(
            {
                name: pd.Series([row.get(name) for row in found], dtype=kind)
                for name, kind in columns.items()
            }
        )

    def _known(self, paper: str) -> str:
        if paper not in self.papers:
            raise BundleError(
                f"the ledger has no paper '{paper}'.",
                hint=f"It has: {', '.join(self.papers) or 'none'}.",
            )
        return paper


def _claims(project: Project, paper: str) -> Iterator[dict[str, Any]]:
    known = latest(project, paper, "reported_claims")
    if known is None or known.output is None:
        return
    scored = latest(project, paper, "scores")
    scores = output_of(project, scored, Scores) if scored and scored.output else None
    verdicts = {one.claim: one for one in scores.verdicts} if scores else {}
    for claim in output_of(project, known, ReportedClaims).claims:
        row = {
            name: getattr(claim, name) for name in ("dataset", "method", "metric", "unit", "key")
        }
        row |= {"claim": claim.id, "reported": claim.value}
        if found := verdicts.get(claim.id):
            low, high = found.interval90 or (None, None)
            same = ("value", "sd", "n", "planned", "relative_error", "verdict", "source", "reason")
            row |= {name: getattr(found, name) for name in same}
            row |= {"low90": low, "high90": high}
        yield row


def _runs(state: State) -> Iterator[dict[str, Any]]:
    """By experiment, purpose and seed, which is not the order in which they ended."""

    def order(run: Run) -> tuple:
        return run.experiment, run.purpose, run.seed is None, run.seed or 0, run.run_key

    for run in sorted(runs(state), key=order):
        row = {name: getattr(run, name) for name in ("experiment", "kind", "purpose", "seed")}
        row |= {"run_key": run.run_key, "attempts": len(run.attempts)}
        row |= {"status": run.counted.status, "seconds": run.counted.seconds}
        values = run.values.items() or [(None, None)]
        yield from ({**row, "claim": claim, "value": value} for claim, value in values)


def _attempt_row(attempt: Attempt) -> dict[str, Any]:
    row = {name: getattr(attempt, name) for name in _ATTEMPTS if hasattr(attempt, name)}
    reason = attempt.reason
    return row | {
        "failure": reason.code if reason else None,
        "reason": reason.sentence if reason else None,
    }


def _assumptions(project: Project, paper: str) -> Iterator[dict[str, Any]]:
    row = latest(project, paper, "assumption_ledger")
    if row and row.output:
        yield from map(_assumption_row, output_of(project, row, AssumptionLedger).assumptions)


def _assumption_row(one: Assumption) -> dict[str, Any]:
    source = one.source
    same = ("topic", "statement", "influence", "claims", "sensitivity", "proposed_by")
    return {
        **{name: getattr(one, name) for name in same},
        "assumption": one.id,
        "value": None if one.value is None else str(one.value),
        "alternatives": tuple(map(str, one.alternatives)),
        "source": source.kind,
        "reference": source.reference,
        "file": source.file,
        "line": source.line,
    }
