"""What the values of runs and changed runs show together: ties, counts, answers to changed data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from repro_pipeline.experiment.campaign import input_mounts
from repro_pipeline.experiment.changed import Changed
from repro_pipeline.experiment.spec import ValueSource
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
from repro_pipeline.scoring.model import Finding

if TYPE_CHECKING:
    from repro_pipeline.experiment.readings import Readings

_DATA = {"labels", "train_labels", "noise", "harmless"}


def findings(given: Readings, graph: Graph) -> Iterator[Finding]:
    """What values give away, whatever the code says."""
    claims = {claim.id: claim for claim in given.claims.claims}
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
    given: Readings, graph: Graph, evaluated: Mapping[str, Mapping[int | None, float]]
) -> Iterator[Finding]:
    """Shares of cases by their values over all seeds that were run with unchanged settings."""
    samples = {claim: dict(values) for claim, values in evaluated.items()}
    for run in (*given.passed_over, *given.again.values()):
        for claim, value in run.values.items():
            samples.setdefault(claim, {}).setdefault(run.seed, value)
    experiments = given.setting.implementation.experiments
    yield from counts.findings(
        {claim: list(values.values()) for claim, values in samples.items()},
        {claim.id: claim for claim in given.claims.claims},
        {claim: one.config for one in experiments for claim in one.claims},
        rows=_tested(given),
        drawn=not given.setting.data.entries and not fixed_seeds(graph),
    )


def _extremes(
    given: Readings, evaluated: Mapping[str, Mapping[int | None, float]]
) -> Iterator[Finding]:
    """Rates that are none, and where they end when the problem is made easy."""
    claims = {claim.id: claim for claim in given.claims.claims}
    runs = [(f"Seed {run.seed} of {run.experiment}", run.values) for run in given.runs]
    runs += [(c.said, c.run.values) for c in given.changed if c.run is not None]
    yield from counts.impossible(claims, runs)
    if not given.setting.data.entries:
        far: dict[str, list[Mapping[str, float]]] = defaultdict(list)
        for change in given.changed:
            if change.way == "extreme" and change.run is not None and change.run.values:
                far[change.experiment].append(change.run.values)
        found = {claim: set(values.values()) for claim, values in evaluated.items()}
        cases = {
            claim: counts.cases_of(one.config)
            for one in given.setting.implementation.experiments
            for claim in one.claims
        }
        yield from saturated(list(far.values()), found, claims, cases)


def _to_halves(given: Readings) -> Iterator[Finding]:
    """Test rows changed by halves, where the code repeats itself."""
    repeated = {
        change.experiment
        for change in given.changed
        if change.way == "repeat" and change.run is not None
        if change.run.values == change.base.values
    }
    made: dict[tuple[str, str], list[Changed]] = defaultdict(list)
    for change in given.changed:
        known = change.run is not None and change.run.values and change.experiment in repeated
        if change.part is not None and known:
            made[change.way, change.experiment].append(change)
    rows, classes = _tested(given), len(_class_shares(given)) or None
    all_halves = [
        halves.Halves(
            kind=kind,
            experiment=experiment,
            before=changes[0].base.values,
            after={c.part: c.run.values for c in changes},
            alone=all(c.alone and c.certain for c in changes),
            classes=classes,
            rows=rows,
        )
        for (kind, experiment), changes in made.items()
    ]
    moved = {
        claim
        for change in given.changed
        if change.way in {"noise", "train_labels"} and change.run is not None
        for claim, value in change.run.values.items()
        if change.base.values.get(claim) != value
    }
    claims = {claim.id: claim for claim in given.claims.claims}
    yield from halves.findings(all_halves, claims, moved)


def _to_spoilt_data(
    given: Readings, evaluated: Mapping[str, Mapping[int | None, float]]
) -> Iterator[Finding]:
    claims = {claim.id: claim for claim in given.claims.claims}
    changes = [c for c in given.changed if c.way in _DATA and c.run]
    if not changes:
        return
    mounts = input_mounts(given.stage, given.setting)
    shares = _class_shares(given)
    responses = [
        Response(
            way=_way_of(c),
            change=c.said,
            experiment=c.experiment,
            before=c.base.values,
            after=c.run.values or None,
            certain=c.certain,
            read=_reads(given, c, [str(mount.target) for mount in mounts.values()]),
        )
        for c in changes
    ]
    yield from data_findings(responses, claims, shares, _tested(given), _inputless(given))
    samples = {claim: list(values.values()) for claim, values in evaluated.items()}
    yield from harmless_findings(responses, samples)


def _way_of(change: Changed) -> str:
    """Sealed labels are in no input: only those of training rows were changed, and the value is held
    against the true ones.
    """
    sealed = change.base.counted.value_source is ValueSource.RECOMPUTED
    return "train_labels" if sealed and change.way == "labels" else change.way


def _inputless(given: Readings) -> set[str]:
    """The claims that keep their bits with other test inputs, and answer to other test labels."""
    kept, moved = set(), set()
    for change in given.changed:
        if change.part == "ab" and change.run is not None:
            for claim, value in change.run.values.items():
                same = change.base.values.get(claim) == value
                if same and change.way == "test_inputs":
                    kept.add(claim)
                if not same and change.way == "test_labels":
                    moved.add(claim)
    return kept & moved


def _class_shares(given: Readings) -> list[float]:
    """The shares of the classes, where the input files have classes."""
    mounts = input_mounts(given.stage, given.setting)
    return next(filter(None, (class_shares(m.source) for m in mounts.values())), [])


def _tested(given: Readings) -> int | None:
    """How many rows have the role test; None where that is not said."""
    counts = []
    for entry in given.setting.data.entries:
        if "test" in entry.roles:
            file = entry.role_files.get("test")
            rows = (given.stage.bundle_folder / file).read_text().split() if file else None
            counts.append(entry.rows if rows is None else len(rows))
    return sum(count for count in counts if count) or None


def _reads(given: Readings, change: Changed, places: Sequence[str]) -> bool:
    """Whether a changed run was seen to read one of the input files."""
    digest_of_record = change.run.counted.record if change.run else None
    if digest_of_record is None:
        return False
    record = parse(given.stage.project.store.get(digest_of_record))
    return any(entry.about in places for entry in record.of("read"))
