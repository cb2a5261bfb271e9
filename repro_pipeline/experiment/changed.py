"""Runs with one thing changed: settings, input data, labels at the fit, constants of the code.

Each is a run like any other, under the same paths and variables and with the seed of the run that
it is compared with; nothing tells the code that it is a probe.
"""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repro_pipeline.claims.model import Claim
from repro_pipeline.environment.model import ManifestEntry
from repro_pipeline.experiment.campaign import Setting, input_mounts, plan
from repro_pipeline.experiment.model import Run
from repro_pipeline.experiment.runs import PlannedRun
from repro_pipeline.experiment.spec import Experiment, Purpose
from repro_pipeline.forensics.halves import WAYS, Kind, Part, spoil_half
from repro_pipeline.forensics.mutate import FACTORS, mutate
from repro_pipeline.forensics.record import parse
from repro_pipeline.forensics.settings import FAR, far_settings, harmless_settings, other_settings
from repro_pipeline.forensics.spoil import Unspoilt, Way, spoil_file
from repro_pipeline.frozen import digest
from repro_pipeline.sandbox.policy import Mount
from repro_pipeline.stages import Stage

_WAYS: dict[Way, str] = {
    "noise": "Input data without meaning",
    "labels": "Labels in random order",
    "train_labels": "Training labels in random order",
    "harmless": "Input data and settings moved by less than anybody measures",
}
_HALVED: dict[Kind, str] = {
    "test_labels": "Other labels for test rows",
    "test_inputs": "Other inputs for test rows",
}


@dataclass(frozen=True)
class Changed:
    """A changed run, and the one that it is compared with."""

    way: str
    """config, extreme, noise, labels, train_labels, harmless, test_labels, test_inputs, repeat,
    fit_labels, mutant.
    """
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


def changed_runs(changes: Sequence[Changed], runs: Mapping[str, Run]) -> list[Changed]:
    """The changes with the runs that were made of them."""
    return [replace(c, run=runs.get(c.planned.identity.run_key)) for c in changes]


def config_variants(
    setting: Setting,
    experiments: Mapping[str, Experiment],
    bases: Mapping[str, Run],
    variants: Callable[[dict[str, Any]], list[tuple[str, dict[str, Any]]]] = other_settings,
) -> Iterator[Changed]:
    """Each experiment with other settings."""
    for name, experiment in experiments.items():
        for what, config in variants(experiment.config):
            other = experiment.model_copy(update={"config": config})
            said = f"Other values of {what} in {name}"
            yield Changed("config", said, name, bases[name], _planned(setting, other, bases[name]))


def extreme_variants(
    setting: Setting, experiments: Mapping[str, Experiment], bases: Mapping[str, Run]
) -> Iterator[Changed]:
    """Each experiment with all fractions of its settings far larger, for two seeds."""
    for name, experiment in experiments.items():
        config = far_settings(experiment.config)
        if config == experiment.config:
            continue
        other = experiment.model_copy(update={"config": config})
        for seed in (bases[name].seed, (bases[name].seed or 0) + 1):
            (planned,) = plan(setting, [other], [seed], Purpose.PROBE)
            said = f"Fractions {FAR} times as large in {name}"
            yield Changed("extreme", said, name, bases[name], planned)


def spoilt_variants(
    stage: Stage,
    setting: Setting,
    experiments: Mapping[str, Experiment],
    bases: Mapping[str, Run],
    folder: Path,
) -> Iterator[Changed]:
    """Each experiment with spoilt input files, where there are any that can be spoilt."""
    if not setting.data.entries:
        return
    mounts = input_mounts(stage, setting)
    for way, said in _WAYS.items():
        place = folder / way
        place.mkdir()
        spoilt, certain = _spoilt(setting, mounts, place, _spoil(way, stage.bundle_folder))
        if spoilt is None:
            continue
        for name, experiment in experiments.items():
            same = way != "harmless"
            config = experiment.config if same else harmless_settings(experiment.config)
            other = experiment.model_copy(update={"config": config})
            yield replace(
                _with_data(setting, other, bases[name], spoilt, (way,)),
                said=f"{said} in {name}",
                certain=certain,
            )


def _spoilt(
    setting: Setting,
    mounts: Mapping[str, Mount],
    place: Path,
    spoil: Callable[[ManifestEntry, Path, Path], bool],
) -> tuple[Mapping[str, Mount] | None, bool]:
    """The input files, those spoilt that can be; None where none can."""
    changed, certain = dict(mounts), True
    for entry in setting.data.entries:
        if entry.sealed or entry.name not in mounts:
            continue
        source = mounts[entry.name].source
        target = place / entry.name / source.name
        target.parent.mkdir()
        try:
            certain &= spoil(entry, source, target)
        except Unspoilt:
            shutil.rmtree(target.parent)
            continue
        shutil.copymode(source, target)
        stamp = source.stat()
        os.utime(target, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        changed[entry.name] = Mount(source=target, target=mounts[entry.name].target)
    _readable(place)
    same = all(changed[name] == mounts[name] for name in mounts)
    return (None if same else changed), certain


def _spoil(way: Way, bundle: Path) -> Callable[[ManifestEntry, Path, Path], bool]:
    """How one file is spoilt in one way."""

    def spoil(entry: ManifestEntry, source: Path, target: Path) -> bool:
        rows = _rows(entry, bundle, "train") if way == "train_labels" else None
        if rows == []:
            raise Unspoilt
        return spoil_file(source, target, way, rows)

    return spoil


def halved_variants(
    stage: Stage,
    setting: Setting,
    experiments: Mapping[str, Experiment],
    bases: Mapping[str, Run],
    folder: Path,
) -> Iterator[Changed]:
    """Each experiment with the test rows of one half, the other half and both changed; and once as it
    is, to know whether it repeats itself.
    """
    tested = [entry for entry in setting.data.entries if "test" in entry.roles]
    if not tested:
        return
    alone = all(set(entry.roles) == {"test"} and not entry.role_files for entry in tested)
    mounts = input_mounts(stage, setting)
    for name, experiment in experiments.items():
        planned = _planned(setting, experiment, bases[name])
        again = planned.identity.model_copy(update={"repeat": 3})
        same = replace(planned, identity=again)
        yield Changed("repeat", f"Nothing in {name}", name, bases[name], same)
    for kind, part in WAYS:
        place = folder / f"{kind}-{part}"
        place.mkdir()
        spoil = _spoil_half(kind, part, stage.bundle_folder)
        spoilt, certain = _spoilt(setting, mounts, place, spoil)
        if spoilt is None:
            continue
        for name, experiment in experiments.items():
            yield replace(
                _with_data(setting, experiment, bases[name], spoilt, (kind, part)),
                said=f"{_HALVED[kind]}, part {part}, in {name}",
                certain=certain,
                part=part,
                alone=alone,
            )


def _spoil_half(
    kind: Kind, part: Part, bundle: Path
) -> Callable[[ManifestEntry, Path, Path], bool]:
    """How one file is changed in the test rows of one part."""

    def spoil(entry: ManifestEntry, source: Path, target: Path) -> bool:
        rows = _rows(entry, bundle, "test")
        if rows == []:
            raise Unspoilt
        return spoil_half(source, target, kind, part, rows)

    return spoil


def _with_data(
    setting: Setting,
    experiment: Experiment,
    base: Run,
    data: Mapping[str, Mount],
    how: tuple[str, ...],
) -> Changed:
    """A run of an experiment with other input files; `how` they were made tells it from others."""
    planned = _planned(setting, experiment, base)
    manifest = digest([planned.identity.data_manifest, *how])
    identity = planned.identity.model_copy(update={"data_manifest": manifest})
    return Changed(how[0], "", experiment.id, base, replace(planned, identity=identity, data=data))


def _readable(folder: Path) -> None:
    for path in (folder.parent, folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o644))


def _rows(entry: ManifestEntry, bundle: Path, role: str) -> list[int] | None:
    """The rows of a role: None for all, none at all for an empty list."""
    if role not in entry.roles:
        return []
    file = entry.role_files.get(role)
    if file is None:
        return None
    return [int(line) for line in (bundle / file).read_text().split()]


def fit_variants(
    stage: Stage,
    setting: Setting,
    experiments: Mapping[str, Experiment],
    bases: Mapping[str, Run],
) -> Iterator[Changed]:
    """Each experiment that fits labels, with these in random order whenever it does."""
    for name, experiment in experiments.items():
        digest_of_record = bases[name].counted.record
        if digest_of_record is None:
            continue
        record = parse(stage.project.store.get(digest_of_record))
        if not _fits_labels([entry.about for entry in record.of("fit")]):
            continue
        planned = _planned(setting, experiment, bases[name])
        identity = planned.identity.model_copy(update={"repeat": 1})
        yield Changed(
            "fit_labels",
            f"Labels in random order at every fit in {name}",
            name,
            bases[name],
            replace(planned, identity=identity, mode="labels"),
        )


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


def mutants(
    stage: Stage,
    setting: Setting,
    experiments: Mapping[str, Experiment],
    bases: Mapping[str, Run],
    texts: Mapping[str, str],
    claims: Sequence[Claim],
    folder: Path,
) -> Iterator[Changed]:
    """Each experiment of code whose constants near reported values are scaled."""
    store = stage.project.store
    for factor in FACTORS:
        trees: dict[str, str] = {}
        for name, experiment in experiments.items():
            about = [claim for claim in claims if claim.id in experiment.claims]
            made = mutate(texts, experiment.config, about, factor)
            if made is None:
                continue
            key = digest({path: text for path, text in made.files.items()})
            if key not in trees:
                tree = folder / f"tree-{factor}-{len(trees)}"
                store.get_tree(setting.implementation.code_tree, tree)
                for path, text in made.files.items():
                    (tree / path).write_text(text, encoding="utf-8")
                trees[key] = store.put_tree(tree)
            other = experiment.model_copy(update={"config": made.config or experiment.config})
            planned = _planned(setting, other, bases[name])
            identity = planned.identity.model_copy(update={"code_tree": trees[key]})
            yield Changed(
                "mutant",
                f"Constants near reported values times {factor} in {name}",
                name,
                bases[name],
                replace(planned, identity=identity),
                factor=factor,
                places=made.places,
            )


def _planned(setting: Setting, experiment: Experiment, base: Run) -> PlannedRun:
    (planned,) = plan(setting, [experiment], [base.seed], Purpose.PROBE)
    return planned
