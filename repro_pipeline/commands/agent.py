"""`repro agent`: what an agent did on a paper."""

from __future__ import annotations

import argparse

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command, family
from repro_pipeline.errors import BundleError


def add_to(commands) -> None:
    """Add these to the parser."""
    agent = family(commands, "agent", "what an agent did on a paper")
    one = command(agent, log, "log")
    one.add_argument("paper", metavar="ID")
    one.add_argument("--patches", action="store_true", help="show every change of the code")


def log(options: argparse.Namespace) -> int:
    """Tell the story of an agent's work: decisions, changes, runs, failures, cost."""
    from repro_pipeline.agent.story import by_role, story
    from repro_pipeline.report.words import plain

    project = opening.project_here()
    opening.must_know(project, [options.paper])
    if options.paper not in project.ledger.chains():
        raise BundleError(
            f"nothing was done on '{options.paper}' yet.",
            hint=f"Reproduce it with `repro run {options.paper}`.",
        )
    events = list(project.ledger.events(options.paper))

    def patch_of(digest: str) -> str:
        return project.store.get(digest).decode("utf-8", errors="replace")

    for text in story(events, patch_of if options.patches else None):
        for line in text.split("\n"):
            print(" " * (len(line) - len(line.lstrip(" "))) + plain(line))
    table = by_role(events)
    if table:
        print("\nBy role (answers, tokens in, of these cached, tokens out):")
        for role, counts in table.items():
            print(f"  {role:<10}" + "".join(f"{count:>12,}" for count in counts))
    return OK
