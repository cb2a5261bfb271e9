"""`repro paper`: read a paper's file, or show what a paper of the project was read as."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.commands import check, opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command, family
from repro_pipeline.errors import BundleError

if TYPE_CHECKING:
    from repro_pipeline.paper.model import Paper, Table
    from repro_pipeline.project import Project


def add_to(commands) -> None:
    """Add these to the parser."""
    paper = family(commands, "paper", "read, show, check and correct papers")
    one = command(paper, read, "read")
    one.add_argument(
        "file",
        type=Path,
        help="a .pdf, .tex, .tar.gz, .zip, .tei.xml, .xml, .nxml or .md, or a folder of LaTeX",
    )
    _printing(one)
    one = command(paper, show, "show")
    one.add_argument("paper", metavar="ID")
    _printing(one)
    check.add_to(paper)


def _printing(one: argparse.ArgumentParser) -> None:
    one.add_argument("--table", metavar="N", help="only this table: its number, or its label")
    one.add_argument(
        "--json", action="store_true", help="as JSON, by the schema of `repro schema paper`"
    )


def read(options: argparse.Namespace) -> int:
    """Read any paper's file or folder, in a project or outside of one."""
    from repro_pipeline.paper.read import read_paper

    return _print(read_paper(source_in(options.file)), options)


def show(options: argparse.Namespace) -> int:
    """What a paper of the project was read as."""
    return _print(stored(opening.project_here(), options.paper), options)


def source_in(path: Path) -> Path:
    """The file or folder itself; for a paper's folder of the project, the most exact source."""
    from repro_pipeline.paper.read import find_sources

    if path.is_dir() and not any(path.glob("**/*.tex")):
        return next(iter(find_sources(path)), path)
    return path


def stored(project: Project, name: str) -> Paper:
    """The latest document of a paper. Raises BundleError where there is none."""
    from repro_pipeline.paper.model import Paper
    from repro_pipeline.stages import latest, output_of

    opening.must_know(project, [name])
    row = latest(project, name, "parsed_paper")
    if row is None or row.output is None:
        why = f": {row.reason.sentence}" if row and row.reason else "."
        raise BundleError(
            f"'{name}' has not been read{why}",
            hint=f"Read it with `repro run {name} --stage parsed_paper`.",
        )
    return output_of(project, row, Paper)


def _print(paper: Paper, options: argparse.Namespace) -> int:
    from repro_pipeline.paper.display import print_paper, print_tables
    from repro_pipeline.paper.document import document_of
    from repro_pipeline.terminal import wide_console

    console = wide_console()
    tables = _chosen(paper, options.table) if options.table else None
    if options.json:
        print(document_of(paper, tables).model_dump_json(by_alias=True, indent=1))
    elif tables is not None:
        print_tables(tables, console)
    else:
        print_paper(paper, console)
    return OK


def _chosen(paper: Paper, name: str) -> Sequence[Table]:
    """The tables that a printed number, a label or, where no table has a number, an order names."""
    from repro_pipeline.errors import AddressError
    from repro_pipeline.paper.address import TableIndex, TableLabel
    from repro_pipeline.paper.resolve import tables_named

    addresses = [TableLabel(label=name)]
    if name.isdigit() and int(name) and not any(table.number for table in paper.tables):
        addresses.append(TableIndex(index=int(name)))
    for address in addresses:
        try:
            return tables_named(paper, address)
        except AddressError:
            continue
    return tables_named(paper, name)
