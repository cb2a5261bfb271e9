"""Read `experiment.yaml` with its configurations, or make one experiment of a command as it is."""

from __future__ import annotations

import contextlib
import copy
import difflib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from repro_pipeline.bundle.folder import lies_inside
from repro_pipeline.bundle.task import Task
from repro_pipeline.choices import listed, nearest
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.errors import FileFormatError
from repro_pipeline.experiment.spec import Experiment, ExperimentEntry, ExperimentSpec
from repro_pipeline.frozen import digest
from repro_pipeline.jsonfile import read_json
from repro_pipeline.ledger.runs import SUPPLYING, ExperimentKind
from repro_pipeline.yamlfile import load_model

SPEC_NAME = "experiment.yaml"
_INTERPRETER = re.compile(r"(.*/)?(python[\d.]*|bash|sh|Rscript|julia)")
_FLAGS = {"-u", "-B", "-E", "-s", "-I", "-O", "-OO", "-e", "-x", "--vanilla"}
"""Options of interpreters that no other word belongs to."""
_SCRIPT = re.compile(r"[^-{}][^{}]*\.(py|sh|R|r|jl)")


def load_experiments(
    code: Path, claims: ReportedClaims
) -> tuple[ExperimentSpec, tuple[Experiment, ...]]:
    """The experiments of a code folder with their configurations resolved.

    Raises FileFormatError when a file does not follow its schema, a configuration is missing or a claim
    is not the paper's (all such faults at once), a change names a setting that the base configuration
    lacks or makes another configuration than the file beside it holds, or experiments cannot be told
    apart.
    """
    path = code / SPEC_NAME
    spec = load_model(path, ExperimentSpec)
    known = {claim.id for claim in claims.claims}
    configs: dict[str, dict[str, Any]] = {}
    faults = []
    for entry in spec.experiments:
        faults += [
            _stranger(entry, claim, known, path) for claim in entry.claims if claim not in known
        ]
        try:
            if entry.config is not None:
                configs[entry.id] = _read_config(code, entry.config, path)
        except FileFormatError as fault:
            faults.append(fault)
    if faults:
        raise faults[0] if len(faults) == 1 else FileFormatError("\n".join(map(str, faults)))
    _refuse_idle_sample(spec.sample.config, configs.values(), path)
    experiments = []
    covered = {entry.id: entry.claims for entry in spec.experiments}
    for entry in spec.experiments:
        config = configs[entry.of or entry.id]
        if entry.change:
            where = f"{path}: experiment {entry.id}"
            config = change_config(config, entry.change, where=where)
            if entry.config is not None:
                _refuse_other_config(entry, configs[entry.id], config, where)
        experiments.append(
            Experiment(
                id=entry.id,
                kind=entry.kind,
                claims=entry.claims or covered[entry.of],
                config=config,
                of=entry.of,
                change=entry.change,
                assumption=entry.assumption,
                timeout=entry.timeout,
            )
        )
    _refuse_double_cover(experiments, path)
    _refuse_same_runs(experiments, path)
    return spec, tuple(experiments)


def _stranger(entry: ExperimentEntry, claim: str, known: set[str], path: Path) -> FileFormatError:
    near = nearest(claim, sorted(known))
    meant = f"Did you mean '{near}'? " if near else ""
    return FileFormatError(
        f"experiment {entry.id} covers the claim '{claim}', which the task does not name.",
        where=str(path),
        hint=f"{meant}Claims: {', '.join(sorted(known))}.",
    )


def check_script(code: Path, command: Sequence[str], *, where: str) -> None:
    """Raise FileFormatError where a command starts a script that the code folder lacks.

    Looked for is the first argument of an interpreter, where it is named like a script: another word
    may be a program's own, and an option such as `-m` or `-c` names no file.
    """
    words = iter(command)
    if not _INTERPRETER.fullmatch(next(words, "")):
        return
    script = next((word for word in words if word not in _FLAGS), "")
    if not _SCRIPT.fullmatch(script) or Path(script).is_absolute():
        return
    with contextlib.suppress(OSError):  # of a name that is too long for a file
        if (code / script).exists():
            return
    suffix = Path(script).suffix
    there = sorted(path.name for path in code.glob(f"*{suffix}"))
    near = nearest(script, there)
    held = f"It holds: {', '.join(there[:20])}." if there else f"It holds no *{suffix} at all."
    raise FileFormatError(
        f"starts '{script}', which the code folder does not hold.",
        where=where,
        hint=f"Did you mean '{near}'?" if near else held,
    )


def change_config(config: dict[str, Any], change: dict[str, Any], *, where: str) -> dict[str, Any]:
    """A copy of `config` with settings changed; dots in a name lead into nested mappings.

    Raises FileFormatError when a setting does not exist, is a group of settings, or already has the
    value.
    """
    changed = copy.deepcopy(config)
    for name, value in change.items():
        place, last = _setting(changed, name)
        if last not in place:
            near = difflib.get_close_matches(last, place, n=1)
            raise FileFormatError(
                f"changes '{name}', which its base configuration does not hold.",
                where=where,
                hint=f"Did you mean '{near[0]}'?"
                if near
                else f"It holds there: {', '.join(sorted(place)) or 'nothing'}.",
            )
        if isinstance(place[last], dict):
            raise FileFormatError(
                f"changes '{name}', which is a group of settings.",
                where=where,
                hint=f"Name one of them, as {name}.{next(iter(place[last]), 'SETTING')}.",
            )
        if place[last] == value:
            raise FileFormatError(
                f"changes '{name}' to {value!r}, which it already is.",
                where=where,
                hint="An experiment of this kind must differ from its base.",
            )
        place[last] = value
    return changed


def _refuse_other_config(
    entry: ExperimentEntry, written: dict[str, Any], made: dict[str, Any], where: str
) -> None:
    """Refuse a file beside a change that differs from what the change makes of its base."""
    other = [
        name
        for name in sorted({*written, *made})
        if _setting_text(written, name) != _setting_text(made, name)
    ]
    if other:
        raise FileFormatError(
            f"'{entry.config}' and the change of '{entry.of}' differ in: {listed(other)}.",
            where=where,
            hint="Leave `config` away, or make the file what the change makes.",
        )


def _setting_text(config: dict[str, Any], name: str) -> str | None:
    """A setting's value as JSON, in which 1, 1.0 and true are three; None where it is not there."""
    return json.dumps(config[name], sort_keys=True) if name in config else None


def sample_config(config: dict[str, Any], sample: dict[str, Any]) -> dict[str, Any]:
    """A copy of `config` for the small first run: what it holds of `sample`, and `sample: true`."""
    small = copy.deepcopy(config)
    for name, value in sample.items():
        place, last = _setting(small, name)
        if last in place:
            place[last] = value
    return {**small, "sample": True}


def _setting(config: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    """The mapping in which a setting would stand, and its key there.

    A whole name that is a key wins over its parts; of a path that breaks off, the mapping is empty.
    """
    place: Any = config
    while name not in place and "." in name:
        first, name = name.split(".", 1)
        place = place.get(first)
        if not isinstance(place, dict):
            return {}, name
    return place, name


def experiment_of_command(task: Task, claims: ReportedClaims) -> Experiment:
    """One experiment that covers all claims, for code whose output `task.yaml` maps to claims."""
    where = "task.yaml"
    if not task.outputs:
        raise FileFormatError(
            "the code has a command but no `outputs` that map its output to claims.",
            where=where,
            hint=f"Map each claim under `outputs`, or give the code an {SPEC_NAME}.",
        )
    mapped = {mapping.claim for mapping in task.outputs}
    limit = (
        {"timeout": task.code.timeout} if task.code and task.code.timeout else {"timeout": 3600.0}
    )
    return Experiment(
        id="given-command",
        kind=ExperimentKind.BASELINE,
        claims=tuple(claim.id for claim in claims.claims if claim.id in mapped),
        config={},
        **limit,
    )


def _read_config(code: Path, name: str, spec: Path) -> dict[str, Any]:
    path = code / name
    if not lies_inside(path, code):
        raise FileFormatError(
            f"the configuration '{name}' leaves the code folder.", where=str(spec)
        )
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileFormatError(
            f"the configuration '{name}' does not exist.", where=str(spec)
        ) from None
    except UnicodeDecodeError:
        raise FileFormatError("is not UTF-8.", where=str(path)) from None
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror}.", where=str(path)) from None
    config = read_json(text, str(path))
    if not isinstance(config, dict):
        raise FileFormatError("must be a mapping of settings.", where=str(path))
    return config


def _refuse_idle_sample(
    sample: dict[str, Any], configs: Iterable[dict[str, Any]], path: Path
) -> None:
    """Refuse a setting that no configuration holds: the small run would not be small."""
    held = list(configs)
    for name in sample:
        places = [_setting(config, name) for config in held]
        if not any(last in place for place, last in places):
            known = sorted({key for place, _ in places for key in place})
            raise FileFormatError(
                f"sample: no configuration holds the setting '{name}'.",
                where=str(path),
                hint=f"They hold there: {', '.join(known) or 'nothing'}.",
            )


def _refuse_double_cover(experiments: list[Experiment], path: Path) -> None:
    covered: dict[str, str] = {}
    for experiment in experiments:
        if experiment.kind not in SUPPLYING:
            continue
        for claim in experiment.claims:
            if claim in covered:
                raise FileFormatError(
                    f"the claim '{claim}' is covered by {covered[claim]} and by {experiment.id}.",
                    where=str(path),
                    hint="One experiment must supply each claim, so that no value can be chosen.",
                )
            covered[claim] = experiment.id


def _refuse_same_runs(experiments: list[Experiment], path: Path) -> None:
    """Two experiments of one configuration and the same claims would be one and the same run."""
    seen: dict[str, str] = {}
    for experiment in experiments:
        key = digest({"config": experiment.config, "claims": sorted(experiment.claims)})
        if key in seen:
            raise FileFormatError(
                f"{seen[key]} and {experiment.id} have the same configuration and claims.",
                where=str(path),
                hint="Take one of them away.",
            )
        seen[key] = experiment.id
