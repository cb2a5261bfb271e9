"""Stage `parsed_paper`: the paper as one document."""

from __future__ import annotations

from assets.stage import stage_asset, table
from repro_pipeline.bundle.folder import Bundle, paper_files
from repro_pipeline.paper.model import Paper
from repro_pipeline.reading.corrections import source_digest, standing, with_corrections
from repro_pipeline.reading.sources import came_together, read_sources
from repro_pipeline.stages import Stage


def describe(paper: Paper) -> dict:
    """Size of the document, and its tables."""
    rows = [
        {
            "table": str(one),
            "caption": one.caption[:100],
            "rows": one.shape[0],
            "columns": one.shape[1],
            "numbers": sum(
                len(cell.numbers) for row in one.grid for cell in row if not cell.spanned
            ),
            "confidence": one.confidence,
            "corrected": len({c.corrected.before for row in one.grid for c in row if c.corrected}),
        }
        for one in paper.tables
    ]
    return {
        "title": paper.title,
        "reader": ", ".join(source.reader for source in (paper.source, *paper.also)),
        "sections": len(paper.sections),
        "references": len(paper.references),
        "warnings": len(paper.warnings),
        **table("tables", rows),
    }


def sources_and_corrections(stage: Stage, paper_bundle: Bundle) -> dict:
    """The document rests on the sources, what reads them, and what people corrected in it."""
    service = stage.project.tei_service
    return {
        "sources": paper_bundle.sources,
        "files": paper_files(paper_bundle),
        "service": service.name if service else None,
        "corrections": [one.event for one in standing(stage.events({"cell_corrected"}))],
    }


@stage_asset(group="understand", version="3", describe=describe, depends_on=sources_and_corrections)
def parsed_paper(stage: Stage, paper_bundle: Bundle) -> Paper:
    """The paper as one document: sections, tables as addressed grids, references with their contexts.

    Where there are several sources, the most exact is read and the others are compared with it. A
    cell that a person corrected reads as they said.
    """
    folder = stage.bundle_folder
    read = read_sources(
        [folder / name for name in paper_bundle.sources],
        one_paper=came_together(paper_bundle, folder),
        service=stage.project.tei_service,
        store=stage.project.store,
    )
    paper = with_corrections(
        read, standing(stage.events({"cell_corrected"})), source_digest(paper_bundle)
    )
    for warning in paper.warnings:
        stage.warn("reader", warning)
    return paper
