"""Stage `data_manifest`: the input files with the bytes that they must have."""

from __future__ import annotations

from assets.stage import stage_asset
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.manifest import make_manifest
from repro_pipeline.environment.model import DataManifest
from repro_pipeline.stages import Stage


def describe(manifest: DataManifest) -> dict:
    """The files."""
    return {
        "files": len(manifest.entries),
        "bytes": sum(entry.size for entry in manifest.entries),
        "sealed": sum(entry.sealed for entry in manifest.entries),
        "private": sum(entry.private for entry in manifest.entries),
    }


@stage_asset(group="build", version="1", describe=describe)
def data_manifest(
    stage: Stage, paper_bundle: Bundle, reported_claims: ReportedClaims
) -> DataManifest:
    """Every input file with its digest, size and split roles; empty where data is made by formula."""
    return make_manifest(paper_bundle.task.data, stage.bundle_folder, stage.project.state / "data")
