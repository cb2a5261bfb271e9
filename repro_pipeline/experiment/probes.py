"""Gather the evidence that integrity rests on: repetitions of runs, and readings of the code."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.experiment.campaign import Setting, plan, run_planned, small_setting
from repro_pipeline.experiment.model import Run, RunSet
from repro_pipeline.experiment.spec import Purpose
from repro_pipeline.scoring.literals import literal_scan
from repro_pipeline.scoring.model import IntegrityEvidence, Probe
from repro_pipeline.scoring.probes import response_probe
from repro_pipeline.stages import Ended, Stage

_TEXT_LIMIT = 1 << 20


def gather_integrity(
    stage: Stage,
    setting: Setting,
    claims: ReportedClaims,
    baseline: RunSet,
    varied: Sequence[RunSet],
) -> IntegrityEvidence | Ended:
    """Repeat a run, change what values must depend on, and look for reported values in the code.

    Only runs that count are repeated: a failing one would fail again, at its full cost. `varied`
    are the runs of ablations and sensitivity experiments, which tell about their baselines as well.
    """
    first = {run.experiment: run for run in reversed(baseline.runs) if run.values}
    main = [run for run in first.values() if claims.main in run.values][:1]
    parity = _again(stage, setting, main, Purpose.PARITY)
    small = _again(stage, small_setting(setting), list(first.values()), Purpose.PROBE)
    evidence = IntegrityEvidence(
        parity=_runs(parity),
        probes=(
            literal_scan(_texts(stage, setting), claims.claims),
            *_sample_probes(_runs(small), first),
            *_variation_probes(setting, varied, baseline),
        ),
    )
    bad = [ended for ended in (parity, small) if isinstance(ended, Ended)]
    return Ended(evidence, bad[0].status, bad[0].reason) if bad else evidence


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


def _texts(stage: Stage, setting: Setting) -> dict[str, str]:
    """The frozen code's text files, path → content."""
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
        return texts
