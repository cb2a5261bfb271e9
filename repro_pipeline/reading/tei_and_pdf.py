"""One document of a PDF and of its TEI: prose and references from the TEI, tables from the PDF.

GROBID reads prose and references well, and tables badly: spanning headers, the sign of a number
and the columns themselves are often lost. So the PDF reader's tables stand, and a table that GROBID
alone found is kept as a doubtful one.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from repro_pipeline.errors import PaperError, ServiceError
from repro_pipeline.paper.model import Paper, Source, SourceFormat, Table
from repro_pipeline.paper.read import read_paper
from repro_pipeline.paper.tables import DOUBTED
from repro_pipeline.ports import ArtifactStore, TeiService

_PROSE = ("title", "abstract", "authors", "year", "sections", "equations", "figures", "references")


def read_with_service(pdf: Path, service: TeiService, store: ArtifactStore) -> Paper:
    """The paper in a PDF, with the help of a service whose answer is kept in the store.

    Raises ServiceError when the service fails or its answer is no TEI of a paper, and PaperError
    for a PDF that cannot be read.
    """
    tables = read_paper(pdf)
    content, made_by = service.tei_of(pdf)
    with tempfile.TemporaryDirectory(prefix="repro-tei-") as folder:
        path = Path(folder, f"{pdf.stem}.tei.xml")
        path.write_bytes(content)
        try:
            prose = read_paper(path)
        except PaperError as error:
            raise ServiceError(
                f"the answer of {made_by} cannot be read: {error.what}",
                where=pdf.name,
                hint="Look at the server's log, or take `grobid` out of repro.yaml.",
            ) from None
    answer = Source(
        file=prose.source.file,
        format=SourceFormat.TEI,
        sha256=store.put(content),
        reader=f"{made_by}, {prose.source.reader}",
    )
    return joined(prose.model_copy(update={"source": answer}), tables)


def joined(tei: Paper, pdf: Paper) -> Paper:
    """The document: each table's provenance names the source that it is from.

    A part that the TEI lacks is taken from the PDF, which a warning says.
    """
    known = {table.number for table in pdf.tables}
    alone = [table for table in tei.tables if table.number and table.number not in known]
    tables = (
        *pdf.tables,
        *(_doubted(table, len(pdf.tables) + at) for at, table in enumerate(alone, 1)),
    )
    prose = {name: getattr(tei, name) for name in _PROSE if getattr(tei, name)}
    missing = [name for name in _PROSE if name not in prose and getattr(pdf, name)]
    warnings = [
        f"{tei.source.file} has no {name}; from {pdf.source.file}."
        for name in missing
        if name != "equations"
    ]
    return pdf.model_copy(
        update={
            **prose,
            "tables": tables,
            "also": (tei.source,),
            "warnings": (*pdf.warnings, *tei.warnings, *warnings),
        }
    )


def _doubted(table: Table, index: int) -> Table:
    """A table that the PDF reader did not find."""
    return table.model_copy(
        update={
            "index": index,
            "confidence": min(table.confidence, DOUBTED),
            "doubts": (*table.doubts, "Only the TEI has this table; it is not in the PDF as read."),
        }
    )
