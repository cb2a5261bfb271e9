"""Stage `baseline`: the paper's experiments, over all evaluation seeds."""

from __future__ import annotations

from assets.runs import describe_runs, what_runs_rest_on
from assets.stage import stage_asset
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.experiment.campaign import Setting, run_kind
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.ledger.runs import ExperimentKind, RunSet
from repro_pipeline.stages import Ended, Stage


@stage_asset(group="experiment", version="1", describe=describe_runs, depends_on=what_runs_rest_on)
def baseline(
    stage: Stage,
    paper_bundle: Bundle,
    implementation: Implementation,
    environment: BuiltEnvironment,
    data_manifest: DataManifest,
) -> RunSet | Ended:
    """Every experiment that supplies the claims, with every evaluation seed, each in the sandbox."""
    setting = Setting(paper_bundle, implementation, environment, data_manifest)
    return run_kind(stage, {ExperimentKind.BASELINE, ExperimentKind.COMPARISON}, setting)
