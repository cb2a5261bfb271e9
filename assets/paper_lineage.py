"""Stage `paper_lineage`: the cited works that the paper rests on."""

from __future__ import annotations

from assets.stage import stage_asset, table
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.lineage.model import Lineage
from repro_pipeline.lineage.rank import TOP, bring, rank_references, read_references, with_brought
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Stage


def describe(lineage: Lineage) -> dict:
    """The ranking."""
    rows = [
        {
            "reference": ranked.key,
            "title": ranked.title or "",
            "score": ranked.score,
            "why": "; ".join(ranked.reasons),
            "text at hand": ranked.local_file or "",
        }
        for ranked in lineage.ranked
    ]
    return {
        **table("ranking", rows),
        "references": len(rows),
        "not at hand, of the first " + str(TOP): len(lineage.unread),
    }


def what_lineage_rests_on(stage: Stage, paper_bundle: Bundle, parsed_paper: Paper) -> dict:
    """The document, the works at hand, and whether and where others are looked for."""
    literature = stage.project.config.literature
    return {
        "paper": parsed_paper.model_dump(mode="json"),
        "references": {name: paper_bundle.files[name] for name in paper_bundle.references},
        "exclude": list(paper_bundle.task.exclude),
        "literature": literature.model_dump(mode="json") if literature else None,
    }


@stage_asset(group="understand", version="2", describe=describe, depends_on=what_lineage_rests_on)
def paper_lineage(stage: Stage, paper_bundle: Bundle, parsed_paper: Paper) -> Lineage:
    """The cited works, ranked by how much the paper rests on them, and those that are at hand.

    Works of the bundle's `references/` come first. Others are looked for only where `literature` stands
    in `repro.yaml`, and never the paper itself, its authors' code, or what restates its results.
    """
    texts = read_references(stage.bundle_folder, paper_bundle.references)
    lineage = rank_references(parsed_paper, texts)
    project = stage.project
    if project.literature is None:
        return lineage
    exclude, top = paper_bundle.task.exclude, project.config.literature.top
    brought = bring(lineage, parsed_paper, exclude, project.literature, top=top)
    for one in brought:
        for hit in one.excluded:
            stage.warn("excluded", f"Not looked at for '{one.key}': {hit.what}: {hit.rule}.")
        for sentence in one.failures:
            stage.warn("literature", f"'{one.key}': {sentence}")
    return with_brought(lineage, brought)
