"""Mode `code`: the authors' or the user's code, frozen as it is and run as given, no agent."""

from __future__ import annotations

import difflib
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro_pipeline.bundle.folder import Bundle, code_prefix
from repro_pipeline.bundle.task import OutputMapping, Task
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.errors import BundleError, UserError
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.load import (
    SPEC_NAME,
    check_script,
    experiment_of_command,
    load_experiments,
)
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.imports.notebook import RUNNER, notebook_command, with_runner
from repro_pipeline.ledger.runs import ExperimentKind
from repro_pipeline.ports import ArtifactStore
from repro_pipeline.tree import Tree


class NoImplementer(UserError):
    """There is neither code nor a model that could write it."""

    code = "no_implementer"


def code_folder(bundle: Bundle, folder: Path) -> Path:
    """The folder of the given code. Raises NoImplementer where there is none."""
    if bundle.has_code:
        return folder / (bundle.task.code.path if bundle.task.code else "code")
    raise NoImplementer(
        "the bundle holds no code, and no coder model is configured.",
        where=str(folder),
        hint="Put the experiment's code into code/ with an experiment.yaml, or name a model that "
        "writes it under `models: {coder: {model: …}}` in repro.yaml.",
    )


def freeze_code(
    bundle: Bundle, code: Path, claims: ReportedClaims, store: ArtifactStore
) -> Implementation:
    """Store the code under its hash, with the experiments that it offers.

    Raises FileFormatError or BundleError when the code does not say how it is run.
    """
    given, way = bundle.task.code, how_run(bundle.task, code, claims)
    covered = {
        claim
        for experiment in way.experiments
        if experiment.kind is not ExperimentKind.SENSITIVITY
        for claim in experiment.claims
    }
    code_tree = _stored(code, store, notebook=bool(given and given.notebook))
    _check_unchanged(code_tree, bundle, store)
    return Implementation(
        mode="code",
        code_tree=code_tree,
        command=way.command,
        experiments=way.experiments,
        sample=way.sample,
        outputs=way.outputs,
        uncovered=tuple(claim.id for claim in claims.claims if claim.id not in covered),
        seeded=way.seeded,
    )


@dataclass(frozen=True)
class HowRun:
    """How given code is run and read, by its `experiment.yaml` or by `task.yaml`."""

    command: tuple[str, ...]
    experiments: tuple[Experiment, ...]
    sample: dict[str, Any]
    outputs: tuple[OutputMapping, ...]
    seeded: bool


def how_run(task: Task, code: Path, claims: ReportedClaims) -> HowRun:
    """What the files say of how the code is run; nothing is stored or run.

    Raises FileFormatError or BundleError when they do not say it, or name what is not there.
    """
    given, data = task.code, [item.name for item in task.data]
    if (code / SPEC_NAME).exists():
        if (given and (given.command or given.notebook)) or task.outputs:
            raise BundleError(
                f"says how the code is run and read, but the code has an {SPEC_NAME} that does.",
                where="task.yaml: code.command, outputs",
                hint="Take one of them away.",
            )
        spec, experiments = load_experiments(code, claims)
        command, sample, outputs, seeded = spec.entry, spec.sample.config, (), True
        where = f"{code / SPEC_NAME}: entry"
        check_places(command, data, where=where)
        check_script(code, command, where=where)
    elif given and (given.command or given.notebook):
        command, sample, outputs = given.command, {}, task.outputs
        if given.notebook:
            command = notebook_command(code, given.notebook, data)
        check_places(command, data, where="task.yaml: code.command")
        if not given.notebook:
            check_script(code, command, where="task.yaml: code.command")
        experiments = (experiment_of_command(task, claims),)
        seeded = any("{seed}" in part for part in command)
    else:
        raise BundleError(
            f"the code has no {SPEC_NAME}, and task.yaml gives no `code: {{command: [...]}}`.",
            where=str(code),
            hint="Say how one run is started."
            + next((f" A notebook: `notebook: {one.name}`." for one in code.glob("*.ipynb")), ""),
        )
    return HowRun(command, experiments, sample, outputs, seeded)


def _stored(code: Path, store: ArtifactStore, *, notebook: bool) -> str:
    """The digest of the stored code; what runs a notebook is frozen with it."""
    if not notebook:
        return store.put_tree(code)
    with tempfile.TemporaryDirectory() as place:
        return store.put_tree(with_runner(code, Path(place) / "code"))


def _check_unchanged(code_tree: str, bundle: Bundle, store: ArtifactStore) -> None:
    """Raise BundleError where the stored code is not the code that the bundle was read with."""
    inside = code_prefix(bundle.task)
    stored = Tree.model_validate_json(store.get(code_tree))
    ours = {RUNNER} if bundle.task.code and bundle.task.code.notebook else set()
    changed = [
        file.path
        for file in stored.files
        if file.path not in ours and bundle.files.get(inside + file.path) != file.sha256
    ]
    if changed:
        raise BundleError(
            "was changed while the paper was being processed.",
            where=f"{inside}{changed[0]}",
            hint="Run it again.",
        )


def check_places(command: Sequence[str], data: Sequence[str], *, where: str) -> None:
    """Raise BundleError for a place such as `{sede}` or `{data.x}` that no run would fill in.

    Other words in braces are left to the command: they may be its own.
    """
    known = ["config", "seed", "out", *(f"data.{name}" for name in data)]
    known += ["data"] if len(data) == 1 else []
    for name in re.findall(r"\{([A-Za-z][\w.-]*)\}", " ".join(command)):
        near = difflib.get_close_matches(name, known, n=1)
        if name not in known and (near or name.split(".")[0] == "data"):
            raise BundleError(
                f"names the place '{{{name}}}', and the task has {len(data)} input files.",
                where=where,
                hint=f"The places are: {', '.join(f'{{{place}}}' for place in known)}.",
            )


def check_sensitivity(task: Task, experiments: Sequence[Experiment]) -> None:
    """Raise BundleError unless assumptions and sensitivity experiments find each other.

    For a bundle's own code. Whoever wrote other code made assumptions that no task can name.
    """
    assumptions = {assumption.id for assumption in task.assumptions}
    sensitivity = {e.id for e in experiments if e.kind is ExperimentKind.SENSITIVITY}
    for experiment in experiments:
        if experiment.assumption is not None and experiment.assumption not in assumptions:
            raise BundleError(
                f"tests the assumption '{experiment.assumption}', which task.yaml does not name.",
                where=f"{SPEC_NAME}: experiment {experiment.id}",
                hint=f"It names: {', '.join(sorted(assumptions)) or 'none'}.",
            )
    for assumption in task.assumptions:
        if assumption.sensitivity is not None and assumption.sensitivity not in sensitivity:
            raise BundleError(
                f"names the experiment '{assumption.sensitivity}', which is no sensitivity "
                "experiment of the code.",
                where=f"task.yaml: assumption {assumption.id}",
                hint=f"There are: {', '.join(sorted(sensitivity)) or 'none'}.",
            )
