"""Read a paper that came in several sources: the most exact one, the others compared with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.errors import BundleError, PaperError
from repro_pipeline.imports.record import IMPORT_NAME, ImportRecord
from repro_pipeline.paper.fetch import RECORD_NAME, FetchRecord
from repro_pipeline.paper.model import Paper, SourceFormat
from repro_pipeline.paper.read import read_paper
from repro_pipeline.ports import ArtifactStore, TeiService
from repro_pipeline.reading.agree import disagreements, uncompared
from repro_pipeline.reading.tei_and_pdf import joined, read_with_service

_SHOWN = 5


def read_sources(
    sources: Sequence[Path],
    *,
    one_paper: bool,
    service: TeiService | None,
    store: ArtifactStore,
) -> Paper:
    """The paper in its sources, the most exact first.

    `one_paper` says that they are known to be the same paper. Where there is only a PDF, it is read
    with the help of the service, if there is one. Raises UserError as the ways of reading do.
    """
    if service and sources[0].suffix.lower() == ".pdf":
        return read_with_service(sources[0], service, store)
    return read_compared(sources) if one_paper else read_agreeing(sources)


def came_together(bundle: Bundle, folder: Path) -> bool:
    """Whether the sources came from one place, fetched or imported, and are as they came."""
    return any(
        came and all(bundle.files.get(name) == came.get(name, "") for name in _files(bundle))
        for came in (
            _came(folder / RECORD_NAME, FetchRecord),
            _came(folder / IMPORT_NAME, ImportRecord),
        )
    )


def _came(path: Path, kind: type[FetchRecord | ImportRecord]) -> dict[str, str]:
    """Digest per file by the record; empty where there is none."""
    try:
        record = kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return {}
    return {file.file: file.sha256 for file in record.files}


def _files(bundle: Bundle) -> list[str]:
    """The files of the sources; of a LaTeX folder all that lie in it."""
    return [
        name
        for name in bundle.files
        if any(name == source or name.startswith(f"{source}/") for source in bundle.sources)
    ]


def read_agreeing(sources: Sequence[Path]) -> Paper:
    """The first of the sources, read; TEI that has a PDF beside it takes its tables from there.

    Raises PaperError when one cannot be read, and BundleError naming the numbers in which another
    source differs: which of them is the paper is for a person to say.
    """
    first, *others = [read_paper(path) for path in sources]
    document = first
    for other in others:
        if first.source.format is SourceFormat.TEI and other.source.format is SourceFormat.PDF:
            document = joined(first, other)
            first = first.model_copy(update={"tables": ()})  # which are not taken
        found = disagreements(first, other)
        if found:
            more = f" And {len(found) - _SHOWN} more." if len(found) > _SHOWN else ""
            raise BundleError(
                f"{first.source.file} and {other.source.file} disagree: "
                f"{' '.join(found[:_SHOWN])}{more}",
                where=str(sources[0].parent),
                hint="Take away the one that is not the paper, or mend it.",
            )
    return document


def read_compared(sources: Sequence[Path]) -> Paper:
    """The first of sources that are known to be one paper, as source and PDF from one server are.

    Where another differs, a reader erred in one of them: that is a warning of the document. So is
    another that cannot be read. Raises PaperError when the first cannot.
    """
    first = read_paper(sources[0])
    warnings = list(first.warnings)
    for path in sources[1:]:
        try:
            other = read_paper(path)
        except PaperError as error:
            warnings.append(f"No number was compared with {path.name}: {error}")
            continue
        found = disagreements(first, other)
        if found:
            name = path.name
            warnings.append(
                f"{len(found)} of the numbers of {first.source.file} are not in {name}: look at "
                f"them with `repro paper check`."
            )
        warnings += [*found, *uncompared(first, other)]
    return first.model_copy(update={"warnings": tuple(warnings)})
