"""`repro housekeeping`: remove what is old and no evidence."""

from __future__ import annotations

import argparse
import time

from repro_pipeline.commands import opening, store
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError

DAY = 24 * 3600.0


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, housekeeping, "housekeeping")
    one.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    one.add_argument(
        "--keep-days",
        type=float,
        default=30.0,
        metavar="DAYS",
        help="never remove what is younger (default 30)",
    )


def housekeeping(options: argparse.Namespace) -> int:
    """Remove old launches that later ones replace, environments that no paper uses, and loose artifacts.

    The ledger and all that it refers to stay, whatever their age.
    """
    from repro_pipeline.environment.build import remove_environment
    from resources.housekeeping import remove_launches, superseded, unused_environments

    if not options.keep_days >= 0:
        raise UserError("--keep-days takes a number of days, 0 or more.")
    project = opening.project_here()
    instance = opening.instance_of(project)
    before = time.time() - options.keep_days * DAY
    launches = superseded(_records(instance), before=before)
    environments = unused_environments(project, before=before)
    if not options.dry_run:
        remove_launches(instance, project, launches)
        for folder in environments:
            remove_environment(folder)
    done = "would be removed" if options.dry_run else "removed"
    print(f"{len(launches)} launches of Dagster's, {len(environments)} environments {done}")
    return store.collect(
        project, seconds=options.keep_days * DAY, dry_run=options.dry_run, despite_missing=False
    )


def _records(instance):
    """The records of all launches, the newest first, a page at a time."""
    cursor = None
    while True:
        page = instance.get_run_records(limit=500, cursor=cursor)
        yield from page
        if len(page) < 500:
            return
        cursor = page[-1].dagster_run.run_id
