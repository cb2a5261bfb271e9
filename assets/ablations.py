"""Stage `ablations`: one-factor differences from the baselines."""

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
def ablations(
    stage: Stage,
    paper_bundle: Bundle,
    implementation: Implementation,
    environment: BuiltEnvironment,
    data_manifest: DataManifest,
) -> RunSet | Ended:
    """Every ablation that is a run of its own: a baseline's configuration with one factor changed."""
    setting = Setting(paper_bundle, implementation, environment, data_manifest)
    return run_kind(stage, {ExperimentKind.ABLATION}, setting)
