"""`repro backup` and `repro restore`: a project as one file, and back."""

from __future__ import annotations

import argparse
from pathlib import Path

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command


def add_to(commands) -> None:
    """Add these to the parser."""
    command(commands, backup, "backup").add_argument("file", type=Path, metavar="FILE")
    one = command(commands, restore, "restore")
    one.add_argument("file", type=Path, metavar="FILE", help="what `repro backup` wrote")
    one.add_argument("folder", type=Path, metavar="DIR", help="a new folder")
    one.add_argument("--ledger", metavar="URL", help="an empty database; by default a file in DIR")
    one.add_argument("--store", metavar="URL", help="by default a folder in DIR")


def backup(options: argparse.Namespace) -> int:
    """Copy ledger, artifacts, papers and secret into one file, whoever is at work meanwhile.

    The file holds the project's secret and all its data: keep it as safe as the project.
    """
    from resources.backup import write_backup

    made = write_backup(opening.project_here(), options.file.absolute())
    events = sum(head.seq for head in made.heads)
    print(
        f"{options.file}: {events} events, {len(made.artifacts)} artifacts, and the project's files"
    )
    return OK


def restore(options: argparse.Namespace) -> int:
    """Make the project of a backup in a new folder, and check every hash and chain of it."""
    from resources.backup import LOCAL_LEDGER, LOCAL_STORE, restore_backup

    made = restore_backup(
        options.file.absolute(),
        options.folder.absolute(),
        ledger=options.ledger or LOCAL_LEDGER,
        store=options.store or LOCAL_STORE,
    )
    events = sum(head.seq for head in made.heads)
    print(f"{options.folder}: {events} events and {len(made.artifacts)} artifacts, all whole.")
    print("Environments are built again by the next run; Dagster's history begins anew.")
    return OK
