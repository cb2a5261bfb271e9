"""Runs with one thing changed: settings, input data, labels at the fit, constants of the code.

Each is a run like any other, under the same paths and variables and with the seed of the run that
it is compared with; nothing tells the code that it is a probe.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from repro_pipeline.claims.model import Claim
from repro_pipeline.experiment.campaign import Setting, plan
from repro_pipeline.experiment.runs import PlannedRun
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.forensics.halves import Part
from repro_pipeline.forensics.mutate import FACTORS, Mutation, mutate
from repro_pipeline.forensics.record import parse
from repro_pipeline.forensics.settings import FAR, far_settings, other_settings
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.runs import Purpose, Run
from repro_pipeline.stages import Stage


class Way(StrEnum):
    """What is changed."""

    CONFIG = "config"
    EXTREME = "extreme"
    NOISE = "noise"
    LABELS = "labels"
    TRAIN_LABELS = "train_labels"
    HARMLESS = "harmless"
    TEST_LABELS = "test_labels"
    TEST_INPUTS = "test_inputs"
    REPEAT = "repeat"
    """Nothing."""
    FIT_LABELS = "fit_labels"
    MUTANT = "mutant"


@dataclass(frozen=True)
class Changed:
    """A changed run, and the one that it is compared with."""

    way: Way
    said: str
    """The change, the subject of a sentence."""
    experiment: str
    base: Run
    planned: PlannedRun
    run: Run | None = None
    """None where it was not made."""
    factor: float = 1.0
    """Of a mutant's constants."""
    places: Mapping[str, tuple[str, ...]] | None = None
    """Of a mutant, the changed constants per claim."""
    certain: bool = True
    part: Part | None = None
    """Of changed test rows, which half."""
    alone: bool = True
    """Of changed test rows, whether their files hold no others."""

    @property
    def values(self) -> dict[str, float]:
        """What it gave, per claim; empty where it failed or was not made."""
        return self.run.values if self.run else {}


@dataclass(frozen=True)
class Ground:
    """What changed runs are made from."""

    stage: Stage
    setting: Setting
    bases: Mapping[str, Run]
    """By experiment, the run that changed ones are compared with."""
    folder: Path
    """Where changed data and code are put."""

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        """Those of which there is a run."""
        return tuple(e for e in self.setting.implementation.experiments if e.id in self.bases)

    def planned(self, experiment: Experiment) -> PlannedRun:
        """A run of an experiment with the seed of the one that it is compared with."""
        seed = self.bases[experiment.id].seed
        (planned,) = plan(self.setting, [experiment], [seed], Purpose.PROBE)
        return planned


def with_runs(changes: Sequence[Changed], runs: Mapping[str, Run]) -> tuple[Changed, ...]:
    """The changes with the runs that were made of them, by run key."""
    return tuple(replace(c, run=runs.get(c.planned.identity.run_key)) for c in changes)


def config_variants(
    ground: Ground,
    variants: Callable[[dict[str, Any]], list[tuple[str, dict[str, Any]]]] = other_settings,
) -> Iterator[Changed]:
    """Each experiment with other settings."""
    for experiment in ground.experiments:
        for what, config in variants(experiment.config):
            planned = ground.planned(experiment.model_copy(update={"config": config}))
            said = f"Other values of {what} in {experiment.id}"
            yield Changed(Way.CONFIG, said, experiment.id, ground.bases[experiment.id], planned)


def extreme_variants(ground: Ground) -> Iterator[Changed]:
    """Each experiment with all fractions of its settings far larger, for two seeds."""
    for experiment in ground.experiments:
        config = far_settings(experiment.config)
        if config == experiment.config:
            continue
        other = experiment.model_copy(update={"config": config})
        base = ground.bases[experiment.id]
        for seed in (base.seed, (base.seed or 0) + 1):
            (planned,) = plan(ground.setting, [other], [seed], Purpose.PROBE)
            said = f"Fractions {FAR} times as large in {experiment.id}"
            yield Changed(Way.EXTREME, said, experiment.id, base, planned)


def fit_variants(ground: Ground) -> Iterator[Changed]:
    """Each experiment that fits labels, with these in random order whenever it does."""
    for experiment in ground.experiments:
        base = ground.bases[experiment.id]
        if base.counted.record is None:
            continue
        record = parse(ground.stage.project.store.get(base.counted.record))
        if not _fits_labels([entry.about for entry in record.of("fit")]):
            continue
        said = f"Labels in random order at every fit in {experiment.id}"
        planned = replace(repeated(ground.planned(experiment), 1), mode="labels")
        yield Changed(Way.FIT_LABELS, said, experiment.id, base, planned)


def _fits_labels(notes: Sequence[str]) -> bool:
    """Whether an estimator that looks at its labels' order was fitted with labels."""
    for note in notes:
        try:
            name, *_, labelled = ast.literal_eval(note)
        except (ValueError, SyntaxError):
            continue
        if labelled and not str(name).startswith("Dummy"):
            return True
    return False


def repeated(planned: PlannedRun, number: int) -> PlannedRun:
    """The same run once more; repetitions of other numbers are other runs."""
    identity = planned.identity.model_copy(update={"repeat": number})
    return replace(planned, identity=identity)


def mutants(ground: Ground, texts: Mapping[str, str], claims: Sequence[Claim]) -> Iterator[Changed]:
    """Each experiment of code whose constants near reported values are scaled."""
    for factor in FACTORS:
        trees: dict[str, str] = {}
        for experiment in ground.experiments:
            about = [claim for claim in claims if claim.id in experiment.claims]
            made = mutate(texts, experiment.config, about, factor)
            if made is None:
                continue
            key = digest(dict(made.files))
            if key not in trees:
                trees[key] = _stored(ground, made, f"tree-{factor}-{len(trees)}")
            other = experiment.model_copy(update={"config": made.config or experiment.config})
            planned = ground.planned(other)
            identity = planned.identity.model_copy(update={"code_tree": trees[key]})
            yield Changed(
                Way.MUTANT,
                f"Constants near reported values times {factor} in {experiment.id}",
                experiment.id,
                ground.bases[experiment.id],
                replace(planned, identity=identity),
                factor=factor,
                places=made.places,
            )


def _stored(ground: Ground, made: Mutation, name: str) -> str:
    """The digest of the code with its changed files, as it then stands in the store."""
    store, tree = ground.stage.project.store, ground.folder / name
    store.get_tree(ground.setting.implementation.code_tree, tree)
    for path, text in made.files.items():
        (tree / path).write_text(text, encoding="utf-8")
    return store.put_tree(tree)
