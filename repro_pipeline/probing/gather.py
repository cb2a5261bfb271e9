"""Gather the evidence that integrity rests on: repetitions of runs, changed runs, readings of the code."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.manifest import role_rows
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.experiment.campaign import Setting, plan, run_planned, small_setting
from repro_pipeline.findings import Probe
from repro_pipeline.forensics.literals import literal_scan
from repro_pipeline.forensics.probes import response_probe
from repro_pipeline.forensics.rows import shared_rows
from repro_pipeline.forensics.submitted import Submission
from repro_pipeline.ledger.runs import SUPPLYING, Purpose, Run, RunSet
from repro_pipeline.probing.changes import Changed, Ground, Way
from repro_pipeline.probing.given import Given
from repro_pipeline.probing.readings import read_all
from repro_pipeline.probing.source import Source, unpack_source
from repro_pipeline.probing.trial import runs_of, try_changes
from repro_pipeline.stages import Ended, Stage
from repro_pipeline.wording import counted

_PROBES = {
    Way.CONFIG: "config_sensitivity",
    Way.NOISE: "data_noise",
    Way.LABELS: "label_permutation",
    Way.FIT_LABELS: "fit_labels",
}


def gather_integrity(
    stage: Stage,
    setting: Setting,
    claims: ReportedClaims,
    baseline: RunSet,
    varied: Sequence[RunSet],
    said: Submission | None = None,
) -> IntegrityEvidence | Ended:
    """Repeat a run, change what values must depend on, and read code, records and claims.

    Only runs that count are repeated: a failing one would fail again, at its full cost. `varied`
    are the runs of ablations and sensitivity experiments, which tell about their baselines as well.
    `said` is what a foreign submission claims of its own runs.
    """
    first = _first(baseline.runs)
    bases = dict(first)
    for runs in varied:
        bases |= _first([run for run in runs.runs if run.kind in SUPPLYING])
    main = [run for run in bases.values() if claims.main in run.values][:1]
    parity = _again(stage, setting, main, Purpose.PARITY)
    small = _again(stage, small_setting(setting), list(first.values()), Purpose.PROBE)
    probed = setting
    if said is None and (small_runs := _first(runs_of(small))):
        # The declared small runs answer as well, at a part of the cost.
        probed, bases = small_setting(setting), small_runs
    with tempfile.TemporaryDirectory(dir=_scratch(stage)) as scratch:
        folder, tree = Path(scratch), setting.implementation.code_tree
        source = unpack_source(stage.project.store, tree, folder / "code")
        ground = Ground(stage, probed, bases, folder)
        tried = try_changes(ground, source.texts, claims.claims, said)
        given = Given(
            stage=stage,
            setting=setting,
            claims=claims,
            runs=tuple(run for runs in (baseline, *varied) for run in runs.runs if run.values),
            source=source,
            tried=tried,
            said=said,
            repeatable=_repeatable(main, runs_of(parity)) and tried.repeats,
        )
        evidence = IntegrityEvidence(
            parity=runs_of(parity),
            probes=(*_probes(given), *_run_probes(given, baseline, varied, runs_of(small))),
            found=(*tried.left_out, *read_all(given)),
        )
    bad = [ended for ended in (parity, small) if isinstance(ended, Ended)]
    return Ended(evidence, bad[0].status, bad[0].reason) if bad else evidence


def _scratch(stage: Stage) -> Path:
    folder = stage.project.state / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _first(runs: Sequence[Run]) -> dict[str, Run]:
    """The first run of each experiment that has values."""
    return {run.experiment: run for run in reversed(runs) if run.values}


def _again(stage: Stage, setting: Setting, runs: Sequence[Run], purpose: Purpose) -> RunSet | Ended:
    """Each run's experiment once more with the run's seed."""
    by_id = {experiment.id: experiment for experiment in setting.implementation.experiments}
    planned = [
        one
        for run in runs
        if run.experiment in by_id
        for one in plan(setting, [by_id[run.experiment]], [run.seed], purpose)
    ]
    return run_planned(stage, planned, setting) if planned else RunSet()


def _repeatable(main: Sequence[Run], parity: Sequence[Run]) -> bool | None:
    """Whether the repetition gave the same bits; None where there is none."""
    pairs = [(run, again) for run in main for again in parity if again.values]
    return all(run.values == again.values for run, again in pairs) if pairs else None


def _probes(given: Given) -> Iterator[Probe]:
    """What the code and the data are asked without any run."""
    yield _literals(given.source, given.claims)
    yield _code_read(given.source)
    yield from _shared_rows(given.setting, given.stage.bundle_folder)


def _run_probes(
    given: Given, baseline: RunSet, varied: Sequence[RunSet], small: Sequence[Run]
) -> Iterator[Probe]:
    """Whether values answer to what is changed between two runs."""
    yield from _sample_probes(small, _first(baseline.runs))
    yield from _variation_probes(given.setting, varied, baseline)
    yield from _response_probes(given.tried.changes)


def _sample_probes(small: Sequence[Run], first: Mapping[str, Run]) -> Iterator[Probe]:
    """Whether values move when each baseline runs with the sample's settings, same seed."""
    for run in small:
        change = f"The sample's settings in {run.experiment}"
        yield response_probe(
            "config_sensitivity", change, first[run.experiment].values, run.values or None
        )


def _variation_probes(
    setting: Setting, varied: Sequence[RunSet], baseline: RunSet
) -> Iterator[Probe]:
    """Whether values move with an experiment's one changed factor, for the first common seed."""
    base = {(run.experiment, run.seed): run for run in baseline.runs if run.values}
    by_id = {experiment.id: experiment for experiment in setting.implementation.experiments}
    seen: set[str] = set()
    for run in (run for runs in varied for run in runs.runs if run.values):
        experiment = by_id[run.experiment]
        before = base.get((experiment.of, run.seed))
        if before is None or experiment.id in seen:
            continue
        seen.add(experiment.id)
        change = f"The changed {', '.join(experiment.change)} in {experiment.id}"
        yield response_probe("config_sensitivity", change, before.values, run.values)


def _literals(source: Source, claims: ReportedClaims) -> Probe:
    """The scan of texts and code; of notebooks, the cells."""
    code = source.code
    probe = literal_scan({**source.texts, **code.python}, claims.claims, python=code.python)
    where = {"where": code.placed(str(probe.evidence["where"]))}
    return probe.model_copy(
        update={"sentence": code.placed(probe.sentence), "evidence": {**probe.evidence, **where}}
    )


def _code_read(source: Source) -> Probe:
    """That the code was read, and how much of it is in a language that is."""
    files = len(
        {name.partition(" (")[0] for name in source.code.python}
    )  # a text in a file is none
    return Probe(
        id="code_read",
        applies=files > 0,
        sentence=f"{counted(files, 'Python file')} read."
        if files
        else "There is no Python to read.",
        evidence={"files": files},
    )


def _shared_rows(setting: Setting, bundle: Path) -> Iterator[Probe]:
    """Rows under two roles by their content, where the data have roles."""
    by_role: dict[str, dict] = {"train": {}, "test": {}, "validation": {}}
    for entry in setting.data.entries:
        for role in set(entry.roles) & set(by_role):
            rows = role_rows(entry, role, bundle)
            by_role[role][entry.name] = (bundle / entry.file, rows)
    evaluation = by_role["test"] or by_role["validation"]
    if by_role["train"] and evaluation:
        yield shared_rows(by_role["train"], evaluation)


def _response_probes(changes: Sequence[Changed]) -> Iterator[Probe]:
    for change in changes:
        if change.way in _PROBES and change.run is not None:
            yield response_probe(
                _PROBES[change.way], change.said, change.base.values, change.values or None
            )
