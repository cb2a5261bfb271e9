"""Who is compared on what, under which conditions: fixed before the first trial, kept with the results."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

import repro_pipeline
from repro_pipeline.bundle.task import Budget
from repro_pipeline.config import Role, Roles
from repro_pipeline.errors import UserError
from repro_pipeline.frozen import Frozen, Sha256, Slug, digest
from repro_pipeline.sandbox.policy import Limits

SCORING_ROOMS = ("scoring", "bench", "submission", "experiment", "forensics", "probing", "claims")
"""The rooms whose code decides what a number of a card is."""


class Ceiling(Frozen):
    """The most that all trials together may use; None is no limit."""

    usd: Annotated[float, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None


class Contestant(Frozen):
    """An agent with its models: one column of the comparison."""

    name: Slug
    agent: str
    """As on the command line."""
    models: Roles | None = None
    """None for an agent that asks none of ours."""
    cutoff: str | None = None
    """The models' knowledge cut-off as their makers state it, YYYY-MM or YYYY-MM-DD."""


class TrialKey(Frozen):
    """Which trial: the partition of the graph."""

    task: Slug
    contestant: Slug
    repeat: Annotated[int, Field(ge=1)]

    @property
    def name(self) -> str:
        """As partition key and folder."""
        return f"{self.task}--{self.contestant}--{self.repeat}"


class Plan(Frozen):
    """The whole comparison."""

    suite: Slug
    suite_version: str
    suite_content: Sha256
    tasks: tuple[Slug, ...]
    contestants: Annotated[tuple[Contestant, ...], Field(min_length=1)]
    repeats: Annotated[int, Field(ge=1)]
    budget: Budget
    """Of each trial: the same for all."""
    limits: Limits
    """Of each run in the sandbox: the same for all."""
    seeds: Annotated[int, Field(ge=2)]
    """Fresh seeds that the grader runs each experiment with."""
    workers: int | None = None
    runner: str = "bubblewrap"
    base: str | None = None
    """The base image of that runner's environments, where it is `docker`."""
    allow: tuple[str, ...] = ()
    """Hosts that every command agent may ask."""
    packages: tuple[str, ...]
    judge: Role | None = None
    """Who gives the align scores of all contestants; None: they are not scored."""
    ceiling: Ceiling = Ceiling()
    program: str = repro_pipeline.__version__
    scoring_code: Sha256

    def trials(self) -> Iterator[TrialKey]:
        """The trials, repeat by repeat, so that an interrupted bench has all contestants alike."""
        for repeat in range(1, self.repeats + 1):
            for task in self.tasks:
                for contestant in self.contestants:
                    yield TrialKey(task=task, contestant=contestant.name, repeat=repeat)

    def contestant(self, name: str) -> Contestant:
        """The contestant of that name. Raises KeyError."""
        return {one.name: one for one in self.contestants}[name]

    @property
    def fixed(self) -> dict:
        """What cannot change within one bench: more tasks, contestants or repeats can be added."""
        growing = {"tasks", "contestants", "repeats", "ceiling", "workers"}
        return self.model_dump(mode="json", exclude=growing)

    def check_same(self, suite_content: str, code: str) -> None:
        """Raises UserError where a trial of now would be of another suite or another program."""
        changed = {
            "the suite": suite_content != self.suite_content,
            "the scoring code": code != self.scoring_code,
        }
        if any(changed.values()):
            what = " and ".join(name for name, is_so in changed.items() if is_so)
            raise UserError(
                f"{what} changed since the comparison was planned.",
                hint="Numbers under different conditions are not compared: name a new folder.",
            )

    def grown(self, newer: Plan) -> Plan:
        """This plan with what a later call adds. Raises UserError where conditions differ."""
        own, other = self.fixed, newer.fixed
        differ = sorted(name for name in own if own[name] != other[name])
        changed = [
            one.name
            for one in newer.contestants
            if one.name in {old.name for old in self.contestants}
            and one != self.contestant(one.name)
        ]
        if differ or changed:
            what = ", ".join([*differ, *(f"contestant {name}" for name in changed)])
            raise UserError(
                f"the results there are of other conditions: {what} differ.",
                where="--out",
                hint="Numbers under different conditions are not compared: name a new folder.",
            )
        known = {one.name for one in self.contestants}
        more = (one for one in newer.contestants if one.name not in known)
        return newer.model_copy(
            update={
                "tasks": tuple(dict.fromkeys((*self.tasks, *newer.tasks))),
                "contestants": (*self.contestants, *more),
                "repeats": max(self.repeats, newer.repeats),
            }
        )


@cache
def scoring_code() -> str:
    """Digest of the code that makes the numbers, as this process found it."""
    root = Path(__file__).parents[1]
    paths = sorted(path for room in SCORING_ROOMS for path in (root / room).rglob("*.py"))
    return digest(
        {
            path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in paths
        }
    )


def cast(text: str, known: Roles) -> Roles:
    """The models of one `--models`: a name for all roles, or `planner=NAME,coder=NAME`.

    A model that `repro.yaml` names in any role takes its settings (endpoint, price, …); another takes
    the coder's settings, its price left out. Raises UserError for a role that there is none of.
    """
    if "=" not in text:
        return Roles(coder=_settings(text.strip(), known))
    parts = dict(part.strip().split("=", 1) for part in text.split(",") if "=" in part)
    strangers = sorted(set(parts) - set(Roles.model_fields))
    if strangers or len(parts) != text.count(",") + 1:
        raise UserError(
            f"'{text}' names no models.",
            where="--models",
            hint=f"Write NAME, or ROLE=NAME,… with roles {', '.join(Roles.model_fields)}.",
        )
    if "coder" not in parts:
        raise UserError(
            f"'{text}' names no coder.",
            where="--models",
            hint="The coder plays the roles that have no model.",
        )
    return Roles(**{one: _settings(name, known) for one, name in parts.items()})


def judge_of(texts: Iterable[str], known: Roles) -> tuple[Role | None, list[str]]:
    """Who judges all contestants, by a `--models judge=NAME` of its own, and the other texts.

    Raises UserError where two are named.
    """
    alone = re.compile(r"\s*judge\s*=([^,=]+)")
    named = [found[1].strip() for one in texts if (found := alone.fullmatch(one))]
    if len(set(named)) > 1:
        raise UserError(
            f"two judges are named, {named[0]} and {named[1]}.",
            where="--models",
            hint="Scores of different judges are not compared: name one for all contestants.",
        )
    others = [one for one in texts if not alone.fullmatch(one)]
    return (_settings(named[0], known) if named else None), others


def slug(text: str) -> str:
    """A text as far as it can be a name."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:60] or "agent"


def _settings(name: str, known: Roles) -> Role:
    """A model with its settings: its own in `known`, else the coder's without the price."""
    for role in _roles(known):
        if role.model == name:
            return role
    base = known.coder or Role(model=name)
    return base.model_copy(update={"model": name, "price": None})


def _roles(known: Roles) -> Iterator[Role]:
    for name in Roles.model_fields:
        if (one := getattr(known, name)) is not None:
            yield one
