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


def test_dagster_takes_what_the_chart_adds_to_its_instance(tmp_path):
    """The chart writes these into dagster.yaml; limits in two places would stop every process."""
    from dagster._core.instance.config import dagster_instance_config

    found = values()
    assert found["telemetry"] == {"enabled": False}
    assert found["dagsterDaemon"]["runCoordinator"] == {"enabled": False}
    added = found["additionalInstanceConfig"]
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(added))
    config, _ = dagster_instance_config(str(tmp_path))
    shipped = yaml.safe_load((ROOT / "deploy" / "dagster.yaml").read_text())["concurrency"]
    assert config["concurrency"]["pools"] == shipped["pools"]
    limits = config["concurrency"]["runs"]["tag_concurrency_limits"]
    assert limits == shipped["runs"]["tag_concurrency_limits"]


def test_the_launcher_takes_its_configuration_from_the_values():
    from dagster._config import validate_config
    from dagster_k8s import K8sRunLauncher

    launcher = values()["runLauncher"]["config"]["k8sRunLauncher"]
    parts = launcher["runK8sConfig"]
    config = {
        "load_incluster_config": launcher["loadInclusterConfig"],
        "image_pull_policy": launcher["imagePullPolicy"],
        "service_account_name": "repro",
        "instance_config_map": "repro-dagster-instance",
        "postgres_password_secret": values()["global"]["postgresqlSecretName"],
        "dagster_home": "/opt/dagster/dagster_home",
        "run_k8s_config": {
            "container_config": parts["containerConfig"],
            "pod_spec_config": parts["podSpecConfig"],
        },
    }
    result = validate_config(K8sRunLauncher.config_type(), config)
    assert result.success, result.errors


def test_dagster_and_ledger_share_a_server_and_its_password():
    found, given = values(), {one["name"]: one for one in deployment()["env"]}
    assert given["PGHOST"]["value"] == found["postgresql"]["postgresqlHost"]
    secret = given["PGPASSWORD"]["valueFrom"]["secretKeyRef"]
    assert secret == {
        "name": found["global"]["postgresqlSecretName"],
        "key": "postgresql-password",
    }
    assert found["generatePostgresqlPasswordSecret"] is False
    assert "postgresqlPassword" not in found["postgresql"]
