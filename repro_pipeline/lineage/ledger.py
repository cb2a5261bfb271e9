"""The assumptions of a paper as they stand: a person's changes, `task.yaml`, what mining found; and gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from repro_pipeline.bundle.task import Task
from repro_pipeline.bundle.terms import AssumptionGiven, AssumptionSource
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.events import AssumptionRecorded, Event
from repro_pipeline.lineage.assumptions import collect_assumptions, filled_in
from repro_pipeline.lineage.checklist import load_checklist
from repro_pipeline.lineage.defaults import load_defaults
from repro_pipeline.lineage.gaps import Gaps, find_gaps
from repro_pipeline.lineage.mining import contradicted, mine
from repro_pipeline.lineage.model import AssumptionLedger, Lineage, OpenGap
from repro_pipeline.paper.model import Paper

HUMAN = "human:"


def changes_in(events: Iterable[Event]) -> dict[str, Assumption]:
    """What people changed last, by assumption."""
    changed = {}
    for event in events:
        content = event.content
        if isinstance(content, AssumptionRecorded) and event.actor.startswith(HUMAN):
            changed[content.assumption.id] = content.assumption
    return changed


def assumptions_of(
    task: Task,
    texts: Mapping[str, str],
    lineage: Lineage,
    paper: Paper,
    changes: Mapping[str, Assumption],
    gaps: Gaps | None = None,
) -> AssumptionLedger:
    """All assumptions, whoever made them, and the gaps that are left.

    A person's change counts first, unless `task.yaml` says something else of it since; then `task.yaml`;
    then what mining finds for items of the checklist that neither speaks of. `gaps` are by rules alone,
    if not given. Raises BundleError for a source in `task.yaml` that is not there.
    """
    checklist = load_checklist()
    gaps = gaps or find_gaps(paper, checklist)
    given = collect_assumptions(task, texts, lineage, paper)
    standing = {a.id: a for a in given.assumptions}
    said = {one.id: base_of(one) for one in task.assumptions}
    late = [name for name, one in changes.items() if said.get(name) != one.replaces]
    current = {name: one for name, one in changes.items() if name not in late}
    covered = {*standing, *(a.topic for a in standing.values()), *current}
    mined, left = mine(
        gaps,
        checklist,
        texts,
        lineage,
        load_defaults(),
        year=paper.year,
        covered=frozenset(covered),
    )
    standing |= {a.id: a for a in mined} | current
    contradictions = contradicted(gaps)
    warnings = [
        *given.warnings,
        *contradictions,
        *(
            f"The change of '{name}' is not used: task.yaml says something else of it since. "
            "Change it again with `repro assumptions`, if it is still meant."
            for name in late
        ),
        *_told(left),
    ]
    return AssumptionLedger(
        assumptions=tuple(standing.values()),
        gaps=left,
        contradictions=contradictions,
        warnings=tuple(warnings),
    )


def _told(left: tuple[OpenGap, ...]) -> list[str]:
    if not left:
        return []
    names = ", ".join(gap.item for gap in left)
    return [f"The paper does not say, and no source at hand does: {names}."]


def base_of(given: AssumptionGiven) -> str:
    """Digest of what `task.yaml` says of an assumption: a change made for other words is out of date."""
    return digest(given.model_dump(mode="json"))


def changed(
    before: Assumption | OpenGap,
    value: str | int | float | bool,
    *,
    by: str,
    reason: str,
    base: str | None,
) -> Assumption:
    """An assumption with the value that a person gives it; the one before stays as an alternative.

    `base` is the digest of what `task.yaml` says of it, if it does.
    """
    source = AssumptionSource(kind="human", note=reason)
    if isinstance(before, OpenGap):
        return Assumption(
            id=before.item,
            topic=before.item,
            statement=filled_in(before.question, value),
            value=value,
            source=source,
            influence=before.influence,
            proposed_by=by,
            why=reason,
        )
    old = () if before.value is None else (before.value,)
    others = [one for one in dict.fromkeys((*old, *before.alternatives)) if one != value]
    return before.model_copy(
        update={
            "statement": f"Changed to {value}. Before: {before.statement}",
            "value": value,
            "alternatives": tuple(others),
            "source": source,
            "source_found": None,
            "proposed_by": by,
            "why": reason,
            "replaces": base,
        }
    )
