"""Bring together what was done for a paper, so that it can be judged without asking anything else."""

from __future__ import annotations

from collections.abc import Sequence

from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.evidence.model import Evidence, IntegrityEvidence
from repro_pipeline.experiment.campaign import seeds_of
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.ledger.runs import Run, RunSet
from repro_pipeline.project import Project
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import Stage, latest, output_of
from repro_pipeline.status import Reason, Status


def gather_evidence(
    stage: Stage,
    bundle: Bundle,
    claims: ReportedClaims,
    data: DataManifest | None,
    environment: BuiltEnvironment | None,
    implementation: Implementation | None,
    run_sets: Sequence[RunSet | None],
    integrity: IntegrityEvidence | None,
) -> Evidence:
    """The evidence for a paper; a stage that left nothing leaves its reason."""
    runs = tuple(run for run_set in run_sets if run_set for run in run_set.runs)
    seeds = seeds_of(stage.project, bundle, implementation) if implementation else ()
    return Evidence(
        paper=stage.paper,
        mode=implementation.mode if implementation else "code" if bundle.has_code else "agent",
        claims=claims,
        experiments=implementation.experiments if implementation else (),
        runs=runs,
        seeds=tuple(seed for seed in seeds if seed is not None),
        environment=environment,
        data=data or DataManifest(),
        integrity=integrity or IntegrityEvidence(),
        code_tree=implementation.code_tree if implementation else None,
        runner="unsafe_local" if _unsandboxed(runs, integrity) else stage.project.runner.name,
        failures=_failures(stage),
    )


def code_of_evidence(project: Project, paper: str, evidence: Evidence) -> Implementation | None:
    """The code that evidence is of: a later one may stand frozen that nobody ran yet."""
    for event in reversed(list(project.ledger.events(paper, kinds={"stage_finished"}))):
        if event.payload["stage"] == "implementation" and event.payload["output"]:
            made = output_of(project, event.content, Implementation)
            if (made.code_tree, made.experiments) == (evidence.code_tree, evidence.experiments):
                return made
    return None


def _unsandboxed(runs: Sequence[Run], integrity: IntegrityEvidence | None) -> bool:
    """Whether any run whose values are used ran without a sandbox, in whichever launch."""
    used = (*runs, *(integrity.parity if integrity else ()))
    return any(run.counted.runner == "unsafe_local" for run in used)


def _failures(stage: Stage) -> tuple[Reason, ...]:
    """Why earlier stages ended badly; stages that only waited for them are left out."""
    earlier = STAGES[: STAGES.index(stage.name)]
    rows = [latest(stage.project, stage.paper, name) for name in earlier]
    good = {Status.OK, Status.NOT_APPLICABLE, Status.BLOCKED}
    return tuple(
        Reason(code=row.reason.code, sentence=f"{row.stage}: {row.reason.sentence}")
        for row in rows
        if row and row.status not in good and row.reason
    )
