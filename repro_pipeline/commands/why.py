"""`repro why`: the chain from a claim to the runs, assumptions and sources that it rests on."""

from __future__ import annotations

import argparse
import json

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, why, "why")
    one.add_argument("paper", metavar="PAPER")
    one.add_argument("claim", metavar="CLAIM", nargs="?", help="without one, all are listed")
    one.add_argument("--json", action="store_true", help="one JSON object, with whole digests")


def why(options: argparse.Namespace) -> int:
    """Why a claim's verdict is what it is: reported cell, runs with their artifacts, assumptions, sources.

    A digest's beginning names an artifact: `--json` prints it whole.
    """
    from rich.markup import escape
    from rich.tree import Tree

    from repro_pipeline.report.why import verdicts, why_lines
    from repro_pipeline.report.why import why as chain
    from repro_pipeline.report.words import plain
    from repro_pipeline.terminal import wide_console

    project = opening.project_here()
    opening.must_know(project, [options.paper])
    if options.claim is None:
        return _list(verdicts(project, options.paper), as_json=options.json)
    found = chain(project, options.paper, options.claim)
    if options.json:
        print(found.model_dump_json(by_alias=True, indent=1))
        return OK
    branches: list[Tree] = []
    for depth, text in why_lines(found):
        shown = escape(plain(text))
        del branches[depth:]
        branches.append(branches[-1].add(shown) if branches else Tree(f"[bold]{shown}[/bold]"))
    wide_console().print(branches[0], highlight=False)
    return OK


def _list(found: dict[str, str], *, as_json: bool) -> int:
    """All claims with their verdicts, to choose one."""
    if as_json:
        print(json.dumps(found, indent=1))
        return OK
    width = max(map(len, found), default=0)
    for claim, verdict in found.items():
        print(f"{claim:{width}}  {verdict.replace('_', ' ')}")
    return OK
