"""What would end a paper's stages, as far as its files alone show it: told when the paper is added."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.errors import UserError

if TYPE_CHECKING:
    from repro_pipeline.bundle.folder import Bundle
    from repro_pipeline.project import Project


def faults_foreseen(project: Project, bundle: Bundle, folder: Path) -> list[str]:
    """The sentences with which stages would end, found by the code that the stages use.

    Nothing is run, and the paper itself is not read. How code is run is not looked at where nothing
    says it yet.
    """

    def claims() -> None:
        from repro_pipeline.bundle.folder import TASK_NAME
        from repro_pipeline.claims.extract import no_claims

        if not bundle.task.claims and project.config.models.of("reader") is None:
            raise no_claims(has_file=(folder / TASK_NAME).exists())

    def code() -> None:
        _check_code(bundle, folder)

    def data() -> None:
        _check_data(project, bundle, folder)

    found = filter(None, map(_fault_of, (claims, code, data)))
    return [fault.replace(f"{folder}/", f"papers/{folder.name}/") for fault in found]


def _fault_of(check: Callable[[], None]) -> str | None:
    try:
        check()
    except UserError as fault:
        return str(fault)
    return None


def _check_code(bundle: Bundle, folder: Path) -> None:
    from repro_pipeline.agent.given_code import check_sensitivity, code_folder, how_run
    from repro_pipeline.claims.extract import claims_unread
    from repro_pipeline.experiment.load import SPEC_NAME
    from repro_pipeline.experiment.spec import ExperimentSpec
    from repro_pipeline.yamlfile import load_model

    if not bundle.has_code:
        return
    code, task = code_folder(bundle, folder), bundle.task
    has_spec = (code / SPEC_NAME).exists()
    if task.claims and (has_spec or (task.outputs and task.code)):
        check_sensitivity(task, how_run(task, code, claims_unread(task)).experiments)
    elif has_spec:
        load_model(code / SPEC_NAME, ExperimentSpec)


def _check_data(project: Project, bundle: Bundle, folder: Path) -> None:
    from repro_pipeline.environment.manifest import make_manifest
    from repro_pipeline.experiment.sealed import check_sealed

    data = bundle.task.data
    if bundle.task.download and not all(one.path and (folder / one.path).exists() for one in data):
        return  # they are yet to be brought
    check_sealed(bundle.task, make_manifest(data, folder, project.state / "data"), folder)
