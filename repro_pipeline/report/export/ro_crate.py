"""A Workflow Run RO-Crate: the capsule's files with who made what of what, failed attempts included.

Profiles: RO-Crate 1.1, Workflow RO-Crate 1.0, Process Run Crate 0.5, Workflow Run Crate 0.5
(https://www.researchobject.org/workflow-run-crate/). The main workflow is `reproduce.py`, which runs the
same commands as the pipeline ran in its sandbox; each attempt is a CreateAction of its own whose
instrument is the frozen code.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from repro_pipeline.frozen import Slug
from repro_pipeline.ledger.runs import Attempt, Run
from repro_pipeline.report.export.capsule import REPORTS, write_reports, write_run
from repro_pipeline.report.export.material import Material, input_name
from repro_pipeline.report.export.readme import left_out, readme
from repro_pipeline.report.export.runnable import (
    DOCKERFILE,
    DRIVER,
    LOCK,
    PLAN,
    SCRIPT,
    write_runnable,
)
from repro_pipeline.status import Status

METADATA = "ro-crate-metadata.json"
_CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    "https://w3id.org/ro/terms/workflow-run/context",
]
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_WORKFLOW = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
_PARAMETER = "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
_KINDS = {
    ".json": "application/json",
    ".lock": "text/plain",
    ".log": "text/plain",
    ".md": "text/markdown",
}

Entity = dict[str, Any]


def write_ro_crate(material: Material, folder: Path) -> None:
    """Write the crate into an empty folder."""
    write_runnable(material, folder, values=True)
    write_reports(material, folder / "results")
    for experiment in material.report.evidence.experiments:
        place = folder / _config(experiment.id)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(experiment.config, indent=1, sort_keys=True), encoding="utf-8")
    written = {run.run_key: write_run(material, run, folder / "results") for run in material.runs}
    (folder / "README.md").write_text(readme(material, "capsule"), encoding="utf-8")
    graph = [
        *_root(material, folder),
        *_workflow(material, folder),
        *_parameters(material),
        *_inputs(material, folder),
        *(_left(folder, name, path) for run in written.values() for name, path in run.items()),
        *_actions(material, folder, written),
    ]
    content = {"@context": _CONTEXT, "@graph": [_compact(entity) for entity in graph]}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (folder / METADATA).write_text(text + "\n", encoding="utf-8")


def _root(material: Material, folder: Path) -> list[Entity]:
    report = material.report
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and _listed(folder, path)]
    parts = [_ref("code/"), *(_ref(path.relative_to(folder).as_posix()) for path in files)]
    told = " ".join(left_out(material))
    return [
        {
            "@id": METADATA,
            "@type": "CreativeWork",
            "about": _ref("./"),
            "conformsTo": [
                _ref("https://w3id.org/ro/crate/1.1"),
                _ref("https://w3id.org/workflowhub/workflow-ro-crate/1.0"),
            ],
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"Reproduction of: {report.title}",
            "description": f"{report.scores.headline} Code: {report.mode_label}. {told}",
            "datePublished": report.generated_at.isoformat(timespec="seconds"),
            "license": _ref("#licence"),
            "conformsTo": [_ref(profile) for profile in _PROFILES],
            "mainEntity": _ref(DRIVER),
            "hasPart": parts,
            "mentions": [_ref("#evaluation"), *(_ref(_action_id(a)) for a in _attempts(material))],
        },
        *(
            {"@id": id_, "@type": "CreativeWork", "name": name, "version": id_.rpartition("/")[2]}
            for id_, name in _PROFILES.items()
        ),
        {
            "@id": "#licence",
            "@type": "CreativeWork",
            "name": "The licences of the code and of the data",
            "description": "This export grants none of its own; see the code's and the data's.",
        },
        *(
            _file(folder, folder / "results" / n)
            for n in REPORTS
            if (folder / "results" / n).exists()
        ),
        {**_file(folder, folder / "README.md"), "about": _ref("./")},
        *(_file(folder, folder / name) for name in (PLAN, SCRIPT)),
    ]


def _workflow(material: Material, folder: Path) -> list[Entity]:
    evidence, version = material.report.evidence, material.report.version
    host = evidence.environment.fingerprint
    return [
        {
            **_file(folder, folder / DRIVER),
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": f"Every experiment of the reproduction of {material.paper}, with every seed",
            "conformsTo": _ref(_WORKFLOW),
            "version": version,
            "programmingLanguage": _ref("#python"),
            "input": [_ref(id_) for id_ in _input_parameters(material)],
            "output": [_ref("#parameter-metrics")],
            "hasPart": [_ref("#code")],
            "softwareRequirements": _ref(LOCK),
        },
        {
            "@id": _WORKFLOW,
            "@type": "CreativeWork",
            "name": "ComputationalWorkflow",
            "version": "1.0",
        },
        {"@id": "#python", "@type": "ComputerLanguage", "name": "Python", "version": host.python},
        {**_file(folder, folder / LOCK), "name": "Locked packages"},
        *(
            {**_file(folder, folder / name), "name": "The image of the environment"}
            for name in (DOCKERFILE,)
            if (folder / name).exists()
        ),
        {
            "@id": "code/",
            "@type": "Dataset",
            "name": "The code as it was frozen",
            "identifier": f"sha256:{evidence.code_tree}",
        },
        {
            "@id": "#code",
            "@type": "SoftwareApplication",
            "name": " ".join(material.implementation.command),
            "softwareVersion": evidence.code_tree,
            "softwareRequirements": _ref(LOCK),
            "description": f"The frozen code in code/, {material.report.mode_label}.",
        },
        {
            "@id": "#repro-pipeline",
            "@type": "SoftwareApplication",
            "name": "repro-pipeline",
            "softwareVersion": version,
            "description": f"Ran the code in the sandbox '{evidence.runner}' on {host.platform}.",
        },
    ]


def _input_parameters(material: Material) -> list[str]:
    names = [entry.name for entry in material.inputs]
    return ["#parameter-config", "#parameter-seed", *(f"#parameter-data-{name}" for name in names)]


def _parameters(material: Material) -> list[Entity]:
    configs = [_ref(_config(e.id)) for e in material.report.evidence.experiments]
    metrics = [
        _ref(f"{_place(run)}/metrics.json")
        for run in material.runs
        if "metrics.json" in run.counted.outputs or (material.private and run.values)
    ]
    made = {
        "config": ("File", configs),
        "seed": ("Integer", [_ref(id_) for id_ in _seed_ids(material)]),
        **{f"data-{e.name}": ("File", [_ref(_input_id(e))]) for e in material.inputs},
        "metrics": ("File", metrics or [_ref(PLAN)]),
    }
    return [
        {
            "@id": f"#parameter-{name}",
            "@type": "FormalParameter",
            "name": name,
            "additionalType": kind,
            "conformsTo": _ref(_PARAMETER),
            "valueRequired": True,
            "workExample": examples,
        }
        for name, (kind, examples) in made.items()
    ] + [{"@id": _PARAMETER, "@type": "CreativeWork", "name": "FormalParameter", "version": "1.0"}]


def _inputs(material: Material, folder: Path) -> list[Entity]:
    """Configurations, seeds and data. A private input is a digest, and no file."""
    found: list[Entity] = [
        {
            **_file(folder, folder / _config(experiment.id)),
            "name": f"Configuration of {experiment.id}",
            "exampleOfWork": _ref("#parameter-config"),
        }
        for experiment in material.report.evidence.experiments
    ]
    found += [
        {
            "@id": id_,
            "@type": "PropertyValue",
            "name": "seed",
            "value": seed,
            "exampleOfWork": _ref("#parameter-seed"),
        }
        for id_, seed in _seed_ids(material).items()
    ]
    for entry in material.inputs:
        parameter = {"exampleOfWork": _ref(f"#parameter-data-{entry.name}")}
        if entry.private:
            private = {
                "@type": "PropertyValue",
                "name": entry.name,
                "value": f"sha256:{entry.sha256}",
            }
            found.append({"@id": _input_id(entry), **private, **parameter})
        else:
            found.append({**_file(folder, folder / _input_id(entry)), **parameter})
    return found


def _actions(
    material: Material, folder: Path, written: dict[str, dict[str, Path]]
) -> Iterable[Entity]:
    """The evaluation as a whole, and each attempt at a run."""
    tried = _attempts(material)
    results = [_ref(f"results/{name}") for name in REPORTS if (folder / "results" / name).exists()]
    good = [run for run in material.runs if run.counted.status is Status.OK]
    whole: Entity = {
        "@id": "#evaluation",
        "@type": "CreateAction",
        "name": f"Evaluation of {material.paper}: {len(good)} of {len(material.runs)} runs ended well",
        "instrument": _ref(DRIVER),
        "object": [
            *(_ref(_config(e.id)) for e in material.report.evidence.experiments),
            *(_ref(id_) for id_ in _seed_ids(material)),
            *(_ref(_input_id(entry)) for entry in material.inputs),
        ],
        "result": [*results, *(_ref(p) for p in _paths(folder, written, "metrics.json"))],
        "description": "The pipeline itself ran these commands, in its sandbox; the instrument runs "
        "the same without it.",
        "endTime": _time(material.report.generated_at),
    }
    if tried:
        whole["startTime"] = _time(min(attempt.started_at for attempt in tried))
    yield whole
    for run in material.runs:
        for attempt in run.attempts:
            yield _action(material, folder, attempt, run, written[run.run_key])


def _action(
    material: Material, folder: Path, attempt: Attempt, run: Run, files: dict[str, Path]
) -> Entity:
    counted, log = attempt == run.counted, f"attempt {attempt.number}"
    mine = {
        name: path
        for name, path in files.items()
        if name == log or (counted and not name.startswith("attempt "))
    }
    action: Entity = {
        "@id": _action_id(attempt),
        "@type": "CreateAction",
        "name": f"{attempt.experiment}, {_seed_words(attempt.seed)}, attempt {attempt.number}",
        "instrument": _ref("#code"),
        "description": f"Run {attempt.run_key} by repro-pipeline, runner {attempt.runner}.",
        "startTime": _time(attempt.started_at),
        "endTime": _time(attempt.started_at + timedelta(seconds=attempt.seconds)),
        "actionStatus": "http://schema.org/CompletedActionStatus"
        if attempt.status is Status.OK
        else "http://schema.org/FailedActionStatus",
        "object": [
            _ref(_config(attempt.experiment)),
            *([_ref(f"#seed-{attempt.seed}")] if attempt.seed is not None else []),
            *(_ref(_input_id(entry)) for entry in material.inputs),
        ],
        "result": [_ref(path.relative_to(folder).as_posix()) for path in mine.values()],
    }
    if attempt.reason:
        action["error"] = attempt.reason.sentence
    return action


def _attempts(material: Material) -> list[Attempt]:
    return [attempt for run in material.runs for attempt in run.attempts]


def _action_id(attempt: Attempt) -> str:
    return f"#attempt-{attempt.run_key[:16]}-{attempt.number}"


def _seed_ids(material: Material) -> dict[str, int | str]:
    seeds = {run.seed for run in material.runs if run.seed is not None}
    seeds |= set(material.report.evidence.seeds)
    return {f"#seed-{seed}": seed for seed in sorted(seeds)} or {"#seed-none": "unseeded"}


def _seed_words(seed: int | None) -> str:
    return "unseeded" if seed is None else f"seed {seed}"


def _place(run: Run) -> str:
    return f"results/{run.experiment}/{'unseeded' if run.seed is None else run.seed}"


def _config(experiment: Slug) -> str:
    return f"environment/configs/{experiment}.json"


def _input_id(entry: Any) -> str:
    return f"#data-{entry.name}" if entry.private else f"data/{input_name(entry)}"


def _paths(folder: Path, written: dict[str, dict[str, Path]], name: str) -> list[str]:
    return [
        files[name].relative_to(folder).as_posix() for files in written.values() if name in files
    ]


def _listed(folder: Path, path: Path) -> bool:
    """Whether a file is an entity of its own: all but the code's, which `code/` stands for."""
    return path.relative_to(folder).parts[0] != "code"


def _left(folder: Path, name: str, path: Path) -> Entity:
    """A file that a run left."""
    metrics = {"exampleOfWork": _ref("#parameter-metrics")} if name == "metrics.json" else {}
    return {**_file(folder, path), **metrics}


def _file(folder: Path, path: Path) -> Entity:
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    kind = _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    return {
        "@id": path.relative_to(folder).as_posix(),
        "@type": "File",
        "name": path.relative_to(folder).as_posix(),
        "contentSize": str(path.stat().st_size),
        "encodingFormat": kind or "application/octet-stream",
        "sha256": sha256,
    }


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def _compact(entity: Entity) -> Entity:
    """The entity with each list of one as its only value, as RO-Crate has it."""
    return {
        key: value[0] if isinstance(value, list) and len(value) == 1 else value
        for key, value in entity.items()
    }


def _ref(id_: str) -> Entity:
    return {"@id": id_}
