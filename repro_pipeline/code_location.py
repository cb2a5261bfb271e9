"""What Dagster's webserver and daemon load: the app of the project that they were started for."""

from repro_pipeline.definitions import build_definitions

defs = build_definitions()
