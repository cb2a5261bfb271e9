"""Runs with changed input data: spoilt as a whole, or in one half of the test rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from repro_pipeline.environment.manifest import role_rows
from repro_pipeline.environment.model import ManifestEntry
from repro_pipeline.experiment.campaign import input_mounts
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.forensics.halves import WAYS, Kind, Part, spoil_half
from repro_pipeline.forensics.settings import harmless_settings
from repro_pipeline.forensics.spoil import Unspoilt, spoil_file
from repro_pipeline.frozen import digest
from repro_pipeline.probing.changes import Changed, Ground, Way, repeated
from repro_pipeline.sandbox.policy import Mount

_WHOLE = {
    Way.NOISE: "Input data without meaning",
    Way.LABELS: "Labels in random order",
    Way.TRAIN_LABELS: "Training labels in random order",
    Way.HARMLESS: "Input data and settings moved by less than anybody measures",
}
_HALVED = {
    Way.TEST_LABELS: "Other labels for test rows",
    Way.TEST_INPUTS: "Other inputs for test rows",
}
Spoil = Callable[[ManifestEntry, Path, Path], bool]
"""Writes a changed copy of an input file; whether its labels are surely the labels. Raises Unspoilt."""


def spoilt_variants(ground: Ground) -> Iterator[Changed]:
    """Each experiment with spoilt input files, where there are any that can be spoilt."""
    if not ground.setting.data.entries:
        return
    for way, said in _WHOLE.items():
        spoilt, certain = _spoilt(ground, way, _spoil(way, ground.stage.bundle_folder))
        if spoilt is None:
            continue
        for experiment in ground.experiments:
            same = way is not Way.HARMLESS
            config = experiment.config if same else harmless_settings(experiment.config)
            other = experiment.model_copy(update={"config": config})
            yield replace(
                _with_data(ground, other, spoilt, way),
                said=f"{said} in {experiment.id}",
                certain=certain,
            )


def _spoil(way: Way, bundle: Path) -> Spoil:
    """How one file is spoilt in one way."""

    def spoil(entry: ManifestEntry, source: Path, target: Path) -> bool:
        rows = role_rows(entry, "train", bundle) if way is Way.TRAIN_LABELS else None
        if rows == []:
            raise Unspoilt
        return spoil_file(source, target, way.value, rows)

    return spoil


def halved_variants(ground: Ground) -> Iterator[Changed]:
    """Each experiment with the test rows of one half, the other half and both changed; and once as it
    is, to know whether it repeats itself.
    """
    tested = [entry for entry in ground.setting.data.entries if "test" in entry.roles]
    if not tested:
        return
    alone = all(set(entry.roles) == {"test"} and not entry.role_files for entry in tested)
    for experiment in ground.experiments:
        name, same = experiment.id, repeated(ground.planned(experiment), 3)
        yield Changed(Way.REPEAT, f"Nothing in {name}", name, ground.bases[name], same)
    for kind, part in WAYS:
        spoil = _spoil_half(kind, part, ground.stage.bundle_folder)
        spoilt, certain = _spoilt(ground, f"{kind}-{part}", spoil)
        if spoilt is None:
            continue
        for experiment in ground.experiments:
            yield replace(
                _with_data(ground, experiment, spoilt, Way(kind), part),
                said=f"{_HALVED[Way(kind)]}, part {part}, in {experiment.id}",
                certain=certain,
                part=part,
                alone=alone,
            )


def _spoil_half(kind: Kind, part: Part, bundle: Path) -> Spoil:
    """How one file is changed in the test rows of one part."""

    def spoil(entry: ManifestEntry, source: Path, target: Path) -> bool:
        rows = role_rows(entry, "test", bundle)
        if rows == []:
            raise Unspoilt
        return spoil_half(source, target, kind, part, rows)

    return spoil


def _spoilt(ground: Ground, name: str, spoil: Spoil) -> tuple[Mapping[str, Mount] | None, bool]:
    """The input files, those spoilt that can be; None where none can. `name`: of their folder."""
    mounts = input_mounts(ground.stage, ground.setting)
    place = ground.folder / name
    place.mkdir()
    changed, certain = dict(mounts), True
    for entry in ground.setting.data.entries:
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


def _readable(folder: Path) -> None:
    for path in (folder.parent, folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o644))


def _with_data(
    ground: Ground, experiment: Experiment, data: Mapping[str, Mount], way: Way, *part: Part
) -> Changed:
    """A run of an experiment with other input files; how they were made tells it from others."""
    planned = ground.planned(experiment)
    manifest = digest([planned.identity.data_manifest, way, *part])
    identity = planned.identity.model_copy(update={"data_manifest": manifest})
    planned = replace(planned, identity=identity, data=data)
    return Changed(way, "", experiment.id, ground.bases[experiment.id], planned)
