"""Ask the judge of a project how far frozen code does what its paper says: evidence beside the probes.

The judge sees the blinded paper, like every model. It is asked once per paper, code and model: its
answers are evidence, and scoring by another rubric asks nothing again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from repro_pipeline.agent.align_judge import gather_alignment
from repro_pipeline.asking.ask import Desk, ask
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.blind_check import guard_for
from repro_pipeline.claims.blinding import blind_paper, secrets_for
from repro_pipeline.claims.masking import Reach, mask_text
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.evidence.alignment import Alignment, Level, LevelEvidence
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Ended, Stage

LARGEST = 1 << 20
"""Bytes of a file that is shown."""
STEP = "align"


def with_alignment(
    stage: Stage,
    evidence: IntegrityEvidence | Ended,
    bundle: Bundle,
    paper: Paper,
    claims: ReportedClaims,
    implementation: Implementation,
) -> IntegrityEvidence | Ended:
    """The evidence with a judge's answers beside it; as it is where no judge is configured."""
    if stage.project.config.models.judge is None:
        return evidence
    found = align(stage, bundle, paper, claims, implementation)
    if isinstance(evidence, Ended):
        value = evidence.value and evidence.value.model_copy(update={"alignment": found})
        return replace(evidence, value=value)
    return evidence.model_copy(update={"alignment": found})


def align(
    stage: Stage,
    bundle: Bundle,
    paper: Paper,
    claims: ReportedClaims,
    implementation: Implementation,
) -> Alignment:
    """The judge's answers; why there are none where the configuration keeps paper or code back."""
    project = stage.project
    send = project.config.send_to_models
    if not send.paper or not send.code:
        why = "The configuration sends no paper or no code to models (send_to_models)."
        return Alignment(levels=tuple(LevelEvidence(level=one, stopped=why) for one in Level))
    budget = project.config.budget.stricter(bundle.task.budget)
    guard = guard_for(paper, claims)
    desk = Desk.of(project, stage.paper, budget, guard=guard, actor=stage.actor)
    with tempfile.TemporaryDirectory(prefix="repro-align-") as place:
        tree = Path(place, "tree")
        project.store.get_tree(implementation.code_tree, tree)
        code = texts_of(tree)
    return ask_judge(
        desk, paper, claims, code, _reference(stage, bundle, paper, claims, implementation)
    )


def ask_judge(
    desk: Desk,
    paper: Paper,
    claims: ReportedClaims,
    code: Mapping[str, str],
    reference: Mapping[str, str] | None,
) -> Alignment:
    """The judge's answers on some code; `reference` is masked already, None where there is none."""
    asking = partial(ask, desk, step=STEP, role="judge")
    return gather_alignment(asking, blind_paper(paper, claims).text, code, reference)


def _reference(
    stage: Stage,
    bundle: Bundle,
    paper: Paper,
    claims: ReportedClaims,
    implementation: Implementation,
) -> Mapping[str, str] | None:
    """The given code, masked, where an agent's code is judged; given code is no reference of itself."""
    if implementation.mode == "code" or not bundle.has_code:
        return None
    folder = stage.bundle_folder / (bundle.task.code.path if bundle.task.code else "code")
    return masked_texts(folder, paper, claims)


def masked_texts(folder: Path, paper: Paper, claims: ReportedClaims) -> dict[str, str]:
    """The text files of a folder by path, with the reported values hidden."""
    secrets = secrets_for(paper, claims)
    return {
        name: mask_text(text, secrets, where=name, reach=Reach.VALUES)[0]
        for name, text in texts_of(folder).items()
    }


def texts_of(folder: Path) -> dict[str, str]:
    """The text files of a folder by path; hidden ones and locks, which are long and no code, left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        out = any(part.startswith((".", "__pycache__")) for part in inner.parts)
        out = out or path.suffix == ".lock"
        if out or path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
            continue
        content = path.read_bytes()
        if b"\0" not in content:
            found[inner.as_posix()] = content.decode("utf-8", errors="replace")
    return found
