"""Which foreign layout a folder has, known by its shape, and the import of each."""

from __future__ import annotations

from pathlib import Path

from repro_pipeline.imports.paperbench import import_paperbench, is_paperbench, paperbench_id
from repro_pipeline.imports.record import ImportFault, ImportRecord, Layout, files_below
from repro_pipeline.imports.rescience import import_rescience, metadata_of
from repro_pipeline.paper.read import find_sources


def layout_of(source: Path) -> Layout:
    """`bundle` where it is no foreign one."""
    if source.is_dir() and is_paperbench(source):
        return "paperbench"
    if source.is_dir() and not find_sources(source) and metadata_of(source):
        return "rescience"
    return "bundle"


def id_of(source: Path, layout: Layout) -> str:
    """The paper's id as the folder says it."""
    return paperbench_id(source) if layout == "paperbench" else source.name


def import_folder(
    source: Path, layout: Layout, bundle: Path, grading: Path, *, asked: str
) -> ImportRecord:
    """Fill the empty folders `bundle` and `grading` from a folder of a foreign layout.

    Raises ImportFault where it lacks what the layout needs, or holds a link: what that names may lie
    anywhere.
    """
    links = [name for name in files_below(source) if (source / name).is_symlink()]
    if links:
        raise ImportFault(
            "is no regular file, but a link.",
            where=str(source / links[0]),
            hint="Put a copy in its place.",
        )
    if layout == "paperbench":
        return import_paperbench(source, bundle, grading, asked=asked)
    return import_rescience(source, bundle, asked=asked)
