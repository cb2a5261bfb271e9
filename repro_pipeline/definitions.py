"""The composition root: assets, the project resource, jobs and sensors, wired into one Dagster app."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from assets.ablations import ablations
from assets.alerts import send_alerts
from assets.assumption_ledger import assumption_ledger
from assets.attribution import attribution
from assets.baseline import baseline
from assets.bench import bench_definitions
from assets.data_manifest import data_manifest
from assets.environment import environment
from assets.experiment_ledger import experiment_ledger
from assets.implementation import implementation
from assets.integrity import integrity
from assets.paper_bundle import paper_bundle
from assets.paper_lineage import paper_lineage
from assets.parsed_paper import parsed_paper
from assets.report import report
from assets.reported_claims import reported_claims
from assets.rescore import rescore_on_change, rescore_papers
from assets.review_queue import review_queue
from assets.rubric import rubric
from assets.scoreboard import scoreboard
from assets.scores import scores
from assets.sensitivity import sensitivity
from assets.sweeps import sweep, sweep_of_a_paper, sweep_schedules
from assets.watch import run_new_papers, watch_project
from repro_pipeline.bench.places import suite_link
from repro_pipeline.config import CONFIG_NAME, ProjectConfig
from repro_pipeline.yamlfile import load_model
from resources.opening import PROJECT_VARIABLE, locate_project
from resources.project import ProjectResource

STAGE_ASSETS = (
    paper_bundle,
    parsed_paper,
    reported_claims,
    paper_lineage,
    assumption_ledger,
    data_manifest,
    environment,
    implementation,
    baseline,
    ablations,
    sensitivity,
    integrity,
    experiment_ledger,
    scores,
    attribution,
    review_queue,
    report,
)

reproduce_paper = dg.define_asset_job(
    "reproduce_paper",
    selection=dg.AssetSelection.assets(*STAGE_ASSETS, scoreboard),
    description="Everything for one paper, from its folder to the report. What stands is reused.",
)

rescore_paper = dg.define_asset_job(
    "rescore_paper",
    selection=dg.AssetSelection.assets(scores, attribution, review_queue, report, scoreboard),
    description="Score the stored evidence under the current rubric; runs no experiment.",
)


def build_definitions(
    root: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    executor: dg.ExecutorDefinition = dg.in_process_executor,
) -> dg.Definitions:
    """The Dagster app of the project at `root` (by default: found from $REPRO_PROJECT or here).

    That of a folder of `repro bench run`'s results is its trials. `overrides` replace resources by
    name; `executor` is where a launch's stages run. Raises BundleError where there is no project.
    """
    root = root or locate_project(Path(os.environ.get(PROJECT_VARIABLE) or Path.cwd()))
    if suite_link(root).is_symlink():
        return bench_definitions(root)
    config = load_model(root / CONFIG_NAME, ProjectConfig)
    return dg.Definitions(
        assets=[*STAGE_ASSETS, rubric, scoreboard, sweep],
        jobs=[reproduce_paper, rescore_paper, rescore_papers, sweep_of_a_paper],
        schedules=sweep_schedules(config),
        sensors=[watch_project, run_new_papers, rescore_on_change, send_alerts],
        resources={"project": ProjectResource.of(root, config), **(overrides or {})},
        executor=executor,
    )
