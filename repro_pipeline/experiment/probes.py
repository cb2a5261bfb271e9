"""Gather the evidence that integrity rests on: repetitions of runs, and readings of the code."""

from __future__ import annotations

import tempfile
from pathlib import Path

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.experiment.campaign import Setting, plan, run_planned, seeds_of
from repro_pipeline.experiment.model import RunSet
from repro_pipeline.experiment.spec import ExperimentKind, Purpose
from repro_pipeline.scoring.literals import literal_scan
from repro_pipeline.scoring.model import IntegrityEvidence
from repro_pipeline.stages import Ended, Stage

_TEXT_LIMIT = 1 << 20


def gather_integrity(
    stage: Stage, setting: Setting, claims: ReportedClaims
) -> IntegrityEvidence | Ended:
    """Repeat the main claim's experiment with its first seed, and scan the code for reported values."""
    repeated = [
        experiment
        for experiment in setting.implementation.experiments
        if claims.main in experiment.claims and experiment.kind is not ExperimentKind.SENSITIVITY
    ]
    seeds = seeds_of(stage.project, setting.bundle, setting.implementation)[:1]
    parity = run_planned(stage, plan(setting, repeated[:1], seeds, Purpose.PARITY), setting)
    runs: RunSet = parity.value if isinstance(parity, Ended) else parity
    evidence = IntegrityEvidence(
        parity=runs.runs, probes=(literal_scan(_texts(stage, setting), claims.claims),)
    )
    return Ended(evidence, parity.status, parity.reason) if isinstance(parity, Ended) else evidence


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
