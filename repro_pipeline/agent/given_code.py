"""Mode `code`: the authors' or the user's code, frozen as it is and run as given, no agent."""

from __future__ import annotations

from pathlib import Path

from repro_pipeline.agent.model import Implementation
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.config import Roles
from repro_pipeline.errors import BundleError, UserError
from repro_pipeline.experiment.load import SPEC_NAME, experiment_of_command, load_experiments
from repro_pipeline.experiment.spec import ExperimentKind
from repro_pipeline.ports import ArtifactStore


class NoImplementer(UserError):
    """There is neither code nor a model that could write it."""

    code = "no_implementer"


def code_folder(bundle: Bundle, folder: Path, roles: Roles) -> Path:
    """The folder of the given code. Raises NoImplementer where there is none."""
    if bundle.has_code:
        return folder / (bundle.task.code.path if bundle.task.code else "code")
    have = "no coder model is configured" if roles.coder is None else "an agent cannot write it yet"
    raise NoImplementer(
        f"the bundle holds no code, and {have}.",
        where=str(folder),
        hint="Put the experiment's code into code/ with an experiment.yaml.",
    )


def freeze_code(
    bundle: Bundle, code: Path, claims: ReportedClaims, store: ArtifactStore
) -> Implementation:
    """Store the code under its hash, with the experiments that it offers.

    Raises FileFormatError or BundleError when the code does not say how it is run.
    """
    given = bundle.task.code
    if (code / SPEC_NAME).exists():
        if given and given.command:
            raise BundleError(
                f"gives a command, but the code has an {SPEC_NAME} with one of its own.",
                where="task.yaml: code",
                hint="Take one of them away.",
            )
        spec, experiments = load_experiments(code, claims)
        command, sample, outputs, seeded = spec.entry, spec.sample.config, (), True
    elif given and given.command:
        if len(bundle.task.data) != 1 and any("{data}" in part for part in given.command):
            raise BundleError(
                f"the command names `{{data}}`, and the task has {len(bundle.task.data)} input files.",
                where="task.yaml: code",
                hint="Name each as `{data.NAME}`.",
            )
        experiments = (experiment_of_command(bundle.task, claims),)
        command, sample, outputs = given.command, {}, bundle.task.outputs
        seeded = any("{seed}" in part for part in command)
    else:
        raise BundleError(
            f"the code has no {SPEC_NAME}, and task.yaml gives no `code: {{command: [...]}}`.",
            where=str(code),
            hint="Say how one run is started.",
        )
    covered = {
        claim
        for experiment in experiments
        if experiment.kind is not ExperimentKind.SENSITIVITY
        for claim in experiment.claims
    }
    return Implementation(
        mode="code",
        code_tree=store.put_tree(code),
        command=command,
        experiments=experiments,
        sample=sample,
        outputs=outputs,
        uncovered=tuple(claim.id for claim in claims.claims if claim.id not in covered),
        seeded=seeded,
    )
