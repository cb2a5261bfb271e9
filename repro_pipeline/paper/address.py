"""Addresses: how a claim points at a number of the paper, in words that a reader of it would use."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, model_validator

from repro_pipeline.frozen import Frozen

Headers = Annotated[tuple[str, ...], Field(min_length=1)]
"""A header path, outermost first; one text is enough where it names one row or column."""


class TableLabel(Frozen):
    """A table named by its LaTeX label."""

    label: str


class TableIndex(Frozen):
    """A table named by its order in the paper, from 1."""

    index: Annotated[int, Field(ge=1)]


def _table_arm(value: Any) -> str:
    if isinstance(value, TableLabel) or (isinstance(value, dict) and "index" not in value):
        return "TableLabel"
    return "TableIndex" if isinstance(value, TableIndex | dict) else "TableNumber"


TableAddress = Annotated[
    Annotated[str, Tag("TableNumber")]
    | Annotated[TableLabel, Tag("TableLabel")]
    | Annotated[TableIndex, Tag("TableIndex")],
    Discriminator(_table_arm),
]
"""A table by its printed number ('Table 2'), its LaTeX label, or its order."""


class CellAddress(Frozen):
    """A cell: its table, the texts of its row's and its column's headers, and the part of it."""

    table: TableAddress
    row: Headers
    column: Headers
    part: Annotated[int, Field(ge=0)] = 0

    def __str__(self) -> str:
        return f"{_name(self.table)}, row {_words(self.row)}, column {_words(self.column)}" + (
            f", part {self.part}" if self.part else ""
        )


class TextAddress(Frozen):
    """A number in running text: a quote that holds it. `occurrence` counts from 1."""

    quote: Annotated[str, Field(min_length=3)]
    occurrence: Annotated[int, Field(ge=1)] = 1
    part: Annotated[int, Field(ge=0)] = 0

    def __str__(self) -> str:
        return f"the text '{self.quote}'" + (
            f", occurrence {self.occurrence}" if self.occurrence > 1 else ""
        )


class StatedValue(Frozen):
    """A value that a person states, for what the source does not hold; or none, with a sign only."""

    value: float | None
    quantum: Annotated[float, Field(gt=0)] | None = None
    """One unit of the last printed digit; needed with a value."""
    uncertainty: Annotated[float, Field(ge=0)] | None = None
    source: str

    @model_validator(mode="after")
    def _quantum_with_value(self) -> StatedValue:
        if self.value is not None and self.quantum is None:
            raise ValueError(
                "needs `quantum`: one unit of the last printed digit (0.1 for a printed 3.9)"
            )
        return self

    def __str__(self) -> str:
        return f"stated by {self.source}"


def _address_arm(value: Any) -> str:
    keys = value.model_dump() if isinstance(value, Frozen) else value
    if not isinstance(keys, dict):
        return "CellAddress"
    if "quote" in keys:
        return "TextAddress"
    return "StatedValue" if "value" in keys else "CellAddress"


Address = Annotated[
    Annotated[CellAddress, Tag("CellAddress")]
    | Annotated[TextAddress, Tag("TextAddress")]
    | Annotated[StatedValue, Tag("StatedValue")],
    Discriminator(_address_arm),
]
"""Where a claim's value stands: a cell, a quote of the text, or a person's word."""


def _name(table: str | TableLabel | TableIndex) -> str:
    if isinstance(table, str):
        return table
    return (
        f"table {table.label}" if isinstance(table, TableLabel) else f"table number {table.index}"
    )


def _words(headers: tuple[str, ...]) -> str:
    return " > ".join(f"'{text}'" for text in headers)
