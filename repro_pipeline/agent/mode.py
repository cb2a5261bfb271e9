"""Whether a paper's code is run as given, or an agent writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from repro_pipeline.agent.given_code import code_folder
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.environment.languages import notes_on, programs_needed
from repro_pipeline.experiment.load import SPEC_NAME
from repro_pipeline.experiment.spec import ExperimentSpec
from repro_pipeline.imports.notebook import PACKAGES
from repro_pipeline.project import Project
from repro_pipeline.stages import Stage
from repro_pipeline.yamlfile import load_model


def mode_of(project: Project, bundle: Bundle) -> Literal["code", "agent"]:
    """`agent` where it is asked for, or where there is no code and a coder is configured."""
    writes = not bundle.has_code and project.config.models.coder is not None
    return "agent" if project.agent or writes else "code"


def code_of(stage: Stage, bundle: Bundle) -> Path | None:
    """The folder of the given code; None where an agent begins from nothing.

    Raises NoImplementer where there is neither code nor an agent.
    """
    if not bundle.has_code and mode_of(stage.project, bundle) == "agent":
        return None
    return code_folder(bundle, stage.bundle_folder)


def other_programs(stage: Stage, bundle: Bundle) -> list[str]:
    """What must be said of given code of other languages than Python.

    Raises BuildError where runs do not have the program that it calls.
    """
    if mode_of(stage.project, bundle) == "agent":
        return []
    code, given = code_folder(bundle, stage.bundle_folder), bundle.task.code
    command = given.command if given else ()
    if (code / SPEC_NAME).is_file():
        command = load_model(code / SPEC_NAME, ExperimentSpec).entry
    if given and given.notebook:
        return []
    return notes_on(programs_needed(code, command), image=stage.project.images is not None)


def kernel_packages(stage: Stage, bundle: Bundle) -> list[str]:
    """What runs the given notebook, where one is to be run."""
    given = bundle.task.code
    is_run = given and given.notebook and mode_of(stage.project, bundle) == "code"
    return list(PACKAGES) if is_run else []


def packages_for_agent(stage: Stage, bundle: Bundle) -> list[str]:
    """What is installed beside what given code names: an agent's packages in its mode, else none."""
    if mode_of(stage.project, bundle) == "code":
        return []
    return list(dict.fromkeys((*stage.project.config.agent.packages, *bundle.task.packages)))
