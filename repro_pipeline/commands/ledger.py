"""`repro ledger`: the audit trail, its check, its heads."""

from __future__ import annotations

import argparse
from pathlib import Path

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command, family


def add_to(commands) -> None:
    """Add these to the parser."""
    ledger = family(commands, "ledger", "read and verify the ledger")
    one = command(ledger, show, "show")
    one.add_argument("paper", metavar="ID")
    one.add_argument("--kind", action="append", default=[], help="only events of this kind")
    one.add_argument("--json", action="store_true", help="one JSON object per line")
    command(ledger, verify, "verify").add_argument("--anchor", help="a file of chain heads")
    command(ledger, anchor, "anchor")


def show(options: argparse.Namespace) -> int:
    """The events of a paper."""
    from repro_pipeline.terminal import print_events

    return print_events(
        opening.project_here(), options.paper, kinds=options.kind, as_json=options.json
    )


def verify(options: argparse.Namespace) -> int:
    """Check every chain, against anchors where given."""
    from repro_pipeline.terminal import print_verification

    return print_verification(
        opening.project_here(), Path(options.anchor) if options.anchor else None
    )


def anchor(options: argparse.Namespace) -> int:
    """Print the head of every chain: kept elsewhere, it makes a rewritten chain evident."""
    project = opening.project_here()
    for chain in project.ledger.chains():
        print(project.ledger.head(chain).model_dump_json())
    return OK
