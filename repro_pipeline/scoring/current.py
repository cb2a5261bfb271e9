"""What scoring rests on at this moment: the rubric, and what people decided.

The rubric is kept by the hash of what it says, so that old scores stay readable with theirs, and a
comment in its file changes nothing.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Literal

from pydantic import ValidationError

import repro_pipeline
from repro_pipeline.errors import FileFormatError, UserError
from repro_pipeline.frozen import Sha256, canonical_json
from repro_pipeline.ledger.events import PROJECT_CHAIN, RubricSeen
from repro_pipeline.ledger.projections import reviews
from repro_pipeline.ledger.rows import ReviewRow
from repro_pipeline.project import Project
from repro_pipeline.scoring.agreement import Agreement
from repro_pipeline.scoring.model import Scores
from repro_pipeline.scoring.review import phase_of, reviewers_agreement
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.yamlfile import parse_model, read_text


def read_rubric(project: Project) -> tuple[Rubric, Sha256]:
    """The rubric and the digest of its settings. Raises FileFormatError."""
    rubric, _ = _rubric_file(project)
    return rubric, hashlib.sha256(_settings(rubric)).hexdigest()


def keep_rubric(project: Project) -> tuple[Rubric, Sha256]:
    """Like `read_rubric`; and keep settings and file in the store, and in the project's chain that they
    were seen.
    """
    rubric, text = _rubric_file(project)
    seen = RubricSeen(
        rubric=project.store.put(_settings(rubric)), text=project.store.put(text.encode())
    )
    actor = f"code:repro-pipeline/{repro_pipeline.__version__}"
    project.ledger.append(PROJECT_CHAIN, seen, actor=actor)
    return rubric, seen.rubric


def _rubric_file(project: Project) -> tuple[Rubric, str]:
    text = read_text(project.rubric_file)
    return _parsed(text, str(project.rubric_file)), text


def _settings(rubric: Rubric) -> bytes:
    """All settings of a rubric, those that its file leaves out too, as one text."""
    return canonical_json(rubric.model_dump(mode="json", by_alias=True))


def rubric_of(project: Project, digest: str) -> Rubric:
    """A rubric that was seen earlier, by its digest; earlier programs took that of the file."""
    return _kept(project.store.get(digest).decode(), f"rubric {digest[:12]}")


def other_rubric(project: Project, scores: Scores) -> str | None:
    """That the project's rubric is not the one of some scores, in a sentence; None where it is."""
    try:
        now, _ = read_rubric(project)
    except FileFormatError as error:
        return f"The rubric cannot be read: {' '.join(str(error).split())}"
    try:
        same = rubric_of(project, scores.rubric) == now
    except UserError:  # swept from the store
        same = False
    again = f"`repro rescore {scores.paper}`"
    return (
        None if same else f"Scored under another rubric than {project.config.rubric} now: {again}."
    )


def rubric_text(project: Project, digest: str) -> str:
    """The file of a rubric, as it stood when these settings were first seen."""
    for event in project.ledger.events(PROJECT_CHAIN, kinds={"rubric_seen"}):
        if event.content.rubric == digest and event.content.text:
            return project.store.get(event.content.text).decode()
    return project.store.get(digest).decode()


@lru_cache(maxsize=16)
def _parsed(text: str, name: str) -> Rubric:
    """A rubric from its file's text: a batch asks for the same ones at every paper."""
    return parse_model(text, Rubric, name=name)


@lru_cache(maxsize=16)
def _kept(text: str, name: str) -> Rubric:
    """A rubric from its settings, or from the file, which earlier programs kept."""
    try:
        return Rubric.model_validate_json(text, strict=True)
    except ValidationError:
        return parse_model(text, Rubric, name=name)


def reviews_of(project: Project, paper: str) -> tuple[ReviewRow, ...]:
    """The claims of a paper that were drawn for review, with people's decisions."""
    return reviews(project.ledger.events(paper, kinds={"review_sampled", "review_decided"}))


def agreement_in(project: Project) -> Agreement:
    """How far reviewers agree, over all papers."""
    rows = [row for paper in project.ledger.chains() for row in reviews_of(project, paper)]
    return reviewers_agreement(rows, read_rubric(project)[0].review)


def sampling_phase(project: Project) -> Literal["early", "stable"]:
    """The phase that sampling for review is in. Reads the reviews of all papers."""
    return phase_of(read_rubric(project)[0].review, agreement_in(project))
