"""Stage `paper_bundle`: the paper's folder, read and kept."""

from __future__ import annotations

from assets.stage import stage_asset
from repro_pipeline.bundle.folder import Bundle, open_bundle
from repro_pipeline.ledger.events import BundleSeen
from repro_pipeline.reading.keep import keep_bundle
from repro_pipeline.stages import Stage


def describe(bundle: Bundle) -> dict:
    """What there is."""
    return {
        "sources": ", ".join(bundle.sources),
        "files": len(bundle.files),
        "claims named": len(bundle.task.claims),
        "given code": bundle.has_code,
        "content": bundle.content,
    }


@stage_asset(group="sources", version="1", describe=describe, reuse=False)
def paper_bundle(stage: Stage) -> Bundle:
    """The paper's folder as its user gave it: sources, task.yaml, code, data and references.

    Its data version is the hash of its content. Text sources are kept in the artifact store.
    """
    bundle = open_bundle(stage.bundle_folder)
    keep_bundle(bundle, stage.bundle_folder, stage.project.store)
    stage.record(
        BundleSeen(
            path=str(stage.bundle_folder.relative_to(stage.project.root)),
            content=bundle.content,
            files=len(bundle.files),
        )
    )
    return bundle
