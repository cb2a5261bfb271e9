"""Stage `experiment_ledger`: all evidence on one table, failures included; no rubric has a say in it."""

from __future__ import annotations

from assets.stage import stage_asset, table
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.evidence.gather import gather_evidence
from repro_pipeline.evidence.model import Evidence, IntegrityEvidence
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.ledger.runs import RunSet
from repro_pipeline.stages import Stage
from repro_pipeline.status import Status


def describe(evidence: Evidence) -> dict:
    """What the evidence consists of, one row per experiment."""
    rows = [
        {
            "experiment": experiment.id,
            "kind": str(experiment.kind),
            "runs": sum(run.experiment == experiment.id for run in evidence.runs),
            "that count": sum(
                run.experiment == experiment.id and run.counted.status is Status.OK
                for run in evidence.runs
            ),
            "seconds": round(
                sum(
                    attempt.seconds
                    for run in evidence.runs
                    if run.experiment == experiment.id
                    for attempt in run.attempts
                ),
                1,
            ),
        }
        for experiment in evidence.experiments
    ]
    return {
        **table("by experiment", rows),
        "mode": evidence.mode,
        "experiments": len(evidence.experiments),
        "runs": len(evidence.runs),
        "failed runs": sum(run.counted.status is not Status.OK for run in evidence.runs),
        "attempts": sum(len(run.attempts) for run in evidence.runs),
        "runner": evidence.runner,
        "earlier failures": "; ".join(reason.sentence for reason in evidence.failures) or "none",
    }


@stage_asset(group="judge", version="1", describe=describe)
def experiment_ledger(
    stage: Stage,
    paper_bundle: Bundle,
    reported_claims: ReportedClaims,
    data_manifest: DataManifest | None,
    environment: BuiltEnvironment | None,
    implementation: Implementation | None,
    baseline: RunSet | None,
    ablations: RunSet | None,
    sensitivity: RunSet | None,
    integrity: IntegrityEvidence | None,
) -> Evidence:
    """Every experiment and run with every attempt, as evidence: what failed or is missing is part of it."""
    return gather_evidence(
        stage,
        paper_bundle,
        reported_claims,
        data_manifest,
        environment,
        implementation,
        [baseline, ablations, sensitivity],
        integrity,
    )
