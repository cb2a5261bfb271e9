"""Stage `integrity`: evidence that costs runs, gathered once and judged later by any rubric."""

from __future__ import annotations

from assets.runs import what_runs_rest_on
from assets.stage import stage_asset, table
from repro_pipeline.agent.align import with_alignment
from repro_pipeline.agent.model_probes import with_model_probes
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.experiment.campaign import Setting
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.runs import RunSet
from repro_pipeline.paper.model import Paper
from repro_pipeline.probing.gather import gather_integrity
from repro_pipeline.scoring.align import align_measures
from repro_pipeline.stages import Ended, Stage


def describe(evidence: IntegrityEvidence) -> dict:
    """The probes, each in a sentence, and what was found."""
    rows = [{"probe": probe.id, "found": probe.sentence} for probe in evidence.probes]
    return {
        **table("probes", rows),
        "findings": "; ".join(f"{one.severity}: {one.kind}" for one in evidence.found) or "none",
        "parity runs": len(evidence.parity),
        **{
            one.id: "not scored" if one.value is None else one.value
            for one in align_measures(evidence.alignment)
        },
    }


def rests_on(
    stage: Stage,
    paper_bundle: Bundle,
    parsed_paper: Paper,
    reported_claims: ReportedClaims,
    implementation: Implementation,
    environment: BuiltEnvironment,
    data_manifest: DataManifest,
    baseline: RunSet,
    ablations: RunSet | None,
    sensitivity: RunSet | None,
) -> dict:
    """What the runs rest on, which of them count, the claims looked for, and what a judge is asked."""
    judge = stage.project.config.models.judge
    return {
        "judge": None if judge is None else [judge.model, digest(parsed_paper)],
        **what_runs_rest_on(stage, paper_bundle, implementation, environment, data_manifest),
        "claims": reported_claims.model_dump(mode="json"),
        "runs": [
            run.run_key
            for runs in (baseline, ablations, sensitivity)
            for run in (runs.runs if runs else ())
            if run.values
        ],
    }


@stage_asset(group="evidence", version="4", describe=describe, depends_on=rests_on)
def integrity(
    stage: Stage,
    paper_bundle: Bundle,
    parsed_paper: Paper,
    reported_claims: ReportedClaims,
    implementation: Implementation,
    environment: BuiltEnvironment,
    data_manifest: DataManifest,
    baseline: RunSet,
    ablations: RunSet | None,
    sensitivity: RunSet | None,
) -> IntegrityEvidence | Ended:
    """Repetitions with the same seed, probes of the code, a judge's answers: evidence, no judgement."""
    setting = Setting(paper_bundle, implementation, environment, data_manifest)
    varied = [runs for runs in (ablations, sensitivity) if runs]
    evidence = gather_integrity(stage, setting, reported_claims, baseline, varied)
    beside = (paper_bundle, parsed_paper, reported_claims, implementation)
    return with_alignment(stage, with_model_probes(stage, evidence, *beside), *beside)
