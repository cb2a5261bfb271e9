"""Stages as jobs of a cluster: made by Dagster's own code, checked against the schema of Kubernetes."""

from __future__ import annotations

import pytest
import yaml

from repro_pipeline.stage_names import RUNNING_STAGES, STAGES
from resources.kubernetes import HEAVY, LIGHT, stages_as_jobs, step_config
from tests.conftest import ROOT

pytest.importorskip("dagster_k8s", reason="dagster-k8s is not installed (extra k8s)")
VALUES = ROOT / "deploy" / "kubernetes" / "values.yaml"


def values() -> dict:
    return yaml.safe_load(VALUES.read_text())


def deployment() -> dict:
    (one,) = values()["dagster-user-deployments"]["deployments"]
    return one


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_is_a_job_that_kubernetes_takes(stage):
    validate = pytest.importorskip("kubernetes_validate")
    from dagster_k8s.job import (
        DagsterK8sJobConfig,
        UserDefinedDagsterK8sConfig,
        construct_dagster_k8s_job,
    )
    from kubernetes.client import ApiClient

    step = step_config(stage)
    config = UserDefinedDagsterK8sConfig.from_dict(
        {
            **step,
            "container_config": {
                **step["container_config"],
                "env": deployment()["env"],
                "volume_mounts": deployment()["volumeMounts"],
            },
            "pod_spec_config": {"volumes": deployment()["volumes"]},
        }
    )
    job = construct_dagster_k8s_job(
        DagsterK8sJobConfig(job_image="repro-pipeline:0.1.0", dagster_home="/opt/dagster"),
        args=["dagster", "api", "execute_step"],
        job_name=f"step-{stage.replace('_', '-')}",
        user_defined_k8s_config=config,
    )
    manifest = ApiClient().sanitize_for_serialization(job)
    validate.validate(manifest, validate.latest_version(), strict=True)
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    assert container["resources"] == (HEAVY if stage in RUNNING_STAGES else LIGHT)
    assert container["volumeMounts"] == [{"name": "project", "mountPath": "/srv/repro"}]
    assert manifest["spec"]["backoffLimit"] == 0


def test_the_cluster_loads_the_app_with_this_executor(project):
    from repro_pipeline.definitions import build_definitions

    defs = build_definitions(project, executor=stages_as_jobs())
    job = defs.resolve_job_def("reproduce_paper")
    assert job.executor_def.name == "stages_as_jobs"
    assert deployment()["dagsterApiGrpcArgs"] == ["-m", "repro_pipeline.code_location_k8s"]


def test_nothing_is_sent_and_one_launch_of_a_paper_runs_at_a_time():
    found = values()
    assert found["telemetry"] == {"enabled": False}
    coordinator = found["dagsterDaemon"]["runCoordinator"]["config"]["queuedRunCoordinator"]
    (limit,) = coordinator["tagConcurrencyLimits"]
    assert (limit["key"], limit["limit"]) == ("dagster/partition", 1)
