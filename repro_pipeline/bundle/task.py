"""`task.yaml`: what its user says about a paper. Everything is optional; what it names must exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from repro_pipeline.bundle.terms import AssumptionGiven, ClaimId, ClaimTerms
from repro_pipeline.frozen import Frozen, Misfit, Sha256, Slug
from repro_pipeline.jsonpath import parse_path
from repro_pipeline.paper.address import Address
from repro_pipeline.quantities import Bytes, Seconds
from repro_pipeline.sandbox.egress import AllowedHost, named_source

Seed = Annotated[int, Field(ge=0, lt=2**32)]
Place = tuple[str | int, ...]


class TaskClaim(ClaimTerms):
    """A claim, with the address of its reported value."""

    main: bool = False
    reported: Address


class TaskPair(Frozen):
    """Two claims that form an ablation or a comparison."""

    id: ClaimId
    full: ClaimId
    variant: ClaimId
    expected_sign: Literal[-1, 1] | None = None
    """Sign of variant - full, for claims without values; a conflict with the values is an error."""


def _plain_folder(path: str) -> str:
    """A folder of the bundle in its one spelling: `code`, not `./code/`. Raises ValueError."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\0" in path:
        raise ValueError(f"'{path}' is no folder inside the bundle")
    return pure.as_posix()


class TaskCode(Frozen):
    """Given code: its folder, and for code without `experiment.yaml` the command of one run.

    `command` may hold `{seed}`, `{out}` and `{data}`; without `{seed}` the code is unseeded.
    """

    path: Annotated[str, AfterValidator(_plain_folder)] = "code"
    command: tuple[str, ...] = ()
    notebook: Annotated[str, AfterValidator(_plain_folder)] | None = None
    """A notebook of the folder that is one run, instead of a command."""
    requirements: str | None = None
    python: str | None = None
    """The Python version that the code needs, as 3.11; by default what its metadata and syntax say."""
    as_of: date | Literal["paper"] | None = None
    """Packages are resolved as of this day, or of the end of the paper's year; before repro.yaml's."""
    timeout: Seconds | None = None
    """Of one run, for code without `experiment.yaml`."""

    @model_validator(mode="after")
    def _one_way(self) -> TaskCode:
        if self.command and self.notebook:
            raise ValueError("`command` and `notebook` both say what a run is; take one away")
        return self


class CsvColumn(Frozen):
    """One column of the rows of a CSV file where the given columns hold the given texts."""

    where: dict[str, str] = {}
    column: str


class OutputMapping(Frozen):
    """Where an existing program leaves the value of a claim. Exactly one of json, csv, regex.

    A regex is searched line by line (`^` and `$` are a line's ends); its first group is the value.
    """

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

    @field_validator("json_path")
    @classmethod
    def _is_path(cls, path: str | None) -> str | None:
        if path is not None:
            parse_path(path)
        return path

    @field_validator("regex")
    @classmethod
    def _is_regex(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise ValueError(f"is no valid regular expression: {error}") from None
        return pattern


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
    source: str | None = None
    """Where it came from, for people: an address, a paper, a person."""

    @model_validator(mode="after")
    def _one_place(self) -> DataFile:
        if (self.path is None) == (self.uri is None):
            raise ValueError("needs exactly one of `path`, `uri`")
        return self


class Download(Frozen):
    """A command of the code that brings data files, the only one that may ask the network.

    It leaves each file in `{out}` under the path that `data` names it by. It sees the code and its
    environment; the experiments then run without a network.
    """

    command: Annotated[tuple[str, ...], Field(min_length=1)]
    allow: Annotated[tuple[AllowedHost, ...], Field(min_length=1)]
    limit: Bytes = 1 << 30
    """Bytes to and from the network in all."""
    timeout: Seconds = 3600


class Budget(Frozen):
    """The most that one paper may cost; None is no limit of its own."""

    usd: Annotated[float, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    wall_clock: Seconds | None = None
    experiments: Annotated[int, Field(ge=0)] | None = None
    steps: Annotated[int, Field(ge=0)] | None = None

    def stricter(self, other: Budget) -> Budget:
        """What both budgets allow: the lower limit of each kind."""
        limits = {}
        for name in Budget.model_fields:
            given = [b for b in (getattr(self, name), getattr(other, name)) if b is not None]
            limits[name] = min(given, default=None)
        return Budget(**limits)


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
    download: Download | None = None
    """Run by `repro download` alone, when its user says so."""
    packages: tuple[str, ...] = ()
    """What code that an agent writes can import, beside the packages of `repro.yaml`."""
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1)] | None = None
    budget: Budget = Budget()
    exclude: tuple[Annotated[str, AfterValidator(named_source)], ...] = ()
    """Sources that are never looked at: addresses, `owner/name`, `git@host:owner/name`, `pip:name`."""

    @model_validator(mode="after")
    def _refers_to_itself(self) -> Task:
        _refuse_repeats({("claims", n, "id"): c.id for n, c in enumerate(self.claims)})
        _refuse_repeats({(*place, "id"): pair.id for place, pair in self._pairs()})
        _refuse_repeats({("assumptions", n, "id"): a.id for n, a in enumerate(self.assumptions)})
        _refuse_repeats({("outputs", n, "claim"): o.claim for n, o in enumerate(self.outputs)})
        _refuse_repeats({("data", n, "name"): d.name for n, d in enumerate(self.data)})
        _refuse_repeats({("seeds", n): seed for n, seed in enumerate(self.seeds or ())})
        known = {claim.id for claim in self.claims}
        for place, claim in self._named_claims():
            if claim not in known:
                listed = ", ".join(sorted(known)) or "no claims at all"
                raise Misfit(f"the claim '{claim}' is not among: {listed}", *place)
        for place, pair in self._pairs():
            if pair.full == pair.variant:
                raise Misfit("`full` and `variant` are the same claim", *place, "variant")
        main = [position for position, claim in enumerate(self.claims) if claim.main]
        if len(main) > 1:
            raise Misfit("more than one claim is `main`", "claims", main[1], "main")
        return self

    def _pairs(self) -> Iterator[tuple[Place, TaskPair]]:
        for name, pairs in (("ablations", self.ablations), ("comparisons", self.comparisons)):
            for position, pair in enumerate(pairs):
                yield (name, position), pair

    def _named_claims(self) -> Iterator[tuple[Place, str]]:
        """Every claim that something else names, with the place of its name."""
        for place, pair in self._pairs():
            yield (*place, "full"), pair.full
            yield (*place, "variant"), pair.variant
        for position, mapping in enumerate(self.outputs):
            yield ("outputs", position, "claim"), mapping.claim
        for position, assumption in enumerate(self.assumptions):
            for number, claim in enumerate(assumption.claims):
                yield ("assumptions", position, "claims", number), claim


def _refuse_repeats(ids: Mapping[Place, str | int]) -> None:
    seen = set()
    for place, one in ids.items():
        if one in seen:
            raise Misfit(f"'{one}' stands twice", *place)
        seen.add(one)
