"""Claims that a model proposes: it names cells, and code reads them, or throws the claim away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from repro_pipeline.bundle.task import Task, TaskClaim, TaskPair
from repro_pipeline.bundle.terms import ClaimId, ClaimTerms
from repro_pipeline.claims.extract import extract_claims
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.errors import AddressError, BundleError
from repro_pipeline.frozen import Frozen
from repro_pipeline.paper.address import CellAddress, Headers, TableIndex
from repro_pipeline.paper.model import Paper, Table
from repro_pipeline.paper.resolve import resolve_cell

MOST, MOST_KEY = 24, 5
"""Claims that a model may propose, and key claims among them."""
LISTED = 60_000
"""Characters of tables that a model is shown."""


class ProposedClaim(ClaimTerms):
    """What a number means, and its cell. There is no place for a value."""

    table: Annotated[int, Field(ge=1)]
    """The table's index."""
    row: Headers
    column: Headers
    part: Annotated[int, Field(ge=0)] = 0
    """Which number of the cell, from 0."""

    @property
    def task(self) -> TaskClaim:
        """As `task.yaml` would say it."""
        terms = {name: getattr(self, name) for name in ClaimTerms.model_fields}
        address = CellAddress(
            table=TableIndex(index=self.table), row=self.row, column=self.column, part=self.part
        )
        return TaskClaim(**terms, reported=address)


class ProposedPair(Frozen):
    """Two proposed claims that the paper compares."""

    id: ClaimId
    full: ClaimId
    variant: ClaimId


class Proposal(Frozen):
    """A model's answer."""

    claims: Annotated[tuple[ProposedClaim, ...], Field(min_length=1)]
    ablations: tuple[ProposedPair, ...] = ()
    comparisons: tuple[ProposedPair, ...] = ()


@dataclass(frozen=True)
class Accepted:
    """What of a proposal stands in the paper."""

    claims: tuple[TaskClaim, ...]
    ablations: tuple[TaskPair, ...]
    comparisons: tuple[TaskPair, ...]
    rejected: tuple[str, ...]
    """Why each other claim and pair was thrown away, a sentence each."""

    @property
    def task(self) -> Task:
        """The claims as `task.yaml` would say them."""
        return Task(claims=self.claims, ablations=self.ablations, comparisons=self.comparisons)


def accept(paper: Paper, proposal: Proposal) -> Accepted:
    """Keep of a proposal what its addresses find in the paper.

    Claims beyond `MOST` are thrown away, as are ids and cells that stand twice; of key claims, those
    beyond `MOST_KEY` become ordinary ones. A pair needs two claims of one metric and unit.
    """
    kept: dict[str, TaskClaim] = {}
    rejected: list[str] = []
    places: dict[tuple, str] = {}
    for proposed in proposal.claims:
        try:
            place = _place(paper, proposed, kept, places)
        except (AddressError, BundleError) as error:
            rejected.append(f"claim {proposed.id}: {error}")
            continue
        places[place] = proposed.id
        keys = sum(claim.key for claim in kept.values())
        key = proposed.key and keys < MOST_KEY
        kept[proposed.id] = proposed.task.model_copy(update={"key": key})
    groups: dict[str, list[TaskPair]] = {"ablations": [], "comparisons": []}
    for name, pairs in groups.items():
        for pair in getattr(proposal, name):
            try:
                pairs.append(_pair(paper, name, pair, kept, groups))
            except BundleError as error:
                rejected.append(f"{name.removesuffix('s')} {pair.id}: {error.what}")
    return Accepted(
        claims=tuple(kept.values()),
        ablations=tuple(groups["ablations"]),
        comparisons=tuple(groups["comparisons"]),
        rejected=tuple(rejected),
    )


def fault_of(paper: Paper, proposal: Proposal) -> str | None:
    """What a model has to mend: no claim, or fewer than half of them, stands in the paper."""
    accepted = accept(paper, proposal)
    if 2 * len(accepted.claims) >= min(len(proposal.claims), MOST):
        return None
    listed = " ".join(accepted.rejected[:6])
    return f"{len(accepted.claims)} of {len(proposal.claims)} claims name a number of the paper. {listed}"


def as_task(reported: ReportedClaims) -> Task:
    """Claims as `task.yaml` would say them."""
    pairs = {"ablation": [], "comparison": []}
    for pair in reported.pairs:
        sign = None if _has_values(reported, pair.full, pair.variant) else pair.expected_sign
        one = TaskPair(id=pair.id, full=pair.full, variant=pair.variant, expected_sign=sign)
        pairs[pair.kind].append(one)
    return Task(
        claims=tuple(_as_task(claim, reported.main) for claim in reported.claims),
        ablations=tuple(pairs["ablation"]),
        comparisons=tuple(pairs["comparison"]),
    )


def tables_listed(paper: Paper, most: int = LISTED) -> tuple[str, tuple[str, ...]]:
    """The tables with numbers as text, rows and columns counted, and the names of those left off."""
    pieces, left, length = [], [], 0
    for table in paper.tables:
        if not any(cell.numbers for row in table.grid for cell in row):
            continue
        text = _listed(table)
        if length + len(text) > most:
            left.append(str(table))
            continue
        pieces.append(text)
        length += len(text)
    return "\n\n".join(pieces), tuple(left)


def _place(
    paper: Paper, proposed: ProposedClaim, kept: dict[str, TaskClaim], places: dict[tuple, str]
) -> tuple:
    """Where a claim's number stands. Raises AddressError or BundleError for one that cannot be kept."""
    if len(kept) >= MOST:
        raise BundleError(f"is one too many: at most {MOST} are kept.")
    if proposed.id in kept:
        raise BundleError("has an id that stands twice.")
    task = proposed.task
    table, row, column, _, _ = resolve_cell(paper, task.reported)
    place = (table.index, row, column, proposed.part)
    if place in places:
        raise BundleError(f"names the same number as {places[place]}.")
    extract_claims(paper, Task(claims=(task,)))
    return place


def _pair(
    paper: Paper,
    name: str,
    pair: ProposedPair,
    kept: dict[str, TaskClaim],
    groups: dict[str, list[TaskPair]],
) -> TaskPair:
    missing = [one for one in (pair.full, pair.variant) if one not in kept]
    if missing:
        raise BundleError(f"{missing[0]} is no claim that was kept.")
    if pair.full == pair.variant:
        raise BundleError("compares a claim with itself.")
    if any(pair.id == other.id for others in groups.values() for other in others):
        raise BundleError("has an id that stands twice.")
    made = TaskPair(id=pair.id, full=pair.full, variant=pair.variant)
    both = (kept[pair.full], kept[pair.variant])
    extract_claims(paper, Task(claims=both, **{name: (made,)}))
    return made


def _as_task(claim: Claim, main: str) -> TaskClaim:
    terms = {name: getattr(claim, name) for name in ClaimTerms.model_fields}
    return TaskClaim(**terms, reported=claim.address, main=claim.id == main)


def _has_values(reported: ReportedClaims, *ids: str) -> bool:
    return all(reported.claim(one).value is not None for one in ids)


def _listed(table: Table) -> str:
    """A table for choosing from: each row with its number, each column with its number and headers."""
    lines = [f"Table with index {table.index}: {table}. {table.caption}".strip()]
    lines += [f"Doubtful: {doubt}" for doubt in table.doubts]
    columns: Sequence[str] = [
        f"column {at + 1}: {' > '.join(table.column_headers(at)) or '(no header)'}"
        for at in range(table.shape[1])
    ]
    lines.append("; ".join(columns))
    for row in range(table.header_rows, len(table.grid)):
        cells = " | ".join(" ".join(cell.text.split()) for cell in table.grid[row])
        lines.append(f"row {row + 1}: {cells}")
    return "\n".join(lines)
