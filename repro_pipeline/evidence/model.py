"""All that is scored, as plain data: the evidence of a paper."""

from __future__ import annotations

from typing import Literal

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.evidence.alignment import Alignment
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.findings import Finding, Probe
from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ledger.runs import Run
from repro_pipeline.status import Reason


class IntegrityEvidence(Frozen):
    """What costs runs or model calls, gathered once and kept: the rubric only judges it."""

    parity: tuple[Run, ...] = ()
    """Repetitions of evaluation runs with the same seed, purpose `parity`."""
    probes: tuple[Probe, ...] = ()
    found: tuple[Finding, ...] = ()
    """What the readings of code, records, responses and claims found: direct evidence, which no
    threshold of a rubric changes."""
    alignment: Alignment | None = None
    """A judge's answers on paper and code; None where no judge was asked."""


class Evidence(Frozen):
    """All that is scored: projected from the ledger, independent of any rubric."""

    paper: str
    mode: Literal["code", "agent"]
    claims: ReportedClaims
    experiments: tuple[Experiment, ...]
    runs: tuple[Run, ...]
    """Every run of the frozen code, failed ones included; purposes eval and sweep."""
    seeds: tuple[int, ...]
    """The seeds that evaluation was to use; empty for unseeded code."""
    environment: BuiltEnvironment | None
    data: DataManifest
    integrity: IntegrityEvidence
    code_tree: Sha256 | None
    runner: str
    failures: tuple[Reason, ...] = ()
    """Why a stage before the experiments failed, where one did."""
