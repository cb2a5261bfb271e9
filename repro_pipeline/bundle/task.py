"""`task.yaml`: what its user says about a paper. Everything is optional; what it names must exist."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from repro_pipeline.claims.model import ClaimId, Direction, Statistic
from repro_pipeline.frozen import Frozen, Sha256, Slug
from repro_pipeline.lineage.model import AssumptionGiven
from repro_pipeline.paper.address import Address
from repro_pipeline.quantities import Seconds

Seed = Annotated[int, Field(ge=0, lt=2**32)]


class TaskClaim(Frozen):
    """A claim, with the address of its reported value."""

    id: ClaimId
    metric: str
    dataset: str | None = None
    method: str | None = None
    unit: str | None = None
    direction: Direction = Direction.MATCH
    statistic: Statistic = Statistic.MEAN
    over: str | None = None
    n_runs: Annotated[int, Field(ge=1)] | None = None
    key: bool = False
    main: bool = False
    reported: Address


class TaskPair(Frozen):
    """Two claims that form an ablation or a comparison."""

    id: ClaimId
    full: ClaimId
    variant: ClaimId
    expected_sign: Literal[-1, 1] | None = None
    """Sign of variant - full, for claims without values; a conflict with the values is an error."""


class TaskCode(Frozen):
    """Given code: its folder, and for code without `experiment.yaml` the command of one run.

    `command` may hold `{seed}`, `{out}` and `{data}`; without `{seed}` the code is unseeded.
    """

    path: str = "code"
    command: tuple[str, ...] = ()
    requirements: str | None = None
    python: str | None = None
    """The Python version that the code needs, as 3.11; by default the pipeline's own."""
    timeout: Seconds | None = None
    """Of one run, for code without `experiment.yaml`."""


class CsvColumn(Frozen):
    """One column of the rows of a CSV file where the given columns hold the given texts."""

    where: dict[str, str] = {}
    column: str


class OutputMapping(Frozen):
    """Where an existing program leaves the value of a claim. Exactly one of json, csv, regex."""

    claim: ClaimId
    file: str
    """Relative to `{out}`; `stdout` is the program's output."""
    json_path: Annotated[str | None, Field(alias="json")] = None
    csv: CsvColumn | None = None
    regex: str | None = None
    stat: Literal["last", "mean"] = "last"

    @model_validator(mode="after")
    def _one_way(self) -> OutputMapping:
        if sum(way is not None for way in (self.json_path, self.csv, self.regex)) != 1:
            raise ValueError("needs exactly one of `json`, `csv`, `regex`")
        return self


class DataFile(Frozen):
    """An input of the experiments. Exactly one of `path` (in the bundle) and `uri`."""

    name: Slug
    path: str | None = None
    uri: str | None = None
    sha256: Sha256 | None = None
    roles: dict[Literal["train", "validation", "test"], str] = {}
    """A file of row numbers per role, or `all`."""
    sealed_labels: str | None = None
    """A file of test labels that no run is given."""
    private: bool = False
    licence: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> DataFile:
        if (self.path is None) == (self.uri is None):
            raise ValueError("needs exactly one of `path`, `uri`")
        return self


class Budget(Frozen):
    """The most that one paper may cost; None is no limit of its own."""

    usd: Annotated[float, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    wall_clock: Seconds | None = None
    experiments: Annotated[int, Field(ge=0)] | None = None
    steps: Annotated[int, Field(ge=0)] | None = None


class Task(Frozen):
    """The whole of `task.yaml`."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    title: str | None = None
    claims: tuple[TaskClaim, ...] = ()
    ablations: tuple[TaskPair, ...] = ()
    comparisons: tuple[TaskPair, ...] = ()
    assumptions: tuple[AssumptionGiven, ...] = ()
    code: TaskCode | None = None
    outputs: tuple[OutputMapping, ...] = ()
    data: tuple[DataFile, ...] = ()
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1)] | None = None
    budget: Budget = Budget()
    exclude: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _refers_to_itself(self) -> Task:
        _refuse_repeats("claims", [claim.id for claim in self.claims])
        pairs = (*self.ablations, *self.comparisons)
        _refuse_repeats("ablations and comparisons", [pair.id for pair in pairs])
        _refuse_repeats("assumptions", [assumption.id for assumption in self.assumptions])
        _refuse_repeats("data", [data.name for data in self.data])
        _refuse_repeats("seeds", list(self.seeds or ()))
        known = {claim.id for claim in self.claims}
        users = [(f"{pair.id}: full", pair.full) for pair in pairs]
        users += [(f"{pair.id}: variant", pair.variant) for pair in pairs]
        users += [("outputs", mapping.claim) for mapping in self.outputs]
        users += [
            (f"assumption {assumption.id}", claim)
            for assumption in self.assumptions
            for claim in assumption.claims
        ]
        for user, claim in users:
            if claim not in known:
                raise ValueError(
                    f"{user} names the claim '{claim}', which is not among: "
                    f"{', '.join(sorted(known)) or 'no claims at all'}"
                )
        if sum(claim.main for claim in self.claims) > 1:
            raise ValueError("more than one claim is `main`")
        return self


def _refuse_repeats(name: str, ids: list) -> None:
    repeated = sorted({str(one) for one in ids if ids.count(one) > 1})
    if repeated:
        raise ValueError(f"{name}: the same id stands twice: {', '.join(repeated)}")
