"""Gather the evidence that integrity rests on: repetitions of runs, and readings of the code."""

from __future__ import annotations

import tempfile
from pathlib import Path

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.experiment.campaign import Setting, plan, run_planned
from repro_pipeline.experiment.model import RunSet
from repro_pipeline.experiment.spec import Purpose
from repro_pipeline.scoring.literals import literal_scan
from repro_pipeline.scoring.model import IntegrityEvidence
from repro_pipeline.stages import Ended, Stage

_TEXT_LIMIT = 1 << 20


def gather_integrity(
    stage: Stage, setting: Setting, claims: ReportedClaims, baseline: RunSet
) -> IntegrityEvidence | Ended:
    """Repeat one run of the main claim with its seed, and scan the code for reported values.

    Only a run that counts is repeated: a failing one would fail again, at its full cost.
    """
    main = [run for run in baseline.runs if claims.main in run.values][:1]
    repeated = [
        e for e in setting.implementation.experiments if main and e.id == main[0].experiment
    ]
    seeds = [run.seed for run in main]
    parity = run_planned(stage, plan(setting, repeated, seeds, Purpose.PARITY), setting)
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
