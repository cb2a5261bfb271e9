"""Projected rows as data frames and Parquet files: the ledger's tables for pandas, DuckDB and the like."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from repro_pipeline.ledger import projections, rows
from repro_pipeline.ledger.events import (
    Event,
    Scored,
    ScoresChanged,
    StageFinished,
    WarningRecorded,
)
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.wholefile import whole

if TYPE_CHECKING:
    import pandas as pd

_TYPES = {bool: "boolean", int: "Int64", float: "Float64"}


def tables(
    source: projections.State | Iterable[Event], *, main: str | None = None
) -> Mapping[str, pd.DataFrame]:
    """Every table of a chain by name. `main` is the id of the paper's main claim."""
    state = source
    if not isinstance(state, projections.State):
        state = projections.advance(projections.State(), state)
    of: dict[str, tuple[type[BaseModel], Sequence[BaseModel]]] = {
        "experiments": (rows.ExperimentRow, projections.experiments(state, main)),
        "runs": (rows.RunRow, [rows.RunRow.of(run) for run in projections.runs(state)]),
        "attempts": (Attempt, projections.attempts(state)),
        "assumptions": (rows.AssumptionRow, projections.assumptions(state)),
        "stages": (StageFinished, projections.stages(state)),
        "scores": (Scored, projections.scores(state)),
        "score_changes": (ScoresChanged, projections.score_changes(state)),
        "reviews": (rows.ReviewRow, projections.reviews(state)),
        "review_decisions": (rows.DecisionRow, projections.decisions(state)),
        "model_calls": (rows.ModelCallRow, projections.model_calls(state)),
        "corrections": (rows.CorrectionRow, projections.corrections(state)),
        "warnings": (WarningRecorded, projections.warnings(state)),
        "events": (rows.EventRow, projections.timeline(state)),
    }
    return {name: frame(model, of_name) for name, (model, of_name) in of.items()}


def frame(model: type[BaseModel], of: Iterable[BaseModel]) -> pd.DataFrame:
    """Rows as a data frame with the model's fields as columns, also where there is no row.

    Numbers and booleans have nullable types; what is no number, text or truth value is JSON text.
    """
    import pandas as pd

    hints = typing.get_type_hints(model)
    types = {name: _column_type(hints[name]) for name in model.model_fields}
    plain = [row.model_dump(mode="json") for row in of]
    columns = {
        name: pd.array([_cell(row[name], kind) for row in plain], dtype=kind)
        for name, kind in types.items()
    }
    return pd.DataFrame(columns)


def write_tables(frames: Mapping[str, pd.DataFrame], folder: Path) -> tuple[Path, ...]:
    """Write each frame to `folder/<name>.parquet`, whole or not at all; return the paths."""
    paths = {name: folder / f"{name}.parquet" for name in frames}
    for name, table in frames.items():
        with whole(paths[name]) as fresh:
            table.to_parquet(fresh, index=False)
    return tuple(paths.values())


def _column_type(hint: Any) -> str:
    """The pandas type of a field, `string` for all that is no number or truth value."""
    parts = typing.get_args(hint) or (hint,)
    kinds = {part for part in parts if part is not type(None)}
    return _TYPES.get(kinds.pop(), "string") if len(kinds) == 1 else "string"


def _cell(value: Any, kind: str) -> Any:
    if value is None or kind != "string" or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
