"""`repro store`: whether the artifacts are whole, and the removal of what nothing refers to."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import MENDABLE, OK
from repro_pipeline.commands.parser import command, family
from repro_pipeline.errors import StoreError, UserError

if TYPE_CHECKING:
    from repro_pipeline.project import Project

HOUR = 3600


def add_to(commands) -> None:
    """Add these to the parser."""
    store = family(commands, "store", "verify the artifact store, remove what nothing refers to")
    command(store, verify, "verify")
    one = command(store, gc, "gc")
    one.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    one.add_argument(
        "--older-than",
        type=float,
        default=24.0,
        metavar="HOURS",
        help="never remove what is younger (default 24)",
    )
    one.add_argument(
        "--despite-missing",
        action="store_true",
        help="remove also what an artifact that is lost may have named",
    )


def verify(options: argparse.Namespace) -> int:
    """Read every artifact, and whether all that the ledger refers to is there."""
    from repro_pipeline.tree import missing_from

    project = opening.project_here()
    damaged = project.store.verify()
    for digest in damaged:
        print(f"DAMAGED {digest}")
    missing = missing_from(project.ledger, project.store)
    for digest, event in missing.items():
        print(f"MISSING {digest}, named by event {event.seq} ({event.kind}) of {event.chain}")
    count = sum(1 for _ in project.store.digests())
    print(f"{count} artifacts, {len(damaged)} damaged, {len(missing)} missing")
    return MENDABLE if damaged or missing else OK


def gc(options: argparse.Namespace) -> int:
    """Remove artifacts that no event of any chain refers to, directly or through other artifacts."""
    if not options.older_than >= 0:
        raise UserError("--older-than takes a number of hours, 0 or more.")
    return collect(
        opening.project_here(),
        seconds=options.older_than * HOUR,
        dry_run=options.dry_run,
        despite_missing=options.despite_missing,
    )


def collect(project: Project, *, seconds: float, dry_run: bool, despite_missing: bool) -> int:
    """Remove what nothing refers to and is older than that, say so, and record it."""
    import repro_pipeline
    from repro_pipeline.bundle.folder import PAPER_ID
    from repro_pipeline.ledger.events import PROJECT_CHAIN, StoreSwept
    from repro_pipeline.tree import missing_from, references_in

    ledger, store = project.ledger, project.store
    started = datetime.now(UTC)
    with ExitStack() as held:
        # While a stage works, what it stored may not stand in an event yet.
        names = {*opening.papers_of(project), *ledger.chains()}
        for paper in sorted(filter(PAPER_ID.fullmatch, names)):
            held.enter_context(project.locked(paper, wait=False))
        referenced = references_in(
            chain.from_iterable(ledger.events(name) for name in ledger.chains()), store
        )
        if not despite_missing and (missing := missing_from(ledger, store)):
            raise StoreError(
                "an artifact is missing, and what it named would be removed as if nothing did",
                where=next(iter(missing)),
                hint="Restore it (`repro store verify` names all), or add --despite-missing.",
            )
        removed = store.gc(referenced, older_than_seconds=seconds, dry_run=dry_run)
    total = sum(one.bytes for one in removed)
    for one in removed:
        print(f"{one.bytes:>12,}  {one.digest}")
    done = "would be removed" if dry_run else "removed"
    print(f"{len(removed)} artifacts, {total:,} bytes {done}; {len(referenced)} are referred to")
    if removed and not dry_run:
        swept = StoreSwept(
            started_at=started, older_than_seconds=seconds, removed=len(removed), bytes=total
        )
        ledger.append(
            PROJECT_CHAIN, swept, actor=f"code:repro-pipeline/{repro_pipeline.__version__}"
        )
    return OK
