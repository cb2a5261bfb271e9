"""Small tasks, claims and code folders for the tests of experiments."""

import json
from pathlib import Path

from repro_pipeline.bundle.task import Task
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.paper.address import StatedValue
from repro_pipeline.yamlfile import parse_model

CONFIG = {
    "n_trees": 100,
    "bootstrap": True,
    "criterion": "gini",
    "max_depth": None,
    "optimiser": {"name": "sgd", "rate": {"start": 0.1, "decay": 0.5}},
    "a.b": 1,
}


def claims(*ids: str) -> ReportedClaims:
    """Claims of these ids, each of the value 1.0."""
    stated = StatedValue(value=1.0, quantum=0.1, source="a test")
    return ReportedClaims(
        claims=tuple(
            Claim(id=i, metric="error", value=1.0, quantum=0.1, address=stated) for i in ids
        ),
        main=ids[0],
        proposed_by="task.yaml",
    )


def task(text: str) -> Task:
    """A task of the claims a and b, with more of it as YAML."""
    given = "claims:\n" + "".join(
        f"  - {{id: {i}, metric: error, reported: {{value: 1, quantum: 0.1, source: x}}}}\n"
        for i in "ab"
    )
    return parse_model(given + text, Task, name="task.yaml")


def write_code(folder: Path, experiments: str, *, sample: str = "", config=CONFIG) -> Path:
    """A code folder with one configuration and the given experiments, as YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    text = config if isinstance(config, str) else json.dumps(config)
    (folder / "config.json").write_text(text, encoding="utf-8")
    (folder / "experiment.yaml").write_text(
        f"schema: 1\nentry: [python, run.py]\nexperiments:\n{experiments}{sample}"
    )
    return folder
