"""Stage `paper_lineage`: the cited works that the paper rests on."""

from __future__ import annotations

import dagster as dg

from assets.stage import stage_asset
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.lineage.model import Lineage
from repro_pipeline.lineage.rank import TOP, rank_references, read_references
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
    table = (
        {"ranking": dg.MetadataValue.table([dg.TableRecord(row) for row in rows])} if rows else {}
    )
    return {
        **table,
        "references": len(rows),
        "not at hand, of the first " + str(TOP): len(lineage.unread),
    }


@stage_asset(group="understand", version="1", describe=describe)
def paper_lineage(stage: Stage, paper_bundle: Bundle, parsed_paper: Paper) -> Lineage:
    """The cited works, ranked by how much the paper rests on them, and those that are at hand."""
    texts = read_references(stage.bundle_folder, paper_bundle.references)
    return rank_references(parsed_paper, texts)
