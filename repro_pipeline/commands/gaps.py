"""`repro gaps`: what a paper leaves unsaid, for any paper's file, in a project or outside of one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.paper import source_in, stored
from repro_pipeline.commands.parser import command

if TYPE_CHECKING:
    from repro_pipeline.lineage.gaps import Gaps
    from repro_pipeline.paper.model import Paper

_SHORT = {"item", "status", "influence"}


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, gaps, "gaps")
    one.add_argument("file", type=Path, help="a paper's file or folder, or a paper of the project")
    one.add_argument("--checklist", type=Path, metavar="FILE", help="another checklist.yaml")
    one.add_argument("--json", action="store_true", help="item, status and spans as JSON")


def gaps(options: argparse.Namespace) -> int:
    """The checklist of what an experiment needs said: what the paper states, and what is missing."""
    from repro_pipeline.lineage.checklist import load_checklist
    from repro_pipeline.lineage.gaps import find_gaps

    checklist = load_checklist(options.checklist)
    found = find_gaps(_paper(options.file), checklist)
    if options.json:
        print(found.model_dump_json(indent=2))
    else:
        _print(found)
    return OK


def _paper(given: Path) -> Paper:
    """The paper in a file; where there is none of that name, the one that the project has read."""
    from repro_pipeline.config import find_project
    from repro_pipeline.paper.read import read_paper

    if not given.exists() and find_project(Path.cwd()) is not None:
        return stored(opening.project_here(), str(given))
    return read_paper(source_in(given))


def _print(found: Gaps) -> None:
    from rich.table import Table
    from rich.text import Text

    from repro_pipeline.terminal import wide_console

    style = {"stated": "green", "contradicted": "bold red", "missing": "yellow"}
    table = Table(box=None, padding=(0, 2, 0, 0), title=found.title, title_justify="left")
    for heading in ("item", "status", "influence", "where", "what"):
        table.add_column(heading, overflow="fold", no_wrap=heading in _SHORT)
    asked = [gap for gap in found.items if gap.status != "not_applicable"]
    for gap in asked:
        span = gap.spans[0] if gap.spans else None
        status = Text(gap.status.replace("_", " "), style=style.get(gap.status, "dim"))
        unsaid = gap.question if gap.status == "missing" else gap.why or gap.question
        said = Text(span.text if span else unsaid)
        said.truncate(160, overflow="ellipsis")
        table.add_row(
            gap.item, status, str(gap.influence), Text(span.section if span else ""), said
        )
    console = wide_console()
    console.print(table, highlight=False)
    count = len(found.missing)
    named = ", ".join(gap.item for gap in found.missing) or "nothing"
    console.print(Text(f"Kinds of experiment: {', '.join(found.kinds) or 'none recognised'}."))
    console.print(Text(f"{count} of {len(asked)} items are missing: {named}."))
    if found.missing:
        console.print(Text(f"Beside what is missing stands the question. {found.missing[0].why}"))
    others = ", ".join(gap.item for gap in found.items if gap not in asked)
    if others:
        console.print(Text(f"Not asked of such experiments: {others}."))
