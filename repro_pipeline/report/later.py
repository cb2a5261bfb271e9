"""Whether a later launch did not get through: then the scores are of what it was not."""

from __future__ import annotations

from repro_pipeline.errors import UserError
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.project import Project
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import output_of
from repro_pipeline.status import Status

_ENDED = {
    Status.CANCELLED: "was cancelled in",
    Status.TIMED_OUT: "ran out of time in",
    Status.FAILED: "failed in",
}


def later_launch(project: Project, paper: str) -> str | None:
    """What must be known beside the scores, in a sentence; None where they are of the latest launch.

    A launch that found the scores standing writes no row for them, but good rows of earlier stages.
    """
    last = {
        event.payload["stage"]: event
        for event in project.ledger.events(paper, kinds={"stage_finished"})
    }
    scored = last.get("scores")
    if scored is None or not scored.payload["output"]:
        return None
    names = STAGES[: STAGES.index("scores")]
    newer = [last[name] for name in names if name in last and last[name].seq > scored.seq]
    if not newer:
        return None
    try:
        scores = output_of(project, scored.content, Scores)
        tree = Evidence.model_validate_json(project.store.get(scores.evidence)).code_tree
        made = last["implementation"].content
        now = output_of(project, made, Implementation).code_tree if made.output else None
    except UserError:  # swept from the store
        return None
    end = max(newer, key=lambda event: event.seq).content
    ended = _ENDED.get(end.status)
    if ended is None and now == tree:
        return None
    how = f"{ended or 'has not gone beyond'} {end.stage}"
    code = f"code {tree[:12]}" if tree else "no code"
    other = f"; its code is {now[:12]}" if now and now != tree else ""
    return f"The latest launch {how}; these scores are of an earlier one, of {code}{other}."
