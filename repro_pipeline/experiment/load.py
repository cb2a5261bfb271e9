"""Read `experiment.yaml` with its configurations, or make one experiment of a command as it is."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from repro_pipeline.bundle.task import Task
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.errors import FileFormatError
from repro_pipeline.experiment.spec import Experiment, ExperimentKind, ExperimentSpec
from repro_pipeline.yamlfile import load_model

SPEC_NAME = "experiment.yaml"


def load_experiments(
    code: Path, claims: ReportedClaims
) -> tuple[ExperimentSpec, tuple[Experiment, ...]]:
    """The experiments of a code folder with their configurations resolved.

    Raises FileFormatError when a file does not follow its schema, a configuration is missing, a
    change names a setting that the base configuration lacks, or a claim is not the paper's.
    """
    path = code / SPEC_NAME
    spec = load_model(path, ExperimentSpec)
    known = {claim.id for claim in claims.claims}
    configs: dict[str, dict[str, Any]] = {}
    for entry in spec.experiments:
        strangers = [claim for claim in entry.claims if claim not in known]
        if strangers:
            raise FileFormatError(
                f"experiment {entry.id} covers the claim '{strangers[0]}', which the task does not name.",
                where=str(path),
                hint=f"Claims: {', '.join(sorted(known))}.",
            )
        if entry.config is not None:
            configs[entry.id] = _read_config(code, entry.config, path)
    experiments = []
    for entry in spec.experiments:
        config = configs.get(entry.of or entry.id)
        if entry.change:
            config = change_config(config, entry.change, where=f"{path}: experiment {entry.id}")
        experiments.append(
            Experiment(
                id=entry.id,
                kind=entry.kind,
                claims=entry.claims,
                config=config,
                of=entry.of,
                change=entry.change,
                assumption=entry.assumption,
                timeout=entry.timeout,
            )
        )
    _refuse_double_cover(experiments, path)
    return spec, tuple(experiments)


def change_config(
    config: dict[str, Any], change: dict[str, Any], *, where: str, add: bool = False
) -> dict[str, Any]:
    """A copy of `config` with settings changed; dots in a name lead into nested mappings.

    Raises FileFormatError when a setting does not exist or already has the value (unless `add`).
    """
    changed = copy.deepcopy(config)
    for name, value in change.items():
        *parents, last = name.split(".")
        place = changed
        for parent in parents:
            place = place.get(parent) if isinstance(place, dict) else None
        if not isinstance(place, dict) or (last not in place and not add):
            raise FileFormatError(
                f"changes '{name}', which its base configuration does not hold.",
                where=where,
                hint=f"It holds: {', '.join(sorted(config)) or 'nothing'}.",
            )
        if not add and place[last] == value:
            raise FileFormatError(
                f"changes '{name}' to {value!r}, which it already is.",
                where=where,
                hint="An experiment of this kind must differ from its base.",
            )
        place[last] = value
    return changed


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
    if not path.resolve().is_relative_to(code.resolve()):
        raise FileFormatError(
            f"the configuration '{name}' leaves the code folder.", where=str(spec)
        )
    try:
        config = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise FileFormatError(
            f"the configuration '{name}' does not exist.", where=str(spec)
        ) from None
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"is no valid JSON: {error.msg}.", where=f"{path}:{error.lineno}"
        ) from None
    except (ValueError, OSError) as error:
        raise FileFormatError(f"cannot be read: {error}.", where=str(path)) from None
    if not isinstance(config, dict):
        raise FileFormatError("must be a mapping of settings.", where=str(path))
    return config


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _refuse_double_cover(experiments: list[Experiment], path: Path) -> None:
    covered: dict[str, str] = {}
    for experiment in experiments:
        if experiment.kind is ExperimentKind.SENSITIVITY:
            continue
        for claim in experiment.claims:
            if claim in covered:
                raise FileFormatError(
                    f"the claim '{claim}' is covered by {covered[claim]} and by {experiment.id}.",
                    where=str(path),
                    hint="One experiment must supply each claim, so that no value can be chosen.",
                )
            covered[claim] = experiment.id
