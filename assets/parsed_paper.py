"""Stage `parsed_paper`: the paper as one document."""

from __future__ import annotations

import dagster as dg

from assets.stage import stage_asset
from repro_pipeline.bundle.folder import Bundle, paper_files
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.sources import read_agreeing
from repro_pipeline.stages import Stage


def describe(paper: Paper) -> dict:
    """Size of the document, and its tables."""
    rows = [
        {
            "table": str(table),
            "caption": table.caption[:100],
            "rows": table.shape[0],
            "columns": table.shape[1],
            "numbers": sum(
                len(cell.numbers) for row in table.grid for cell in row if not cell.spanned
            ),
            "confidence": table.confidence,
        }
        for table in paper.tables
    ]
    return {
        "title": paper.title,
        "reader": paper.source.reader,
        "sections": len(paper.sections),
        "references": len(paper.references),
        "warnings": len(paper.warnings),
        **(
            {"tables": dg.MetadataValue.table([dg.TableRecord(row) for row in rows])}
            if rows
            else {}
        ),
    }


def sources_alone(stage: Stage, paper_bundle: Bundle) -> dict:
    """The document rests on the sources, not on the rest of the folder."""
    return {"sources": paper_bundle.sources, "files": paper_files(paper_bundle)}


@stage_asset(group="understand", version="1", describe=describe, depends_on=sources_alone)
def parsed_paper(stage: Stage, paper_bundle: Bundle) -> Paper:
    """The paper as one document: sections, tables as addressed grids, references with their contexts.

    Where there are several sources, the most exact is read and the others must agree with it.
    """
    paper = read_agreeing([stage.bundle_folder / name for name in paper_bundle.sources])
    for warning in paper.warnings:
        stage.warn("reader", warning)
    return paper
