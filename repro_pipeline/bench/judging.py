"""The align scores of what an agent left: one judge for all contestants, asked after the agent ended.

The judge sees the blinded paper, the submission's code and the verified implementation, in a project
of its own: what it answers and costs is recorded there, apart from the agent's.
"""

from __future__ import annotations

from pathlib import Path

from repro_pipeline.agent.align import ask_judge, masked_texts, texts_of
from repro_pipeline.asking.ask import Desk
from repro_pipeline.bench.given import read_task
from repro_pipeline.bench.suite import SuiteTask
from repro_pipeline.bundle.task import Budget
from repro_pipeline.claims.blind_check import guard_for
from repro_pipeline.evidence.alignment import Level
from repro_pipeline.frozen import Frozen
from repro_pipeline.project import Project
from repro_pipeline.scoring.align import align_measures

ACTOR = "code:bench"


class Aligned(Frozen):
    """The align scores of a submission."""

    values: dict[str, float | None]
    """align_paper, align_code, align_mixed: 0 to 100; None where one is not scored."""
    unscored: tuple[str, ...] = ()
    """Why, a sentence for each that is not."""


NO_CODE = Aligned(values={f"align_{level}": 0.0 for level in Level})
"""Where an agent left no code that a judge was to look at: none of it does anything."""


def aligned(project: Project, task: SuiteTask, submission: Path, budget: Budget) -> Aligned:
    """Ask the judge of `project` how far a submission's code does what paper and reference do.

    At most 12 questions; a judge that fails leaves levels unscored.
    """
    read = read_task(task.bundle, task.bundle_folder)
    guard = guard_for(read.paper, read.claims)
    made = align_measures(
        ask_judge(
            Desk.of(project, task.id, budget, guard=guard, actor=ACTOR),
            read.paper,
            read.claims,
            texts_of(submission),
            masked_texts(task.reference, read.paper, read.claims),
        )
    )
    return Aligned(
        values={one.id: one.value for one in made},
        unscored=tuple(f"{one.label}: {one.evidence}" for one in made if one.value is None),
    )
