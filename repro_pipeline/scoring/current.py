"""The rubric as it stands now, kept by its hash so that old scores stay readable with theirs."""

from __future__ import annotations

import repro_pipeline
from repro_pipeline.ledger.events import PROJECT_CHAIN, RubricSeen
from repro_pipeline.project import Project
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.yamlfile import load_model, parse_model


def current_rubric(project: Project) -> tuple[Rubric, str]:
    """The rubric and the digest of its file, after keeping it. Raises FileFormatError."""
    rubric = load_model(project.rubric_file, Rubric)
    digest = project.store.put_file(project.rubric_file)
    actor = f"code:repro-pipeline/{repro_pipeline.__version__}"
    project.ledger.append(PROJECT_CHAIN, RubricSeen(rubric=digest), actor=actor)
    return rubric, digest


def rubric_of(project: Project, digest: str) -> Rubric:
    """A rubric that was seen earlier, by the digest of its file."""
    return parse_model(project.store.get(digest).decode(), Rubric, name=f"rubric {digest[:12]}")
