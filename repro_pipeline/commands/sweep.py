"""`repro sweep`: papers reproduced again, and held against what stands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from repro_pipeline.commands import launches, opening
from repro_pipeline.commands.exits import INTERRUPTED, MENDABLE, OK
from repro_pipeline.commands.interrupts import interruptible
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError

if TYPE_CHECKING:
    from repro_pipeline.background import Work
    from repro_pipeline.ledger.events import SweepEnded
    from repro_pipeline.project import Project


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, sweep, "sweep")
    one.add_argument("papers", nargs="*", metavar="ID")
    one.add_argument("--all", action="store_true", help="every paper that was reproduced")
    one.add_argument(
        "--fresh-dependencies",
        action="store_true",
        help="with what the requirements resolve to now, in place of the lock",
    )
    one.add_argument(
        "--number",
        type=int,
        metavar="N",
        help="go on with this sweep, which was begun and awaits the papers that are named",
    )
    launches.add_detach(one, several=True)


def sweep(options: argparse.Namespace) -> int:
    """Reproduce papers again with fresh seeds, and hold them against their reproductions.

    The same experiment must come to the same conclusion, or it is said why not. No score changes.
    """
    from assets.rescore import papers_with_evidence
    from repro_pipeline.background import Work
    from repro_pipeline.sweeps.run import begin_sweep, check_begun, standing_of

    project, fresh = opening.project_here(), options.fresh_dependencies
    papers = papers_with_evidence(project) if options.all else list(dict.fromkeys(options.papers))
    if not papers:
        raise UserError("no paper to sweep.", hint="Name one that was reproduced, or take `--all`.")
    opening.must_know(project, options.papers)
    for paper in papers:  # these raise before anything is begun
        standing_of(project, paper)
        if options.number:
            check_begun(project, options.number, paper, fresh_dependencies=fresh)
    project.runner.enforcement()
    number = options.number or begin_sweep(
        project, papers, fresh_dependencies=fresh, launch="command"
    )
    flags = ("--number", str(number), *(["--fresh-dependencies"] if fresh else []))
    works = [Work(command=("sweep", paper, *flags), papers=(paper,)) for paper in papers]
    if options.detach:
        return launches.detach(project, works, options.at_once)
    interruptible()
    try:
        rows = [_sweep_one(project, work, number, fresh) for work in works]
    except KeyboardInterrupt:
        print(f"Interrupted. {_going_on(project, papers, number, fresh)}", file=sys.stderr)
        return INTERRUPTED
    return OK if all(row.result for row in rows) else MENDABLE


def _sweep_one(project: Project, work: Work, number: int, fresh: bool) -> SweepEnded:
    """Sweep one paper in this process, with the ledger's news on the terminal; its row."""
    import dagster as dg

    from assets.sweeps import sweep_config
    from assets.watch import register_papers
    from repro_pipeline.background import at_work
    from repro_pipeline.definitions import build_definitions
    from repro_pipeline.sweeps.trend import swept
    from repro_pipeline.terminal import Progress
    from resources.launches import BY_COMMAND, end_dead_launches, launch_lock

    (paper,) = work.papers
    instance = opening.instance_of(project)
    end_dead_launches(instance, project)
    register_papers(instance, project)
    job = build_definitions(project.root).resolve_job_def("sweep_paper")
    try:
        with (
            opening.alone(project, launch_lock(paper), paper),
            at_work(project.state, work),
            Progress(project, paper),
        ):
            job.execute_in_process(
                instance=instance,
                partition_key=paper,
                tags=BY_COMMAND,
                run_config={
                    **sweep_config(number, fresh),
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
            )
    except dg.DagsterExecutionInterruptedError:
        raise KeyboardInterrupt from None
    row = swept(project, paper)[-1][1]
    _print(project, row)
    return row


def _going_on(project: Project, papers: Sequence[str], number: int, fresh: bool) -> str:
    """How to go on with a sweep that was interrupted: with another, its seeds would be others."""
    from repro_pipeline.sweeps.run import command_of
    from repro_pipeline.sweeps.trend import swept

    through = {
        paper
        for paper in papers
        for _, row in swept(project, paper)
        if row.number == number and not row.interrupted
    }
    if not (left := [paper for paper in papers if paper not in through]):
        return f"Sweep {number} is through with every paper; `repro run` brings reports up to date."
    again = command_of(left, number, fresh_dependencies=fresh)
    return f"`{again}` goes on where this one stopped."


def _print(project: Project, row: SweepEnded) -> None:
    """A sweep's comparison as a table."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from repro_pipeline.sweeps.model import SweepResult
    from repro_pipeline.terminal import wide_console

    console = wide_console()
    kind = "newly resolved dependencies" if row.fresh_dependencies else "the locked environment"
    console.print(f"[bold]{escape(row.paper)}[/bold], sweep {row.number}, {kind}", highlight=False)
    if row.result is None:
        console.print(f"{row.status}: {escape(row.sentence)}", highlight=False)
        return
    result = SweepResult.model_validate_json(project.store.get(row.result))
    for change in result.packages:
        console.print(
            f"  {change.name} {change.before or 'absent'} → {change.after or 'gone'}",
            highlight=False,
        )
    if row.fresh_dependencies and not result.packages:
        console.print("  The requirements resolve to the same packages as before.")
    table = Table("claim", "before", "now", "says", box=SIMPLE_HEAD)
    for one in result.comparisons:
        table.add_row(
            escape(one.claim),
            one.before.replace("_", " "),
            one.after.replace("_", " "),
            escape(one.sentence),
        )
    console.print(table)
    console.print(escape(row.sentence), highlight=False)
