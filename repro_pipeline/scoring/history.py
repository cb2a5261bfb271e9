"""A paper's scorings, one after the other: each stays readable with the rubric that it was made under,
and what each changed is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import ValidationError

from repro_pipeline.errors import UserError
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import Frozen, Sha256, canonical_json, digest
from repro_pipeline.ledger.events import ScoresChanged
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.project import Project
from repro_pipeline.scoring.changes import ScoreChange, compare
from repro_pipeline.scoring.current import reviews_of, rubric_of
from repro_pipeline.scoring.model import Scores
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.stages import Stage
from repro_pipeline.wording import counted


class Scoring(Frozen):
    """One scoring of a paper."""

    number: int
    """From 1, the oldest first."""
    at: datetime
    scores: Sha256
    """The scores in the artifact store."""
    launch: str


def scorings(project: Project, paper: str) -> tuple[Scoring, ...]:
    """Every time that the stage `scores` left scores, in order."""
    made = [
        (event.at, event.content)
        for event in project.ledger.events(paper, kinds={"stage_finished"})
        if event.payload["stage"] == "scores" and event.payload["output"]
    ]
    return tuple(
        Scoring(number=number, at=at, scores=row.output, launch=row.launch)
        for number, (at, row) in enumerate(made, start=1)
    )


def scores_at(project: Project, digest: Sha256) -> Scores | None:
    """Stored scores; None where they were removed, or an earlier version of the program made them."""
    try:
        return Scores.model_validate_json(project.store.get(digest))
    except (UserError, ValidationError):
        return None


def record_change(
    stage: Stage, evidence: Evidence, attempts: Sequence[Attempt], new: Scores, rubric: Rubric
) -> None:
    """Compare scores with the last that there were, and keep what changed; a warning where the old
    ones cannot be read any more. A scoring that was interrupted or failed left none.
    """
    made = scorings(stage.project, stage.paper)
    if not made or made[-1].scores == digest(new):
        return
    before = made[-1].scores
    old = scores_at(stage.project, before)
    try:
        old_rubric = rubric_of(stage.project, old.rubric) if old else None
    except UserError:
        old_rubric = None
    if old is None or old_rubric is None:
        stage.warn(
            "not_compared", f"The scores {before[:12]} or their rubric cannot be read any more."
        )
        return
    stored = (before, digest(new))
    change = compare(evidence, attempts, (old, old_rubric), (new, rubric), stored=stored)
    stage.record(
        ScoresChanged(
            before=change.before,
            after=change.after,
            rubric_before=change.rubric_before,
            rubric_after=change.rubric_after,
            change=stage.project.store.put(canonical_json(change.model_dump(mode="json"))),
            sentence=change.sentence,
        )
    )


def change_between(
    project: Project, paper: str, before: Sha256, after: Sha256
) -> ScoreChange | None:
    """What was kept of a pair of scorings; None where they were never compared."""
    for event in project.ledger.events(paper, kinds={"scores_changed"}):
        if (event.payload["before"], event.payload["after"]) == (before, after):
            return ScoreChange.model_validate_json(project.store.get(event.payload["change"]))
    return None


def last_pair(made: Sequence[Scoring]) -> tuple[Sha256, Sha256] | None:
    """The latest scores, and the last before them that were others; None where there were none."""
    outputs = [one.scores for one in made]
    # A scoring that came out as the one before it was not compared.
    earlier = [one for one in outputs[:-1] if one != outputs[-1]]
    return (earlier[-1], outputs[-1]) if earlier else None


def last_change(project: Project, paper: str) -> ScoreChange | None:
    """What the latest scoring changed; None for the first one."""
    pair = last_pair(scorings(project, paper))
    return change_between(project, paper, *pair) if pair else None


def latest_change(project: Project, paper: str) -> ScoreChange | None:
    """What the latest scoring changed against the one before it; None where nothing is known."""
    outputs = [one.scores for one in scorings(project, paper)][-2:]
    return change_between(project, paper, *outputs) if len(set(outputs)) == 2 else None


def decisions_left(project: Project, paper: str) -> int:
    """How many decisions counted for the scores before the latest, and do not for these."""
    before, after = [one.scores for one in scorings(project, paper)][-2:]
    rows = reviews_of(project, paper)
    held = {(row.claim, row.bound_to) for row in rows if row.scores == after}
    made = [row for row in rows if row.scores == before and (row.claim, row.bound_to) not in held]
    return sum(len(row.decisions) for row in made)


def told(project: Project, paper: str) -> str:
    """The same in words, and how many decisions of people do not hold any more."""
    if change := latest_change(project, paper):
        left = decisions_left(project, paper)
        counts = "was of the scores before and no longer counts"
        if left > 1:
            counts = "were of the scores before and no longer count"
        return (
            f"{change.sentence} {counted(left, 'decision')} {counts}." if left else change.sentence
        )
    outputs = [one.scores for one in scorings(project, paper)][-2:]
    if len(outputs) == 1:
        return "scored for the first time."
    if outputs[0] == outputs[1]:
        return "scored again; the scores are as they were."
    return "scored again; the scores before cannot be compared with any more."


def change_rows(change: ScoreChange) -> list[dict[str, str]]:
    """The outcomes that differ, as a table."""
    return [
        {
            "what": one.kind if one.name == one.kind else f"{one.kind} {one.name}",
            "before": one.before or "-",
            "after": one.after or "-",
            "because of": change.why(one),
        }
        for one in change.outcomes
    ]
