"""A capsule folder: `code/ data/ results/ environment/`, a README, and what runs it again."""

from __future__ import annotations

import json
from pathlib import Path

from repro_pipeline.ledger.runs import Run
from repro_pipeline.report.export.material import Material, log_of, outputs_of, write_artifact
from repro_pipeline.report.export.readme import readme
from repro_pipeline.report.export.runnable import write_runnable

REPORTS = ("report.html", "report.json", "report.md")


def write_capsule(material: Material, folder: Path) -> None:
    """Write the capsule into an empty folder."""
    write_runnable(material, folder, values=True)
    write_reports(material, folder / "results")
    for run in material.runs:
        write_run(material, run, folder / "results")
    (folder / "README.md").write_text(readme(material, "capsule"), encoding="utf-8")


def write_reports(material: Material, folder: Path) -> None:
    """Write the paper's report in its three forms."""
    files = material.files
    for name, digest in zip(REPORTS, (files.html, files.json_data, files.markdown), strict=True):
        if digest is not None:
            write_artifact(material.project, digest, folder / name)


def write_run(material: Material, run: Run, folder: Path) -> dict[str, Path]:
    """Write what a run left, and the logs of all its attempts; the paths by name.

    Where an input is private, `metrics.json` is made of the values alone, and nothing else is written.
    """
    place = folder / run.experiment / ("unseeded" if run.seed is None else str(run.seed))
    written = {}
    for name, digest in outputs_of(material, run.counted).items():
        written[name] = place / name
        write_artifact(material.project, digest, place / name)
    for attempt in run.attempts:
        if log := log_of(material, attempt):
            written[f"attempt {attempt.number}"] = place.with_name(
                f"{place.name}.attempt-{attempt.number}.log"
            )
            write_artifact(material.project, log, written[f"attempt {attempt.number}"])
    if material.private and run.values:
        metrics = [{"claim": claim, "value": value} for claim, value in run.values.items()]
        written["metrics.json"] = place / "metrics.json"
        place.mkdir(parents=True, exist_ok=True)
        written["metrics.json"].write_text(json.dumps({"metrics": metrics}), encoding="utf-8")
    return written
