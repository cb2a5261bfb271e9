"""Each stage of a launch as a job of a Kubernetes cluster, with the resources that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repro_pipeline.stage_names import RUNNING_STAGES, STAGES

if TYPE_CHECKING:
    import dagster as dg

LIGHT = {
    "requests": {"cpu": "250m", "memory": "512Mi"},
    "limits": {"cpu": "2", "memory": "2Gi"},
}
"""Of a stage that reads, locks or scores."""
HEAVY = {"requests": {"cpu": "2", "memory": "8Gi"}, "limits": {"cpu": "8", "memory": "16Gi"}}
"""Of a stage that runs code: its runs at once (`workers`), each within `limits.memory` of repro.yaml."""


def resources_of(stage: str) -> dict:
    """The container's resources for a stage."""
    return HEAVY if stage in RUNNING_STAGES else LIGHT


def step_config(stage: str) -> dict:
    """What Dagster's executor takes for a stage's step: the job's parts in Kubernetes' own words."""
    return {
        "container_config": {"resources": resources_of(stage)},
        "job_spec_config": {"backoffLimit": 0, "ttlSecondsAfterFinished": 3600},
    }


def stages_as_jobs() -> dg.ExecutorDefinition:
    """Dagster's own executor, with each stage's resources."""
    from dagster_k8s import k8s_job_executor

    return k8s_job_executor.configured(
        {"per_step_k8s_config": {stage: step_config(stage) for stage in STAGES}},
        name="stages_as_jobs",
    )
