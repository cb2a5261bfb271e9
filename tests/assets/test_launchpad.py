"""What the launchpad offers: repro.yaml's values as defaults, and a launch with its own."""

from __future__ import annotations

import json
import os

import dagster as dg
import pytest

from assets.watch import register_papers, run_new_papers
from repro_pipeline.commands import opening
from repro_pipeline.config import CONFIG_NAME, ProjectConfig
from repro_pipeline.definitions import build_definitions
from repro_pipeline.errors import UserError
from repro_pipeline.ledger.runs import RunSet
from repro_pipeline.stages import latest, output_of
from repro_pipeline.yamlfile import load_model
from resources.opening import open_project
from resources.project import ProjectResource
from tests.bundles import make_bundle

OWN = """
seeds: 4
budget: {usd: 3, wall_clock: 1h}
models: {coder: {model: some/coder, price: {input: 1, output: 2}}}
"""


def with_settings(project) -> ProjectResource:
    text = (project / CONFIG_NAME).read_text().replace("seeds: 5 ", "# seeds: 5 ")
    (project / CONFIG_NAME).write_text(text + OWN)
    return ProjectResource.of(project, load_model(project / CONFIG_NAME, ProjectConfig))


def test_the_defaults_are_those_of_repro_yaml_and_change_nothing(project):
    resource = with_settings(project)
    assert (resource.seeds, resource.budget.usd, resource.budget.wall_clock) == (4, 3, 3600)
    assert resource.models.coder == "some/coder" and resource.models.judge is None
    assert resource.open().config == open_project(project).config
    field = build_definitions(project).resolve_job_def("reproduce_paper").run_config_schema
    shown = field.config_type.fields["resources"].config_type.fields["project"]
    config = shown.config_type.fields["config"]
    assert config.default_value["seeds"] == 4
    assert config.default_value["models"]["coder"] == "some/coder"


def test_a_launch_of_its_own_seeds_budget_and_models(project):
    given = {"seeds": 2, "budget": {"usd": 1.5}, "models": {"coder": "other/coder"}}
    resource = ProjectResource(root=str(project), **given)
    with_settings(project)
    config = resource.open().config
    assert config.seeds == 2 and config.budget.usd == 1.5 and config.budget.wall_clock is None
    assert config.models.coder.model == "other/coder" and config.models.coder.price is None
    with pytest.raises(UserError, match="seeds"):
        ProjectResource(root=str(project), seeds=0).open()


def test_a_launch_with_two_seeds_runs_two(project, opened):
    make_bundle(project / "papers" / "tiny", seeds=None)
    register_papers(opening.instance_of(opened), opened)
    job = build_definitions(project).resolve_job_def("reproduce_paper")
    done = job.execute_in_process(
        instance=opening.instance_of(opened),
        partition_key="tiny",
        asset_selection=[dg.AssetKey(name) for name in UPTO],
        run_config={"resources": {"project": {"config": {"seeds": 2}}}},
    )
    assert done.success
    runs = output_of(opened, latest(opened, "tiny", "baseline"), RunSet)
    assert len(runs.runs) == 2


UPTO = (
    *("paper_bundle", "parsed_paper", "reported_claims", "paper_lineage", "assumption_ledger"),
    *("data_manifest", "environment", "implementation", "baseline"),
)


def test_new_and_changed_papers_are_run_once_they_rest(project, opened):
    instance = opening.instance_of(opened)
    resources = {"project": ProjectResource(root=str(project))}

    def tick(cursor):
        context = dg.build_sensor_context(instance=instance, cursor=cursor, resources=resources)
        result = run_new_papers(context)
        return [request.partition_key for request in result.run_requests], result.cursor

    make_bundle(project / "papers" / "tiny")
    asked, cursor = tick(None)
    assert asked == []  # it may still be copied
    asked, cursor = tick(cursor)
    assert asked == ["tiny"]
    asked, cursor = tick(cursor)
    assert asked == []
    task = project / "papers" / "tiny" / "task.yaml"
    os.utime(task, ns=(1, 1))
    assert tick(cursor)[0] == []
    asked, cursor = tick(tick(cursor)[1])
    assert asked == ["tiny"]
    assert json.loads(cursor)["tiny"][0] == json.loads(cursor)["tiny"][1]
