"""What the values of runs and changed runs show together: ties, counts, answers to changed data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from repro_pipeline.findings import Finding
from repro_pipeline.forensics import counts, halves
from repro_pipeline.forensics.graph import Graph
from repro_pipeline.forensics.record import parse
from repro_pipeline.forensics.response import (
    Response,
    alike,
    data_findings,
    harmless_findings,
    saturated,
    tied,
)
from repro_pipeline.forensics.seeding import fixed_seeds
from repro_pipeline.forensics.spoil import class_shares
from repro_pipeline.ledger.runs import ValueSource
from repro_pipeline.probing.changes import Changed, Way
from repro_pipeline.probing.given import Given

_DATA = {Way.LABELS, Way.TRAIN_LABELS, Way.NOISE, Way.HARMLESS}


def findings(given: Given, graph: Graph) -> Iterator[Finding]:
    """What values give away, whatever the code says."""
    claims = given.by_id
    evaluated: dict[str, dict[int | None, float]] = defaultdict(dict)
    for run in given.runs:
        for claim, value in run.values.items():
            evaluated[claim].setdefault(run.seed, value)
    yield from tied(evaluated, claims)
    yield from alike(evaluated, claims)
    yield from _counts(given, graph, evaluated)
    yield from _extremes(given, evaluated)
    yield from _to_spoilt_data(given, evaluated)
    yield from _to_halves(given)


def _counts(
    given: Given, graph: Graph, evaluated: Mapping[str, Mapping[int | None, float]]
) -> Iterator[Finding]:
    """Shares of cases by their values over all seeds that were run with unchanged settings."""
    samples = {claim: dict(values) for claim, values in evaluated.items()}
    for run in (*given.tried.passed_over, *given.tried.again.values()):
        for claim, value in run.values.items():
            samples.setdefault(claim, {}).setdefault(run.seed, value)
    experiments = given.setting.implementation.experiments
    yield from counts.findings(
        {claim: list(values.values()) for claim, values in samples.items()},
        given.by_id,
        {claim: one.config for one in experiments for claim in one.claims},
        rows=given.tested,
        drawn=not given.setting.data.entries and not fixed_seeds(graph),
    )


def _extremes(
    given: Given, evaluated: Mapping[str, Mapping[int | None, float]]
) -> Iterator[Finding]:
    """Rates that are none, and where they end when the problem is made easy."""
    claims = given.by_id
    runs = [(f"Seed {run.seed} of {run.experiment}", run.values) for run in given.runs]
    runs += [(c.said, c.values) for c in given.tried.changes]
    yield from counts.impossible(claims, runs)
    if not given.setting.data.entries:
        far: dict[str, list[Mapping[str, float]]] = defaultdict(list)
        for change in given.tried.changes:
            if change.way is Way.EXTREME and change.values:
                far[change.experiment].append(change.values)
        found = {claim: set(values.values()) for claim, values in evaluated.items()}
        cases = {
            claim: counts.cases_of(one.config)
            for one in given.setting.implementation.experiments
            for claim in one.claims
        }
        yield from saturated(list(far.values()), found, claims, cases)


def _to_halves(given: Given) -> Iterator[Finding]:
    """Test rows changed by halves, where the code repeats itself."""
    repeated = {
        change.experiment
        for change in given.tried.changes
        if change.way is Way.REPEAT and change.values == change.base.values
    }
    made: dict[tuple[Way, str], list[Changed]] = defaultdict(list)
    for change in given.tried.changes:
        if change.part is not None and change.values and change.experiment in repeated:
            made[change.way, change.experiment].append(change)
    rows, classes = given.tested, len(_class_shares(given)) or None
    all_halves = [
        halves.Halves(
            kind=kind.value,
            experiment=experiment,
            before=changes[0].base.values,
            after={c.part: c.values for c in changes},
            alone=all(c.alone and c.certain for c in changes),
            classes=classes,
            rows=rows,
        )
        for (kind, experiment), changes in made.items()
    ]
    moved = {
        claim
        for change in given.tried.changes
        if change.way in {Way.NOISE, Way.TRAIN_LABELS}
        for claim, value in change.values.items()
        if change.base.values.get(claim) != value
    }
    yield from halves.findings(all_halves, given.by_id, moved)


def _to_spoilt_data(
    given: Given, evaluated: Mapping[str, Mapping[int | None, float]]
) -> Iterator[Finding]:
    changes = [c for c in given.tried.changes if c.way in _DATA and c.run]
    if not changes:
        return
    shares = _class_shares(given)
    responses = [
        Response(
            way=_way_of(c).value,
            change=c.said,
            experiment=c.experiment,
            before=c.base.values,
            after=c.values or None,
            certain=c.certain,
            read=_reads_inputs(given, c),
        )
        for c in changes
    ]
    yield from data_findings(responses, given.by_id, shares, given.tested, _inputless(given))
    samples = {claim: list(values.values()) for claim, values in evaluated.items()}
    yield from harmless_findings(responses, samples)


def _way_of(change: Changed) -> Way:
    """Sealed labels are in no input: only those of training rows were changed, and the value is held
    against the true ones.
    """
    sealed = change.base.counted.value_source is ValueSource.RECOMPUTED
    return Way.TRAIN_LABELS if sealed and change.way is Way.LABELS else change.way


def _inputless(given: Given) -> set[str]:
    """The claims that keep their bits with other test inputs, and answer to other test labels."""
    kept, moved = set(), set()
    for change in given.tried.changes:
        if change.part == "ab":
            for claim, value in change.values.items():
                same = change.base.values.get(claim) == value
                if same and change.way is Way.TEST_INPUTS:
                    kept.add(claim)
                if not same and change.way is Way.TEST_LABELS:
                    moved.add(claim)
    return kept & moved


def _class_shares(given: Given) -> list[float]:
    """The shares of the classes, where the input files have classes."""
    return next(filter(None, map(class_shares, given.files)), [])


def _reads_inputs(given: Given, change: Changed) -> bool:
    """Whether a changed run was seen to read one of the input files."""
    digest_of_record = change.run.counted.record if change.run else None
    if digest_of_record is None:
        return False
    record = parse(given.stage.project.store.get(digest_of_record))
    places = set(given.inputs.values())
    return any(entry.about in places for entry in record.of("read"))
