"""Gather the evidence that integrity rests on: repetitions of runs, changed runs, readings of the code."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.experiment.campaign import Setting, plan, run_planned, small_setting
from repro_pipeline.experiment.changed import (
    Changed,
    changed_runs,
    config_variants,
    extreme_variants,
    fit_variants,
    halved_variants,
    mutants,
    spoilt_variants,
)
from repro_pipeline.experiment.model import Run, RunSet
from repro_pipeline.experiment.readings import Readings, read_all
from repro_pipeline.experiment.runs import PlannedRun
from repro_pipeline.experiment.spec import SUPPLYING, Experiment, Purpose
from repro_pipeline.forensics.claimed import same
from repro_pipeline.forensics.python_files import Code, code_of
from repro_pipeline.forensics.rows import shared_rows
from repro_pipeline.forensics.settings import single_settings
from repro_pipeline.scoring.literals import literal_scan
from repro_pipeline.scoring.model import Finding, IntegrityEvidence, Probe
from repro_pipeline.scoring.probes import response_probe
from repro_pipeline.scoring.words import counted, duration
from repro_pipeline.stages import Ended, Stage
from repro_pipeline.submission.model import Submission

_TEXT_LIMIT = 1 << 20
_LONG = 120.0
"""Seconds of a run beyond which it is not changed and run again without being asked."""
_REPEATED = 3
"""So many claimed seeds of an experiment are run again."""
_PASSED_OVER = 8
"""So many seeds between the claimed ones are run too."""
_SINGLE = 3


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
    first = {run.experiment: run for run in reversed(baseline.runs) if run.values}
    bases = dict(first)
    for runs in varied:
        for run in reversed(runs.runs):
            if run.values and run.kind in SUPPLYING:
                bases[run.experiment] = run
    main = [run for run in bases.values() if claims.main in run.values][:1]
    parity = _again(stage, setting, main, Purpose.PARITY)
    small = _again(stage, small_setting(setting), list(first.values()), Purpose.PROBE)
    texts, code = _read(stage, setting)
    small_runs = {run.experiment: run for run in _runs(small) if run.values}
    probed = setting
    if said is None and small_runs:  # the declared small runs answer as well, at a part of the cost
        probed, bases = small_setting(setting), small_runs
    with tempfile.TemporaryDirectory(dir=_scratch(stage)) as folder:
        changed = _changed(stage, probed, claims, bases, texts, said, Path(folder))
    repeatable = _repeatable(main, _runs(parity)) and changed.repeats
    readings = Readings(
        stage=stage,
        setting=setting,
        claims=claims,
        runs=tuple(run for runs in (baseline, *varied) for run in runs.runs if run.values),
        texts=texts,
        code=code,
        changed=changed.changes,
        again=changed.again,
        passed_over=changed.passed_over,
        said=said,
        repeatable=repeatable,
    )
    evidence = IntegrityEvidence(
        parity=_runs(parity),
        probes=(
            _literals(texts, code, claims),
            _code_read(code),
            *_shared_rows(setting, stage.bundle_folder),
            *_sample_probes(_runs(small), first),
            *_variation_probes(setting, varied, baseline),
            *_response_probes(changed.changes),
        ),
        found=(*changed.left_out, *read_all(readings)),
    )
    bad = [ended for ended in (parity, small) if isinstance(ended, Ended)]
    return Ended(evidence, bad[0].status, bad[0].reason) if bad else evidence


def _scratch(stage: Stage) -> Path:
    folder = stage.project.state / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Made:
    """What changed runs gave."""

    def __init__(self) -> None:
        self.changes: list[Changed] = []
        self.again: dict[tuple[str, int], Run] = {}
        self.passed_over: list[Run] = []
        self.left_out: list[Finding] = []
        self.repeats: bool = True
        """Whether re-runs of claimed runs that were repeated once more gave the same bits."""


def _changed(
    stage: Stage,
    setting: Setting,
    claims: ReportedClaims,
    bases: Mapping[str, Run],
    texts: Mapping[str, str],
    said: Submission | None,
    folder: Path,
) -> _Made:
    """Every changed run, in one shuffled batch; a second one for settings that were refused."""
    made = _Made()
    short = {name: run for name, run in bases.items() if run.counted.seconds <= _LONG}
    if len(short) < len(bases):
        longest = max(run.counted.seconds for run in bases.values())
        made.left_out.append(
            Finding(
                kind="probes_left_out",
                evidence=f"Runs that take {duration(longest)} were not run again with changed inputs.",
                severity="unverified",
            )
        )
    experiments = {e.id: e for e in setting.implementation.experiments if e.id in short}
    changes = [
        *config_variants(setting, experiments, short),
        *extreme_variants(setting, experiments, short),
        *spoilt_variants(stage, setting, experiments, short, folder),
        *halved_variants(stage, setting, experiments, short, folder),
        *fit_variants(stage, setting, experiments, short),
        *mutants(stage, setting, experiments, short, texts, claims.claims, folder),
    ]
    claimed = _claimed_runs(setting, said)
    over = _passed_over(setting, said)
    order = [*(c.planned for c in changes), *claimed, *over]
    random.Random(stage.project.secret).shuffle(order)
    runs = _by_key(run_planned(stage, order, setting)) if order else {}
    if len(runs) < len({one.identity.run_key for one in order}):
        made.left_out.append(
            Finding(
                kind="probes_left_out",
                evidence=f"{len(runs)} of {counted(len(order), 'changed run')} were made: "
                "the budget ended.",
                severity="unverified",
            )
        )
    made.changes = changed_runs(changes, runs)
    refused = {
        c.experiment
        for c in made.changes
        if c.way == "config" and c.run is not None and not c.run.values
    }
    answered = {c.experiment for c in made.changes if c.way == "config" and c.run and c.run.values}
    singles = [
        one
        for name in refused - answered
        for one in config_variants(
            setting,
            {name: experiments[name]},
            short,
            lambda config: single_settings(config, _SINGLE),
        )
    ]
    if singles:
        runs |= _by_key(run_planned(stage, [c.planned for c in singles], setting))
        made.changes += changed_runs(singles, runs)
    for planned in claimed:
        run = runs.get(planned.identity.run_key)
        if run is not None:
            made.again[run.experiment, planned.identity.seed] = run
    made.repeats = _repeats(stage, setting, claimed, runs, said)
    made.passed_over = [runs[p.identity.run_key] for p in over if p.identity.run_key in runs]
    return made


def _repeats(
    stage: Stage,
    setting: Setting,
    claimed: Sequence[PlannedRun],
    runs: Mapping[str, Run],
    said: Submission | None,
) -> bool:
    """Whether the code repeats itself where its values are not the claimed ones.

    Values with few digits may repeat by chance, so those in question are run once more.
    """
    told = {(run.experiment, run.seed): run.values for run in (said.runs if said else ())}
    odd = [
        one
        for one in claimed
        if (run := runs.get(one.identity.run_key)) is not None
        and run.values
        and any(
            not same(value, run.values[claim])
            for claim, value in told[run.experiment, run.seed].items()
            if claim in run.values
        )
    ]
    if not odd:
        return True
    again = [replace(one, identity=one.identity.model_copy(update={"repeat": 2})) for one in odd]
    repeated = _by_key(run_planned(stage, again, setting))
    pairs = [
        (runs[one.identity.run_key], repeated.get(two.identity.run_key))
        for one, two in zip(odd, again, strict=True)
    ]
    return all(two is None or not two.values or one.values == two.values for one, two in pairs)


def _by_key(made: RunSet | Ended) -> dict[str, Run]:
    return {run.run_key: run for run in _runs(made)}


def _claimed_runs(setting: Setting, said: Submission | None) -> list:
    """Some of the claimed runs, to be run again with their seeds."""
    return [
        planned
        for experiment in setting.implementation.experiments
        for planned in plan(
            setting, [experiment], _claimed_seeds(experiment, said)[:_REPEATED], Purpose.PROBE
        )
    ]


def _passed_over(setting: Setting, said: Submission | None) -> list:
    """Runs with seeds below the largest claimed one that are not among the claimed."""
    planned = []
    for experiment in setting.implementation.experiments:
        claimed = _claimed_seeds(experiment, said)
        if len(claimed) < 2:
            continue
        free = [seed for seed in range(min(max(claimed), 1000)) if seed not in claimed]
        planned += plan(setting, [experiment], free[:_PASSED_OVER], Purpose.PROBE)
    return planned


def _claimed_seeds(experiment: Experiment, said: Submission | None) -> list[int]:
    runs = said.runs if said else ()
    return [
        run.seed
        for run in runs
        if run.experiment == experiment.id and run.values and run.seed < 2**32
    ]


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


def _runs(made: RunSet | Ended) -> tuple[Run, ...]:
    return (made.value if isinstance(made, Ended) else made).runs


def _repeatable(main: Sequence[Run], parity: Sequence[Run]) -> bool | None:
    """Whether the repetition gave the same bits; None where there is none."""
    pairs = [(run, again) for run in main for again in parity if again.values]
    return all(run.values == again.values for run, again in pairs) if pairs else None


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


def _literals(texts: Mapping[str, str], code: Code, claims: ReportedClaims) -> Probe:
    """The scan of texts and code; of notebooks, the cells."""
    probe = literal_scan({**texts, **code.python}, claims.claims, python=code.python)
    where = {"where": code.placed(str(probe.evidence["where"]))}
    return probe.model_copy(
        update={"sentence": code.placed(probe.sentence), "evidence": {**probe.evidence, **where}}
    )


def _code_read(code: Code) -> Probe:
    """That the code was read, and how much of it is in a language that is."""
    files = len({name.partition(" (")[0] for name in code.python})  # a text in a file is none
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
            file = entry.role_files.get(role)
            rows = [int(n) for n in (bundle / file).read_text().split()] if file else None
            by_role[role][entry.name] = (bundle / entry.file, rows)
    evaluation = by_role["test"] or by_role["validation"]
    if by_role["train"] and evaluation:
        yield shared_rows(by_role["train"], evaluation)


_PROBES = {
    "config": "config_sensitivity",
    "noise": "data_noise",
    "labels": "label_permutation",
    "fit_labels": "fit_labels",
}


def _response_probes(changes: Sequence[Changed]) -> Iterator[Probe]:
    for change in changes:
        if change.way in _PROBES and change.run is not None:
            yield response_probe(
                _PROBES[change.way], change.said, change.base.values, change.run.values or None
            )


def _read(stage: Stage, setting: Setting) -> tuple[dict[str, str], Code]:
    """The frozen code's text files, path → content, and the Python in all its files."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        stage.project.store.get_tree(setting.implementation.code_tree, tree)
        texts = {}
        for path in sorted(tree.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= _TEXT_LIMIT:
                content = path.read_bytes()
                if b"\0" not in content:
                    texts[path.relative_to(tree).as_posix()] = content.decode(
                        "utf-8", errors="replace"
                    )
        return texts, code_of(tree)
