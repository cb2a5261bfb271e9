"""What a Kubernetes deployment loads: the same app, with each stage as a job of the cluster."""

from repro_pipeline.definitions import build_definitions
from resources.kubernetes import stages_as_jobs

defs = build_definitions(executor=stages_as_jobs())
