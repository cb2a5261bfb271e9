"""Stage `environment`: locked with hashes, built from the lock alone."""

from __future__ import annotations

from assets.stage import stage_asset, table
from repro_pipeline.agent.mode import code_of, kernel_packages, other_programs, packages_for_agent
from repro_pipeline.bundle.folder import Bundle, code_prefix
from repro_pipeline.environment.kernel import assumed_kernel
from repro_pipeline.environment.make import keep_to, make_environment
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.environment.parity import grade_environment
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import AssumptionRecorded, EnvironmentBuilt
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Stage


def describe(built: BuiltEnvironment) -> dict:
    """The lock and what it was built into."""
    rows = [
        {"package": name, "version": v} for name, v in sorted(built.fingerprint.packages.items())
    ]
    grade = grade_environment(built)
    return {
        **table("packages", rows),
        "grade": grade.grade,
        "speaks for it": " ".join(grade.holds) or "nothing",
        "speaks against it": " ".join(grade.lacks) or "nothing",
        "audit": " ".join(one.sentence for one in built.findings)
        or "nothing known speaks against it",
        "notes": " ".join((*built.lock.notes, *built.notes)) or "none",
        "python": built.fingerprint.python,
        "lock": built.lock.sha256,
        "hashed": built.lock.hashed,
        "lock source": built.lock.source,
        "cpu": built.fingerprint.cpu,
        "gpus": ", ".join(built.fingerprint.gpus) or "none",
        "image": built.image.id if built.image else "none",
    }


def code_alone(
    stage: Stage,
    paper_bundle: Bundle,
    data_manifest: DataManifest,
    assumption_ledger: AssumptionLedger,
    parsed_paper: Paper,
) -> dict:
    """The environment rests on the code's requirements and imports, or on an agent's packages."""
    given, top = paper_bundle.task.code, code_prefix(paper_bundle.task)
    images = stage.project.images
    return {
        **({"base image": images.base} if images else {}),
        "files": {name: sha for name, sha in paper_bundle.files.items() if name.startswith(top)},
        "given": given.model_dump(mode="json") if given else None,
        "agent": packages_for_agent(stage, paper_bundle),
        "rules": keep_to(stage.project, paper_bundle.task, parsed_paper).depends_on(),
    }


@stage_asset(
    group="build", version="3", describe=describe, kinds={"python", "uv"}, depends_on=code_alone
)
def environment(
    stage: Stage,
    paper_bundle: Bundle,
    data_manifest: DataManifest,
    assumption_ledger: AssumptionLedger,
    parsed_paper: Paper,
) -> BuiltEnvironment:
    """All packages locked with hashes and built from the lock alone, with the host's fingerprint."""
    for note in other_programs(stage, paper_bundle):
        stage.warn("other_language", note)
    kernel = kernel_packages(stage, paper_bundle)
    built = make_environment(
        code_of(stage, paper_bundle),
        paper_bundle.task.code,
        store=stage.project.store,
        cache=stage.project.state / "environments",
        also=[*packages_for_agent(stage, paper_bundle), *kernel],
        rules=keep_to(stage.project, paper_bundle.task, parsed_paper),
        images=stage.project.images,
    )
    for one in built.findings:
        stage.warn(f"audit_{one.kind}", one.sentence)
    stage.record(
        EnvironmentBuilt(
            lock=built.lock.sha256,
            fingerprint=digest(built.fingerprint),
            image=built.image.id if built.image else None,
        )
    )
    if kernel:
        assumed = assumed_kernel(built, paper_bundle.task.code.notebook, by=stage.actor)
        stage.record(AssumptionRecorded(assumption=assumed))
    return built
