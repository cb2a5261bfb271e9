"""The JSON schemas of the files that people and other tools write and read."""

from __future__ import annotations

from importlib import import_module
from typing import Any

FILES = {
    "task.yaml": "repro_pipeline.bundle.task:Task",
    "experiment.yaml": "repro_pipeline.experiment.spec:ExperimentSpec",
    "metrics.json": "repro_pipeline.experiment.spec:MetricsFile",
    "rubric.yaml": "repro_pipeline.scoring.rubric:Rubric",
    "grades.yaml": "repro_pipeline.paperbench.facts:GradesFile",
    "answers.yaml": "repro_pipeline.corebench.answers:AnswersFile",
    "suite.yaml": "repro_pipeline.bench.model:SuiteFile",
    "truth.yaml": "repro_pipeline.bench.model:Truth",
    "repro.yaml": "repro_pipeline.config:ProjectConfig",
    "paper": "repro_pipeline.paper.document:Document",
    "parsed_paper": "repro_pipeline.paper.model:Paper",
    "claims": "repro_pipeline.claims.model:ReportedClaims",
    "assumptions": "repro_pipeline.lineage.model:AssumptionLedger",
    "gaps": "repro_pipeline.lineage.gaps:Gaps",
    "run": "repro_pipeline.ledger.runs:Run",
    "event": "repro_pipeline.ledger.events:Event",
    "evidence": "repro_pipeline.evidence.model:Evidence",
    "scores": "repro_pipeline.scoring.model:Scores",
}
"""Name → the model that defines it."""


def json_schema(name: str) -> dict[str, Any]:
    """The JSON schema of one of FILES."""
    module, _, model = FILES[name].partition(":")
    return getattr(import_module(module), model).model_json_schema(by_alias=True)
