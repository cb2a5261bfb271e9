"""What the stages that make runs share: how their runs are shown in the UI, and what these rest on."""

from __future__ import annotations

import statistics
from collections import defaultdict

from assets.stage import brief, table
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.experiment.campaign import seeds_of
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.ledger.runs import RunSet
from repro_pipeline.stages import Stage
from repro_pipeline.status import Status


def describe_runs(runs: RunSet) -> dict:
    """Mean and spread per experiment and claim, and what the runs cost."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in runs.runs:
        for claim, value in run.values.items():
            values[run.experiment, claim].append(value)
    rows = [
        {
            "experiment": experiment,
            "claim": claim,
            "n": len(found),
            "mean": brief(statistics.fmean(found)),
            "sd": brief(statistics.stdev(found)) if len(found) > 1 else None,
        }
        for (experiment, claim), found in values.items()
    ]
    tried = [attempt for run in runs.runs for attempt in run.attempts]
    attempts = [attempt for attempt in tried if attempt.started]
    return {
        **table("values", rows),
        "runs planned": runs.planned,
        "runs that count": sum(run.counted.status is Status.OK for run in runs.runs),
        "attempts": len(attempts),
        "failed attempts": sum(attempt.status is not Status.OK for attempt in attempts),
        "left out": len(tried) - len(attempts),
        "run seconds": round(sum(attempt.seconds for attempt in attempts), 1),
    }


def what_runs_rest_on(
    stage: Stage,
    paper_bundle: Bundle,
    implementation: Implementation,
    environment: BuiltEnvironment,
    data_manifest: DataManifest,
) -> dict:
    """Code, lock, data, seeds and budget: not the rest of the bundle."""
    return {
        "implementation": implementation.model_dump(mode="json", by_alias=True),
        "lock": environment.lock.model_dump(mode="json"),
        **({"image": environment.image.base_id} if environment.image else {}),
        "data": data_manifest.model_dump(mode="json"),
        "seeds": seeds_of(stage.project, paper_bundle, implementation),
        "budget": paper_bundle.task.budget.model_dump(mode="json"),
    }
