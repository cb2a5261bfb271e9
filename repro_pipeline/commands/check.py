"""`repro paper check` and `correct`: look at tables beside their source, and put a cell right."""

from __future__ import annotations

import argparse
import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import AddressError, BundleError

if TYPE_CHECKING:
    from repro_pipeline.bundle.folder import Bundle
    from repro_pipeline.paper.model import Paper
    from repro_pipeline.project import Project
    from repro_pipeline.reading.corrections import Place


def add_to(paper) -> None:
    """Add these to the family `repro paper`."""
    one = command(paper, check, "check")
    one.add_argument("paper", metavar="ID")
    one.add_argument("--out", type=Path, help="the page's file; by default reports/ID/check.html")
    one = command(paper, correct, "correct")
    one.add_argument("paper", metavar="ID")
    one.add_argument("--table", metavar="N", help="the table: its printed number, or its label")
    header = {"action": "append", "default": [], "metavar": "TEXT"}
    one.add_argument(
        "--row", help="a header of the row; again for its path, outermost first", **header
    )
    one.add_argument("--column", help="a header of the column; again for its path", **header)
    one.add_argument(
        "--at", metavar="T,R,C", help="instead: order of the table, row and column, each from 1"
    )
    one.add_argument("--value", required=True, metavar="TEXT", help="what the paper prints there")
    one.add_argument("--reason", required=True, metavar="TEXT", help="how you know")
    one.add_argument("--by", metavar="NAME", help="who says so; by default your user name")


def check(options: argparse.Namespace) -> int:
    """Write a page that shows each table beside its place in the paper."""
    from repro_pipeline.report.check_page import check_page

    project = opening.project_here()
    paper, bundle = _read(project, options.paper)
    page = options.out or project.reports(options.paper) / "check.html"
    html = check_page(paper, bundle, project.bundle(options.paper))
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(html, encoding="utf-8")
    except OSError as error:
        raise BundleError(f"cannot be written ({error.strerror}).", where=str(page)) from None
    print(page)
    return OK


def correct(options: argparse.Namespace) -> int:
    """Make a cell read what the paper prints; it is recorded, and stands through every re-read."""
    from repro_pipeline.reading.corrections import (
        as_read,
        correction,
        named,
        source_digest,
        standing,
    )

    project = opening.project_here()
    paper, bundle = _read(project, options.paper)
    made = correction(
        as_read(paper),
        _place(paper, options),
        options.value,
        reason=options.reason,
        source=source_digest(bundle),
        standing=standing(project.ledger.events(options.paper, kinds={"cell_corrected"})),
    )
    actor = f"human:{options.by or getpass.getuser()}"
    project.ledger.append(options.paper, made, actor=actor)
    print(f"{named(made.address)}: '{made.after}' by {actor}; '{made.before}' was read.")
    print(f"`repro run {options.paper}` takes it up.")
    return OK


def _read(project: Project, name: str) -> tuple[Paper, Bundle]:
    """A paper as it was read last, with every correction since, and its folder then.

    Raises BundleError where it was not read, or its source was changed since.
    """
    from repro_pipeline.bundle.folder import Bundle, open_bundle
    from repro_pipeline.commands.paper import stored
    from repro_pipeline.reading.corrections import (
        as_read,
        source_digest,
        standing,
        with_corrections,
    )
    from repro_pipeline.stages import latest, output_of

    paper = stored(project, name)
    bundle = output_of(project, latest(project, name, "paper_bundle"), Bundle)
    if source_digest(open_bundle(project.bundle(name))) != source_digest(bundle):
        raise BundleError(
            "the paper's source was changed since it was read.",
            where=str(project.bundle(name)),
            hint=f"Read it with `repro run {name} --stage parsed_paper`.",
        )
    made = standing(project.ledger.events(name, kinds={"cell_corrected"}))
    return with_corrections(as_read(paper), made, source_digest(bundle)), bundle


def _place(paper: Paper, options: argparse.Namespace) -> Place:
    """The cell that is meant. Raises AddressError where it is not told, or there is none."""
    from repro_pipeline.ledger.events import CellPosition
    from repro_pipeline.paper.address import CellAddress, TableLabel
    from repro_pipeline.reading.corrections import place_of

    if options.at:
        numbers = options.at.split(",")
        if len(numbers) != 3 or not all(n.strip().isdecimal() and int(n) for n in numbers):
            raise AddressError(
                "is no place.",
                where=f"--at {options.at}",
                hint="Write it as 2,5,3: table, row, column.",
            )
        table, row, column = map(int, numbers)
        return place_of(paper, CellPosition(table=table, row=row - 1, column=column - 1))
    if not (options.table and options.row and options.column):
        raise AddressError(
            "which cell?", hint="Name it by --table, --row and --column, or by --at; see `--help`."
        )
    label = TableLabel(label=options.table)
    labelled = any(table.label == options.table for table in paper.tables)
    return place_of(
        paper,
        CellAddress(
            table=label if labelled else options.table,
            row=tuple(options.row),
            column=tuple(options.column),
        ),
    )
