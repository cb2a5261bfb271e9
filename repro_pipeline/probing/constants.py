"""What runs of mutants show: whether values follow the constants near reported ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from repro_pipeline.claims.model import Claim
from repro_pipeline.findings import Finding
from repro_pipeline.forensics import sources
from repro_pipeline.forensics.following import Followed, followed, held
from repro_pipeline.forensics.graph import Graph
from repro_pipeline.forensics.mutate import FACTORS
from repro_pipeline.forensics.prose import in_prose
from repro_pipeline.probing.changes import Changed, Way
from repro_pipeline.probing.given import Given
from repro_pipeline.wording import number

_OF_DATA = {
    Way.NOISE,
    Way.LABELS,
    Way.TRAIN_LABELS,
    Way.TEST_LABELS,
    Way.TEST_INPUTS,
    Way.FIT_LABELS,
}


def findings(given: Given, graph: Graph, static: Sequence[Finding]) -> Iterator[Finding]:
    """The values that follow constants. `static` is what reading the code alone found."""
    kinds = {one.kind for one in static}
    direct, _ = sources.path_kinds(graph)
    lines = {f"{c.file}:{c.line}" for n, c in graph.constants.items() if n in direct}
    names = {node[-1] for node in direct if node[0] in {"key", "attr"}}
    by_experiment: dict[str, dict[float, Changed]] = defaultdict(dict)
    for change in given.tried.changes:
        if change.way is Way.MUTANT:
            by_experiment[change.experiment][change.factor] = change
    for mutants in by_experiment.values():
        if set(mutants) != set(FACTORS):
            continue
        first = mutants[FACTORS[0]]
        after = [mutants[factor].values or None for factor in FACTORS]
        claims = given.by_id
        for one in followed(claims, first.places or {}, first.base.values, after):
            hidden = "hidden_code" in kinds or one.claim in _ignoring_data(given)
            claim = claims[one.claim]
            joined, targeted = _joined(one, lines, names), _targeted(static, one.claim)
            yield _follows(one, claim, joined, hidden, targeted)
            if _nothing_else_moves(claim.id, given):
                yield from held(one, claim, given.paper)


def _ignoring_data(given: Given) -> set[str]:
    """The claims whose value is the same to the bit with data that mean nothing."""
    return {
        claim
        for change in given.tried.changes
        if change.way is Way.NOISE
        for claim, value in change.base.values.items()
        if change.values.get(claim) == value
    }


def _targeted(static: Sequence[Finding], claim: str) -> bool:
    return any(
        one.kind in {"chosen_by_target", "clipped_to_target"} and claim in one.claims
        for one in static
    )


def _joined(one: Followed, lines: set[str], names: set[str]) -> bool:
    """Whether the graph joins a constant to a metric, or all stand where no experiment reads."""
    passes = any(
        place.split(" ")[0] in lines
        or (place.startswith("config") and place.split(" ")[0].rsplit(".", 1)[-1] in names)
        for place in one.places
    )
    return passes or all(map(in_prose, one.places))


def _follows(one: Followed, claim: Claim, joined: bool, hidden: bool, targeted: bool) -> Finding:
    if one.how == "linear":
        severity = "violation" if joined else "suspect" if hidden else "unverified"
        moves = "in exact proportion"
    else:
        severity = "suspect" if targeted else "unverified"
        moves = "to wherever they are moved"
    return Finding(
        kind="follows_constant",
        evidence=f"{one.claim} follows, {moves}, constants at or near its reported value "
        f"{number(claim.value)}: {'; '.join(one.places[:3])}.",
        severity=severity,
        claims=(one.claim,),
    )


def _nothing_else_moves(claim: str, given: Given) -> bool:
    """Whether a value differs between seeds, and no change of data or labels was seen to move it."""
    seeds = {run.values[claim] for run in given.runs if claim in run.values}
    moved = any(
        c.way in _OF_DATA and c.run is not None and c.values.get(claim) != c.base.values.get(claim)
        for c in given.tried.changes
    )
    return len(seeds) > 1 and not moved


def unmoved(changes: Sequence[Changed], found: Sequence[Finding]) -> set[str]:
    """The claims whose near constants were all changed, and that did not follow."""
    mutants = [c for c in changes if c.way is Way.MUTANT]
    tried = {claim for c in mutants if c.values for claim in c.places or {}}
    failed = {claim for c in mutants if not c.values for claim in c.places or {}}
    follow = {claim for one in found if one.kind == "follows_constant" for claim in one.claims}
    return tried - failed - follow
