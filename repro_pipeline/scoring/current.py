"""What scoring rests on at this moment: the rubric, and what people decided.

The rubric is kept by its hash, so that old scores stay readable with theirs.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Literal

import repro_pipeline
from repro_pipeline.frozen import Sha256
from repro_pipeline.ledger.events import PROJECT_CHAIN, RubricSeen
from repro_pipeline.ledger.projections import reviews
from repro_pipeline.ledger.rows import ReviewRow
from repro_pipeline.project import Project
from repro_pipeline.scoring.agreement import Agreement
from repro_pipeline.scoring.review import phase_of, reviewers_agreement
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.yamlfile import parse_model, read_text


def read_rubric(project: Project) -> tuple[Rubric, Sha256]:
    """The rubric and the digest of its file. Raises FileFormatError."""
    rubric, content = _rubric_file(project)
    return rubric, hashlib.sha256(content).hexdigest()


def keep_rubric(project: Project) -> tuple[Rubric, Sha256]:
    """Like `read_rubric`; and keep the file in the store, and in the project's chain that it was seen."""
    rubric, content = _rubric_file(project)
    digest = project.store.put(content)
    actor = f"code:repro-pipeline/{repro_pipeline.__version__}"
    project.ledger.append(PROJECT_CHAIN, RubricSeen(rubric=digest), actor=actor)
    return rubric, digest


def _rubric_file(project: Project) -> tuple[Rubric, bytes]:
    text = read_text(project.rubric_file)
    return _parsed(text, str(project.rubric_file)), text.encode()


def rubric_of(project: Project, digest: str) -> Rubric:
    """A rubric that was seen earlier, by the digest of its file."""
    return _parsed(project.store.get(digest).decode(), f"rubric {digest[:12]}")


@lru_cache(maxsize=16)
def _parsed(text: str, name: str) -> Rubric:
    """A rubric from its text: a batch asks for the same ones at every paper."""
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
