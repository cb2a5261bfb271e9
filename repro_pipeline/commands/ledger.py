"""`repro ledger`: the audit trail, its check, its heads, and copies of it."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.choices import choices
from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import MENDABLE, OK
from repro_pipeline.commands.parser import command, family
from repro_pipeline.errors import LedgerError

if TYPE_CHECKING:
    from repro_pipeline.ledger.events import Event, Head
    from repro_pipeline.ports import Ledger


def add_to(commands) -> None:
    """Add these to the parser."""
    ledger = family(commands, "ledger", "read, verify and export the ledger")
    one = command(ledger, show, "show")
    one.add_argument("chain", metavar="ID", help="a paper, or _project")
    one.add_argument("--kind", action="append", default=[], help="only events of this kind")
    one.add_argument("--since", help="only from this number on, or from this time (UTC) on")
    one.add_argument("--json", action="store_true", help="one JSON object per line")
    one = command(ledger, verify, "verify")
    one.add_argument("--anchor", type=Path, help="a file of chain heads that were kept elsewhere")
    one.add_argument("--file", type=Path, help="an exported .jsonl file, in place of the ledger")
    command(ledger, anchor, "anchor")
    one = command(ledger, export, "export")
    one.add_argument("chains", nargs="*", metavar="ID", help="by default all, and _project")
    one.add_argument("--format", choices=("jsonl", "parquet"), default="jsonl")
    one.add_argument("--out", type=Path, default=Path("ledger-export"), metavar="PATH")


def show(options: argparse.Namespace) -> int:
    """The events of a paper, oldest first."""
    from repro_pipeline.commands.ledger_words import known_kinds, line_of, since

    known_kinds(options.kind)
    wanted = since(options.since) if options.since else lambda event: True
    ledger = opening.project_here().ledger
    (chain,) = _chains(ledger, [options.chain])
    for event in filter(wanted, ledger.events(chain, kinds=options.kind)):
        print(event.model_dump_json() if options.json else line_of(event))
    return OK


def verify(options: argparse.Namespace) -> int:
    """Check every chain, against anchors where given."""
    from repro_pipeline.ledger.anchor import read_anchors
    from repro_pipeline.ledger.export import read_export

    anchors = read_anchors(options.anchor) if options.anchor else ()
    if options.file:
        events = list(read_export(options.file))
        whole = [_verified(events[0].chain, events, anchors)]
    else:
        ledger = opening.project_here().ledger
        chains = {*ledger.chains(), *(head.chain for head in anchors)}
        whole = [_verified(chain, ledger.stored(chain), anchors) for chain in sorted(chains)]
    if not whole:
        print("There is no event to verify.")
    if not anchors:
        print("No anchor was given: a chain that was rewritten as a whole would pass.")
    return OK if all(whole) else MENDABLE


def anchor(options: argparse.Namespace) -> int:
    """Print the head of every chain: kept elsewhere, it makes a rewritten chain evident."""
    ledger = opening.project_here().ledger
    for chain in ledger.chains():
        print(ledger.head(chain).model_dump_json())
    return OK


def export(options: argparse.Namespace) -> int:
    """Copy chains into a folder: as JSON lines that can be verified there, or as Parquet tables.

    One chain as JSON lines can be given a file's name, `--out x.jsonl`.
    """
    from repro_pipeline.commands.ledger_words import file_name
    from repro_pipeline.ledger.export import write_lines
    from repro_pipeline.ledger.tables import tables, write_tables

    ledger = opening.project_here().ledger
    chains = _chains(ledger, options.chains or ledger.chains())
    one_file = options.out.suffix == ".jsonl" and not options.out.is_dir()
    if one_file and (len(chains) != 1 or options.format != "jsonl"):
        raise LedgerError(
            "a file holds one chain as JSON lines.",
            where=f"--out {options.out}",
            hint=f"Name one of: {', '.join(ledger.chains())}; or give a folder.",
        )
    for chain in map(file_name, chains):
        if options.format == "jsonl":
            path = options.out if one_file else options.out / f"{chain}.jsonl"
            paths = [write_lines(ledger.events(chain), path)]
        else:
            paths = write_tables(tables(ledger.events(chain)), options.out / chain)
        for path in paths:
            print(path)
    return OK


def _chains(ledger: Ledger, wanted: Sequence[str]) -> Sequence[str]:
    """The wanted chains. Raises LedgerError for one that is not there."""
    from repro_pipeline.report.words import plain

    known = ledger.chains()
    for chain in wanted:
        if chain not in known:
            raise LedgerError(
                f"the ledger has no chain '{plain(chain)}'.",
                hint=choices(chain, known, lead="It has"),
            )
    return wanted


def _verified(chain: str, events: Iterable[Event], anchors: Sequence[Head]) -> bool:
    """Whether a chain is whole; says so, or names every break."""
    from repro_pipeline.ledger.chain import verify_chain
    from repro_pipeline.report.words import plain

    name = plain(chain)
    last: deque[Event] = deque(maxlen=1)
    breaks = verify_chain(chain, (last.append(event) or event for event in events), anchors)
    for one in breaks:
        print(f"BROKEN {name}, event {one.seq} ({one.kind}): {plain(one.sentence)}")
    if not breaks:
        print(f"ok {name}, {last[0].seq} events, head {last[0].hash}")
    return not breaks
